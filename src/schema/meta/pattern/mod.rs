//! Whether a regular expression can be used, as the official conversion decides it.
//!
//! It asks twice. The meta-schemas of the classic drafts want the syntax of ECMA-262 ([`is_valid`]). Where a pattern
//! is applied, it must also be one that the official conversion's engines take after a translation
//! ([`is_usable`]); these know more than ECMA-262 in some places and less in others. Both checks only parse:
//! neither builds anything, and their time is linear in the pattern.

mod ecma;
mod properties;
mod size;
mod usable;

pub(super) use ecma::is_valid;
pub(super) use usable::is_usable;

/// How deep groups may nest. ECMA-262 has no such limit, but the engines do.
const MAX_NESTING: usize = 64;

/// The characters of a pattern and how far they are read.
struct Reader {
    characters: Vec<char>,
    at: usize,
}

impl Reader {
    fn new(pattern: &str) -> Self {
        Self { characters: pattern.chars().collect(), at: 0 }
    }

    fn peek(&self) -> Option<char> {
        self.peek_at(0)
    }

    /// The character `ahead` places after the next one.
    fn peek_at(&self, ahead: usize) -> Option<char> {
        self.characters.get(self.at + ahead).copied()
    }

    fn next(&mut self) -> Option<char> {
        let next = self.peek();
        self.at += usize::from(next.is_some());
        next
    }

    /// Reads `text` if it stands here.
    fn eat(&mut self, text: &str) -> bool {
        let found = text.chars().enumerate().all(|(ahead, character)| self.peek_at(ahead) == Some(character));
        if found {
            self.at += text.chars().count();
        }
        found
    }

    /// Reads characters as long as they are wanted.
    fn run(&mut self, wanted: impl Fn(char) -> bool) -> String {
        let start = self.at;
        while self.peek().is_some_and(&wanted) {
            self.at += 1;
        }
        self.characters[start..self.at].iter().collect()
    }

    /// Reads exactly `count` hexadecimal digits.
    fn hex(&mut self, count: usize) -> Option<u32> {
        let mut value = 0;
        for _ in 0..count {
            value = value * 16 + self.next()?.to_digit(16)?;
        }
        Some(value)
    }

    /// Reads hexadecimal digits up to a closing brace; the opening one is read already.
    fn hex_in_braces(&mut self) -> Option<u32> {
        let digits = self.run(|character| character.is_ascii_hexdigit());
        if !self.eat("}") {
            return None;
        }
        let digits = digits.trim_start_matches('0');
        match digits.len() {
            0 if self.characters[self.at - 2] != '0' => None,
            0 => Some(0),
            _ => u32::from_str_radix(digits, 16).ok(),
        }
    }
}

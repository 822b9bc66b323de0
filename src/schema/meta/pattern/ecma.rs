//! The syntax of ECMA-262 regular expressions in Unicode mode, with one liberty of the older mode: a backslash may
//! stand before any character that is neither a letter nor a digit.

use std::collections::HashSet;

use super::{MAX_NESTING, Reader};

/// Whether `pattern` is a regular expression. Names of Unicode properties are not looked up.
pub(in crate::schema::meta) fn is_valid(pattern: &str) -> bool {
    let mut parser = Parser {
        reader: Reader::new(pattern),
        before: Before::Nothing,
        groups: vec![Group::default()],
        captures: 0,
        highest_reference: 0,
        references: Vec::new(),
        names: HashSet::new(),
    };
    parser.pattern().is_some()
}

/// What stands before the current place: a quantifier can only follow an atom.
#[derive(Clone, Copy, PartialEq)]
enum Before {
    Nothing,
    Atom,
    Assertion,
    Quantifier,
}

/// An open group, or the whole pattern. Two groups may share a name if they stand in different alternatives.
#[derive(Default)]
struct Group {
    is_lookaround: bool,
    /// Names in the current alternative.
    names: HashSet<String>,
    /// Names in the alternatives before it.
    other_names: HashSet<String>,
}

struct Parser {
    reader: Reader,
    before: Before,
    groups: Vec<Group>,
    captures: u32,
    highest_reference: u32,
    references: Vec<String>,
    names: HashSet<String>,
}

/// `None` is a syntax error.
type Parsed<T> = Option<T>;

impl Parser {
    fn pattern(&mut self) -> Parsed<()> {
        while let Some(character) = self.reader.next() {
            self.before = match character {
                '|' => {
                    let group = self.groups.last_mut()?;
                    merge(&mut group.other_names, std::mem::take(&mut group.names));
                    Before::Nothing
                }
                '(' => {
                    self.open()?;
                    Before::Nothing
                }
                ')' => self.close()?,
                '*' | '+' | '?' => self.quantifier()?,
                '{' => {
                    self.counts()?;
                    self.quantifier()?
                }
                '}' | ']' => return None,
                '^' | '$' => Before::Assertion,
                '[' => {
                    self.class()?;
                    Before::Atom
                }
                '\\' => self.escape()?,
                _ => Before::Atom,
            };
        }
        let complete = self.groups.len() == 1
            && self.highest_reference <= self.captures
            && self.references.iter().all(|name| self.names.contains(name));
        complete.then_some(())
    }

    fn quantifier(&mut self) -> Parsed<Before> {
        self.reader.eat("?");
        (self.before == Before::Atom).then_some(Before::Quantifier)
    }

    /// `n}`, `n,}` or `n,m}`.
    fn counts(&mut self) -> Parsed<()> {
        let digits = |reader: &mut Reader| {
            let digits = reader.run(|character| character.is_ascii_digit());
            (!digits.is_empty()).then_some(digits)
        };
        let low = digits(&mut self.reader)?;
        if self.reader.eat(",") && self.reader.peek() != Some('}') {
            let high = digits(&mut self.reader)?;
            let value = |digits: &str| {
                (digits.trim_start_matches('0').len(), digits.trim_start_matches('0').to_owned())
            };
            if value(&low) > value(&high) {
                return None;
            }
        }
        self.reader.eat("}").then_some(())
    }

    fn open(&mut self) -> Parsed<()> {
        if self.groups.len() >= MAX_NESTING {
            return None;
        }
        let mut group = Group::default();
        if ["?=", "?!", "?<=", "?<!"].iter().any(|opening| self.reader.eat(opening)) {
            group.is_lookaround = true;
        } else if self.reader.eat("?<") {
            let name = self.name()?;
            if self.groups.iter().any(|group| group.names.contains(&name)) {
                return None;
            }
            self.groups.last_mut()?.names.insert(name.clone());
            self.names.insert(name);
            self.captures += 1;
        } else if self.reader.eat("?") {
            self.modifiers()?;
        } else {
            self.captures += 1;
        }
        self.groups.push(group);
        Some(())
    }

    /// `ims-ims:`, or only the colon.
    fn modifiers(&mut self) -> Parsed<()> {
        if self.reader.eat(":") {
            return Some(());
        }
        let flags = self.reader.run(|character| character != ':');
        if !self.reader.eat(":") {
            return None;
        }
        let letters: Vec<char> = flags.chars().filter(|character| *character != '-').collect();
        if letters.len() > 3 {
            return None;
        }
        let different = letters.iter().enumerate().all(|(index, letter)| !letters[..index].contains(letter));
        let known = letters.iter().all(|letter| matches!(letter, 'i' | 'm' | 's'));
        let valid = !letters.is_empty() && different && known && flags.len() <= letters.len() + 1;
        valid.then_some(())
    }

    fn close(&mut self) -> Parsed<Before> {
        if self.groups.len() == 1 {
            return None;
        }
        let closed = self.groups.pop()?;
        let group = self.groups.last_mut()?;
        merge(&mut group.names, closed.names);
        merge(&mut group.names, closed.other_names);
        Some(if closed.is_lookaround { Before::Assertion } else { Before::Atom })
    }

    /// The rest of `(?<name>` or `\k<name>`.
    fn name(&mut self) -> Parsed<String> {
        let mut name = String::new();
        loop {
            let character = match self.reader.next()? {
                '>' => return (!name.is_empty()).then_some(name),
                '\\' if self.reader.eat("u") => char::from_u32(self.unicode()?)?,
                character => character,
            };
            let part = matches!(character, '$' | '_')
                || character.is_alphabetic()
                || !name.is_empty()
                    && (character.is_numeric() || matches!(character, '\u{200C}' | '\u{200D}'));
            if !part {
                return None;
            }
            name.push(character);
        }
    }

    fn escape(&mut self) -> Parsed<Before> {
        match self.reader.next()? {
            'b' | 'B' => return Some(Before::Assertion),
            'd' | 'D' | 's' | 'S' | 'w' | 'W' => {}
            'p' | 'P' => self.property()?,
            'k' => {
                if !self.reader.eat("<") {
                    return None;
                }
                let name = self.name()?;
                self.references.push(name);
            }
            first @ '1'..='9' => {
                let number = format!("{first}{}", self.reader.run(|character| character.is_ascii_digit()));
                self.highest_reference = self.highest_reference.max(number.parse().unwrap_or(u32::MAX));
            }
            other => {
                self.character(other)?;
            }
        }
        Some(Before::Atom)
    }

    /// The code point of an escape that begins with `first`.
    fn character(&mut self, first: char) -> Parsed<u32> {
        match first {
            'f' => Some(0x0C),
            'n' => Some(0x0A),
            'r' => Some(0x0D),
            't' => Some(0x09),
            'v' => Some(0x0B),
            'c' => self.reader.next().filter(char::is_ascii_alphabetic).map(|letter| letter as u32 % 32),
            '0' => (!self.reader.peek().is_some_and(|next| next.is_ascii_digit())).then_some(0),
            'x' => self.reader.hex(2),
            'u' => self.unicode(),
            other => (!other.is_alphanumeric()).then_some(other as u32),
        }
    }

    /// The rest of `\u`: four digits, a surrogate pair, or digits in braces.
    fn unicode(&mut self) -> Parsed<u32> {
        if self.reader.eat("{") {
            return self.reader.hex_in_braces().filter(|value| *value <= 0x10_FFFF);
        }
        let lead = self.reader.hex(4)?;
        let after_lead = self.reader.at;
        if (0xD800..0xDC00).contains(&lead) && self.reader.eat("\\u") {
            if let Some(trail @ 0xDC00..0xE000) = self.reader.hex(4) {
                return Some(0x10000 + ((lead - 0xD800) << 10) + (trail - 0xDC00));
            }
            self.reader.at = after_lead;
        }
        Some(lead)
    }

    /// `{Name}` or `{Name=Value}`.
    fn property(&mut self) -> Parsed<()> {
        let is_word = |character: char| character.is_ascii_alphanumeric() || character == '_';
        if !self.reader.eat("{") || self.reader.run(is_word).is_empty() {
            return None;
        }
        if self.reader.eat("=") && self.reader.run(is_word).is_empty() {
            return None;
        }
        self.reader.eat("}").then_some(())
    }

    /// The rest of a class.
    fn class(&mut self) -> Parsed<()> {
        self.reader.eat("^");
        while !self.reader.eat("]") {
            let start = self.class_atom()?;
            if self.reader.peek() == Some('-') && self.reader.peek_at(1) != Some(']') {
                self.reader.next();
                let end = self.class_atom()?;
                if start? > end? {
                    return None;
                }
            }
        }
        Some(())
    }

    /// The code point of one member of a class, or `None` inside for a set such as `\d`.
    fn class_atom(&mut self) -> Parsed<Option<u32>> {
        match self.reader.next()? {
            '\\' => match self.reader.next()? {
                'b' => Some(Some(0x08)),
                'd' | 'D' | 's' | 'S' | 'w' | 'W' => Some(None),
                'p' | 'P' => self.property().map(|()| None),
                other => self.character(other).map(Some),
            },
            character => Some(Some(character as u32)),
        }
    }
}

/// Adds `names` to `all`, moving the smaller set.
fn merge(all: &mut HashSet<String>, mut names: HashSet<String>) {
    if names.len() > all.len() {
        std::mem::swap(all, &mut names);
    }
    all.extend(names);
}

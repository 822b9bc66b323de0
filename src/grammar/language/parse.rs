//! Reading patterns: ECMA-262 as crate `jsonschema` reads it, and the syntax of crate `regex`.
//!
//! Crate `jsonschema` applies patterns with crate `fancy-regex`. In those without look-around it makes `\d`, `\w` and
//! `\s` those of ECMA-262 before; in others they are those of Unicode, and `.` and `\b` always are. The crate takes more
//! than ECMA-262 does. Names of groups and references to them are not checked here.

use super::chars::Chars;
use super::expr::{Expr, Parsed};
use super::{LanguageError, Limits};

mod case;
mod class;
mod sets;

/// How a pattern is read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Dialect {
    /// The keyword `pattern`.
    Pattern,
    /// Crate `regex`.
    Whole,
}

pub(super) fn parse(pattern: &str, dialect: Dialect, limits: &Limits) -> Result<Parsed, LanguageError> {
    with_sets(pattern, dialect, limits, Vec::new())
}

/// Reads a pattern whose sets are added to others.
pub(super) fn with_sets(
    pattern: &str,
    dialect: Dialect,
    limits: &Limits,
    sets: Vec<Chars>,
) -> Result<Parsed, LanguageError> {
    let characters: Vec<char> = pattern.chars().collect();
    let looks = has_look_around(&characters);
    let mut parser = Parser {
        is_unicode: dialect == Dialect::Whole || looks,
        dialect,
        looks,
        characters,
        at: 0,
        depth: 0,
        max_depth: limits.max_depth,
        flags: Flags::default(),
        sets,
    };
    let expr = parser.alternatives()?;
    if parser.at < parser.characters.len() {
        return Err(parser.syntax());
    }
    Ok(Parsed { expr, sets: parser.sets })
}

/// Whether some group looks around, or something refers to a group.
fn has_look_around(characters: &[char]) -> bool {
    let mut at = 0;
    let mut in_class = false;
    while at < characters.len() {
        match characters[at] {
            '\\' => {
                let next = characters.get(at + 1);
                if !in_class && next.is_some_and(|next| matches!(next, '0'..='9' | 'k')) {
                    return true;
                }
                at += 1;
            }
            '[' => in_class = true,
            ']' => in_class = false,
            '(' if !in_class => {
                let rest = &characters[at + 1..];
                if ["?=", "?!", "?<=", "?<!"]
                    .iter()
                    .any(|open| rest.iter().copied().take(open.len()).eq(open.chars()))
                {
                    return true;
                }
            }
            _ => {}
        }
        at += 1;
    }
    false
}

/// Flags of `(?flags)`.
#[derive(Debug, Clone, Copy, Default)]
struct Flags {
    ignore_case: bool,
    multi_line: bool,
    dot_all: bool,
    verbose: bool,
}

type Parsing<T> = Result<T, LanguageError>;

struct Parser {
    characters: Vec<char>,
    at: usize,
    depth: usize,
    max_depth: usize,
    flags: Flags,
    dialect: Dialect,
    /// Whether `\d`, `\w` and `\s` are those of Unicode.
    is_unicode: bool,
    /// Whether there is look-around.
    looks: bool,
    sets: Vec<Chars>,
}

impl Parser {
    fn peek(&self) -> Option<char> {
        self.characters.get(self.at).copied()
    }

    fn peek_at(&self, ahead: usize) -> Option<char> {
        self.characters.get(self.at + ahead).copied()
    }

    fn bump(&mut self) -> Parsing<char> {
        let next = self.peek().ok_or_else(|| self.syntax())?;
        self.at += 1;
        Ok(next)
    }

    fn eat(&mut self, text: &str) -> bool {
        let mut at = self.at;
        for character in text.chars() {
            if self.characters.get(at) != Some(&character) {
                return false;
            }
            at += 1;
        }
        self.at = at;
        true
    }

    fn run(&mut self, wanted: impl Fn(char) -> bool) -> String {
        let start = self.at;
        while self.peek().is_some_and(&wanted) {
            self.at += 1;
        }
        self.characters[start..self.at].iter().collect()
    }

    fn syntax(&self) -> LanguageError {
        LanguageError::Syntax { at: self.at }
    }

    fn unsupported(&self, what: &'static str) -> LanguageError {
        LanguageError::Unsupported { at: self.at, what }
    }

    /// White space and comments of verbose mode.
    fn skip(&mut self) {
        while self.flags.verbose {
            self.run(char::is_whitespace);
            if !self.eat("#") {
                return;
            }
            self.run(|character| character != '\n');
        }
    }

    fn set(&mut self, set: Chars) -> Expr {
        let set = if self.flags.ignore_case { case::fold(&set) } else { set };
        Expr::Set(self.intern(set))
    }

    fn intern(&mut self, set: Chars) -> usize {
        self.sets.iter().position(|known| *known == set).unwrap_or_else(|| {
            self.sets.push(set);
            self.sets.len() - 1
        })
    }

    /// Alternatives up to a closing parenthesis or the end.
    fn alternatives(&mut self) -> Parsing<Expr> {
        if self.depth > self.max_depth {
            return Err(LanguageError::TooLarge);
        }
        let flags = self.flags;
        let mut alternatives = Vec::new();
        loop {
            alternatives.push(self.sequence()?);
            if !self.eat("|") {
                break;
            }
        }
        self.flags = flags;
        Ok(Expr::alt(alternatives))
    }

    fn sequence(&mut self) -> Parsing<Expr> {
        let mut parts = Vec::new();
        loop {
            self.skip();
            let atom = match self.peek() {
                None | Some('|' | ')') => return Ok(Expr::concat(parts)),
                Some('*' | '+' | '?') => return Err(self.syntax()),
                _ => self.atom()?,
            };
            let Some(atom) = atom else { continue };
            let atom = self.quantified(atom)?;
            parts.push(atom);
        }
    }

    /// One item, or nothing if it only sets flags.
    fn atom(&mut self) -> Parsing<Option<Expr>> {
        Ok(Some(match self.bump()? {
            '(' => return self.group(),
            '[' => {
                let set = self.class()?;
                Expr::Set(self.intern(set))
            }
            '\\' => self.escape()?,
            '.' => {
                let set = if self.flags.dot_all { Chars::all() } else { Chars::one('\n').not() };
                Expr::Set(self.intern(set))
            }
            '^' => self.line_start(),
            '$' => self.line_end(),
            character => self.set(Chars::one(character)),
        }))
    }

    fn line_start(&mut self) -> Expr {
        if !self.flags.multi_line {
            return Expr::Start;
        }
        let line_end = Expr::Set(self.intern(Chars::one('\n')));
        Expr::Alt(vec![Expr::Start, Expr::look(true, false, line_end)])
    }

    fn line_end(&mut self) -> Expr {
        if !self.flags.multi_line {
            return Expr::End;
        }
        let line_end = Expr::Set(self.intern(Chars::one('\n')));
        Expr::Alt(vec![Expr::End, Expr::look(false, false, line_end)])
    }

    fn quantified(&mut self, mut expr: Expr) -> Parsing<Expr> {
        loop {
            self.skip();
            let (min, max) = match self.peek() {
                Some('*') => (0, None),
                Some('+') => (1, None),
                Some('?') => (0, Some(1)),
                Some('{') => match self.bounds()? {
                    Some(bounds) => bounds,
                    None => return Ok(expr),
                },
                _ => return Ok(expr),
            };
            self.at += 1;
            self.skip();
            // Crate `fancy-regex`, which applies patterns, knows quantifiers that give nothing back.
            if !self.eat("?") && self.dialect == Dialect::Pattern && self.peek() == Some('+') {
                return Err(self.unsupported("possessive quantifiers"));
            }
            expr = Expr::Repeat { inner: Box::new(expr), min, max };
            // It takes the counts of a quantifier of a quantifier for text.
            if self.dialect == Dialect::Pattern && self.peek() == Some('{') {
                return Ok(expr);
            }
        }
    }

    /// `{n}`, `{n,}` or `{n,m}` up to its brace, or nothing if the opening brace is only text.
    fn bounds(&mut self) -> Parsing<Option<(u32, Option<u32>)>> {
        let start = self.at;
        self.at += 1;
        let mut number = || {
            self.run(char::is_whitespace);
            let digits = self.run(|character| character.is_ascii_digit());
            self.run(char::is_whitespace);
            digits
        };
        let low = number();
        let has_comma = self.eat(",");
        let high = if has_comma {
            self.run(char::is_whitespace);
            let digits = self.run(|character| character.is_ascii_digit());
            self.run(char::is_whitespace);
            digits
        } else {
            low.clone()
        };
        if self.peek() != Some('}') || low.is_empty() {
            // The atom that comes next reads the brace as text.
            self.at = start;
            return Ok(None);
        }
        let value = |digits: &str| digits.parse::<u32>().map_err(|_| LanguageError::TooLarge);
        let low = value(&low)?;
        let high = if high.is_empty() { None } else { Some(value(&high)?) };
        if high.is_some_and(|high| high < low) {
            return Err(self.syntax());
        }
        Ok(Some((low, high)))
    }

    /// The rest of a group.
    fn group(&mut self) -> Parsing<Option<Expr>> {
        let flags = self.flags;
        let mut look = None;
        for (open, is_behind, is_negative) in
            [("?=", false, false), ("?!", false, true), ("?<=", true, false), ("?<!", true, true)]
        {
            if look.is_none() && self.eat(open) {
                look = Some((is_behind, is_negative));
            }
        }
        if look.is_none() && self.eat("?") {
            if self.eat("P<") || self.eat("<") {
                let name = self.run(|character| character != '>');
                if name.is_empty() || !self.eat(">") {
                    return Err(self.syntax());
                }
            } else if matches!(self.peek(), Some('>' | '(' | 'P' | '|' | '#' | '&' | 'R' | '0'..='9')) {
                return Err(self.unsupported("groups of this kind"));
            } else if !self.set_flags()? {
                return Ok(None);
            }
        }
        self.depth += 1;
        let inner = self.alternatives()?;
        self.depth -= 1;
        self.flags = flags;
        if !self.eat(")") {
            return Err(self.syntax());
        }
        Ok(Some(match look {
            Some((is_behind, is_negative)) => Expr::look(is_behind, is_negative, inner),
            None => inner,
        }))
    }

    /// The rest of `(?flags:` or `(?flags)`; whether a group begins. Flags without a group hold to the end of the
    /// group around them.
    fn set_flags(&mut self) -> Parsing<bool> {
        let mut is_on = true;
        loop {
            let flag = self.bump()?;
            match flag {
                ':' => return Ok(true),
                ')' => return Ok(false),
                '-' if is_on => is_on = false,
                'i' => self.flags.ignore_case = is_on,
                'm' => self.flags.multi_line = is_on,
                's' => self.flags.dot_all = is_on,
                'x' => self.flags.verbose = is_on,
                // Which quantifiers are greedy does not matter, and Unicode mode is always on.
                'U' => {}
                'u' if is_on => {}
                'u' | 'R' => return Err(self.unsupported("some flags")),
                _ => return Err(self.syntax()),
            }
        }
    }

    /// The rest of an escape outside of classes.
    fn escape(&mut self) -> Parsing<Expr> {
        let letter = self.bump()?;
        Ok(match letter {
            'd' | 'D' | 's' | 'S' | 'w' | 'W' => {
                let set = self.perl(letter);
                Expr::Set(self.intern(set))
            }
            'p' | 'P' => {
                let set = self.property(letter == 'P')?;
                Expr::Set(self.intern(set))
            }
            'b' if self.eat("{start}") => self.word_edge(true),
            'b' if self.eat("{end}") => self.word_edge(false),
            'b' if self.eat("{start-half}") => self.word(true, true),
            'b' if self.eat("{end-half}") => self.word(false, true),
            'b' => Expr::Alt(vec![self.word_edge(true), self.word_edge(false)]),
            'B' => {
                let inside = vec![self.word(true, false), self.word(false, false)];
                let outside = vec![self.word(true, true), self.word(false, true)];
                Expr::Alt(vec![Expr::Concat(inside), Expr::Concat(outside)])
            }
            '<' => self.word_edge(true),
            '>' => self.word_edge(false),
            'A' => Expr::Start,
            'z' => Expr::End,
            'Z' if self.looks => {
                let line_ends = Expr::Set(self.intern(Chars::one('\n')));
                let line_ends = Expr::Repeat { inner: Box::new(line_ends), min: 0, max: None };
                Expr::look(false, false, Expr::Concat(vec![line_ends, Expr::End]))
            }
            '0' if !self.peek().is_some_and(|next| next.is_ascii_digit()) => self.set(Chars::one('\0')),
            '0'..='9' | 'k' => return Err(self.unsupported("references to groups")),
            'K' | 'G' | 'h' | 'H' | 'R' | 'O' | 'N' | 'Q' | 'X' => {
                return Err(self.unsupported("escapes of this kind"));
            }
            other => {
                let character = self.character(other)?;
                self.set(Chars::one(character))
            }
        })
    }

    /// The start or the end of a word.
    fn word_edge(&mut self, is_start: bool) -> Expr {
        Expr::Concat(vec![self.word(true, is_start), self.word(false, !is_start)])
    }

    /// Whether a character of a word stands before or after this place.
    fn word(&mut self, is_behind: bool, is_negative: bool) -> Expr {
        let word = Expr::Set(self.intern(sets::perl('w', true)));
        Expr::look(is_behind, is_negative, word)
    }

    /// The character of an escape that begins with `first`.
    fn character(&mut self, first: char) -> Parsing<char> {
        let code = match first {
            'n' => 0x0A,
            'r' => 0x0D,
            't' => 0x09,
            'f' => 0x0C,
            'v' => 0x0B,
            'a' => 0x07,
            'e' if self.looks => 0x1B,
            'c' => {
                let letter = self.bump()?;
                if !letter.is_ascii_alphabetic() {
                    return Err(self.syntax());
                }
                letter as u32 % 32
            }
            'x' => self.code(2)?,
            'u' => self.unicode()?,
            'U' => self.code(8)?,
            other if other.is_ascii_alphanumeric() => return Err(self.syntax()),
            other => return Ok(other),
        };
        char::from_u32(code).ok_or_else(|| self.syntax())
    }

    /// Digits in braces, or exactly `digits`.
    fn code(&mut self, digits: usize) -> Parsing<u32> {
        let text: String = if self.eat("{") {
            let text = self.run(|character| character.is_ascii_hexdigit());
            if !self.eat("}") {
                return Err(self.syntax());
            }
            text
        } else {
            let text: String = self.characters[self.at..].iter().take(digits).collect();
            self.at += text.chars().count();
            if text.chars().count() < digits {
                return Err(self.syntax());
            }
            text
        };
        u32::from_str_radix(&text, 16).map_err(|_| self.syntax())
    }

    /// The rest of `\u`: as above, or two halves of a surrogate pair.
    fn unicode(&mut self) -> Parsing<u32> {
        let lead = self.code(4)?;
        if !(0xD800..0xDC00).contains(&lead) || !self.eat("\\u") {
            return Ok(lead);
        }
        match self.code(4)? {
            trail @ 0xDC00..0xE000 => Ok(0x10000 + ((lead - 0xD800) << 10) + (trail - 0xDC00)),
            _ => Err(self.syntax()),
        }
    }

    /// The rest of `\p`: `{Name}` or one letter.
    fn property(&mut self, is_negative: bool) -> Parsing<Chars> {
        let name = if self.eat("{") {
            let name = self.run(|character| character != '}');
            if !self.eat("}") {
                return Err(self.syntax());
            }
            name
        } else {
            self.bump()?.to_string()
        };
        let set = sets::property(&name).ok_or_else(|| self.syntax())?;
        Ok(self.signed(set, is_negative))
    }

    /// The set of `\d`, `\w`, `\s` or their complements.
    fn perl(&self, letter: char) -> Chars {
        self.signed(sets::perl(letter.to_ascii_lowercase(), self.is_unicode), letter.is_ascii_uppercase())
    }

    /// A named set or its complement. Case is folded before that.
    fn signed(&self, set: Chars, is_negative: bool) -> Chars {
        let set = if self.flags.ignore_case { case::fold(&set) } else { set };
        if is_negative { set.not() } else { set }
    }
}

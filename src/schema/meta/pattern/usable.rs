//! What the official conversion's engines take.
//!
//! It hands a pattern to two parsers. The first knows neither lookaround nor references to groups; where it meets
//! one, the rest of the pattern is the second's alone, which is laxer. Whatever the first takes, the second reads as
//! well, and sometimes refuses. One parser stands for both here: it is strict up to the first lookaround or
//! reference.

use std::collections::HashSet;

use super::{MAX_NESTING, Reader, properties, size};

/// Whether `pattern` can be used.
pub(in crate::schema::meta) fn is_usable(pattern: &str) -> bool {
    let mut parser = Parser::new(pattern, true);
    let mut is_usable = parser.pattern().is_some();
    if is_usable && parser.is_lax {
        // The official conversion does not translate such a pattern, which makes it larger.
        is_usable = Parser::new(pattern, false).pattern().is_some();
    }
    is_usable
}

/// What stands before the current place.
#[derive(Clone, Copy, PartialEq)]
enum Before {
    /// The start of an alternative.
    Nothing,
    /// Something that matches nothing and cannot be repeated: flags, an empty group.
    Empty,
    Item,
    Lookaround,
    Quantifier,
}

#[derive(Clone, Copy, PartialEq)]
enum Kind {
    /// `(?:`: the group is no more than what it contains.
    Transparent,
    Opaque,
    Lookaround,
    Lookbehind,
}

struct Group {
    kind: Kind,
    is_empty: bool,
    /// The size of all but the last item. Lookaround and references split what is built: only what follows the last
    /// of them counts.
    size: u64,
    /// Whether there is one.
    is_split: bool,
}

struct Parser {
    reader: Reader,
    /// Whether the first lookaround or reference is behind us.
    is_lax: bool,
    /// Whether `\d`, `\s` and `\w` mean what ECMA-262 means by them.
    is_translated: bool,
    before: Before,
    /// The open groups, and the whole pattern.
    groups: Vec<Group>,
    /// How many of the open groups look behind. What has no fixed length there must not backtrack by itself.
    lookbehinds: usize,
    /// The size of the last item, which a quantifier multiplies.
    item: u64,
    captures: usize,
    names: HashSet<String>,
    /// The highest number of a group that is referred to.
    highest_reference: Option<usize>,
    references: Vec<String>,
    /// Whether `\a` stands outside of classes. The translation refuses that, but a lax pattern is not translated.
    has_bell: bool,
}

/// `None` is a syntax error.
type Parsed<T> = Option<T>;

impl Parser {
    fn new(pattern: &str, is_translated: bool) -> Self {
        Self {
            reader: Reader::new(pattern),
            is_lax: false,
            is_translated,
            before: Before::Nothing,
            groups: vec![Group { kind: Kind::Transparent, is_empty: true, size: 0, is_split: false }],
            lookbehinds: 0,
            item: 0,
            captures: 0,
            names: HashSet::new(),
            highest_reference: None,
            references: Vec::new(),
            has_bell: false,
        }
    }

    fn pattern(&mut self) -> Parsed<()> {
        while let Some(character) = self.reader.next() {
            self.before = match character {
                '(' if self.is_lax && self.reader.eat("?#") => {
                    self.reader.run(|character| character != ')');
                    self.reader.next()?;
                    continue;
                }
                '(' => self.open()?,
                ')' => self.close()?,
                '|' => {
                    if self.groups.last()?.is_split {
                        self.fits()?;
                        self.groups.last_mut()?.size = 0;
                    }
                    self.add(size::STEP);
                    self.groups.last_mut()?.is_empty = false;
                    Before::Nothing
                }
                '*' | '+' | '?' => self.quantifier(0, Some(1))?,
                '{' => self.counts()?,
                '[' => {
                    let size = self.class(0)?;
                    self.add(size)
                }
                '\\' => self.escape()?,
                '.' => self.add(size::CLASS + size::MOST),
                '^' | '$' => self.add(size::STEP),
                other => self.add(size::literal(other)),
            };
            if !matches!(self.before, Before::Nothing | Before::Empty) {
                self.groups.last_mut()?.is_empty = false;
            }
        }
        let by_number = self.highest_reference.is_none_or(|number| number <= self.captures);
        let by_name = self.references.iter().all(|name| self.names.contains(name));
        let translated = self.is_lax || !self.has_bell;
        self.fits()?;
        (self.groups.len() == 1 && by_number && by_name && translated).then_some(())
    }

    /// Whether what stands at the end of the current group is small enough to be built.
    fn fits(&mut self) -> Parsed<()> {
        self.add(0);
        (self.groups.last()?.size <= size::LIMIT).then_some(())
    }

    /// What was read last is a lookaround, a reference or something with one inside.
    fn split(&mut self) {
        self.item = 0;
        if let Some(group) = self.groups.last_mut() {
            group.size = 0;
            group.is_split = true;
        }
    }

    /// An item of `size` follows.
    fn add(&mut self, size: u64) -> Before {
        if let Some(group) = self.groups.last_mut() {
            group.size = group.size.saturating_add(self.item);
        }
        self.item = size;
        Before::Item
    }

    /// The rest of a quantifier for `low` to `high` copies.
    fn quantifier(&mut self, low: u32, high: Option<u32>) -> Parsed<Before> {
        if self.before != Before::Item {
            return None;
        }
        let step = if high.is_none_or(|high| high == low) { 0 } else { size::STEP };
        let copies = high.unwrap_or(low.saturating_add(1));
        self.item = self.item.saturating_add(step).saturating_mul(copies.into());
        self.reader.eat("?");
        if self.reader.eat("+") && self.lookbehinds > 0 {
            return None;
        }
        Some(Before::Quantifier)
    }

    /// `{`: a counted quantifier, or, where that makes no sense and the parser is lax, the character.
    fn counts(&mut self) -> Parsed<Before> {
        let start = self.reader.at;
        let Some((low, high)) = self.bounds() else {
            self.reader.at = start;
            return self.is_lax.then_some(Before::Item);
        };
        match self.before {
            Before::Nothing | Before::Quantifier if self.is_lax => {
                self.reader.at = start;
                Some(self.add(size::literal('{')))
            }
            // A quantifier of a quantifier is read by the first parser and taken for text by the second.
            Before::Quantifier => Some(Before::Item),
            Before::Item if self.is_lax || high.is_none_or(|high| low <= high) => self.quantifier(low, high),
            _ => None,
        }
    }

    /// `n}`, `n,}`, `n,m}` and, if lax, `,m}`.
    fn bounds(&mut self) -> Parsed<(u32, Option<u32>)> {
        let number = |reader: &mut Reader, is_lax: bool| {
            if !is_lax {
                reader.run(char::is_whitespace);
            }
            let digits = reader.run(|character| character.is_ascii_digit());
            if !is_lax {
                reader.run(char::is_whitespace);
            }
            digits
        };
        let low = number(&mut self.reader, self.is_lax);
        let has_comma = self.reader.eat(",");
        let high = if has_comma { number(&mut self.reader, self.is_lax) } else { low.clone() };
        if !self.reader.eat("}") || low.is_empty() && !(self.is_lax && has_comma) {
            return None;
        }
        let low = if low.is_empty() { 0 } else { low.parse().ok()? };
        Some((low, if high.is_empty() { None } else { Some(high.parse().ok()?) }))
    }

    fn open(&mut self) -> Parsed<Before> {
        if self.groups.len() >= MAX_NESTING {
            return None;
        }
        let kind = if self.reader.eat("?=") || self.reader.eat("?!") {
            self.is_lax = true;
            Kind::Lookaround
        } else if self.reader.eat("?<=") || self.reader.eat("?<!") {
            self.is_lax = true;
            self.lookbehinds += 1;
            Kind::Lookbehind
        } else if self.reader.eat("?P<") || self.reader.eat("?<") {
            self.name()?;
            Kind::Opaque
        } else if self.is_lax && self.reader.eat("?>") {
            Kind::Opaque
        } else if self.reader.eat("?") {
            if !self.flags()? {
                return Some(Before::Empty);
            }
            Kind::Transparent
        } else {
            self.captures += 1;
            Kind::Opaque
        };
        self.add(0);
        self.groups.push(Group { kind, is_empty: true, size: 0, is_split: false });
        Some(Before::Nothing)
    }

    /// The rest of `(?<name>`.
    fn name(&mut self) -> Parsed<()> {
        let name = self.reader.run(|character| character != '>');
        if !self.reader.eat(">") || name.is_empty() {
            return None;
        }
        if !self.is_lax {
            let is_name = name.chars().enumerate().all(|(index, character)| {
                character == '_'
                    || if index == 0 {
                        character.is_alphabetic()
                    } else {
                        character.is_alphanumeric() || matches!(character, '.' | '[' | ']')
                    }
            });
            if !is_name || self.names.contains(&name) {
                return None;
            }
        }
        self.captures += 1;
        self.names.insert(name);
        Some(())
    }

    /// The rest of `(?flags:` or `(?flags)`; whether a group begins.
    fn flags(&mut self) -> Parsed<bool> {
        let flags = self.reader.run(|character| !matches!(character, ':' | ')'));
        let opens = match self.reader.next()? {
            ':' => true,
            _ if flags.is_empty() => return None,
            _ => false,
        };
        let (on, off) = match flags.split_once('-') {
            Some((on, off)) => (on, Some(off)),
            None => (flags.as_str(), None),
        };
        if !on.chars().all(|flag| "imsUuRx".contains(flag)) {
            return None;
        }
        // Unicode mode cannot be switched off.
        if off.is_some_and(|off| {
            (off.is_empty() && !self.is_lax) || !off.chars().all(|flag| "imsURx".contains(flag))
        }) {
            return None;
        }
        let mut seen = HashSet::new();
        if !self.is_lax && !flags.chars().all(|flag| seen.insert(flag)) {
            return None;
        }
        Some(opens)
    }

    fn close(&mut self) -> Parsed<Before> {
        if self.groups.len() == 1 {
            return None;
        }
        self.add(size::CAPTURE);
        let is_lookaround = matches!(self.groups.last()?.kind, Kind::Lookaround | Kind::Lookbehind);
        let is_split = is_lookaround || self.groups.last()?.is_split;
        if is_split {
            self.fits()?;
        }
        let group = self.groups.pop()?;
        self.item = group.size;
        if is_split {
            self.split();
        }
        Some(match group.kind {
            Kind::Lookaround => Before::Lookaround,
            Kind::Lookbehind => {
                self.lookbehinds -= 1;
                Before::Lookaround
            }
            Kind::Transparent if group.is_empty => Before::Empty,
            Kind::Transparent | Kind::Opaque => Before::Item,
        })
    }

    /// An escape outside of classes.
    fn escape(&mut self) -> Parsed<Before> {
        let character = self.reader.next()?;
        match character {
            '0'..='9' => {
                self.is_lax = true;
                let digits = self.reader.run(|character| character.is_ascii_digit());
                let number = format!("{character}{digits}").parse().unwrap_or(usize::MAX);
                if number == 0 || self.lookbehinds > 0 {
                    return None;
                }
                self.highest_reference = self.highest_reference.max(Some(number));
                self.split();
                return Some(Before::Item);
            }
            'b' if self.reader.peek() == Some('{') => self.boundary()?,
            'B' if self.is_lax && self.reader.peek() == Some('{') && !self.is_counted() => return None,
            'b' | 'B' | 'A' | 'z' | '<' | '>' => {}
            'd' | 'D' | 's' | 'S' | 'w' | 'W' => {
                return Some(self.add(size::CLASS + size::set(character, self.is_translated)));
            }
            'p' | 'P' => {
                let size = self.property()?;
                return Some(self.add(size));
            }
            'R' if self.lookbehinds > 0 => return None,
            'Z' | 'h' | 'H' | 'R' | 'O' | 'N' if self.is_lax => {}
            'K' | 'G' if self.is_lax => return Some(Before::Lookaround),
            'k' if self.is_lax => {
                if !self.reader.eat("<") {
                    return None;
                }
                let name = self.reader.run(|character| character.is_alphanumeric() || character == '_');
                if !self.reader.eat(">") {
                    return None;
                }
                match name.parse() {
                    Ok(number) => self.highest_reference = self.highest_reference.max(Some(number)),
                    Err(_) => self.references.push(name),
                }
                self.split();
                return Some(Before::Item);
            }
            'a' => self.has_bell = true,
            other => {
                self.literal(other)?;
            }
        }
        Some(self.add(size::literal(character)))
    }

    /// Whether the brace that comes next begins a quantifier and not the name of a boundary.
    fn is_counted(&self) -> bool {
        match self.reader.peek_at(1) {
            Some(next) if self.is_lax => next.is_ascii_digit() || next == ',',
            Some(next) => !next.is_ascii_alphabetic() && next != '-',
            None => false,
        }
    }

    /// The rest of `\b{`: a special boundary, unless it is a quantifier.
    fn boundary(&mut self) -> Parsed<()> {
        if self.is_counted() {
            return Some(());
        }
        let names = ["{start}", "{end}", "{start-half}", "{end-half}"];
        names.iter().any(|name| self.reader.eat(name)).then_some(())
    }

    /// The code point of an escape of one character that begins with `first`.
    fn literal(&mut self, first: char) -> Parsed<u32> {
        match first {
            'f' => Some(0x0C),
            'n' => Some(0x0A),
            'r' => Some(0x0D),
            't' => Some(0x09),
            'v' => Some(0x0B),
            'e' if self.is_lax => Some(0x1B),
            'x' => self.code(2),
            'u' => self.code(4),
            'U' => self.code(8),
            'c' if !self.is_lax => {
                self.reader.next().filter(char::is_ascii_alphabetic).map(|letter| letter as u32 % 32)
            }
            other if other.is_ascii_alphanumeric() => None,
            other => (self.is_lax || other.is_ascii()).then_some(other as u32),
        }
    }

    /// The rest of `\x`, `\u` or `\U`: some digits, or digits in braces.
    fn code(&mut self, digits: usize) -> Parsed<u32> {
        let value = if self.reader.eat("{") {
            let start = self.reader.at;
            let value = self.reader.hex_in_braces()?;
            if self.reader.at - start > 9 {
                return None;
            }
            value
        } else {
            self.reader.hex(digits)?
        };
        char::from_u32(value).map(u32::from)
    }

    /// The size of the rest of `\p`: `{Name}` or one letter.
    fn property(&mut self) -> Parsed<u64> {
        let name = if self.reader.eat("{") {
            let name = self.reader.run(|character| character != '}');
            if !self.reader.eat("}") {
                return None;
            }
            name
        } else {
            self.reader.next()?.to_string()
        };
        properties::is_known(&name).then(|| size::property(&name))
    }

    /// The rest of a class that stands in `depth` others. In both parsers a bracket inside is text, because the
    /// official conversion escapes it. Returns the size.
    fn class(&mut self, depth: usize) -> Parsed<u64> {
        if depth > MAX_NESTING {
            return None;
        }
        let start = self.reader.at;
        let mut size = size::CLASS;
        if self.reader.eat("^") {
            size += size::MOST;
        }
        // A closing bracket in front is text for both parsers, though not for ECMA-262: the official conversion
        // takes it for the end and does not escape the brackets after it.
        let is_nesting = self.reader.eat("]");
        while !self.reader.eat("]") {
            if is_nesting && self.reader.eat("[") {
                size = size.saturating_add(self.class(depth + 1)?);
                continue;
            }
            let first = self.class_atom(&mut size)?;
            if self.reader.peek() != Some('-') || matches!(self.reader.peek_at(1), Some(']')) {
                continue;
            }
            if first.is_none() && self.reader.peek_at(1) == Some('-') {
                // `[\w--z]`: both hyphens are text.
                self.reader.eat("--");
                continue;
            }
            self.reader.next();
            let end = self.class_atom(&mut 0)?;
            if first? > end? {
                return None;
            }
        }
        // `[\s\S]` and the like.
        let text = &self.reader.characters[start..self.reader.at];
        let has = |letter: char| text.windows(2).any(|pair| pair == ['\\', letter]);
        let is_all = has('s') && has('S') || has('w') && has('W') || has('d') && has('D');
        Some(if is_all { size::CLASS + size::MOST } else { size })
    }

    /// The code point of one member of a class, or `None` inside for a set such as `\d`. Adds to the class's `size`.
    fn class_atom(&mut self, size: &mut u64) -> Parsed<Option<u32>> {
        let character = self.reader.next()?;
        let code = match character {
            '\\' => match self.reader.next()? {
                letter @ ('d' | 'D' | 's' | 'S' | 'w' | 'W') => {
                    *size = size.saturating_add(size::set(letter, self.is_translated));
                    return Some(None);
                }
                'p' | 'P' => {
                    *size = size.saturating_add(self.property()?);
                    return Some(None);
                }
                'h' | 'H' if self.is_lax => return Some(None),
                'a' => 0x07,
                'b' if self.is_lax => 0x08,
                '<' | '>' if !self.is_lax => return None,
                letter @ ('k' | 'A' | 'z' | 'B' | 'K' | 'G' | 'R') if self.is_lax => letter as u32,
                other => self.literal(other)?,
            },
            character => character as u32,
        };
        *size = size.saturating_add(if code < 128 { size::RANGE } else { size::WIDE_RANGE });
        Some(Some(code))
    }
}

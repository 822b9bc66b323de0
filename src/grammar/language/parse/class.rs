//! Classes: `[…]`.

use super::super::chars::Chars;
use super::{Dialect, Parser, Parsing, case, sets};

impl Parser {
    /// The rest of a class.
    pub(super) fn class(&mut self) -> Parsing<Chars> {
        self.depth += 1;
        if self.depth > self.max_depth {
            return Err(super::LanguageError::TooLarge);
        }
        let is_negative = self.eat("^");
        let start = self.at;
        // A closing bracket in front is text for crate `regex`. If that leaves the class open, the class is empty,
        // as in ECMA-262.
        let mut set = match self.members() {
            Err(_) if self.characters.get(start) == Some(&']') => {
                self.at = start + 1;
                Chars::default()
            }
            set => set?,
        };
        self.depth -= 1;
        if self.flags.ignore_case {
            set = case::fold(&set);
        }
        Ok(if is_negative { set.not() } else { set })
    }

    /// Members up to the closing bracket, with the set operations of crate `regex`.
    fn members(&mut self) -> Parsing<Chars> {
        let mut total: Option<(Chars, &str)> = None;
        let mut ranges: Vec<(u32, u32)> = Vec::new();
        let mut is_first = true;
        loop {
            if self.flags.verbose {
                self.run(char::is_whitespace);
            }
            if self.peek() == Some(']') && !is_first {
                self.at += 1;
                return Ok(combine(total, Chars::new(ranges)));
            }
            if self.dialect == Dialect::Whole
                && let Some(operator) = ["&&", "--", "~~"].into_iter().find(|operator| self.eat(operator))
            {
                total = Some((combine(total, Chars::new(std::mem::take(&mut ranges))), operator));
                is_first = false;
                continue;
            }
            is_first = false;
            self.member(&mut ranges)?;
        }
    }

    /// One member: a set, a character or a range of them.
    fn member(&mut self, ranges: &mut Vec<(u32, u32)>) -> Parsing<()> {
        let low = match self.class_atom()? {
            Ok(low) => low,
            Err(set) => {
                ranges.extend(set.ranges());
                return Ok(());
            }
        };
        let is_range = self.peek() == Some('-')
            && self.peek_at(1).is_some_and(|next| next != ']')
            && !(self.dialect == Dialect::Whole && self.peek_at(1) == Some('-'));
        if !is_range {
            ranges.push((low as u32, low as u32));
            return Ok(());
        }
        self.at += 1;
        match self.class_atom()? {
            Ok(high) if high < low => Err(self.syntax()),
            Ok(high) => {
                ranges.push((low as u32, high as u32));
                Ok(())
            }
            Err(_) => Err(self.syntax()),
        }
    }

    /// A character, or the set of something like `\d`.
    fn class_atom(&mut self) -> Parsing<Result<char, Chars>> {
        Ok(match self.bump()? {
            '[' if self.dialect == Dialect::Whole => Err(self.nested()?),
            '\\' => match self.bump()? {
                letter @ ('d' | 'D' | 's' | 'S' | 'w' | 'W') => Err(self.perl(letter)),
                letter @ ('p' | 'P') => Err(self.property(letter == 'P')?),
                'b' => Ok('\u{8}'),
                '0' => Ok('\0'),
                other => Ok(self.character(other)?),
            },
            character => Ok(character),
        })
    }

    /// A class inside of a class, or `[:name:]`.
    fn nested(&mut self) -> Parsing<Chars> {
        if self.eat(":") {
            let is_negative = self.eat("^");
            let name = self.run(|character| character.is_ascii_alphabetic());
            if !self.eat(":]") {
                return Err(self.syntax());
            }
            let set = sets::posix(&name);
            return Ok(if is_negative { set.not() } else { set });
        }
        self.class()
    }
}

fn combine(left: Option<(Chars, &str)>, right: Chars) -> Chars {
    match left {
        None => right,
        Some((left, "&&")) => left.and(&right),
        Some((left, "--")) => left.and(&right.not()),
        Some((left, _)) => left.or(&right).and(&left.and(&right).not()),
    }
}

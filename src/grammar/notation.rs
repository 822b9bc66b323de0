//! The notation of `grammars/*.gram`, as a tree. [`text`](super::text) documents it; here a rule's `a & b`, what both
//! take, is read too, which only languages have.

use crate::grammar::text::{TextError, TextFault};

/// How deep groups may nest.
const MAX_DEPTH: usize = 64;

/// A rule of a grammar.
pub(super) struct Rule<'s> {
    pub(super) name: &'s str,
    pub(super) line: usize,
    /// What all of which must take it: one expression, or several with `&` between them.
    pub(super) all: Vec<Node>,
}

/// An expression, and the line that it begins in.
pub(super) struct Node {
    pub(super) line: usize,
    pub(super) form: Form,
}

/// The forms of an expression.
pub(super) enum Form {
    /// `"text"`
    Text(String),
    /// `/expression/`
    Pattern(String),
    /// `<Role>`
    Role(String),
    /// `$name`
    Hole(String),
    /// `name`
    Rule(String),
    Sequence(Vec<Node>),
    Choice(Vec<Node>),
    Repeat {
        of: Box<Node>,
        min: u32,
        max: Option<u32>,
    },
}

/// Reads the rules of a grammar.
pub(super) fn rules(source: &str) -> Result<Vec<Rule<'_>>, TextError> {
    let mut rules: Vec<Rule<'_>> = Vec::new();
    for source in split(source)? {
        if rules.iter().any(|rule| rule.name == source.name) {
            return Err(TextError { line: source.line, fault: TextFault::Twice(source.name.to_owned()) });
        }
        let mut reader = Reader { rest: &source.body, line: source.line };
        let mut all = vec![reader.choice(0)?];
        while reader.eat('&') {
            all.push(reader.choice(0)?);
        }
        if !reader.rest.is_empty() {
            return Err(reader.fail(TextFault::Expected("the end of the rule")));
        }
        rules.push(Rule { name: source.name, line: source.line, all });
    }
    Ok(rules)
}

struct Source<'s> {
    name: &'s str,
    body: String,
    line: usize,
}

/// The rules of a text, without comments.
fn split(source: &str) -> Result<Vec<Source<'_>>, TextError> {
    let mut rules: Vec<Source<'_>> = Vec::new();
    for (at, line) in source.lines().enumerate() {
        let expected = |what| TextError { line: at + 1, fault: TextFault::Expected(what) };
        if line.trim().is_empty() || line.trim_start().starts_with('#') {
            continue;
        }
        if line.starts_with([' ', '\t']) {
            let rule = rules.last_mut().ok_or_else(|| expected("a rule"))?;
            rule.body.push('\n');
            rule.body.push_str(line);
            continue;
        }
        let (name, body) = line.split_once('=').ok_or_else(|| expected("="))?;
        let name = name.trim();
        if name.is_empty() || !name.bytes().all(is_name) {
            return Err(expected("a name"));
        }
        rules.push(Source { name, body: body.to_owned(), line: at + 1 });
    }
    Ok(rules)
}

const fn is_name(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || byte == b'-' || byte == b'_'
}

struct Reader<'r> {
    rest: &'r str,
    line: usize,
}

impl Reader<'_> {
    fn fail(&self, fault: TextFault) -> TextError {
        TextError { line: self.line, fault }
    }

    fn space(&mut self) {
        while let Some(first) = self.rest.chars().next() {
            match first {
                '\n' => self.line += 1,
                ' ' | '\t' => {}
                '#' => {
                    let end = self.rest.find('\n').unwrap_or(self.rest.len());
                    self.rest = &self.rest[end..];
                    continue;
                }
                _ => break,
            }
            self.rest = &self.rest[1..];
        }
    }

    fn eat(&mut self, wanted: char) -> bool {
        self.space();
        let rest = self.rest.strip_prefix(wanted);
        self.rest = rest.unwrap_or(self.rest);
        rest.is_some()
    }

    fn node(&self, form: Form) -> Node {
        Node { line: self.line, form }
    }

    fn choice(&mut self, depth: usize) -> Result<Node, TextError> {
        let mut parts = vec![self.sequence(depth)?];
        while self.eat('|') {
            parts.push(self.sequence(depth)?);
        }
        Ok(if parts.len() == 1 { parts.remove(0) } else { self.node(Form::Choice(parts)) })
    }

    fn sequence(&mut self, depth: usize) -> Result<Node, TextError> {
        let mut parts = Vec::new();
        loop {
            self.space();
            match self.rest.chars().next() {
                None | Some('|' | ')' | '&') => break,
                Some(_) => {
                    let part = self.part(depth)?;
                    parts.push(self.repeats(part)?);
                }
            }
        }
        Ok(if parts.len() == 1 { parts.remove(0) } else { self.node(Form::Sequence(parts)) })
    }

    fn part(&mut self, depth: usize) -> Result<Node, TextError> {
        if depth > MAX_DEPTH {
            return Err(self.fail(TextFault::TooDeep));
        }
        if self.eat('(') {
            let inside = self.choice(depth + 1)?;
            return if self.eat(')') { Ok(inside) } else { Err(self.fail(TextFault::Expected(")"))) };
        }
        let form = if self.eat('"') {
            Form::Text(self.quoted('"')?)
        } else if self.eat('/') {
            Form::Pattern(self.quoted('/')?)
        } else if self.eat('<') {
            let name = self.name();
            if !self.eat('>') {
                return Err(self.fail(TextFault::Expected(">")));
            }
            Form::Role(name)
        } else if self.eat('$') {
            Form::Hole(self.name())
        } else {
            let name = self.name();
            if name.is_empty() {
                return Err(self.fail(TextFault::Expected("an expression")));
            }
            Form::Rule(name)
        };
        Ok(self.node(form))
    }

    fn name(&mut self) -> String {
        let end = self.rest.bytes().position(|byte| !is_name(byte)).unwrap_or(self.rest.len());
        let (name, rest) = self.rest.split_at(end);
        self.rest = rest;
        name.to_owned()
    }

    /// What stands before the closing `quote`. In a regular expression, only the slash is an escape of ours.
    fn quoted(&mut self, quote: char) -> Result<String, TextError> {
        let mut text = String::new();
        let mut characters = self.rest.char_indices();
        while let Some((at, character)) = characters.next() {
            match character {
                _ if character == quote => {
                    self.rest = &self.rest[at + 1..];
                    return Ok(text);
                }
                '\n' => break,
                '\\' => {
                    let Some((_, escaped)) = characters.next() else { break };
                    match escaped {
                        '/' if quote == '/' => text.push('/'),
                        _ if quote == '/' => text.extend(['\\', escaped]),
                        'n' => text.push('\n'),
                        't' => text.push('\t'),
                        '"' | '\\' => text.push(escaped),
                        _ => return Err(self.fail(TextFault::Expected("an escape"))),
                    }
                }
                _ => text.push(character),
            }
        }
        Err(self.fail(TextFault::Expected("a closing quote")))
    }

    fn repeats(&mut self, of: Node) -> Result<Node, TextError> {
        let (min, max) = if self.eat('?') {
            (0, Some(1))
        } else if self.eat('*') {
            (0, None)
        } else if self.eat('+') {
            (1, None)
        } else if self.eat('{') {
            let min = self.number()?;
            let max = if !self.eat(',') {
                Some(min)
            } else if self.rest.starts_with('}') {
                None
            } else {
                Some(self.number()?)
            };
            if !self.eat('}') || max.is_some_and(|max| max < min) {
                return Err(self.fail(TextFault::Expected("}")));
            }
            (min, max)
        } else {
            return Ok(of);
        };
        Ok(self.node(Form::Repeat { of: Box::new(of), min, max }))
    }

    fn number(&mut self) -> Result<u32, TextError> {
        self.space();
        let end = self.rest.bytes().position(|byte| !byte.is_ascii_digit()).unwrap_or(self.rest.len());
        let (digits, rest) = self.rest.split_at(end);
        self.rest = rest;
        digits.parse().map_err(|_| self.fail(TextFault::Expected("a number")))
    }
}

//! Grammars as text, the form of `grammars/*.gram`.
//!
//! ```text
//! # A comment goes on to the end of the line.
//! answer = /[^{}]*/ block? | "no answer"
//! block  = <ThinkEnd> "{" $call+ "}"
//! ```
//!
//! A rule is `name = expression`. It begins at the start of a line; a line that begins with a blank goes on with the
//! rule above. The first rule is where texts begin. In an expression:
//!
//! | form | what it takes |
//! | --- | --- |
//! | `"text"` | the text; `\n`, `\t`, `\"` and `\\` are escapes |
//! | `/expression/` | a text that the regular expression matches whole; `\/` is a slash |
//! | `<Role>` | a special token, by the name of its [`Special`] |
//! | `name` | what the rule takes |
//! | `$name` | what the caller puts there |
//! | `a b` | one after the other |
//! | `a \| b` | one of them |
//! | `a?` `a*` `a+` `a{2,4}` `a{2,}` `a{2}` | so many of them |
//! | `( … )` | a group |

use std::collections::HashMap;
use std::fmt;

use crate::grammar::language::{Language, LanguageError, Limits};
use crate::grammar::rules::{Expr, Grammar, RuleId};
use crate::token::Special;

/// What is wrong with a grammar's text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TextError {
    /// The line, from 1.
    pub line: usize,
    /// What is wrong.
    pub fault: TextFault,
}

/// What is wrong in a [`TextError`].
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum TextFault {
    /// Something else was expected here.
    Expected(&'static str),
    /// No special token has this name.
    UnknownRole(String),
    /// No rule has this name.
    UnknownRule(String),
    /// The caller puts nothing there.
    UnknownHole(String),
    /// A second rule of this name.
    Twice(String),
    /// The regular expression is refused.
    Expression(LanguageError),
    /// Groups nest too deep.
    TooDeep,
}

impl fmt::Display for TextError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "line {}: ", self.line)?;
        match &self.fault {
            TextFault::Expected(what) => write!(f, "{what} expected"),
            TextFault::UnknownRole(name) => write!(f, "no special token is called {name}"),
            TextFault::UnknownRule(name) => write!(f, "no rule is called {name}"),
            TextFault::UnknownHole(name) => write!(f, "nothing is given for ${name}"),
            TextFault::Twice(name) => write!(f, "{name} is defined twice"),
            TextFault::Expression(error) => error.fmt(f),
            TextFault::TooDeep => f.write_str("groups nest too deep"),
        }
    }
}

impl std::error::Error for TextError {}

/// How deep groups may nest.
const MAX_DEPTH: usize = 64;

impl Grammar {
    /// Reads a grammar. `holes` says what stands for each `$name`.
    ///
    /// # Errors
    ///
    /// The first fault.
    pub fn parse(source: &str, holes: &HashMap<&str, Expr>, limits: &Limits) -> Result<Self, TextError> {
        let rules = split(source)?;
        let mut names = HashMap::new();
        for (id, rule) in rules.iter().enumerate() {
            if names.insert(rule.name, RuleId(id as u32)).is_some() {
                let fault = TextFault::Twice(rule.name.to_owned());
                return Err(TextError { line: rule.line, fault });
            }
        }
        let mut grammar = Self::default();
        for rule in &rules {
            let mut reader = Reader { rest: &rule.body, line: rule.line, names: &names, holes, limits };
            let expr = reader.choice(0)?;
            reader.space();
            if !reader.rest.is_empty() {
                return Err(reader.fail(TextFault::Expected("the end of the rule")));
            }
            grammar.rules.push(expr);
        }
        Ok(grammar)
    }
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
    names: &'r HashMap<&'r str, RuleId>,
    holes: &'r HashMap<&'r str, Expr>,
    limits: &'r Limits,
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

    fn choice(&mut self, depth: usize) -> Result<Expr, TextError> {
        let mut parts = vec![self.sequence(depth)?];
        while self.eat('|') {
            parts.push(self.sequence(depth)?);
        }
        Ok(if parts.len() == 1 { parts.remove(0) } else { Expr::Choice(parts) })
    }

    fn sequence(&mut self, depth: usize) -> Result<Expr, TextError> {
        let mut parts = Vec::new();
        loop {
            self.space();
            match self.rest.chars().next() {
                None | Some('|' | ')') => break,
                Some(_) => {
                    let part = self.part(depth)?;
                    parts.push(self.repeats(part)?);
                }
            }
        }
        Ok(if parts.len() == 1 { parts.remove(0) } else { Expr::Sequence(parts) })
    }

    fn part(&mut self, depth: usize) -> Result<Expr, TextError> {
        if depth > MAX_DEPTH {
            return Err(self.fail(TextFault::TooDeep));
        }
        if self.eat('(') {
            let inside = self.choice(depth + 1)?;
            return if self.eat(')') { Ok(inside) } else { Err(self.fail(TextFault::Expected(")"))) };
        }
        if self.eat('"') {
            return self.quoted('"').map(Expr::Text);
        }
        if self.eat('/') {
            let expression = self.quoted('/')?;
            let language = Language::whole(&expression, self.limits);
            return language.map(Expr::Word).map_err(|error| self.fail(TextFault::Expression(error)));
        }
        if self.eat('<') {
            let name = self.name();
            if !self.eat('>') {
                return Err(self.fail(TextFault::Expected(">")));
            }
            let role = Special::ALL.iter().find(|role| format!("{role:?}") == name);
            return role.map(|role| Expr::Special(*role)).ok_or(self.fail(TextFault::UnknownRole(name)));
        }
        if self.eat('$') {
            let name = self.name();
            return self.holes.get(&name[..]).cloned().ok_or(self.fail(TextFault::UnknownHole(name)));
        }
        let name = self.name();
        if name.is_empty() {
            return Err(self.fail(TextFault::Expected("an expression")));
        }
        self.names.get(&name[..]).map(|rule| Expr::Rule(*rule)).ok_or(self.fail(TextFault::UnknownRule(name)))
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

    fn repeats(&mut self, of: Expr) -> Result<Expr, TextError> {
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
        Ok(Expr::Repeat { of: Box::new(of), min, max })
    }

    fn number(&mut self) -> Result<u32, TextError> {
        self.space();
        let end = self.rest.bytes().position(|byte| !byte.is_ascii_digit()).unwrap_or(self.rest.len());
        let (digits, rest) = self.rest.split_at(end);
        self.rest = rest;
        digits.parse().map_err(|_| self.fail(TextFault::Expected("a number")))
    }
}

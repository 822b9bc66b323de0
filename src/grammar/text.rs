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
use crate::grammar::notation::{self, Form, Node};
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

impl Grammar {
    /// Reads a grammar. `holes` says what stands for each `$name`.
    ///
    /// # Errors
    ///
    /// The first fault.
    pub fn parse(source: &str, holes: &HashMap<&str, Expr>, limits: &Limits) -> Result<Self, TextError> {
        let rules = notation::rules(source)?;
        let names = (0..).zip(&rules).map(|(id, rule)| (rule.name, RuleId(id))).collect();
        let meaning = Meaning { names, holes, limits };
        let mut grammar = Self::default();
        for rule in &rules {
            let [expr] = &rule.all[..] else {
                let fault = TextFault::Expected("the end of the rule");
                return Err(TextError { line: rule.line, fault });
            };
            grammar.rules.push(meaning.of(expr)?);
        }
        Ok(grammar)
    }
}

/// What expressions stand for.
struct Meaning<'m> {
    names: HashMap<&'m str, RuleId>,
    holes: &'m HashMap<&'m str, Expr>,
    limits: &'m Limits,
}

impl Meaning<'_> {
    fn of(&self, node: &Node) -> Result<Expr, TextError> {
        let all = |parts: &[Node]| parts.iter().map(|part| self.of(part)).collect::<Result<Vec<_>, _>>();
        let found = match &node.form {
            Form::Text(text) => Ok(Expr::Text(text.clone())),
            Form::Pattern(pattern) => {
                Language::whole(pattern, self.limits).map(Expr::Word).map_err(TextFault::Expression)
            }
            Form::Role(name) => {
                let role = Special::ALL.iter().find(|role| format!("{role:?}") == *name);
                role.map(|role| Expr::Special(*role)).ok_or_else(|| TextFault::UnknownRole(name.clone()))
            }
            Form::Hole(name) => {
                self.holes.get(&name[..]).cloned().ok_or_else(|| TextFault::UnknownHole(name.clone()))
            }
            Form::Rule(name) => {
                let rule = self.names.get(&name[..]);
                rule.map(|rule| Expr::Rule(*rule)).ok_or_else(|| TextFault::UnknownRule(name.clone()))
            }
            Form::Sequence(parts) => return all(parts).map(Expr::Sequence),
            Form::Choice(parts) => return all(parts).map(Expr::Choice),
            Form::Repeat { of, min, max } => {
                return Ok(Expr::Repeat { of: Box::new(self.of(of)?), min: *min, max: *max });
            }
        };
        found.map_err(|fault| TextError { line: node.line, fault })
    }
}

//! The formats of JSON Schema, from `grammars/formats.gram`.

use std::collections::HashMap;
use std::sync::{Mutex, OnceLock};

use super::chars::Chars;
use super::expr::{Expr, Parsed};
use super::nfa::{self, Match};
use super::parse::{self, Dialect};
use super::{Language, Limits};
use crate::grammar::notation::{self, Form, Node, Rule};

const GRAMMAR: &str = include_str!("../../../grammars/formats.gram");

/// The formats of drafts 7 and 2020-12.
const NAMES: &[&str] = &[
    "date",
    "date-time",
    "duration",
    "email",
    "hostname",
    "idn-email",
    "idn-hostname",
    "ipv4",
    "ipv6",
    "iri",
    "iri-reference",
    "json-pointer",
    "regex",
    "relative-json-pointer",
    "time",
    "uri",
    "uri-reference",
    "uri-template",
    "uuid",
];

impl Language {
    /// The texts of a format of JSON Schema, of draft 7 or 2020-12, or `None` if there is no such format. Each is
    /// built once in a process. All these texts have the format; `grammars/formats.gram` says which others have.
    #[must_use]
    pub fn format(name: &str) -> Option<Self> {
        static BUILT: OnceLock<Mutex<HashMap<&'static str, Language>>> = OnceLock::new();
        let name = NAMES.iter().find(|known| **known == name)?;
        let mut built =
            BUILT.get_or_init(Mutex::default).lock().unwrap_or_else(std::sync::PoisonError::into_inner);
        if let Some(language) = built.get(name) {
            return Some(language.clone());
        }
        let language = Rules::new(GRAMMAR)?.language(name)?;
        built.insert(name, language.clone());
        Some(language)
    }
}

/// The rules by name.
struct Rules<'g> {
    rules: HashMap<&'g str, Rule<'g>>,
    limits: Limits,
}

impl<'g> Rules<'g> {
    fn new(grammar: &'g str) -> Option<Self> {
        let rules = notation::rules(grammar).ok()?;
        Some(Self {
            rules: rules.into_iter().map(|rule| (rule.name, rule)).collect(),
            limits: Limits {
                max_states: 50_000,
                max_positions: 20_000,
                max_cells: 1 << 22,
                ..Limits::default()
            },
        })
    }

    /// The language of a rule.
    fn language(&self, name: &str) -> Option<Language> {
        let mut language: Option<Language> = None;
        for node in &self.rules.get(name)?.all {
            let mut meaning = Meaning { rules: self, sets: Vec::new(), depth: 0 };
            let expr = meaning.of(node)?;
            let parsed = Parsed { expr, sets: meaning.sets };
            let next = nfa::language(parsed, Match::Whole, &self.limits, &mut 0).ok()?;
            language = Some(match language {
                Some(language) => language.and(&next, &self.limits).ok()?,
                None => next,
            });
        }
        language
    }
}

/// Rules refer to rules at most so deep.
const MAX_DEPTH: usize = 32;

/// What expressions stand for.
struct Meaning<'r> {
    rules: &'r Rules<'r>,
    /// The sets of all expressions so far.
    sets: Vec<Chars>,
    depth: usize,
}

impl Meaning<'_> {
    fn of(&mut self, node: &Node) -> Option<Expr> {
        Some(match &node.form {
            Form::Text(text) => {
                let escape = |character| format!("\\u{{{:x}}}", u32::from(character));
                self.expression(&text.chars().map(escape).collect::<String>())?
            }
            Form::Pattern(pattern) => self.expression(pattern)?,
            Form::Rule(name) => {
                let [node] = &self.rules.rules.get(&name[..])?.all[..] else { return None };
                if self.depth > MAX_DEPTH {
                    return None;
                }
                self.depth += 1;
                let expr = self.of(node)?;
                self.depth -= 1;
                expr
            }
            Form::Sequence(parts) => Expr::concat(self.all(parts)?),
            Form::Choice(parts) => Expr::alt(self.all(parts)?),
            Form::Repeat { of, min, max } => {
                Expr::Repeat { inner: Box::new(self.of(of)?), min: *min, max: *max }
            }
            Form::Role(_) | Form::Hole(_) => return None,
        })
    }

    fn all(&mut self, parts: &[Node]) -> Option<Vec<Expr>> {
        parts.iter().map(|part| self.of(part)).collect()
    }

    fn expression(&mut self, pattern: &str) -> Option<Expr> {
        let sets = std::mem::take(&mut self.sets);
        let parsed = parse::with_sets(pattern, Dialect::Whole, &self.rules.limits, sets).ok()?;
        self.sets = parsed.sets;
        Some(parsed.expr)
    }
}

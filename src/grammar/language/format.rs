//! The formats of JSON Schema, from `grammars/formats.gram`.

use std::collections::HashMap;
use std::sync::{Mutex, OnceLock};

use super::chars::Chars;
use super::expr::{Expr, Parsed};
use super::nfa::{self, Match};
use super::parse::{self, Dialect};
use super::{Language, Limits};

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

/// The names of rules and what they say, as text.
struct Rules<'g> {
    bodies: HashMap<&'g str, String>,
    limits: Limits,
}

impl<'g> Rules<'g> {
    fn new(grammar: &'g str) -> Option<Self> {
        let mut bodies: HashMap<&str, String> = HashMap::new();
        let mut last = "";
        for line in grammar.lines().filter(|line| !line.trim().is_empty() && !line.starts_with('#')) {
            if line.starts_with(' ') {
                bodies.get_mut(last)?.push_str(line);
                continue;
            }
            let (name, body) = line.split_once('=')?;
            last = name.trim();
            bodies.insert(last, body.to_owned());
        }
        Some(Self {
            bodies,
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
        let mut reader = Reader { rules: self, rest: self.bodies.get(name)?, sets: Vec::new(), depth: 0 };
        let mut language: Option<Language> = None;
        loop {
            let expr = reader.choice()?;
            let parsed = Parsed { expr, sets: reader.sets.clone() };
            let next = nfa::language(parsed, Match::Whole, &self.limits).ok()?;
            language = Some(match language {
                Some(language) => language.and(&next, &self.limits).ok()?,
                None => next,
            });
            if !reader.eat('&') {
                return reader.rest.is_empty().then_some(language).flatten();
            }
        }
    }
}

/// Rules refer to rules at most so deep.
const MAX_DEPTH: usize = 32;

struct Reader<'r> {
    rules: &'r Rules<'r>,
    rest: &'r str,
    /// The sets of all expressions so far.
    sets: Vec<Chars>,
    depth: usize,
}

impl<'r> Reader<'r> {
    fn eat(&mut self, wanted: char) -> bool {
        self.rest = self.rest.trim_start();
        let rest = self.rest.strip_prefix(wanted);
        self.rest = rest.unwrap_or(self.rest);
        rest.is_some()
    }

    fn choice(&mut self) -> Option<Expr> {
        let mut parts = vec![self.sequence()?];
        while self.eat('|') {
            parts.push(self.sequence()?);
        }
        Some(Expr::alt(parts))
    }

    fn sequence(&mut self) -> Option<Expr> {
        let mut parts = Vec::new();
        loop {
            self.rest = self.rest.trim_start();
            if self.rest.is_empty() || self.rest.starts_with(['|', ')', '&']) {
                return Some(Expr::concat(parts));
            }
            let item = self.item()?;
            parts.push(self.repeated(item)?);
        }
    }

    fn item(&mut self) -> Option<Expr> {
        if self.eat('(') {
            let inside = self.choice()?;
            return self.eat(')').then_some(inside);
        }
        if self.eat('"') {
            let (text, rest) = self.rest.split_once('"')?;
            self.rest = rest;
            let pattern: String =
                text.chars().map(|character| format!("\\u{{{:x}}}", character as u32)).collect();
            return self.expression(&pattern);
        }
        if self.eat('/') {
            let mut is_escaped = false;
            let end = self.rest.char_indices().find(|&(_, character)| {
                let is_end = character == '/' && !is_escaped;
                is_escaped = character == '\\' && !is_escaped;
                is_end
            })?;
            let pattern = &self.rest[..end.0];
            self.rest = &self.rest[end.0 + 1..];
            return self.expression(pattern);
        }
        let is_name = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'-';
        let end = self.rest.bytes().position(|byte| !is_name(byte)).unwrap_or(self.rest.len());
        let (name, rest) = self.rest.split_at(end);
        let body = self.rules.bodies.get(name)?;
        if self.depth > MAX_DEPTH {
            return None;
        }
        self.rest = body;
        self.depth += 1;
        let expr = self.choice()?;
        self.depth -= 1;
        if !self.rest.is_empty() {
            return None;
        }
        self.rest = rest;
        Some(expr)
    }

    fn expression(&mut self, pattern: &str) -> Option<Expr> {
        let sets = std::mem::take(&mut self.sets);
        let parsed = parse::with_sets(pattern, Dialect::Whole, &self.rules.limits, sets).ok()?;
        self.sets = parsed.sets;
        Some(parsed.expr)
    }

    fn repeated(&mut self, inner: Expr) -> Option<Expr> {
        let (min, max) = match self.rest.chars().next() {
            Some('?') => (0, Some(1)),
            Some('*') => (0, None),
            Some('+') => (1, None),
            Some('{') => {
                let (bounds, rest) = self.rest[1..].split_once('}')?;
                let (low, high) = bounds.split_once(',').unwrap_or((bounds, bounds));
                let max = if high.is_empty() { None } else { Some(high.parse().ok()?) };
                self.rest = rest;
                return Some(Expr::Repeat { inner: Box::new(inner), min: low.parse().ok()?, max });
            }
            _ => return Some(inner),
        };
        self.rest = &self.rest[1..];
        Some(Expr::Repeat { inner: Box::new(inner), min, max })
    }
}

//! Patterns and formats as languages, against what crate `jsonschema` says of texts.

use std::collections::BTreeMap;

use deepseek_codec::grammar::language::{Language, LanguageError, Limits};
use jsonschema::Validator;
use serde_json::{Value, json};

use crate::dice::Dice;
use crate::patterns;

/// Formats whose grammar leaves nothing out.
const EXACT: [&str; 11] = [
    "duration",
    "ipv4",
    "ipv6",
    "iri",
    "iri-reference",
    "json-pointer",
    "relative-json-pointer",
    "uri",
    "uri-reference",
    "uri-template",
    "uuid",
];
/// Formats of which some texts are left out. In dates and times that are only those in which the crate takes other
/// characters for digits, and rare leap seconds.
const PARTIAL: [&str; 6] = ["date", "date-time", "email", "hostname", "regex", "time"];

/// What was compared, and what differed.
#[derive(Default)]
pub struct Totals {
    compared: usize,
    wrong: usize,
    unsupported: BTreeMap<String, usize>,
}

impl Totals {
    /// Prints the totals; whether nothing was wrong.
    pub fn print(&self) -> bool {
        println!("{} texts compared, {} verdicts differ", self.compared, self.wrong);
        for (reason, count) in &self.unsupported {
            println!("  {count} patterns: {reason}");
        }
        self.wrong == 0
    }

    fn compare(&mut self, what: &str, text: &str, ours: bool, theirs: bool) {
        self.compared += 1;
        if ours != theirs {
            self.wrong += 1;
            if self.wrong <= 40 {
                println!("{what} on {text:?}: here {ours}, there {theirs}");
            }
        }
    }

    /// Compares one random pattern on random texts and on walks through its language.
    pub fn pattern(&mut self, dice: &mut Dice) {
        let pattern = patterns::pattern(dice);
        let schema = json!({"pattern": pattern});
        let built = std::panic::catch_unwind(|| jsonschema::options().build(&schema).ok());
        let Ok(Some(validator)) = built else { return };
        let language = match Language::pattern(&pattern, &Limits::default()) {
            Ok(language) => language,
            Err(LanguageError::Syntax { at }) => {
                self.wrong += 1;
                println!("{pattern:?}: a syntax error here at {at}");
                return;
            }
            Err(LanguageError::Unsupported { what, .. }) => {
                *self.unsupported.entry(what.to_owned()).or_default() += 1;
                return;
            }
            Err(LanguageError::TooLarge) => {
                *self.unsupported.entry("too large".to_owned()).or_default() += 1;
                return;
            }
        };
        for _ in 0..12 {
            let text = if dice.once_in(2) { walk(&language, dice) } else { patterns::text(dice) };
            let text = if dice.once_in(3) { mutated(&text, dice) } else { text };
            let theirs = validator.is_valid(&Value::String(text.clone()));
            self.compare(&pattern, &text, language.contains(&text), theirs);
        }
    }

    /// Compares every format on walks and on texts close to them.
    pub fn formats(&mut self, count: usize, dice: &mut Dice) {
        for (name, is_exact) in EXACT.iter().map(|n| (*n, true)).chain(PARTIAL.iter().map(|n| (*n, false))) {
            let language = Language::format(name).expect("a format");
            let validator = validator(&json!({"format": name}));
            for _ in 0..count {
                let text = walk(&language, dice);
                let near = mutated(&text, dice);
                for text in [text, near] {
                    let (ours, theirs) =
                        (language.contains(&text), validator.is_valid(&Value::String(text.clone())));
                    if is_exact || ours {
                        self.compare(name, &text, ours, theirs);
                    }
                }
            }
        }
    }
}

fn validator(schema: &Value) -> Validator {
    let options = jsonschema::options().with_draft(jsonschema::Draft::Draft202012);
    options.should_validate_formats(true).build(schema).expect("a schema of one format")
}

/// A random text of a language, or the empty text if there is none.
fn walk(language: &Language, dice: &mut Dice) -> String {
    let mut bytes = Vec::new();
    let (mut state, mut chars) = (language.start(), 0u32);
    let wanted = dice.below(50) as u32;
    while state != Language::DEAD {
        let is_long_enough = chars >= language.min_chars();
        if language.is_accepting(state) && is_long_enough && (chars >= wanted || dice.once_in(30)) {
            break;
        }
        let is_alive = |byte: u8| {
            let chars = chars + u32::from(byte & 0xC0 != 0x80);
            let next = language.next(state, byte);
            next != Language::DEAD
                && language.max_chars().is_none_or(|max| chars + language.distance(next) <= max)
        };
        let ways: Vec<u8> = (0..=255).filter(|byte| is_alive(*byte)).collect();
        // Late in the text only what comes closer to an end.
        let goes_home = |byte: &u8| {
            language.distance(language.next(state, *byte)) + u32::from(byte & 0xC0 != 0x80)
                <= language.distance(state)
        };
        let home: Vec<u8> = ways.iter().copied().filter(goes_home).collect();
        let ways = if chars >= wanted && !home.is_empty() { home } else { ways };
        if ways.is_empty() || bytes.len() > 20_000 {
            break;
        }
        let byte = *dice.pick(&ways);
        chars += u32::from(byte & 0xC0 != 0x80);
        state = language.next(state, byte);
        bytes.push(byte);
    }
    String::from_utf8(bytes).unwrap_or_default()
}

/// The text with one or two characters put in, left out or replaced.
fn mutated(text: &str, dice: &mut Dice) -> String {
    const NEAR: &str = "0123456789abcxyzABCXYZ-_.:/@#?%+~'\"<>[]{}()TZ*\\ \n\u{85}é١日😀";
    let near: Vec<char> = NEAR.chars().collect();
    let mut characters: Vec<char> = text.chars().collect();
    for _ in 0..1 + dice.below(2) {
        let at = dice.below(characters.len());
        match dice.below(3) {
            0 if !characters.is_empty() => {
                characters.remove(at);
            }
            1 if !characters.is_empty() => characters[at] = *dice.pick(&near),
            _ => characters.insert(at, *dice.pick(&near)),
        }
    }
    characters.into_iter().collect()
}

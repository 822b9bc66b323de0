//! Generated outputs of a model, through the reference's stream writers and this project's.
//!
//! A case is a request, what the model answers and how that arrives. Both sides must send the same events and
//! keep the same response, but for where deltas are cut and for ids that are left to chance.

pub mod arrival;
pub mod events;
pub mod explain;
pub mod export;
pub mod generate;
pub mod markup;
pub mod reference;
pub mod repair;
pub mod run;
pub mod speed;
pub mod subject;

use deepseek_codec::output::Finish;
use deepseek_codec::protocol::Api;
use deepseek_codec::token::Special;
use serde_json::Value;

/// A stretch of an output.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Unit {
    Text(String),
    Special(Special),
}

impl Unit {
    pub fn spelling(&self) -> &str {
        match self {
            Self::Text(text) => text,
            Self::Special(special) => special.spelling(),
        }
    }
}

/// How an output arrives.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Arrival {
    /// As text without token borders.
    Text,
    /// As ids.
    Tokens,
}

/// Everything that a stream depends on.
#[derive(Debug, Clone)]
pub struct Input {
    pub api: Api,
    pub request: Value,
    pub output: Vec<Unit>,
    pub arrival: Arrival,
    /// Decides where the output is cut.
    pub cuts: u64,
    pub finish: Finish,
}

impl Input {
    /// The output as text, special tokens spelled.
    pub fn text(&self) -> String {
        self.output.iter().map(Unit::spelling).collect()
    }

    /// The first `length` bytes of the output.
    pub fn prefix(&self, length: usize) -> Self {
        let mut left = length;
        let mut output = Vec::new();
        for unit in &self.output {
            let spelling = unit.spelling();
            if spelling.len() > left {
                if let Unit::Text(text) = unit {
                    let end = (0..=left).rev().find(|&at| text.is_char_boundary(at)).unwrap_or(0);
                    output.push(Unit::Text(text[..end].to_owned()));
                }
                break;
            }
            left -= spelling.len();
            output.push(unit.clone());
        }
        Self { output, ..self.clone() }
    }
}

/// The text's units: spellings of special tokens are found from the left.
pub fn units(text: &str) -> Vec<Unit> {
    let mut units = Vec::new();
    let mut from = 0;
    let mut at = 0;
    while at < text.len() {
        let rest = &text[at..];
        if let Some(&special) = Special::ALL.iter().find(|special| rest.starts_with(special.spelling())) {
            if from < at {
                units.push(Unit::Text(text[from..at].to_owned()));
            }
            units.push(Unit::Special(special));
            at += special.spelling().len();
            from = at;
        } else {
            at += rest.chars().next().map_or(1, char::len_utf8);
        }
    }
    if from < text.len() {
        units.push(Unit::Text(text[from..].to_owned()));
    }
    units
}

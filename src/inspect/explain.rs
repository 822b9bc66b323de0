//! What each part of a request costs.

use crate::json::Json;
use crate::prompt::{Position, Source};

use super::View;
use super::parts::{label, placed_ids, summary};

/// What each part of a request became.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Explanation {
    /// Tokens of the prompt.
    pub tokens: usize,
    /// Bytes of the prompt, special tokens spelled.
    pub bytes: usize,
    /// How many special tokens the prompt has.
    pub specials: usize,
    /// How many images the prompt has places for.
    pub images: usize,
    /// The parts in the order of the prompt. Some are empty.
    pub parts: Vec<PromptPart>,
}

/// A stretch of a prompt that has one source.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PromptPart {
    /// Where it comes from.
    pub source: Source,
    /// What it is called.
    pub label: String,
    /// Its bytes, special tokens spelled.
    pub bytes: usize,
    /// The tokens that begin in it.
    pub tokens: usize,
    /// The beginning of what it says.
    pub summary: String,
}

impl Explanation {
    /// Explains a request. Takes as long as encoding it.
    #[must_use]
    pub fn of(view: View<'_>) -> Self {
        let View { lowered, prompt, .. } = view;
        let parts = parts(view);
        Self {
            tokens: parts.iter().map(|part| part.tokens).sum(),
            bytes: prompt.display_len(),
            specials: prompt.specials().len(),
            images: lowered.profile.images(&lowered.conversation).len(),
            parts,
        }
    }

    /// The explanation as JSON.
    #[must_use]
    pub fn json(&self) -> Json {
        let number = |number: usize| Json::from(number as u64);
        let parts = self.parts.iter().map(|part| {
            let message = match part.source {
                Source::Message(index) => number(index),
                _ => Json::Null,
            };
            Json::from([
                ("label", part.label.as_str().into()),
                ("message", message),
                ("bytes", number(part.bytes)),
                ("tokens", number(part.tokens)),
                ("summary", part.summary.as_str().into()),
            ])
        });
        Json::from([
            ("tokens", number(self.tokens)),
            ("bytes", number(self.bytes)),
            ("specials", number(self.specials)),
            ("images", number(self.images)),
            ("parts", Json::Array(parts.collect())),
        ])
    }
}

fn parts(view: View<'_>) -> Vec<PromptPart> {
    let View { lowered, prompt, tokenizer } = view;
    let placed = placed_ids(tokenizer, prompt);
    let begins: Vec<(Position, Source)> = prompt.sources().collect();
    let mut tokens = placed.iter().map(|&(_, at)| at).peekable();
    let mut parts = Vec::with_capacity(begins.len());
    for (index, &(begin, source)) in begins.iter().enumerate() {
        let end = begins.get(index + 1).map_or_else(|| prompt.end(), |&(position, _)| position);
        let is_last = index + 1 == begins.len();
        let mut count = 0;
        while tokens.next_if(|&at| is_last || at < end).is_some() {
            count += 1;
        }
        let specials = prompt.specials().skip(begin.specials).take(end.specials - begin.specials);
        let spelled: usize = specials.map(|(_, special)| special.spelling().len()).sum();
        parts.push(PromptPart {
            source,
            label: label(source, &lowered.conversation),
            bytes: end.text - begin.text + spelled,
            tokens: count,
            summary: summary(source, &lowered.conversation),
        });
    }
    parts
}

//! How an output is cut on its way.

use std::sync::LazyLock;

use deepseek_codec::model::PROFILES;
use deepseek_codec::token::TokenId;
use deepseek_codec::tokenizer::Tokenizer;

use super::{Arrival, Input, Unit};
use crate::generate::Dice;

/// What arrives at once.
#[derive(Debug, Clone)]
pub enum Chunk {
    Text(String),
    Ids(Vec<TokenId>),
}

/// The tokenizers of the models, by the model's name.
static TOKENIZERS: LazyLock<Vec<(&'static str, Tokenizer)>> =
    LazyLock::new(|| PROFILES.iter().map(|profile| (profile.name(), profile.tokenizer())).collect());

/// The ids of single bytes, which every vocabulary of the family shares.
static BYTES: LazyLock<Vec<TokenId>> = LazyLock::new(|| {
    let tokenizer = &TOKENIZERS[0].1;
    let single = |byte: u8| {
        (0..4096)
            .map(TokenId)
            .find(|&id| tokenizer.token_bytes(id) == Some(&[byte]))
            .expect("a token for each byte")
    };
    (0..=255).map(single).collect()
});

/// The tokenizer of the model with this name.
pub fn tokenizer(profile: &str) -> &'static Tokenizer {
    let found = TOKENIZERS.iter().find(|(name, _)| *name == profile);
    &found.expect("every model has a tokenizer").1
}

/// The chunks of the input. Special tokens that the vocabulary lacks do not arrive.
pub fn chunks(input: &Input, tokenizer: &Tokenizer) -> Vec<Chunk> {
    let mut dice = Dice::of_case(input.cuts, 0);
    let largest = dice.pick(&[1, 1, 2, 5, 20, 100, usize::MAX]);
    match input.arrival {
        Arrival::Text => {
            let text = input.text();
            let mut chunks = Vec::new();
            let mut rest = text.as_str();
            while !rest.is_empty() {
                let length = take(&mut dice, largest);
                let end = rest.char_indices().nth(length).map_or(rest.len(), |(at, _)| at);
                chunks.push(Chunk::Text(rest[..end].to_owned()));
                rest = &rest[end..];
            }
            chunks
        }
        Arrival::Tokens => {
            let ids = ids(input, tokenizer, &mut dice);
            let mut chunks = Vec::new();
            let mut rest = ids.as_slice();
            while !rest.is_empty() {
                let (chunk, behind) = rest.split_at(take(&mut dice, largest).min(rest.len()));
                chunks.push(Chunk::Ids(chunk.to_vec()));
                rest = behind;
            }
            chunks
        }
    }
}

fn take(dice: &mut Dice, largest: usize) -> usize {
    if largest == usize::MAX { largest } else { dice.between(1, largest) }
}

fn ids(input: &Input, tokenizer: &Tokenizer, dice: &mut Dice) -> Vec<TokenId> {
    let mut ids = Vec::new();
    for unit in &input.output {
        match unit {
            Unit::Special(special) => ids.extend(tokenizer.special_id(*special)),
            // A model need not write the longest tokens.
            Unit::Text(text) => match dice.weighted(&[(8, 0), (1, 1), (1, 2)]) {
                0 => ids.extend(tokenizer.encode_text(text)),
                1 => ids.extend(text.bytes().map(|byte| BYTES[usize::from(byte)])),
                _ => {
                    let mut rest = text.as_str();
                    while !rest.is_empty() {
                        let length = dice.between(1, 6);
                        let end = rest.char_indices().nth(length).map_or(rest.len(), |(at, _)| at);
                        ids.extend(tokenizer.encode_text(&rest[..end]));
                        rest = &rest[end..];
                    }
                }
            },
        }
    }
    ids
}

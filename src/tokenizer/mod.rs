//! Text to token ids and back.

use crate::token::{Special, TokenId};

/// One special token of a vocabulary.
#[derive(Debug, Clone, Copy)]
pub struct SpecialToken {
    /// What the token is for.
    pub role: Special,
    /// Its id.
    pub id: TokenId,
    /// The spellings by which tokenizer files know it, the usual one first.
    pub spellings: &'static [&'static str],
}

/// What one model version has on top of the base vocabulary.
#[derive(Debug)]
pub struct Vocabulary {
    /// Its special tokens.
    pub specials: &'static [SpecialToken],
    /// Added tokens that it spells differently from the base vocabulary.
    pub renamed: &'static [(TokenId, &'static str)],
}

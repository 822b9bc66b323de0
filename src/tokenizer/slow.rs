//! The plain algorithm, the twin that tests and fuzz targets compare the fast one with.
//!
//! It shares nothing with the fast path but the pre-tokens' borders: hash maps, no whole-word lookup (unless
//! the vocabulary itself asks for it), quadratic time.

use std::collections::HashMap;

use super::Tokenizer;
use super::pretokenize::pretokens;
use super::tables::Words;
use crate::token::TokenId;

/// A slow encoder over the same vocabulary.
#[derive(Debug)]
pub struct Slow {
    bytes: [u32; 256],
    merges: HashMap<(u32, u32), (u32, u32)>,
    words: HashMap<Vec<u8>, u32>,
}

impl Slow {
    /// The slow twin of a tokenizer.
    #[must_use]
    pub fn of(tokenizer: &Tokenizer) -> Self {
        let tables = &tokenizer.tables;
        let mut merges = HashMap::new();
        for (rank, merge) in tables.pairs.merges() {
            merges.insert((merge.left, merge.right), (rank, merge.result));
        }
        let mut words = HashMap::new();
        if tables.word_rule == Words::Every {
            for id in 0..tables.len() as u32 {
                words.insert(tables.token(id).to_vec(), id);
            }
        }
        Self { bytes: tables.byte_ids, merges, words }
    }

    /// What [`Tokenizer::encode_text`] must give.
    #[must_use]
    pub fn encode_text(&self, text: &str) -> Vec<TokenId> {
        pretokens(text).flat_map(|piece| self.merge(piece.as_bytes())).map(TokenId).collect()
    }

    /// The tokens of one pre-token.
    #[must_use]
    pub fn merge(&self, piece: &[u8]) -> Vec<u32> {
        if let Some(id) = self.words.get(piece) {
            return vec![*id];
        }
        let mut ids: Vec<u32> = piece.iter().map(|byte| self.bytes[usize::from(*byte)]).collect();
        while let Some((_, at, id)) = (1..ids.len())
            .filter_map(|at| self.merges.get(&(ids[at - 1], ids[at])).map(|&(rank, id)| (rank, at - 1, id)))
            .min()
        {
            ids[at] = id;
            ids.remove(at + 1);
        }
        ids
    }
}

//! A model whose logits are random numbers that follow from the ids it has read.

use xxhash_rust::xxh3::xxh3_64_with_seed;

use super::{Broken, TOKENIZER};
use crate::engine::dice::Dice;
use crate::engine::{Causal, CausalModel};
use crate::token::TokenId;

#[derive(Clone)]
pub(super) struct Dreamer {
    pub(super) seed: u64,
    /// In one of so many places it dreams otherwise; 0 is never.
    pub(super) slips: u64,
    /// Whether its states can be copied and taken back.
    pub(super) can_go_back: bool,
    pub(super) states: usize,
    /// How many more times it can read.
    pub(super) reads: usize,
}

impl Dreamer {
    pub(super) fn new(seed: u64, slips: u64) -> Self {
        Self { seed, slips, can_go_back: true, states: 0, reads: usize::MAX }
    }

    pub(super) fn engine(self) -> Causal<Self> {
        Causal::new(self, 1)
    }
}

impl CausalModel for Dreamer {
    type State = Vec<TokenId>;
    type Error = Broken;

    fn begin(&mut self) -> Result<Self::State, Broken> {
        self.states += 1;
        Ok(Vec::new())
    }

    fn read(
        &mut self,
        state: &mut Self::State,
        ids: &[TokenId],
        logits: &mut Vec<f32>,
    ) -> Result<(), Broken> {
        self.reads = self.reads.checked_sub(1).ok_or(Broken)?;
        assert!(!ids.is_empty());
        state.extend(ids);
        let bytes: Vec<u8> = state.iter().flat_map(|id| id.0.to_le_bytes()).collect();
        let mut hash = xxh3_64_with_seed(&bytes, self.seed);
        if self.slips > 0 && hash.is_multiple_of(self.slips) {
            hash += 1;
        }
        let mut dice = Dice(hash);
        logits.extend((0..TOKENIZER.len()).map(|_| dice.unit() as f32));
        // It likes to come to an end.
        for text in ["\"", "}", "]", "</", ","] {
            logits[TOKENIZER.encode_text(text)[0].index()] += 11.5;
        }
        Ok(())
    }

    fn copy(&mut self, state: &Self::State) -> Option<Self::State> {
        self.can_go_back.then(|| state.clone())
    }

    fn truncate(&mut self, state: &mut Self::State, length: usize) -> bool {
        if self.can_go_back {
            state.truncate(length);
        }
        self.can_go_back
    }
}

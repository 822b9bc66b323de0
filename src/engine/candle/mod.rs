//! Models that the crate `candle-transformers` runs, on the processor (feature `candle`).
//!
//! [`CandleEngine::tiny`] needs no file: a model of DeepSeek's architecture whose weights are random numbers. Another
//! model, or another device, is a [`CausalModel`] of your own: two functions.
//!
//! No type of candle is in this interface, so that its versions do not become this crate's.

#[cfg(all(test, feature = "vocab", feature = "validate"))]
mod tests;
mod tiny;

use std::error::Error;
use std::fmt;

use candle_core::{Device, Tensor};
use candle_nn::VarBuilder;
use candle_transformers::models::deepseek2::{DeepSeekV2, DeepSeekV2Config};

use crate::engine::{Causal, CausalModel};
use crate::token::TokenId;
use crate::tokenizer::Tokenizer;

/// An engine over a candle model.
pub type CandleEngine = Causal<Candle>;

impl CandleEngine {
    /// A model of DeepSeek's architecture (latent attention, experts) with a few hundred thousand random weights beside
    /// the two tables of its vocabulary, for tests and demonstrations: what it says means nothing, and under a mask it is
    /// valid all the same. The same seed gives the same weights.
    ///
    /// It takes 20 MB for DeepSeek's vocabulary and forgets what lies more than 512 tokens back, so that its steps
    /// take a few milliseconds however long the prompt is. Its answers come to an end, because the longer they are, the
    /// likelier are the tokens that close something.
    ///
    /// # Errors
    ///
    /// If candle refuses the model.
    pub fn tiny(tokenizer: &Tokenizer, seed: u64) -> Result<Self, CandleError> {
        Ok(Self::new(Candle::tiny(tokenizer, seed)?, seed))
    }
}

/// A candle model. Its copies share the weights.
#[derive(Clone)]
pub struct Candle {
    config: DeepSeekV2Config,
    weights: VarBuilder<'static>,
    /// The model forgets everything whenever it has read so many ids.
    page: usize,
    habits: tiny::Habits,
}

/// What a [`Candle`] keeps of one sequence.
pub struct CandleState {
    model: DeepSeekV2,
    /// How many ids were read.
    length: usize,
    turn: tiny::Turn,
}

/// What went wrong in candle.
#[derive(Debug)]
pub struct CandleError(Box<dyn Error + Send + Sync>);

impl fmt::Display for CandleError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // Backtraces follow in other lines; clients are shown this text.
        f.write_str(self.0.to_string().lines().next().unwrap_or_default())
    }
}

impl Error for CandleError {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        self.0.source()
    }
}

/// Not `From`, which would be part of the interface.
fn failed(error: impl Into<Box<dyn Error + Send + Sync>>) -> CandleError {
    CandleError(error.into())
}

impl CausalModel for Candle {
    type State = CandleState;
    type Error = CandleError;

    fn begin(&mut self) -> Result<CandleState, CandleError> {
        // The layers point to weights that are there already.
        let model = DeepSeekV2::new(&self.config, self.weights.clone()).map_err(failed)?;
        Ok(CandleState { model, length: 0, turn: tiny::Turn::default() })
    }

    fn read(
        &mut self,
        state: &mut CandleState,
        ids: &[TokenId],
        logits: &mut Vec<f32>,
    ) -> Result<(), CandleError> {
        self.habits.follow(&mut state.turn, ids);
        let (from, to) = (state.length, state.length + ids.len());
        // Where the page of the last id begins.
        let page = (to - 1) / self.page * self.page;
        let position = from.saturating_sub(page);
        if page >= from {
            state.model.clear_kv_cache();
        }
        state.length = to;
        let unread: Vec<u32> = ids[page.saturating_sub(from)..].iter().map(|id| id.0).collect();
        *logits = Tensor::new(unread, &Device::Cpu)
            .and_then(|ids| state.model.forward(&ids.unsqueeze(0)?, position)?.flatten_all()?.to_vec1())
            .map_err(failed)?;
        self.habits.apply(state.turn, logits);
        Ok(())
    }
}

//! Models that the crate `candle-transformers` runs, on the processor (feature `candle`).
//!
//! [`CandleEngine::tiny`] needs no file: a model of DeepSeek's architecture whose weights are random numbers.
//! [`CandleEngine::checkpoint`] loads folders of safetensors, and GGUF files. Another model, or another device, is a
//! [`CausalModel`] of your own: two functions.
//!
//! No type of candle is in this interface, so that its versions do not become this crate's.

mod checkpoint;
mod gguf;
#[cfg(all(test, feature = "vocab", feature = "validate"))]
mod tests;
mod tiny;
#[cfg(all(feature = "hf", not(target_arch = "wasm32")))]
mod tokenizer;
mod weights;

use std::error::Error;
use std::fmt;
use std::path::Path;

use candle_core::{Device, Tensor};
use candle_nn::VarBuilder;
use candle_transformers::models::deepseek2::{DeepSeekV2, DeepSeekV2Config};
use candle_transformers::models::llama::{Cache, Llama};
use candle_transformers::models::quantized_llama::ModelWeights;

use crate::engine::{Causal, CausalModel};
use crate::token::TokenId;
use crate::tokenizer::Tokenizer;

#[cfg(all(feature = "hf", not(target_arch = "wasm32")))]
pub use tokenizer::{checkpoint_tokenizer, gguf_tokenizer};

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

    /// A checkpoint as it is published, for a vocabulary: a folder with `config.json` and safetensors in one file or
    /// several, or a GGUF file as in [`gguf`](Self::gguf). Of folders, the architectures `DeepseekV2ForCausalLM`,
    /// `DeepseekV3ForCausalLM` (only where experts are chosen as in the other) and `LlamaForCausalLM` are known. Weights
    /// become 32-bit numbers, and prompt and answer have at most 8,192 tokens.
    ///
    /// Requests without a seed draw numbers that follow from `seed`.
    ///
    /// # Errors
    ///
    /// If a file cannot be read or a tensor is missing, the architecture is another one or has parts that candle's model
    /// lacks, or the model has fewer ids than the tokenizer. Three tokens are read to see that it works.
    pub fn checkpoint(path: &Path, tokenizer: &Tokenizer, seed: u64) -> Result<Self, CandleError> {
        Ok(Self::new(Candle::checkpoint(path, tokenizer)?, seed))
    }

    /// A checkpoint of Llama's architecture in a GGUF file, at most 4,096 tokens of prompt and answer. Requests without a
    /// seed draw numbers that follow from `seed`.
    ///
    /// # Errors
    ///
    /// If the file cannot be read or holds something else.
    pub fn gguf(path: &Path, seed: u64) -> Result<Self, CandleError> {
        Ok(Self::new(Candle::gguf(path)?, seed))
    }
}

/// A candle model. Its copies share the weights.
#[derive(Clone)]
pub struct Candle {
    kind: Kind,
    /// How many logits are kept: a model may have more ids than its tokenizer has tokens.
    ids: usize,
    context: usize,
    summary: String,
}

#[derive(Clone)]
enum Kind {
    Deepseek {
        config: DeepSeekV2Config,
        weights: VarBuilder<'static>,
        /// What the tiny one has instead of having learnt something.
        tiny: Option<tiny::Manners>,
    },
    Llama {
        model: Box<Llama>,
        empty: Box<Cache>,
    },
    Gguf(ModelWeights),
}

/// What a [`Candle`] keeps of one sequence.
pub struct CandleState {
    /// How many ids were read.
    length: usize,
    kept: Kept,
}

enum Kept {
    Deepseek { model: DeepSeekV2, turn: tiny::Turn },
    Llama(Box<Cache>),
    Gguf(Box<ModelWeights>),
}

impl fmt::Debug for Candle {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Candle").field(&self.summary).finish()
    }
}

impl Candle {
    /// How many tokens prompt and answer may have together.
    #[must_use]
    pub const fn context(&self) -> usize {
        self.context
    }

    /// What was loaded, in a few words for people: the architecture, layers, ids, tokens at most.
    #[must_use]
    pub fn summary(&self) -> &str {
        &self.summary
    }
}

/// How many ids go through a model at once: their attention takes memory in proportion to their number.
const CHUNK: usize = 256;

/// What went wrong in candle, or with a file.
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
        let kept = match &self.kind {
            Kind::Deepseek { config, weights, .. } => {
                // The layers point to weights that are there already.
                let model = DeepSeekV2::new(config, weights.clone()).map_err(failed)?;
                Kept::Deepseek { model, turn: tiny::Turn::default() }
            }
            Kind::Llama { empty, .. } => Kept::Llama(empty.clone()),
            Kind::Gguf(model) => Kept::Gguf(Box::new(model.clone())),
        };
        Ok(CandleState { length: 0, kept })
    }

    fn read(
        &mut self,
        state: &mut CandleState,
        ids: &[TokenId],
        logits: &mut Vec<f32>,
    ) -> Result<(), CandleError> {
        let (from, to) = (state.length, state.length + ids.len());
        if to > self.context {
            return Err(failed(format!("the model takes {} tokens at most", self.context)));
        }
        state.length = to;
        if let (Kind::Deepseek { tiny: Some(tiny), .. }, Kept::Deepseek { model, turn }) =
            (&self.kind, &mut state.kept)
        {
            tiny.habits.follow(turn, ids);
            // Where the page of the last id begins.
            let page = (to - 1) / tiny.page * tiny.page;
            if page >= from {
                model.clear_kv_cache();
            }
            let ids = &ids[page.saturating_sub(from)..];
            *logits = forward(ids, |ids| model.forward(ids, from.saturating_sub(page)))?;
            tiny.habits.apply(*turn, logits);
            return Ok(());
        }
        for (chunk, ids) in ids.chunks(CHUNK).enumerate() {
            let at = from + chunk * CHUNK;
            *logits = match (&self.kind, &mut state.kept) {
                (_, Kept::Deepseek { model, .. }) => forward(ids, |ids| model.forward(ids, at)),
                (_, Kept::Gguf(model)) => forward(ids, |ids| model.forward(ids, at)),
                (Kind::Llama { model, .. }, Kept::Llama(cache)) => {
                    forward(ids, |ids| model.forward(ids, at, cache))
                }
                (_, Kept::Llama(_)) => Err(failed("the state is another model's")),
            }?;
        }
        logits.truncate(self.ids);
        Ok(())
    }

    fn copy(&mut self, state: &CandleState) -> Option<CandleState> {
        let kept = match &state.kept {
            // Its cache cannot be copied.
            Kept::Deepseek { .. } => return None,
            Kept::Llama(cache) => Kept::Llama(cache.clone()),
            Kept::Gguf(model) => Kept::Gguf(model.clone()),
        };
        Some(CandleState { length: state.length, kept })
    }
}

/// The logits that a model makes of ids.
fn forward(
    ids: &[TokenId],
    model: impl FnOnce(&Tensor) -> candle_core::Result<Tensor>,
) -> Result<Vec<f32>, CandleError> {
    let ids: Vec<u32> = ids.iter().map(|id| id.0).collect();
    Tensor::new(ids, &Device::Cpu)
        .and_then(|ids| model(&ids.unsqueeze(0)?)?.flatten_all()?.to_vec1())
        .map_err(failed)
}

//! Models inside this program: a tiny one, or a checkpoint.

use std::hash::{BuildHasher, RandomState};
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use deepseek_codec::engine::Causal;
use deepseek_codec::engine::candle::{CandleEngine, checkpoint_tokenizer};
use deepseek_codec::model::PROFILES;

use super::local::Local;
use super::{About, Engine, EngineError};
use crate::config::ConfigError;

const TINY: &str = "a tiny model of random weights answers: what it says means nothing";

/// As many threads as there are processors.
fn threads() -> usize {
    std::thread::available_parallelism().map_or(1, usize::from)
}

/// A tiny model of random weights, which needs no file.
#[must_use]
pub fn tiny() -> Engine {
    let local = Local::new(threads(), |profile| {
        CandleEngine::tiny(&profile.tokenizer(), 1).map_err(|error| EngineError::failed(error.to_string()))
    });
    Engine::Local(local, About { name: "candle", caveat: Some(TINY), ..About::default() })
}

/// A checkpoint: a folder or a GGUF file. It serves the models whose special tokens its tokenizer has; if it comes without
/// one, all models, by the vocabulary inside this program.
///
/// # Errors
///
/// If it cannot be loaded, or its tokenizer is of no use for any model.
pub fn checkpoint(path: &Path) -> Result<Engine, ConfigError> {
    if let Err(error) = std::fs::metadata(path) {
        return Err(ConfigError(format!("the checkpoint {}: {error}", path.display())));
    }
    let (mut tokenizers, mut unserved, mut is_own) = (Vec::new(), Vec::new(), true);
    for profile in PROFILES {
        match checkpoint_tokenizer(path, profile) {
            Ok(Some(tokenizer)) => tokenizers.push((*profile, tokenizer)),
            Ok(None) => {
                is_own = false;
                tokenizers.push((*profile, profile.tokenizer()));
            }
            Err(error) => unserved.push(format!("not for {}: {error}", profile.name())),
        }
    }
    let Some((_, tokenizer)) = tokenizers.first() else {
        return Err(ConfigError(format!(
            "the checkpoint has no tokenizer that fits; {}",
            unserved.join("; ")
        )));
    };
    let engine = CandleEngine::checkpoint(path, tokenizer, 0)
        .map_err(|error| ConfigError(format!("the checkpoint cannot be loaded: {error}")))?;
    let model = engine.model().clone();
    // Clients are told the last name, not where it is.
    let name = path.canonicalize().ok();
    let name = name.as_deref().unwrap_or(path).file_name().unwrap_or_default().to_string_lossy();
    let whose = if is_own { "its own tokenizer" } else { "the vocabulary inside this program" };
    let about = About {
        name: "candle",
        loaded: Some(format!("{name}: {}; {whose}", model.summary())),
        caveat: None,
        context: u32::try_from(model.context()).ok(),
        tokenizers,
    };
    // Each thread's copy is to draw other numbers.
    let seeds = Arc::new(AtomicU64::new(RandomState::new().hash_one(0)));
    let local = Local::new(threads(), move |_| {
        let seed = seeds.fetch_add(1 << 32, Ordering::Relaxed);
        Ok(Causal::new(model.clone(), seed))
    });
    Ok(Engine::Local(local, about))
}

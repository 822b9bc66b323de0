//! The tokenizers that come with checkpoints.

use std::fs::{self, File};
use std::io::BufReader;
use std::path::Path;

use candle_core::quantized::gguf_file::Content;
use candle_core::quantized::tokenizer::TokenizerFromGguf;
use tokenizers::PreTokenizerWrapper;
use tokenizers::pre_tokenizers::byte_level::ByteLevel;

use super::{CandleError, failed};
use crate::model::Profile;
use crate::tokenizer::{LoadErrorKind, Tokenizer};

/// The tokenizer that comes with a checkpoint, for a model version's prompts: `tokenizer.json` of a folder, or what a GGUF
/// file describes. Nothing if the checkpoint has none.
///
/// # Errors
///
/// If it cannot be read, is not byte-level BPE, or lacks one of the version's special tokens.
pub fn checkpoint_tokenizer(path: &Path, profile: &Profile) -> Result<Option<Tokenizer>, CandleError> {
    if !path.is_dir() {
        let content = gguf(path)?;
        if !content.metadata.contains_key("tokenizer.ggml.tokens") {
            return Ok(None);
        }
        let theirs = described(&content).map_err(|error| named(path, error))?;
        return profile.wrap_tokenizer(&theirs).map(Some).map_err(|error| named(path, error));
    }
    let file = path.join("tokenizer.json");
    if !file.exists() {
        return Ok(None);
    }
    let json = fs::read(&file).map_err(|error| named(&file, error))?;
    let error = match profile.load_tokenizer(&json) {
        Ok(tokenizer) => return Ok(Some(tokenizer)),
        Err(error) => error,
    };
    // The special tokens are the same ones, whoever reads the file.
    if matches!(error.kind(), LoadErrorKind::Json | LoadErrorKind::Binding) {
        return Err(named(&file, error));
    }
    let theirs = tokenizers::Tokenizer::from_bytes(json).map_err(|error| named(&file, error))?;
    profile.wrap_tokenizer(&theirs).map(Some).map_err(|error| named(&file, error))
}

/// The tokenizer that is described in a GGUF file, for [`wrap`](crate::tokenizer::hf::wrap) (feature `hf`). The file only
/// names its pre-tokenizer: where candle does not know the name, GPT-2's is taken.
///
/// # Errors
///
/// If the file cannot be read or holds something else.
pub fn gguf_tokenizer(path: &Path) -> Result<tokenizers::Tokenizer, CandleError> {
    described(&gguf(path)?).map_err(|error| named(path, error))
}

fn named(path: &Path, error: impl std::fmt::Display) -> CandleError {
    failed(format!("{}: {error}", path.display()))
}

fn gguf(path: &Path) -> Result<Content, CandleError> {
    let file = File::open(path).map_err(|error| named(path, error))?;
    Content::read(&mut BufReader::new(file)).map_err(|error| named(path, error))
}

fn described(content: &Content) -> Result<tokenizers::Tokenizer, CandleError> {
    let mut tokenizer: tokenizers::Tokenizer = TokenizerFromGguf::from_gguf(content).map_err(failed)?;
    // Candle's stand-in puts a space in front of every text, which no file of this kind means.
    if let Some(PreTokenizerWrapper::ByteLevel(_)) = tokenizer.get_pre_tokenizer() {
        tokenizer.with_pre_tokenizer(Some(ByteLevel::new(false, true, true)));
    }
    Ok(tokenizer)
}

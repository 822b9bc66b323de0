//! Checkpoints in GGUF files.

use std::fs::File;
use std::io::{BufReader, Read, Seek};
use std::path::Path;

use candle_core::Device;
use candle_core::quantized::gguf_file::Content;
use candle_transformers::models::quantized_llama::ModelWeights;

use super::{Candle, CandleError, Kind, failed};

impl Candle {
    /// The model of [`CandleEngine::gguf`](super::CandleEngine::gguf).
    pub(super) fn gguf(path: &Path) -> Result<Self, CandleError> {
        let mut file = BufReader::new(File::open(path).map_err(failed)?);
        Self::read_gguf(&mut file)
    }

    pub(super) fn read_gguf(file: &mut (impl Read + Seek)) -> Result<Self, CandleError> {
        let content = Content::read(file).map_err(failed)?;
        ModelWeights::from_gguf(content, file, &Device::Cpu)
            .map(|model| Self(Kind::Llama(model)))
            .map_err(failed)
    }
}

/// The tokenizer that is described in a GGUF file, for [`wrap`](crate::tokenizer::hf::wrap) (feature `hf`). The file only
/// names its pre-tokenizer: where candle does not know the name, GPT-2's is taken.
///
/// # Errors
///
/// If the file cannot be read or holds something else.
#[cfg(all(feature = "hf", not(target_arch = "wasm32")))]
pub fn gguf_tokenizer(path: &Path) -> Result<tokenizers::Tokenizer, CandleError> {
    use candle_core::quantized::tokenizer::TokenizerFromGguf;
    use tokenizers::PreTokenizerWrapper;
    use tokenizers::pre_tokenizers::byte_level::ByteLevel;

    let mut file = BufReader::new(File::open(path).map_err(failed)?);
    let content = Content::read(&mut file).map_err(failed)?;
    let mut tokenizer: tokenizers::Tokenizer = TokenizerFromGguf::from_gguf(&content).map_err(failed)?;
    // Candle's stand-in puts a space in front of every text, which no file of this kind means.
    if let Some(PreTokenizerWrapper::ByteLevel(_)) = tokenizer.get_pre_tokenizer() {
        tokenizer.with_pre_tokenizer(Some(ByteLevel::new(false, true, true)));
    }
    Ok(tokenizer)
}

//! Checkpoints in GGUF files.

use std::fs::File;
use std::io::{BufReader, Read, Seek};
use std::path::Path;

use candle_core::Device;
use candle_core::quantized::gguf_file::Content;
use candle_transformers::models::quantized_llama::{MAX_SEQ_LEN, ModelWeights};

use super::{Candle, CandleError, Kind, failed};

impl Candle {
    /// The model of [`CandleEngine::gguf`](super::CandleEngine::gguf).
    pub(super) fn gguf(path: &Path) -> Result<Self, CandleError> {
        let named = |error: CandleError| failed(format!("{}: {error}", path.display()));
        let mut file = BufReader::new(File::open(path).map_err(failed).map_err(named)?);
        Self::read_gguf(&mut file).map_err(named)
    }

    pub(super) fn read_gguf(file: &mut (impl Read + Seek)) -> Result<Self, CandleError> {
        let content = Content::read(file).map_err(failed)?;
        let number = |name: &str| content.metadata.get(name).and_then(|value| value.to_u32().ok());
        let architecture =
            content.metadata.get("general.architecture").and_then(|name| name.to_string().ok());
        if let Some(name) = architecture.filter(|name| *name != "llama") {
            return Err(failed(format!("the architecture {name} is not known in GGUF files; llama is")));
        }
        for name in ["llama.attention.head_count", "llama.attention.head_count_kv", "llama.embedding_length"]
        {
            if number(name) == Some(0) {
                return Err(failed(format!("{name} cannot be 0")));
            }
        }
        let layers = number("llama.block_count").unwrap_or_default();
        if layers as usize > content.tensor_infos.len() {
            return Err(failed(format!("it has {} tensors for {layers} layers", content.tensor_infos.len())));
        }
        let summary = format!("llama (GGUF), {layers} layers, {MAX_SEQ_LEN} tokens at most");
        let model = ModelWeights::from_gguf(content, file, &Device::Cpu).map_err(failed)?;
        Ok(Self { kind: Kind::Gguf(model), ids: usize::MAX, context: MAX_SEQ_LEN, summary })
    }
}

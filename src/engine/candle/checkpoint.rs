//! Checkpoints as they are published: a folder with `config.json` and safetensors, or a GGUF file.

#[cfg(all(test, feature = "vocab"))]
mod tests;

use std::collections::HashMap;
use std::fs;
use std::path::Path;

use candle_core::{DType, Device, Tensor};
use candle_nn::VarBuilder;
use candle_transformers::models::deepseek2::DeepSeekV2Config;
use candle_transformers::models::llama::{Cache, Llama, LlamaConfig};
use serde_json::{Map, Value, json};

use super::{Candle, CandleError, Kind, failed, weights};
use crate::engine::CausalModel;
use crate::token::TokenId;
use crate::tokenizer::Tokenizer;

/// How many tokens a model of a folder takes at most: its tables of positions are made anew for each sequence.
const CONTEXT: usize = 8192;
/// No number of `config.json` may be larger.
const LARGEST: u64 = 1 << 24;

impl Candle {
    /// The model of [`CandleEngine::checkpoint`](super::CandleEngine::checkpoint).
    pub(super) fn checkpoint(path: &Path, tokenizer: &Tokenizer) -> Result<Self, CandleError> {
        let mut model = if path.is_dir() { Self::folder(path)? } else { Self::gguf(path)? };
        model.fit(tokenizer).map_err(|error| failed(format!("{}: {error}", path.display())))?;
        Ok(model)
    }

    /// Reads three tokens, so that what does not fit shows now, and keeps of the logits what the vocabulary has.
    fn fit(&mut self, tokenizer: &Tokenizer) -> Result<(), CandleError> {
        let (mut state, mut logits) = (self.begin()?, Vec::new());
        self.read(&mut state, &[TokenId(0), TokenId(1)], &mut logits)?;
        logits.clear();
        self.read(&mut state, &[TokenId(2)], &mut logits)?;
        let (model, vocabulary) = (logits.len(), tokenizer.len());
        if model < vocabulary {
            return Err(failed(format!("the model has {model} ids, the tokenizer has {vocabulary}")));
        }
        if logits.iter().any(|logit| logit.is_nan()) {
            return Err(failed("its logits are no numbers"));
        }
        self.ids = vocabulary;
        Ok(())
    }

    fn folder(folder: &Path) -> Result<Self, CandleError> {
        let file = folder.join("config.json");
        let failed = |error: String| failed(format!("{}: {error}", file.display()));
        let text = fs::read(&file).map_err(|error| failed(error.to_string()))?;
        let mut config: Map<String, Value> =
            serde_json::from_slice(&text).map_err(|error| failed(error.to_string()))?;
        let architecture = Architecture::of(&config).map_err(failed)?;
        if config.get("quantization_config").is_some_and(|how| !how.is_null()) {
            return Err(failed("quantized weights are read from GGUF files alone".to_owned()));
        }
        let positions = size(&config, "max_position_embeddings").map_err(failed)?;
        let context = positions.min(CONTEXT);
        config.insert("max_position_embeddings".to_owned(), context.into());
        move_positions(&mut config);
        let plan = architecture.plan(config).map_err(failed)?;
        let tensors = weights::read(folder)?;
        let layers = plan.layers.max(plan.experts);
        if layers > tensors.len() {
            let found = tensors.len();
            return Err(failed(format!("it asks for {layers} layers or experts, of {found} tensors")));
        }
        let kind = match plan.model {
            Planned::Deepseek(config) => {
                let weights = VarBuilder::from_tensors(tensors, DType::F32, &Device::Cpu);
                Kind::Deepseek { config: *config, weights, tiny: None }
            }
            Planned::Llama(config) => {
                check_llama(&config, &tensors)?;
                let config = config.into_config(false);
                let weights = VarBuilder::from_tensors(tensors, DType::F32, &Device::Cpu);
                let empty = Cache::new(true, DType::F32, &config, &Device::Cpu).map_err(super::failed)?;
                let model = Llama::load(weights, &config).map_err(super::failed)?;
                Kind::Llama { model: Box::new(model), empty: Box::new(empty) }
            }
        };
        Ok(Self { kind, ids: usize::MAX, context, summary: plan.summary })
    }
}

/// What `config.json` asks for.
struct Plan {
    model: Planned,
    layers: usize,
    experts: usize,
    summary: String,
}

enum Planned {
    Deepseek(Box<DeepSeekV2Config>),
    Llama(LlamaConfig),
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Architecture {
    /// `DeepseekV2ForCausalLM`.
    Deepseek2,
    /// `DeepseekV3ForCausalLM`: the same layers, if their experts are chosen in the same way.
    Deepseek3,
    /// `LlamaForCausalLM`.
    Llama,
}

/// The numbers without which a model of each architecture makes no sense.
const OF_ALL: [&str; 5] =
    ["vocab_size", "hidden_size", "intermediate_size", "num_hidden_layers", "num_attention_heads"];
const OF_DEEPSEEK: [&str; 5] =
    ["kv_lora_rank", "qk_nope_head_dim", "qk_rope_head_dim", "v_head_dim", "moe_intermediate_size"];

impl Architecture {
    fn of(config: &Map<String, Value>) -> Result<Self, String> {
        let classes = config.get("architectures").and_then(|classes| classes.get(0));
        let name = classes.or_else(|| config.get("model_type")).and_then(Value::as_str);
        let name = name.ok_or("it names no architecture (`architectures`, `model_type`)")?;
        let plain = name.strip_suffix("ForCausalLM").unwrap_or(name).replace('_', "").to_ascii_lowercase();
        match plain.as_str() {
            "deepseekv2" => Ok(Self::Deepseek2),
            "deepseekv3" => Ok(Self::Deepseek3),
            "llama" => Ok(Self::Llama),
            _ => Err(format!(
                "the architecture {name} is not known; DeepseekV2ForCausalLM, DeepseekV3ForCausalLM and \
                 LlamaForCausalLM are"
            )),
        }
    }

    const fn name(self) -> &'static str {
        match self {
            Self::Deepseek2 => "DeepseekV2ForCausalLM",
            Self::Deepseek3 => "DeepseekV3ForCausalLM",
            Self::Llama => "LlamaForCausalLM",
        }
    }

    fn plan(self, mut config: Map<String, Value>) -> Result<Plan, String> {
        for name in OF_ALL {
            size(&config, name)?;
        }
        let layers = size(&config, "num_hidden_layers")?;
        let (model, experts) = if self == Self::Llama {
            (Planned::Llama(llama(config.clone())?), 0)
        } else {
            for name in OF_DEEPSEEK {
                size(&config, name)?;
            }
            let experts = self.check_experts(&config)?;
            for (name, usual) in
                [("n_group", json!(1)), ("topk_group", json!(1)), ("attention_bias", json!(false))]
            {
                if config.get(name).is_none_or(Value::is_null) {
                    config.insert(name.to_owned(), usual);
                }
            }
            let model = serde_json::from_value(config.clone().into()).map_err(|error| error.to_string())?;
            (Planned::Deepseek(Box::new(model)), experts)
        };
        let (ids, context) = (size(&config, "vocab_size")?, size(&config, "max_position_embeddings")?);
        let summary = format!("{}, {layers} layers, {ids} ids, {context} tokens at most", self.name());
        Ok(Plan { model, layers, experts, summary })
    }

    /// The number of experts that a token can be sent to. Candle chooses them by the highest probabilities and in no other
    /// way: its choice by groups takes experts for groups.
    fn check_experts(self, config: &Map<String, Value>) -> Result<usize, String> {
        if config.get("n_routed_experts").is_none_or(Value::is_null) {
            return Ok(0);
        }
        let experts = size(config, "n_routed_experts")?;
        if size(config, "num_experts_per_tok")? > experts {
            return Err("num_experts_per_tok is larger than n_routed_experts".to_owned());
        }
        // What is meant if nothing is said.
        let usual = if self == Self::Deepseek2 { ("softmax", "greedy") } else { ("sigmoid", "noaux_tc") };
        for (name, usual, can) in [("scoring_func", usual.0, "softmax"), ("topk_method", usual.1, "greedy")] {
            let how = config.get(name).and_then(Value::as_str).unwrap_or(usual);
            if how != can {
                return Err(format!("{name} is {how}; candle's model can only do {can}"));
            }
        }
        // It does not scale what it has normalized.
        let scale = config.get("routed_scaling_factor").and_then(Value::as_f64).unwrap_or(1.0);
        if config.get("norm_topk_prob") == Some(&Value::Bool(true)) && scale != 1.0 {
            return Err("candle's model has no routed_scaling_factor beside norm_topk_prob".to_owned());
        }
        Ok(experts)
    }
}

/// A number that counts something.
fn size(config: &Map<String, Value>, name: &str) -> Result<usize, String> {
    let value = config.get(name).ok_or_else(|| format!("it has no `{name}`"))?;
    let number = value.as_u64().filter(|number| (1..=LARGEST).contains(number));
    number.map(|number| number as usize).ok_or_else(|| format!("{name} cannot be {value}"))
}

/// Newer configurations say in `rope_parameters`, or by `rope_type`, what candle looks for by the older names.
fn move_positions(config: &mut Map<String, Value>) {
    if let Some(Value::Object(parameters)) = config.remove("rope_parameters") {
        if let Some(theta) = parameters.get("rope_theta") {
            config.entry("rope_theta").or_insert_with(|| theta.clone());
        }
        config.entry("rope_scaling").or_insert(parameters.into());
    }
    let Some(Value::Object(scaling)) = config.get_mut("rope_scaling") else { return };
    let kind = scaling.get("rope_type").or_else(|| scaling.get("type")).cloned();
    if kind.as_ref().and_then(Value::as_str) == Some("default") {
        config.remove("rope_scaling");
    } else if let Some(kind) = kind {
        scaling.insert("type".to_owned(), kind.clone());
        scaling.insert("rope_type".to_owned(), kind);
    }
}

/// The configuration of Llama's architecture, without what candle would leave out.
fn llama(config: Map<String, Value>) -> Result<LlamaConfig, String> {
    let (width, heads) = (size(&config, "hidden_size")?, size(&config, "num_attention_heads")?);
    let shared = if config.get("num_key_value_heads").is_some_and(|heads| !heads.is_null()) {
        size(&config, "num_key_value_heads")?
    } else {
        heads
    };
    if width % heads != 0 || heads % shared != 0 {
        return Err(format!(
            "hidden_size {width}, num_attention_heads {heads} and num_key_value_heads {shared} do not go together"
        ));
    }
    let given = |name: &str| config.get(name).filter(|value| !value.is_null());
    if let Some(of_head) = given("head_dim").filter(|value| value.as_u64() != Some((width / heads) as u64)) {
        return Err(format!("head_dim is {of_head}; candle's model can only do {}", width / heads));
    }
    for (name, can) in
        [("attention_bias", json!(false)), ("mlp_bias", json!(false)), ("hidden_act", json!("silu"))]
    {
        if let Some(value) = given(name).filter(|value| **value != can) {
            return Err(format!("{name} is {value}; candle's model can only do {can}"));
        }
    }
    serde_json::from_value(config.into()).map_err(|error| error.to_string())
}

/// Whether all tensors of a Llama are there, in their shapes: candle panics where one is not.
fn check_llama(config: &LlamaConfig, tensors: &HashMap<String, Tensor>) -> Result<(), CandleError> {
    let (width, inner, ids) = (config.hidden_size, config.intermediate_size, config.vocab_size);
    let shared = width / config.num_attention_heads * config.num_key_value_heads();
    let check = |name: &str, shape: &[usize]| match tensors.get(name).map(Tensor::dims) {
        None => Err(failed(format!("cannot find tensor {name}"))),
        Some(found) if found != shape => {
            Err(failed(format!("shape mismatch for {name}, expected: {shape:?}, got: {found:?}")))
        }
        Some(_) => Ok(()),
    };
    check("model.embed_tokens.weight", &[ids, width])?;
    check("model.norm.weight", &[width])?;
    if config.tie_word_embeddings != Some(true) {
        check("lm_head.weight", &[ids, width])?;
    }
    for layer in 0..config.num_hidden_layers {
        for (part, shape) in [
            ("input_layernorm", &[width][..]),
            ("post_attention_layernorm", &[width]),
            ("self_attn.q_proj", &[width, width]),
            ("self_attn.k_proj", &[shared, width]),
            ("self_attn.v_proj", &[shared, width]),
            ("self_attn.o_proj", &[width, width]),
            ("mlp.gate_proj", &[inner, width]),
            ("mlp.up_proj", &[inner, width]),
            ("mlp.down_proj", &[width, inner]),
        ] {
            check(&format!("model.layers.{layer}.{part}.weight"), shape)?;
        }
    }
    Ok(())
}

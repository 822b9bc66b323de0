//! A tiny checkpoint, made here: mistral.rs loads it and answers requests under their masks.

#![allow(clippy::unwrap_used, reason = "tests say what they expect by unwrapping")]

use std::fs::File;
use std::num::NonZeroUsize;
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};

use candle_core::quantized::gguf_file::{Value, write};
use candle_core::quantized::{GgmlDType, QTensor};
use candle_core::{Device, Tensor};
use deepseek_codec::engine::{Masks, RunError, Session, SessionOptions};
use deepseek_codec::grammar::{Compiler, Layout, Whitespace};
use deepseek_codec::model::{PROFILES, Profile};
use deepseek_codec::protocol::{Api, Options, lower};
use deepseek_codec::token::{Special, TokenId};
use deepseek_codec::tokenizer::Tokenizer;
use deepseek_codec_mistralrs::MistralEngine;
use mistralrs_core::{
    AdapterPaths, DefaultSchedulerMethod, DeviceMapSetting, GGUFLoaderBuilder, GGUFSpecificConfig, Loader,
    LocalModelPaths, MistralRs, MistralRsBuilder, ModelDType, ModelPaths, SchedulerConfig,
};

const WIDTH: usize = 32;

/// Llama's architecture with random weights over the real vocabulary.
fn write_checkpoint(path: &Path, tokenizer: &Tokenizer) {
    let spellings =
        (0..tokenizer.len() as u32).map(|id| Value::String(spelling(tokenizer, TokenId(id)))).collect();
    let number = |value: usize| Value::U32(value as u32);
    let metadata = [
        ("general.architecture", Value::String("llama".to_owned())),
        ("llama.attention.head_count", number(2)),
        ("llama.attention.head_count_kv", number(2)),
        ("llama.block_count", number(1)),
        ("llama.context_length", Value::U64(4096)),
        ("llama.embedding_length", number(WIDTH)),
        ("llama.rope.dimension_count", number(WIDTH / 2)),
        ("llama.attention.layer_norm_rms_epsilon", Value::F32(1e-5)),
        ("tokenizer.ggml.model", Value::String("gpt2".to_owned())),
        ("tokenizer.ggml.tokens", Value::Array(spellings)),
        // Ids come in and go out: nothing is encoded there.
        ("tokenizer.ggml.merges", Value::Array(vec![Value::String("a b".to_owned())])),
        ("tokenizer.ggml.eos_token_id", Value::U32(tokenizer.special_id(Special::Eos).unwrap().0)),
    ];
    let (width, vocabulary) = (WIDTH, tokenizer.len());
    let shapes: [(&str, &[usize]); 12] = [
        ("token_embd.weight", &[vocabulary, width]),
        ("output.weight", &[vocabulary, width]),
        ("output_norm.weight", &[width]),
        ("blk.0.attn_norm.weight", &[width]),
        ("blk.0.ffn_norm.weight", &[width]),
        ("blk.0.attn_q.weight", &[width, width]),
        ("blk.0.attn_k.weight", &[width, width]),
        ("blk.0.attn_v.weight", &[width, width]),
        ("blk.0.attn_output.weight", &[width, width]),
        ("blk.0.ffn_gate.weight", &[64, width]),
        ("blk.0.ffn_up.weight", &[64, width]),
        ("blk.0.ffn_down.weight", &[width, 64]),
    ];
    let tensors: Vec<(&str, QTensor)> = shapes
        .into_iter()
        .map(|(name, shape)| {
            let tensor = Tensor::randn(0_f32, 0.5, shape, &Device::Cpu).unwrap();
            (name, QTensor::quantize(&tensor, GgmlDType::F32).unwrap())
        })
        .collect();
    let metadata: Vec<(&str, &Value)> = metadata.iter().map(|(name, value)| (*name, value)).collect();
    let tensors: Vec<(&str, &QTensor)> = tensors.iter().map(|(name, tensor)| (*name, tensor)).collect();
    write(&mut File::create(path).unwrap(), &metadata, &tensors).unwrap();
}

/// A token in the byte alphabet of GPT-2, or as it stands if it is an added one.
fn spelling(tokenizer: &Tokenizer, id: TokenId) -> String {
    let Some(bytes) = tokenizer.token_bytes(id) else {
        return tokenizer.added_spelling(id).map_or_else(|| format!("<unused {id}>"), str::to_owned);
    };
    let is_printable = |byte: &u8| matches!(byte, 0x21..=0x7E | 0xA1..=0xAC | 0xAE..=0xFF);
    let shown = |byte: u8| match is_printable(&byte) {
        true => u32::from(byte),
        false => 0x100 + (0..byte).filter(|byte| !is_printable(byte)).count() as u32,
    };
    bytes.iter().filter_map(|byte| char::from_u32(shown(*byte))).collect()
}

async fn load(path: &Path) -> Arc<MistralRs> {
    let (folder, file) = (path.parent().unwrap(), path.file_name().unwrap());
    let (folder, file) = (folder.to_str().unwrap().to_owned(), file.to_str().unwrap().to_owned());
    let config = GGUFSpecificConfig::default();
    let loader = GGUFLoaderBuilder::new(None, None, folder, vec![file], config, false, None).build();
    let paths: Box<dyn ModelPaths> = Box::new(LocalModelPaths {
        tokenizer_filename: PathBuf::new(),
        config_filename: PathBuf::new(),
        template_filename: None,
        filenames: vec![path.to_owned()],
        adapter_paths: AdapterPaths::None,
        gen_conf: None,
        preprocessor_config: None,
        processor_config: None,
        chat_template_json_filename: None,
    });
    let mapper = DeviceMapSetting::dummy();
    let pipeline = loader
        .load_model_from_path(&paths, &ModelDType::F32, &Device::Cpu, true, mapper, None, None)
        .unwrap();
    let method = DefaultSchedulerMethod::Fixed(NonZeroUsize::new(4).unwrap());
    MistralRsBuilder::new(pipeline, SchedulerConfig::DefaultScheduler { method }, false, None).build().await
}

const CHAT: &str = r#"{"model": "larger", "thinking": {"type": "disabled"}, "max_tokens": 300, "messages": [{"role": "user", "content": "JSON"}],
    "response_format": {"type": "json_schema", "json_schema": {"name": "x", "schema": {"type": "object", "additionalProperties": false,
        "required": ["city", "days"], "properties": {"city": {"type": "string", "maxLength": 9}, "days": {"type": "integer", "minimum": 1, "maximum": 7}}}}}}"#;
const RESPONSES: &str = r#"{"model": "larger", "reasoning": {"effort": "none"}, "max_output_tokens": 300, "input": "hi",
    "text": {"format": {"type": "regex", "regex": "[A-Z]{3}-[0-9]{4}"}}}"#;
const MESSAGES: &str = r#"{"model": "larger", "max_tokens": 300, "thinking": {"type": "disabled"}, "messages": [{"role": "user", "content": "hi"}],
    "tools": [{"name": "weather", "input_schema": {"type": "object", "additionalProperties": false, "required": ["city"],
        "properties": {"city": {"enum": ["Oslo", "Bergen"]}}}}], "tool_choice": {"type": "tool", "name": "weather"}}"#;

fn session(
    api: Api,
    body: &str,
    profile: &'static Profile,
    tokenizer: &Tokenizer,
    compiler: &Compiler,
) -> Session {
    let lowered = lower(api, body.as_bytes(), &Options::default().with_model("larger", profile)).unwrap();
    let layout = Layout { whitespace: Whitespace::Spaced, ..Layout::default() };
    let options = SessionOptions { layout, ..SessionOptions::new("x", Masks::Exact(compiler)) };
    Session::new(&lowered, tokenizer, options).unwrap()
}

#[tokio::test(flavor = "multi_thread")]
async fn a_tiny_checkpoint_answers_validly_under_masks() {
    let profile = PROFILES[0];
    let tokenizer = profile.tokenizer();
    let compiler = Compiler::new(&tokenizer);
    let path = std::env::temp_dir().join(format!("deepseek-codec-mistralrs-{}.gguf", std::process::id()));
    write_checkpoint(&path, &tokenizer);
    let runner = load(&path).await;
    let end = tokenizer.special_id(Special::Eos).unwrap();
    let engine = MistralEngine::new(runner, end, 1);
    let session = |api, body| session(api, body, profile, &tokenizer, &compiler);

    for round in 0..3 {
        // All at once: mistral.rs makes one batch of them.
        let ignore = |_| ControlFlow::Continue(());
        let (chat, responses, messages) = tokio::join!(
            engine.answer(session(Api::Chat, CHAT), ignore),
            engine.answer(session(Api::Responses, RESPONSES), ignore),
            engine.answer(session(Api::Messages, MESSAGES), ignore),
        );
        let value = |(session, result): (Session, Result<(), _>)| {
            assert_eq!(result, Ok(()));
            serde_json::Value::from(session.stream().response())
        };
        let (chat, responses, messages) = (value(chat), value(responses), value(messages));
        println!("round {round}\n{chat}\n{responses}\n{messages}");
        assert_eq!(chat["choices"][0]["finish_reason"], "stop");
        let answer = chat["choices"][0]["message"]["content"].as_str().unwrap();
        let answer: serde_json::Value = serde_json::from_str(answer).unwrap();
        assert!((1.0..=7.0).contains(&answer["days"].as_f64().unwrap()));
        assert!(answer["city"].as_str().unwrap().chars().count() <= 9);
        let number = responses["output"][0]["content"][0]["text"].as_str().unwrap();
        let (letters, digits) = number.split_once('-').unwrap();
        assert!(letters.len() == 3 && letters.bytes().all(|byte| byte.is_ascii_uppercase()), "{number}");
        assert!(digits.len() == 4 && digits.bytes().all(|byte| byte.is_ascii_digit()), "{number}");
        assert_eq!(messages["stop_reason"], "tool_use");
        assert!(["Oslo", "Bergen"].contains(&messages["content"][0]["input"]["city"].as_str().unwrap()));
    }

    // The client leaves.
    let seen = Arc::new(Mutex::new(0));
    let counter = seen.clone();
    let leave = move |_| {
        let mut seen = counter.lock().unwrap();
        *seen += 1;
        if *seen == 2 { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    };
    let (_, result) = engine.answer(session(Api::Chat, CHAT), leave).await;
    assert!(matches!(result, Err(RunError::Cancelled)));
    assert_eq!(*seen.lock().unwrap(), 2);
    std::fs::remove_file(&path).unwrap();
}

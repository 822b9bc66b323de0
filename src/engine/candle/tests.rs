// The lint spares test functions, but not what they call.
#![allow(clippy::unwrap_used)]

use std::collections::{HashMap, HashSet};
use std::io::Cursor;
use std::ops::ControlFlow;
use std::path::Path;

use serde_json::Value;

use super::{Candle, CandleEngine, CandleState};
use crate::engine::causal::CausalSequence;
use crate::engine::dice::Dice;
use crate::engine::{Branch, CausalModel, Engine, Masks, Session, SessionOptions, run, run_with_drafts};
use crate::grammar::Compiler;
use crate::model::PROFILES;
use crate::protocol::{Api, Options, Sampling, lower};
use crate::token::TokenId;

/// Requests, and what every answer to them must be.
const ANSWERS: &str = include_str!("../../../fixtures/engine/answers.jsonl");

/// What a response says.
#[derive(Default)]
struct Said {
    text: String,
    /// The names of tools and their arguments.
    calls: Vec<(String, Value)>,
    /// Why it ended, in the API's own word.
    end: String,
}

impl Said {
    fn of(api: Api, response: &Value) -> Self {
        let mut said = Self::default();
        let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
        let arguments = |value: &Value| serde_json::from_str(value.as_str().unwrap()).unwrap();
        match api {
            Api::Chat => {
                let choice = &response["choices"][0];
                said.end = text(&choice["finish_reason"]);
                said.text = text(&choice["message"]["content"]);
                for call in choice["message"]["tool_calls"].as_array().into_iter().flatten() {
                    let function = &call["function"];
                    said.calls.push((text(&function["name"]), arguments(&function["arguments"])));
                }
            }
            Api::Responses => {
                said.end = text(&response["status"]);
                for item in response["output"].as_array().unwrap() {
                    match item["type"].as_str().unwrap() {
                        "message" => said.text += &text(&item["content"][0]["text"]),
                        "function_call" => {
                            said.calls.push((text(&item["name"]), arguments(&item["arguments"])));
                        }
                        _ => {}
                    }
                }
            }
            Api::Messages => {
                said.end = text(&response["stop_reason"]);
                for block in response["content"].as_array().unwrap() {
                    match block["type"].as_str().unwrap() {
                        "text" => said.text += &text(&block["text"]),
                        "tool_use" => said.calls.push((text(&block["name"]), block["input"].clone())),
                        _ => {}
                    }
                }
            }
        }
        said
    }
}

#[test]
fn random_weights_answer_validly_under_masks() {
    let mut engines = HashMap::new();
    let mut distinct = HashSet::new();
    for (index, line) in ANSWERS.lines().enumerate() {
        let case: Value = serde_json::from_str(line).unwrap();
        let api = match case["api"].as_str().unwrap() {
            "chat" => Api::Chat,
            "responses" => Api::Responses,
            _ => Api::Messages,
        };
        let body = case["request"].to_string();
        let lowered = lower(api, body.as_bytes(), &Options::default()).unwrap();
        let (tokenizer, compiler, engine) = engines.entry(lowered.profile.name()).or_insert_with(|| {
            let tokenizer = lowered.profile.tokenizer();
            let engine = CandleEngine::tiny(&tokenizer, 7).unwrap();
            (tokenizer.clone(), Compiler::new(&tokenizer), engine)
        });
        for answer in 0..2 {
            let options = SessionOptions::new("x", Masks::Exact(compiler));
            let mut session = Session::new(&lowered, tokenizer, options).unwrap();
            run(engine, &mut session, |_| ControlFlow::Continue(())).unwrap();
            let response: Value = session.stream().response().into();
            let said = Said::of(api, &response);
            let at = format!("line {}, answer {answer}: {response}", index + 1);
            let want = &case["answer"];
            if let Some(schema) = want.get("schema") {
                let value = serde_json::from_str(&said.text).expect(&at);
                assert!(jsonschema::is_valid(schema, &value), "{at}");
            }
            if let Some(regex) = want.get("regex") {
                let schema = serde_json::json!({"type": "string", "pattern": regex});
                assert!(jsonschema::is_valid(&schema, &said.text.as_str().into()), "{at}");
            }
            if let Some(tools) = want.get("calls") {
                assert!(!said.calls.is_empty() && said.text.is_empty(), "{at}");
                for (name, arguments) in &said.calls {
                    assert!(jsonschema::is_valid(&tools[name], arguments), "{at}");
                }
            }
            assert!(["stop", "tool_calls", "completed", "tool_use"].contains(&said.end.as_str()), "{at}");
            distinct.insert((said.text, format!("{:?}", said.calls)));
        }
    }
    // Random, indeed.
    assert!(distinct.len() > 20, "{}", distinct.len());
}

const GREEDIEST: Sampling = Sampling {
    max_tokens: None,
    temperature: 0.0,
    top_p: 1.0,
    logprobs: false,
    top_logprobs: None,
    seed: None,
    n: 1,
};

/// Greedy decoding without a mask.
fn greedy(
    engine: &mut CandleEngine,
    sequence: &mut CausalSequence<CandleState>,
    count: usize,
) -> Vec<TokenId> {
    (0..count).map(|_| engine.step(sequence, None).unwrap().id).collect()
}

#[test]
fn branches_and_what_was_taken_back_go_on_alike() {
    let tokenizer = PROFILES[0].tokenizer();
    let mut engine = CandleEngine::tiny(&tokenizer, 3).unwrap();
    // The end of the model's memory lies in the middle of it.
    let prompt = tokenizer.encode_text(&"Once upon a time ".repeat(150))[..500].to_vec();
    let mut first = engine.start(&prompt, &GREEDIEST).unwrap();
    let begin = greedy(&mut engine, &mut first, 7);
    let mut second = engine.fork(&first, 0).unwrap();
    let end = greedy(&mut engine, &mut first, 20);
    assert_eq!(greedy(&mut engine, &mut second, 20), end);
    engine.truncate(&mut first, 7).unwrap();
    assert_eq!(greedy(&mut engine, &mut first, 20), end);
    // Nothing is read twice where the last token was not read yet.
    engine.truncate(&mut first, 27).unwrap();
    engine.truncate(&mut first, 0).unwrap();
    assert_eq!(greedy(&mut engine, &mut first, 7), begin);
    assert!(engine.truncate(&mut first, 8).is_err());
    assert!(engine.start(&[], &GREEDIEST).is_err());
}

#[test]
fn ids_may_be_read_in_any_parts() {
    let tokenizer = PROFILES[0].tokenizer();
    let mut model = CandleEngine::tiny(&tokenizer, 5).unwrap().model().clone();
    let ids = tokenizer.encode_text(&"the quick brown fox, 12 of them; ".repeat(200));
    let mut logits_of = |parts: &[usize]| {
        let mut state = model.begin().unwrap();
        let (mut from, mut logits) = (0, Vec::new());
        for to in parts {
            logits.clear();
            model.read(&mut state, &ids[from..*to], &mut logits).unwrap();
            from = *to;
        }
        assert_eq!(logits.len(), tokenizer.len());
        logits
    };
    for (parts, whole) in
        [(&[1, 2, 40][..], 40), (&[511, 512], 512), (&[512, 513], 513), (&[300, 1100, 1300], 1300)]
    {
        let (parts, whole) = (logits_of(parts), logits_of(&[whole]));
        let difference = parts.iter().zip(&whole).map(|(a, b)| (a - b).abs()).fold(0.0, f32::max);
        assert!(difference < 1e-3, "{difference}");
    }
    let other = logits_of(&[41]);
    assert!(other.iter().zip(logits_of(&[40])).any(|(a, b)| (a - b).abs() > 0.1));
}

#[test]
fn drafts_change_no_answer() {
    let tokenizer = PROFILES[0].tokenizer();
    let compiler = Compiler::new(&tokenizer);
    let mut engine = CandleEngine::tiny(&tokenizer, 1).unwrap();
    for line in ANSWERS.lines().take(3) {
        let case: Value = serde_json::from_str(line).unwrap();
        let mut request = case["request"].clone();
        // While it thinks, the temperature is 1 whatever is asked for.
        request["temperature"] = 0.into();
        request["seed"] = 9.into();
        request["max_tokens"] = 40.into();
        request["model"] = PROFILES[0].name().into();
        let lowered = lower(Api::Chat, request.to_string().as_bytes(), &Options::default()).unwrap();
        let mut session =
            Session::new(&lowered, &tokenizer, SessionOptions::new("x", Masks::Exact(&compiler))).unwrap();
        let mut drafted = session.clone();
        run(&mut engine, &mut session, |_| ControlFlow::Continue(())).unwrap();
        let mut drafter = CandleEngine::tiny(&tokenizer, 2).unwrap();
        let report =
            run_with_drafts(&mut engine, &mut drafter, 2, &mut drafted, |_| ControlFlow::Continue(()))
                .unwrap();
        assert_eq!(drafted.stream().response(), session.stream().response());
        assert!(report.proposed > 0 && report.failure.is_none());
    }
}

#[test]
fn sequences_go_from_thread_to_thread() {
    fn goes<T: Send>() {}
    goes::<CandleEngine>();
    goes::<CausalSequence<CandleState>>();
}

/// A model of Llama's architecture as a file: random numbers for 300 tokens.
fn llama_file() -> Vec<u8> {
    use candle_core::quantized::gguf_file::{Value, write};
    use candle_core::quantized::{GgmlDType, QTensor};
    use candle_core::{Device, Tensor};

    let (width, inner) = (32, 64);
    let numbers = [
        ("llama.attention.head_count", Value::U32(2)),
        ("llama.attention.head_count_kv", Value::U32(1)),
        ("llama.block_count", Value::U32(2)),
        ("llama.embedding_length", Value::U32(width)),
        ("llama.rope.dimension_count", Value::U32(width / 2)),
        ("llama.attention.layer_norm_rms_epsilon", Value::F32(1e-5)),
    ];
    let mut shapes = vec![
        ("token_embd.weight".to_owned(), vec![300, width as usize]),
        ("output_norm.weight".to_owned(), vec![width as usize]),
    ];
    for block in 0..2 {
        for (name, shape) in [
            ("attn_norm", vec![width]),
            ("ffn_norm", vec![width]),
            ("attn_q", vec![width, width]),
            ("attn_k", vec![width / 2, width]),
            ("attn_v", vec![width / 2, width]),
            ("attn_output", vec![width, width]),
            ("ffn_gate", vec![inner, width]),
            ("ffn_up", vec![inner, width]),
            ("ffn_down", vec![width, inner]),
        ] {
            let shape = shape.into_iter().map(|size| size as usize).collect();
            shapes.push((format!("blk.{block}.{name}.weight"), shape));
        }
    }
    let mut dice = Dice(5);
    let mut tensor = |shape: &[usize]| {
        let values = (0..shape.iter().product()).map(|_| dice.unit() as f32 - 0.5).collect();
        let tensor = Tensor::from_vec(values, shape, &Device::Cpu).unwrap();
        QTensor::quantize(&tensor, GgmlDType::F32).unwrap()
    };
    let tensors: Vec<_> = shapes.iter().map(|(name, shape)| (name.as_str(), tensor(shape))).collect();
    let mut file = Cursor::new(Vec::new());
    write(
        &mut file,
        &numbers.iter().map(|(name, value)| (*name, value)).collect::<Vec<_>>(),
        &tensors.iter().map(|(name, tensor)| (*name, tensor)).collect::<Vec<_>>(),
    )
    .unwrap();
    file.into_inner()
}

#[test]
fn checkpoints_are_read_and_branch() {
    let file = llama_file();
    let mut engine = CandleEngine::new(Candle::read_gguf(&mut Cursor::new(&file)).unwrap(), 1);
    // More than goes through the model at once.
    let prompt: Vec<TokenId> = (0..600).map(|at| TokenId(at * 7 % 300)).collect();
    let mut first = engine.start(&prompt, &GREEDIEST).unwrap();
    let begin = greedy(&mut engine, &mut first, 5);
    let mut second = engine.fork(&first, 0).unwrap();
    let end = greedy(&mut engine, &mut first, 6);
    assert_eq!(greedy(&mut engine, &mut second, 6), end);
    engine.truncate(&mut second, 5).unwrap();
    assert_eq!(greedy(&mut engine, &mut second, 6), end);
    engine.truncate(&mut first, 0).unwrap();
    assert_eq!(greedy(&mut engine, &mut first, 5), begin);
    // What was read counts.
    let mut other = engine.start(&prompt[1..], &GREEDIEST).unwrap();
    assert_ne!([begin, end].concat(), greedy(&mut engine, &mut other, 11));
    for length in [0, 3, 100, 2000] {
        assert!(Candle::read_gguf(&mut Cursor::new(&file[..length])).is_err(), "{length}");
    }
    assert!(CandleEngine::gguf(Path::new("no such file"), 1).is_err());
}

#[cfg(feature = "hf")]
#[test]
fn a_file_s_tokenizer_is_its_own() {
    use candle_core::quantized::gguf_file::{Value, write};

    use super::gguf_tokenizer;
    use crate::token::Special;
    use crate::tokenizer::hf::wrap;

    let printable = |code: &u32| matches!(code, 0x21..=0x7E | 0xA1..=0xAC | 0xAE..=0xFF);
    let mut tokens: Vec<String> = (0..=0xFF)
        .filter(printable)
        .chain(0x100..0x144)
        .map(|code| char::from_u32(code).unwrap().to_string())
        .collect();
    tokens.extend(["ab".to_owned(), "<|end|>".to_owned()]);
    let kinds = (0..258).map(|id| Value::I32(if id == 257 { 3 } else { 1 })).collect();
    let strings = |texts: &[String]| Value::Array(texts.iter().cloned().map(Value::String).collect());
    let metadata = [
        ("tokenizer.ggml.model", Value::String("gpt2".to_owned())),
        ("tokenizer.ggml.tokens", strings(&tokens)),
        ("tokenizer.ggml.merges", strings(&["a b".to_owned()])),
        ("tokenizer.ggml.token_type", Value::Array(kinds)),
    ];
    let path = std::env::temp_dir().join(format!("deepseek-codec-{}.gguf", std::process::id()));
    let metadata: Vec<_> = metadata.iter().map(|(name, value)| (*name, value)).collect();
    write(&mut std::fs::File::create(&path).unwrap(), &metadata, &[]).unwrap();
    let tokenizer = wrap(&gguf_tokenizer(&path).unwrap(), &[(Special::Eos, "<|end|>")]).unwrap();
    std::fs::remove_file(&path).unwrap();
    assert_eq!(tokenizer.special_id(Special::Eos), Some(TokenId(257)));
    let ids = tokenizer.encode_text("abba <|end|>");
    assert_eq!(ids[0], TokenId(256));
    assert_eq!(tokenizer.decode(&ids), "abba <|end|>");
    assert!(!ids.contains(&TokenId(257)));
    assert!(gguf_tokenizer(&path).is_err());
}

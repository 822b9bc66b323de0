//! An engine of random numbers as a Dynamo worker: by Dynamo's own checks of engines, and under guided decoding.

#![allow(clippy::unwrap_used, reason = "tests say what they expect by unwrapping")]

use std::convert::Infallible;
use std::sync::LazyLock;

use deepseek_codec::engine::{Causal, CausalModel};
use deepseek_codec::model::{PROFILES, Profile};
use deepseek_codec::protocol::{Api, Options, lower};
use deepseek_codec::token::{Special, TokenId};
use deepseek_codec::tokenizer::Tokenizer;
use deepseek_codec_dynamo::{DynamoEngine, DynamoOptions, preprocessed};
use dynamo_backend_common::testing::{mock_context, run_conformance};
use dynamo_backend_common::{
    FinishReason, GenerateContext, GuidedDecodingOptions, LLMEngine, LLMEngineOutput, PreprocessedRequest,
};
use futures::StreamExt;

static PROFILE: LazyLock<&'static Profile> = LazyLock::new(|| PROFILES[0]);
static TOKENIZER: LazyLock<Tokenizer> = LazyLock::new(|| PROFILE.tokenizer());

/// Random numbers, which follow from the ids.
#[derive(Clone)]
struct Random;

impl CausalModel for Random {
    type State = u64;
    type Error = Infallible;

    fn begin(&mut self) -> Result<u64, Infallible> {
        Ok(1)
    }

    fn read(&mut self, state: &mut u64, ids: &[TokenId], logits: &mut Vec<f32>) -> Result<(), Infallible> {
        for id in ids {
            *state = (*state ^ u64::from(id.0)).wrapping_mul(0x9E37_79B9_7F4A_7C15).rotate_left(23) | 1;
        }
        let mut random = *state;
        logits.extend((0..TOKENIZER.len()).map(|_| {
            random ^= random << 13;
            random ^= random >> 7;
            random ^= random << 17;
            (random >> 40) as f32 / (1 << 24) as f32
        }));
        // It likes to come to an end.
        for text in ["\"", "}"] {
            logits[TOKENIZER.encode_text(text)[0].index()] += 10.5;
        }
        for role in [Special::Eos, Special::ThinkEnd] {
            logits[TOKENIZER.special_id(role).unwrap().index()] += 10.5;
        }
        Ok(())
    }
}

fn engine() -> DynamoEngine<Causal<Random>> {
    let options = DynamoOptions { model: "random".to_owned(), context_limit: 4096 };
    DynamoEngine::new(Causal::new(Random, 1), *PROFILE, TOKENIZER.clone(), options)
}

fn request(body: &str) -> PreprocessedRequest {
    let lowered =
        lower(Api::Chat, body.as_bytes(), &Options::default().with_model("larger", *PROFILE)).unwrap();
    let ids = TOKENIZER.encode(&PROFILE.render(&lowered.conversation));
    preprocessed(&lowered, &ids, &TOKENIZER, "random").unwrap()
}

/// The text of an answer, and its last item.
async fn answer(engine: &impl LLMEngine, request: PreprocessedRequest) -> (String, LLMEngineOutput) {
    let stream = engine.generate(request, GenerateContext::new(mock_context(), None)).await.unwrap();
    let items: Vec<LLMEngineOutput> = stream.map(Result::unwrap).collect().await;
    let ids: Vec<TokenId> = items.iter().flat_map(|item| &item.token_ids).map(|id| TokenId(*id)).collect();
    let last = items.last().unwrap().clone();
    assert_eq!(last.completion_usage.as_ref().unwrap().completion_tokens as usize, ids.len());
    (TOKENIZER.decode(&ids), last)
}

const BODY: &str = r#"{"model": "larger", "thinking": {"type": "disabled"}, "max_tokens": 200, "logprobs": true, "top_logprobs": 2,
    "messages": [{"role": "user", "content": "JSON"}], "response_format": FORMAT}"#;
const SCHEMA: &str = r#"{"type": "json_schema", "json_schema": {"name": "x", "schema": {"type": "object", "required": ["days"],
    "properties": {"days": {"type": "integer", "minimum": 1, "maximum": 7}}, "additionalProperties": false}}}"#;

#[tokio::test]
async fn it_is_an_engine_as_dynamo_checks_it() {
    run_conformance(engine).await.unwrap();
}

#[tokio::test]
async fn guided_decoding_is_a_mask() {
    let engine = engine();
    engine.start(0).await.unwrap();
    for _ in 0..3 {
        let (text, last) = answer(&engine, request(&BODY.replace("FORMAT", SCHEMA))).await;
        let value: serde_json::Value = serde_json::from_str(&text).unwrap();
        assert!((1.0..=7.0).contains(&value["days"].as_f64().unwrap()), "{text}");
        assert_eq!(last.finish_reason, Some(FinishReason::Stop));
    }
    let regex = BODY.replace("FORMAT", r#"{"type": "regex", "regex": "[A-Z]{3}-[0-9]{4}"}"#);
    let (text, _) = answer(&engine, request(&regex)).await;
    assert!(text.len() == 8 && text.as_bytes()[3] == b'-', "{text}");
    // The grammar holds for what follows the reasoning.
    let thinking = regex.replace("disabled", "enabled");
    let (text, _) = answer(&engine, request(&thinking)).await;
    let (reasoning, text) = text.split_once("</think>").unwrap();
    assert!(!reasoning.is_empty() && text.len() == 8, "{text}");

    let mut choice = request(&BODY.replace("FORMAT", r#"{"type": "text"}"#));
    let choices = vec!["yes (sure)".to_owned(), "no".to_owned()];
    choice.sampling_options.guided_decoding =
        Some(GuidedDecodingOptions { choice: Some(choices.clone()), ..GuidedDecodingOptions::default() });
    let (text, _) = answer(&engine, choice.clone()).await;
    assert!(choices.contains(&text), "{text}");

    // A structural tag, as Dynamo writes it for a schema between texts; its texts come as strings too.
    let tag = serde_json::json!({"type": "structural_tag", "format": {"type": "sequence", "elements": [
        {"type": "const_string", "value": "<a>"}, {"type": "json_schema", "json_schema": {"enum": [1, 2, "x"]}},
        {"type": "const_string", "value": "</a>"}]}});
    for tag in [tag.to_string().into(), tag] {
        choice.sampling_options.guided_decoding =
            Some(GuidedDecodingOptions { structural_tag: Some(tag), ..GuidedDecodingOptions::default() });
        let (text, _) = answer(&engine, choice.clone()).await;
        let value = text.strip_prefix("<a>").and_then(|text| text.strip_suffix("</a>")).unwrap();
        let value: serde_json::Value = serde_json::from_str(value).unwrap();
        assert!(value == "x" || [Some(1.0), Some(2.0)].contains(&value.as_f64()), "{text}");
    }

    // What cannot be enforced is refused.
    choice.sampling_options.guided_decoding = Some(GuidedDecodingOptions {
        structural_tag: Some(serde_json::json!({"type": "structural_tag", "format": {"type": "grammar"}})),
        ..GuidedDecodingOptions::default()
    });
    assert!(engine.generate(choice.clone(), GenerateContext::new(mock_context(), None)).await.is_err());
    choice.sampling_options.guided_decoding = Some(GuidedDecodingOptions {
        grammar: Some("root ::= x".to_owned()),
        ..GuidedDecodingOptions::default()
    });
    assert!(engine.generate(choice, GenerateContext::new(mock_context(), None)).await.is_err());
    engine.cleanup().await.unwrap();
    let late = request(&regex);
    assert!(engine.generate(late, GenerateContext::new(mock_context(), None)).await.is_err());
}

#[tokio::test]
async fn answers_end_where_the_request_says() {
    let engine = engine();
    engine.start(0).await.unwrap();
    let mut text = request(&BODY.replace("FORMAT", r#"{"type": "text"}"#));
    text.stop_conditions.max_tokens = Some(5);
    text.stop_conditions.ignore_eos = Some(true);
    let stream = engine.generate(text.clone(), GenerateContext::new(mock_context(), None)).await.unwrap();
    let items: Vec<LLMEngineOutput> = stream.map(Result::unwrap).collect().await;
    assert_eq!(items.len(), 6);
    assert!(items[0].log_probs.as_ref().is_some_and(|logprobs| logprobs.len() == 1 && logprobs[0] < 0.0));
    assert_eq!(items[0].top_logprobs.as_ref().unwrap()[0].len(), 2);
    assert_eq!(items[5].finish_reason, Some(FinishReason::Length));
    // A stop id that is part of the answer.
    let first = items[0].token_ids[0];
    text.sampling_options.seed = Some(1);
    text.sampling_options.temperature = Some(0.0);
    let (_, greedy) = answer(&engine, text.clone()).await;
    assert_eq!(greedy.finish_reason, Some(FinishReason::Length));
    text.stop_conditions.ignore_eos = None;
    text.stop_conditions.stop_token_ids_visible = Some((0..TOKENIZER.len() as u32).collect());
    let (_, visible) = answer(&engine, text.clone()).await;
    assert_eq!(visible.finish_reason, Some(FinishReason::Stop));
    assert_eq!(visible.completion_usage.unwrap().completion_tokens, 1);
    assert!(first < TOKENIZER.len() as u32);
    // A prompt that is too long.
    text.token_ids = std::sync::Arc::new(vec![1; 4096]);
    assert!(engine.generate(text, GenerateContext::new(mock_context(), None)).await.is_err());
    engine.cleanup().await.unwrap();
}

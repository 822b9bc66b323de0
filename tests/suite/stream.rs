//! Streams of the three APIs: what a client gathers from the events is the complete response.

use deepseek_codec::json::Json;
use deepseek_codec::output::Finish;
use deepseek_codec::protocol::{
    Api, Chunk, Dialect, Lowered, Options, Policy, Stream, StreamOptions, TokenLogprob, lower,
};
use deepseek_codec::token::{Special, TokenId};
use deepseek_codec::tokenizer::Tokenizer;
use proptest::prelude::*;
use serde_json::{Value, json};

use crate::fuzz_replay::outputs::{self, Unit};
use crate::{fixture, output};

/// What a request asks for.
#[derive(Debug, Clone, Default)]
struct Asked {
    thinking: bool,
    tools: bool,
    json: bool,
    stops: Vec<String>,
}

fn lowered(api: Api, asked: &Asked) -> Lowered {
    let parameters = json!({"type": "object", "properties": {}});
    let mut request = json!({"model": "deepseek-v4-pro", "stream": true});
    let question = json!([{"role": "user", "content": "Answer in JSON."}]);
    let thinking = json!({"type": if asked.thinking { "enabled" } else { "disabled" }});
    match api {
        Api::Chat => {
            request["messages"] = question;
            request["thinking"] = thinking;
            request["stream_options"] = json!({"include_usage": true});
            request["logprobs"] = true.into();
            if asked.tools {
                let tool = |name: &str| json!({"type": "function", "function": {"name": name, "parameters": parameters}});
                request["tools"] = json!([tool("f"), tool("g"), tool("n__h"), tool("get_weather")]);
            }
            if asked.json {
                request["response_format"] = json!({"type": "json_object"});
            }
            request["stop"] = json!(asked.stops);
        }
        Api::Responses => {
            request["input"] = question;
            request["reasoning"] = json!({"effort": if asked.thinking { "high" } else { "none" }});
            if asked.tools {
                let tool = |name: &str| json!({"type": "function", "name": name, "parameters": parameters});
                request["tools"] = json!([
                    tool("f"),
                    {"type": "custom", "name": "g", "description": "Takes text."},
                    {"type": "namespace", "name": "n", "description": "N.", "tools": [tool("h")]},
                    tool("get_weather"),
                ]);
            }
            if asked.json {
                request["text"] = json!({"format": {"type": "json_object"}});
            }
        }
        Api::Messages => {
            request["messages"] = question;
            request["thinking"] = thinking;
            request["max_tokens"] = 1000.into();
            if asked.tools {
                let tool = |name: &str| json!({"name": name, "input_schema": parameters});
                request["tools"] = json!([tool("f"), tool("g"), tool("n__h"), tool("get_weather")]);
            }
            request["stop_sequences"] = json!(asked.stops);
        }
    }
    lower(api, request.to_string().as_bytes(), &Options::new(Policy::Lenient)).unwrap()
}

pub(crate) fn options(dialect: Dialect) -> StreamOptions {
    StreamOptions {
        created: 1_700_000_000,
        seed: 7,
        dialect,
        prompt_tokens: 20,
        cached_tokens: 8,
        ..StreamOptions::new("resp-1")
    }
}

/// The ids of an output in which special tokens are spelled.
fn ids(text: &str, tokenizer: &Tokenizer) -> Vec<TokenId> {
    let unit = |unit| match unit {
        Unit::Text(text) => tokenizer.encode_text(&text),
        Unit::Special(special) => tokenizer.special_id(special).into_iter().collect(),
    };
    outputs::units(text).into_iter().flat_map(unit).collect()
}

/// Each id with a log probability of its own, so that entries can be told apart.
fn push_ids(stream: &mut Stream, ids: &[TokenId], out: &mut Vec<Chunk>) {
    for (index, &id) in ids.iter().enumerate() {
        let logprob = -(index as f32);
        stream.push_id(id, Some(&TokenLogprob { logprob, top: vec![(id, logprob)] }), &mut *out);
    }
}

pub(crate) fn response(stream: &Stream) -> Value {
    stream.response().into()
}

/// What a client of the API gathers.
pub(crate) fn gather(api: Api, dialect: Dialect, chunks: &[Chunk]) -> Value {
    match api {
        Api::Chat => gather_chat(dialect, chunks),
        Api::Responses => gather_responses(chunks),
        Api::Messages => gather_messages(chunks),
    }
}

fn data(chunk: &Chunk) -> Value {
    serde_json::from_str(&chunk.data).unwrap_or_else(|error| panic!("{}: {error}", chunk.data))
}

/// Appends text to a member that may not be there yet.
fn append(to: &mut Value, key: &str, text: &Value) {
    let text = text.as_str().unwrap();
    match to.get(key).and_then(Value::as_str) {
        Some(before) => to[key] = format!("{before}{text}").into(),
        None => to[key] = text.into(),
    }
}

fn gather_chat(dialect: Dialect, chunks: &[Chunk]) -> Value {
    let (done, chunks) = chunks.split_last().unwrap();
    assert_eq!(done.data, "[DONE]");
    let mut whole = json!({"object": "chat.completion"});
    let mut message = json!({});
    let (mut calls, mut logprobs) = (Vec::new(), serde_json::Map::new());
    let mut finish = Value::Null;
    for chunk in chunks {
        assert_eq!(chunk.event, None);
        let data = data(chunk);
        assert_eq!(data["object"], "chat.completion.chunk");
        for key in ["id", "created", "model", "system_fingerprint"] {
            if let Some(value) = data.get(key) {
                whole[key] = value.clone();
            }
        }
        if !data["usage"].is_null() {
            assert!(whole.get("usage").is_none(), "usage twice");
            whole["usage"] = data["usage"].clone();
        }
        let Some(choice) = data["choices"].get(0) else { continue };
        assert_eq!(finish, Value::Null, "a choice behind the last");
        finish = choice["finish_reason"].clone();
        let delta = &choice["delta"];
        for key in ["role", "content", "reasoning_content"] {
            if delta[key].is_string() {
                append(&mut message, key, &delta[key]);
            }
        }
        for call in delta["tool_calls"].as_array().into_iter().flatten() {
            let index = usize::try_from(call["index"].as_u64().unwrap()).unwrap();
            if index == calls.len() {
                calls.push(call.clone());
            } else {
                assert_eq!(index + 1, calls.len(), "calls come one after another");
                append(&mut calls[index]["function"], "arguments", &call["function"]["arguments"]);
            }
        }
        for (key, entries) in choice["logprobs"].as_object().into_iter().flatten() {
            let all = logprobs.entry(key).or_insert(json!([])).as_array_mut().unwrap();
            all.extend(entries.as_array().into_iter().flatten().cloned());
        }
    }
    if message.get("content").is_none() {
        message["content"] = Value::Null;
    }
    let mut logprobs = if logprobs.is_empty() { Value::Null } else { Value::Object(logprobs) };
    if dialect == Dialect::Vendor {
        message["refusal"] = Value::Null;
        calls.iter_mut().for_each(|call| drop(call.as_object_mut().unwrap().remove("index")));
        if logprobs.is_object() {
            logprobs["refusal"] = Value::Null;
            if logprobs["content"] == json!([]) {
                logprobs["content"] = Value::Null;
            }
        }
    }
    if !calls.is_empty() {
        message["tool_calls"] = calls.into();
    }
    whole["choices"] =
        json!([{"index": 0, "message": message, "logprobs": logprobs, "finish_reason": finish}]);
    whole
}

fn gather_responses(chunks: &[Chunk]) -> Value {
    let mut items: Vec<Value> = Vec::new();
    let mut is_open = false;
    let mut whole = Value::Null;
    for (number, chunk) in chunks.iter().enumerate() {
        let data = data(chunk);
        let kind = chunk.event.unwrap();
        assert_eq!(data["type"], kind);
        assert_eq!(data["sequence_number"], number);
        let last = items.len().saturating_sub(1);
        if data.get("output_index").is_some() && kind != "response.output_item.added" {
            assert!(is_open && data["output_index"] == last, "{kind} outside of its item");
            assert!(data.get("item_id").is_none_or(|id| *id == items[last]["id"]));
        }
        match kind {
            "response.created" | "response.in_progress" => assert_eq!(data["response"]["output"], json!([])),
            "response.output_item.added" => {
                assert!(!is_open && data["output_index"] == items.len());
                is_open = true;
                items.push(data["item"].clone());
            }
            "response.content_part.added" => items[last]["content"] = json!([data["part"]]),
            "response.output_text.delta" | "response.reasoning_text.delta" => {
                append(&mut items[last]["content"][0], "text", &data["delta"]);
                for entry in data["logprobs"].as_array().into_iter().flatten() {
                    items[last]["content"][0]["logprobs"].as_array_mut().unwrap().push(entry.clone());
                }
            }
            "response.output_text.done" | "response.reasoning_text.done" => {
                assert_eq!(data["text"], items[last]["content"][0]["text"]);
            }
            "response.content_part.done" => assert_eq!(data["part"], items[last]["content"][0]),
            "response.function_call_arguments.delta" => append(&mut items[last], "arguments", &data["delta"]),
            "response.function_call_arguments.done" => {
                assert_eq!(data["arguments"], items[last]["arguments"]);
            }
            "response.custom_tool_call_input.delta" => append(&mut items[last], "input", &data["delta"]),
            "response.custom_tool_call_input.done" => assert_eq!(data["input"], items[last]["input"]),
            "response.output_item.done" => {
                is_open = false;
                for key in ["status", "phase"] {
                    if let Some(value) = data["item"].get(key) {
                        items[last][key] = value.clone();
                    }
                }
                assert_eq!(data["item"], items[last]);
            }
            "response.completed" | "response.incomplete" | "response.failed" => {
                assert!(!is_open && number + 1 == chunks.len());
                assert_eq!(kind, format!("response.{}", data["response"]["status"].as_str().unwrap()));
                whole = data["response"].clone();
                assert_eq!(whole["output"], Value::Array(items.clone()));
            }
            other => panic!("an event {other}"),
        }
    }
    whole
}

/// The arguments of a call that was cut: the longest part of them that closing brackets make an object.
fn what_came(arguments: &str) -> Value {
    let ends = arguments.char_indices().map(|(at, _)| at).chain([arguments.len()]);
    let closed = |end: usize| {
        // The beginning of a number or of a word is no value.
        let is_scalar = |byte: u8| byte.is_ascii_alphanumeric() || b"+-.".contains(&byte);
        let is_inside = end > 0
            && is_scalar(arguments.as_bytes()[end - 1])
            && arguments.as_bytes().get(end).is_some_and(|byte| !b",]} \n\r\t".contains(byte));
        let mut closers = Vec::new();
        let (mut in_string, mut escaped) = (false, false);
        for byte in arguments[..end].bytes() {
            match byte {
                _ if escaped => escaped = false,
                b'\\' if in_string => escaped = true,
                b'"' => in_string = !in_string,
                _ if in_string => {}
                b'{' => closers.push('}'),
                b'[' => closers.push(']'),
                b'}' | b']' => drop(closers.pop()),
                _ => {}
            }
        }
        let closers: String = closers.iter().rev().collect();
        serde_json::from_str(&format!("{}{closers}", &arguments[..end])).ok().filter(|_| !is_inside)
    };
    ends.collect::<Vec<_>>().into_iter().rev().find_map(closed).unwrap_or(json!({}))
}

fn gather_messages(chunks: &[Chunk]) -> Value {
    let mut whole = Value::Null;
    let mut blocks: Vec<Value> = Vec::new();
    let mut input = String::new();
    let mut is_open = false;
    for chunk in chunks {
        let data = data(chunk);
        let kind = chunk.event.unwrap();
        assert_eq!(data["type"], kind);
        match kind {
            "message_start" => whole = data["message"].clone(),
            "content_block_start" => {
                assert!(!is_open && data["index"] == blocks.len());
                is_open = true;
                input.clear();
                blocks.push(data["content_block"].clone());
            }
            "content_block_delta" => {
                assert!(is_open && data["index"] == blocks.len() - 1);
                let (block, delta) = (blocks.last_mut().unwrap(), &data["delta"]);
                match delta["type"].as_str().unwrap() {
                    "text_delta" => append(block, "text", &delta["text"]),
                    "thinking_delta" => append(block, "thinking", &delta["thinking"]),
                    "signature_delta" => block["signature"] = delta["signature"].clone(),
                    "input_json_delta" => input.push_str(delta["partial_json"].as_str().unwrap()),
                    other => panic!("a delta {other}"),
                }
            }
            "content_block_stop" => {
                assert!(is_open && data["index"] == blocks.len() - 1);
                is_open = false;
                let block = blocks.last_mut().unwrap();
                if block["type"] == "tool_use" {
                    block["input"] = serde_json::from_str(&input).unwrap_or_else(|_| what_came(&input));
                }
            }
            "message_delta" => {
                assert!(!is_open);
                whole["stop_reason"] = data["delta"]["stop_reason"].clone();
                whole["stop_sequence"] = data["delta"]["stop_sequence"].clone();
                for (key, value) in data["usage"].as_object().unwrap() {
                    whole["usage"][key] = value.clone();
                }
            }
            "ping" | "message_stop" => {}
            other => panic!("an event {other}"),
        }
    }
    assert_eq!(chunks.last().unwrap().event, Some("message_stop"));
    whole["content"] = blocks.into();
    whole
}

/// All log probability entries of a Chat Completions response, in the order in which their tokens came.
fn entries(response: &Value) -> Vec<Value> {
    let logprobs = &response["choices"][0]["logprobs"];
    let list = |key: &str| logprobs[key].as_array().cloned().unwrap_or_default();
    [list("reasoning_content"), list("content")].concat()
}

fn without_logprobs(mut json: Value) -> Value {
    match &mut json {
        Value::Array(elements) => {
            elements.iter_mut().for_each(|element| *element = without_logprobs(element.take()));
        }
        Value::Object(members) => {
            members.remove("logprobs");
            members.values_mut().for_each(|member| *member = without_logprobs(member.take()));
        }
        _ => {}
    }
    json
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 400, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn events_add_up_to_the_response(
        text in output::damaged(),
        thinking in any::<bool>(),
        tools in prop::bool::weighted(0.9),
        json in prop::bool::weighted(0.1),
        stop in prop::option::weighted(0.2, prop::sample::select(vec!["a", "\n", "<b", "😀"])),
        vendor in any::<bool>(),
        finish in prop::sample::select(vec![Finish::Stop, Finish::Length, Finish::ContentFilter, Finish::Unknown]),
        as_ids in any::<bool>(),
    ) {
        let stops = stop.into_iter().map(str::to_owned).collect();
        let asked = Asked { thinking, tools, json, stops };
        let dialect = if vendor { Dialect::Vendor } else { Dialect::Deepseek };
        for api in Api::ALL {
            let lowered = lowered(api, &asked);
            let tokenizer = lowered.profile.tokenizer();
            let mut stream = lowered.stream(&tokenizer, options(dialect));
            let mut chunks = Vec::new();
            let ids = ids(&text, &tokenizer);
            if as_ids {
                push_ids(&mut stream, &ids, &mut chunks);
            } else {
                text.chars().for_each(|c| stream.push_text(&c.to_string(), 1, &mut chunks));
            }
            stream.finish(finish, &mut chunks);
            prop_assert_eq!(gather(api, dialect, &chunks), response(&stream), "{} {:?}", api.as_str(), text);
            let response = response(&stream);
            // Once more, as bytes. Ids without log probabilities take a shorter way.
            let mut plain = lowered.stream(&tokenizer, options(dialect));
            if as_ids {
                chunks.clear();
                ids.iter().for_each(|id| plain.push_id(*id, None, &mut chunks));
                plain.finish(finish, &mut chunks);
                let gathered = gather(api, dialect, &chunks);
                prop_assert_eq!(&gathered, &self::response(&plain), "{} {:?}", api.as_str(), text);
                prop_assert_eq!(without_logprobs(gathered), without_logprobs(response.clone()));
                plain = lowered.stream(&tokenizer, options(dialect));
            }
            let (mut sse, mut bytes) = (String::new(), Vec::new());
            if as_ids {
                ids.iter().for_each(|id| plain.push_id(*id, None, &mut sse));
            } else {
                text.chars().for_each(|c| plain.push_text(&c.to_string(), 1, &mut sse));
            }
            plain.finish(finish, &mut sse);
            chunks.iter().for_each(|chunk| chunk.write_sse(&mut bytes));
            prop_assert_eq!(sse.as_bytes(), bytes);
            let usage = stream.usage();
            prop_assert!(usage.reasoning.unwrap_or(0) <= usage.completion || !as_ids);
            if api == Api::Chat && as_ids {
                // Each token that is shown has one entry, and no marker has any.
                let entries = entries(&response);
                let place = |entry: &Value| (-entry["logprob"].as_f64().unwrap()) as usize;
                let places: Vec<usize> = entries.iter().map(place).collect();
                prop_assert!(places.is_sorted_by(|a, b| a < b), "{:?} {:?}", places, text);
                for &place in &places {
                    let role = tokenizer.special_role(ids[place]);
                    prop_assert!(role.is_none_or(|role| Special::GROUNDING.contains(&role)));
                }
            }
        }
    }
}

/// Entries line up with the tokens that they are about.
#[test]
fn log_probabilities() {
    let asked = Asked { thinking: true, ..Asked::default() };
    let lowered = lowered(Api::Chat, &asked);
    let tokenizer = lowered.profile.tokenizer();
    let (reasoning, content) = (tokenizer.encode_text("why so"), tokenizer.encode_text("Zwölf 🦩🜁, 中文!"));
    let think_end = tokenizer.special_id(Special::ThinkEnd).unwrap();
    let ids = [&reasoning[..], &[think_end], &content].concat();
    let mut stream = lowered.stream(&tokenizer, options(Dialect::Deepseek));
    push_ids(&mut stream, &ids, &mut Vec::new());
    stream.finish(Finish::Stop, &mut Vec::new());
    let response = response(&stream);
    let bytes = |key: &str| -> Vec<Vec<u8>> {
        let entries = response["choices"][0]["logprobs"][key].as_array().unwrap();
        entries.iter().map(|entry| serde_json::from_value(entry["bytes"].clone()).unwrap()).collect()
    };
    let expected = |ids: &[TokenId]| -> Vec<Vec<u8>> {
        ids.iter().map(|id| tokenizer.token_bytes(*id).unwrap().to_vec()).collect()
    };
    assert_eq!(bytes("reasoning_content"), expected(&reasoning));
    assert_eq!(bytes("content"), expected(&content));
    let usage = &response["usage"];
    assert_eq!(usage["completion_tokens"], ids.len());
    assert_eq!(usage["completion_tokens_details"]["reasoning_tokens"], reasoning.len());
    assert_eq!(usage["prompt_cache_hit_tokens"], 8);
    assert_eq!(usage["prompt_cache_miss_tokens"], 12);
}

/// An id that the engine ends at ends the output wherever it stands, and is part of it only if it is to be kept.
#[test]
fn stop_ids() {
    let lowered = lowered(Api::Chat, &Asked { thinking: true, tools: true, ..Asked::default() });
    let tokenizer = lowered.profile.tokenizer();
    let stop_id = tokenizer.encode_text("?")[0];
    let call = "a</think><｜DSML｜tool_calls><｜DSML｜invoke name=\"f\"><｜DSML｜parameter name=\"p\" string=\"true\">";
    let message = |content: &str, reasoning: &str| json!([content, reasoning]);
    for (output, keep_stop, expected, finish) in [
        ("Why?no", false, message("", "Why"), "stop"),
        ("Why?no", true, message("", "Why?"), "stop"),
        ("a</think>b\n\n?c", false, message("b\n\n", "a"), "stop"),
        ("a</think>b\n\n?c", true, message("b\n\n?", "a"), "stop"),
        (&format!("{call}x?"), false, message("", "a"), "length"),
    ] {
        let options = StreamOptions { stop_ids: vec![stop_id], keep_stop, ..options(Dialect::Deepseek) };
        let mut stream = lowered.stream(&tokenizer, options);
        let ids = ids(output, &tokenizer);
        let ends_at = ids.iter().position(|id| *id == stop_id).unwrap();
        ids.iter().for_each(|id| stream.push_id(*id, None, &mut Vec::new()));
        assert!(stream.has_ended());
        stream.finish(Finish::Stop, &mut Vec::new());
        let choice = &response(&stream)["choices"][0];
        let message = json!([choice["message"]["content"], choice["message"]["reasoning_content"]]);
        assert_eq!((message, &choice["finish_reason"]), (expected, &finish.into()), "{output}");
        assert_eq!(stream.usage().completion, (ends_at + usize::from(keep_stop)) as u64, "{output}");
    }
}

/// Reasoning that ends with a held line end is not counted again when that is released.
#[test]
fn reasoning_is_counted_once() {
    let lowered = lowered(Api::Chat, &Asked { thinking: true, ..Asked::default() });
    let tokenizer = lowered.profile.tokenizer();
    let mut stream = lowered.stream(&tokenizer, options(Dialect::Deepseek));
    let ids = tokenizer.encode_text("why\n\n");
    push_ids(&mut stream, &ids, &mut Vec::new());
    stream.finish(Finish::Length, &mut Vec::new());
    assert_eq!(stream.usage().reasoning, Some(ids.len() as u64));
}

/// After a failure nothing more is sent.
#[test]
fn failures() {
    for api in Api::ALL {
        let lowered = lowered(api, &Asked::default());
        let mut stream = lowered.stream(&lowered.profile.tokenizer(), options(Dialect::Deepseek));
        let mut chunks = Vec::new();
        stream.push_text("Hello\n", 1, &mut chunks);
        stream.fail("the engine is gone", &mut chunks);
        let count = chunks.len();
        assert!(stream.has_ended());
        assert!(chunks.iter().any(|chunk| chunk.data.contains("the engine is gone")));
        stream.push_text("more", 1, &mut chunks);
        stream.push_id(TokenId(100), None, &mut chunks);
        stream.finish(Finish::Stop, &mut chunks);
        stream.fail("again", &mut chunks);
        assert_eq!(chunks.len(), count, "{}", api.as_str());
        if api == Api::Responses {
            assert_eq!(gather(api, Dialect::Deepseek, &chunks), response(&stream));
        }
    }
}

/// A ping can be sent between any two events.
#[test]
fn pings() {
    for api in Api::ALL {
        let lowered = lowered(api, &Asked::default());
        let ping = lowered.stream(&lowered.profile.tokenizer(), options(Dialect::Deepseek)).ping();
        assert!(ping.ends_with(b"\n\n"));
        assert_eq!(ping.starts_with(b": "), api != Api::Messages);
    }
}

/// The bytes that clients get for the outputs of fixtures/output/outputs.jsonl, in files beside it.
#[test]
fn chosen_outputs() {
    let cases = fixture::lines("output/outputs.jsonl");
    assert!(cases.len() >= 40);
    for case in cases {
        let flag = |key: &str, default: bool| case.get(key).map_or(default, |value| *value == true.into());
        let stops = case.get("stop").and_then(Json::as_array).unwrap_or_default();
        let asked = Asked {
            thinking: flag("thinking", false),
            tools: flag("tools", true),
            json: flag("json", false),
            stops: stops.iter().filter_map(Json::as_str).map(str::to_owned).collect(),
        };
        let mut shown = String::new();
        for api in Api::ALL {
            // Responses has no stop sequences, Messages no JSON mode.
            if (api == Api::Responses && !asked.stops.is_empty()) || (api == Api::Messages && asked.json) {
                continue;
            }
            shown.push_str(&show(api, &asked, &case));
        }
        insta::with_settings!({
            snapshot_path => concat!(env!("CARGO_MANIFEST_DIR"), "/fixtures/output"),
            prepend_module_to_snapshot => false,
            omit_expression => true,
        }, {
            insta::assert_snapshot!(fixture::text(&case, "id"), shown);
        });
    }
}

fn show(api: Api, asked: &Asked, case: &Json) -> String {
    let lowered = lowered(api, asked);
    let mut stream = lowered.stream(&lowered.profile.tokenizer(), options(Dialect::Deepseek));
    let mut chunks = Vec::new();
    let output = fixture::text(case, "output");
    let half = (0..=output.len() / 2).rev().find(|&at| output.is_char_boundary(at)).unwrap();
    for part in [&output[..half], &output[half..]] {
        if !part.is_empty() {
            stream.push_text(part, 1, &mut chunks);
        }
    }
    if case.get("fails").is_some() {
        stream.fail("The engine failed.", &mut chunks);
    }
    let finish = match case.get("finish").map(Json::as_str) {
        None => Finish::Stop,
        Some(Some("length")) => Finish::Length,
        Some(Some("content_filter")) => Finish::ContentFilter,
        Some(_) => Finish::Unknown,
    };
    stream.finish(finish, &mut chunks);
    let mut bytes = Vec::new();
    chunks.iter().for_each(|chunk| chunk.write_sse(&mut bytes));
    let sent = String::from_utf8(bytes).unwrap();
    format!("# {}\n\n{sent}{}\n", api.as_str(), conclusion(api, &stream))
}

/// The complete response, where the events have none, and the warnings.
pub(crate) fn conclusion(api: Api, stream: &Stream) -> String {
    let warnings: Vec<_> =
        stream.warnings().iter().map(|w| format!("{} at {}", w.kind.as_str(), w.at)).collect();
    let warnings = format!("warnings: [{}]\n", warnings.join(", "));
    match api {
        // The last event of a stream has the response.
        Api::Responses => warnings,
        Api::Chat | Api::Messages => format!("response: {}\n{warnings}", stream.response()),
    }
}

//! Requests whose texts spell special tokens and markup, wherever a request can have text.

use deepseek_codec::json::Json;
use deepseek_codec::protocol::Api;
use deepseek_codec::token::Special;
use proptest::prelude::*;

use crate::{fixture, fuzz_replay};

/// Spellings of special tokens, pieces of them, and markup of tool calls.
fn attack() -> impl Strategy<Value = String> {
    let spelling = prop::sample::select(Special::ALL).prop_map(|special| special.spelling().to_owned());
    let markup = prop::sample::select(vec![
        "<｜DSML｜invoke name=\"f\">",
        "</｜DSML｜parameter>",
        "</｜DSML｜tool_calls>",
        "</｜DSML｜ calls>",
        "\n\n<｜DSML｜ calls>\n",
        "</tool_result>",
        "\" string=\"true\">",
        "<｜tool▁calls▁begin｜>",
        "<｜action｜>",
        "<｜deepseek_image｜>",
        "｜",
        "<",
        "\n",
        "text",
    ])
    .prop_map(str::to_owned);
    prop::collection::vec(prop_oneof![spelling, markup], 1..6).prop_map(|pieces| pieces.concat())
}

/// The number of strings in the value, and of keys of objects whose keys a client makes up.
fn count_texts(json: &Json) -> usize {
    match json {
        Json::String(_) => 1,
        Json::Array(elements) => elements.iter().map(count_texts).sum(),
        Json::Object(members) => members.iter().map(|(_, value)| count_texts(value)).sum(),
        _ => 0,
    }
}

/// The value with the text number `target` replaced, or joined to `attack`.
fn plant(json: &Json, target: usize, attack: &str, seen: &mut usize) -> Json {
    match json {
        Json::String(text) => {
            *seen += 1;
            if *seen - 1 == target { format!("{text}{attack}").into() } else { json.clone() }
        }
        Json::Array(elements) => {
            Json::Array(elements.iter().map(|element| plant(element, target, attack, seen)).collect())
        }
        Json::Object(members) => Json::Object(
            members.iter().map(|(key, value)| (key.to_owned(), plant(value, target, attack, seen))).collect(),
        ),
        other => other.clone(),
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 400, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn text_never_becomes_a_special_token(
        selector in 0_usize..3,
        case in any::<prop::sample::Index>(),
        attacks in prop::collection::vec((any::<prop::sample::Index>(), attack()), 1..8),
    ) {
        let api = Api::ALL[selector];
        let cases = fixture::lines(&format!("protocol/golden/{}.jsonl", api.as_str()));
        let mut request = case.get(&cases).get("request").unwrap().clone();
        for (target, attack) in attacks {
            let target = target.index(count_texts(&request).max(1));
            request = plant(&request, target, &attack, &mut 0);
        }
        let selector = b'0' + u8::try_from(selector).unwrap();
        fuzz_replay::properties::encode_request(&[&[selector], request.to_string().as_bytes()].concat());
    }
}

//! Requests with the results of the official conversion (fixtures/protocol/README.md), without the reference.

use deepseek_codec::constraint::Constraint;
use deepseek_codec::json::Json;
use deepseek_codec::protocol::{Api, Dialect, Lowered, Options, Policy, RequestError, lower, lower_json};
use serde_json::{Value, json};

use crate::fixture;

/// Cases where this crate knowingly differs from the reference, with the reason.
const DIVERGENCES: &str = "protocol/divergences.json";

#[test]
fn chat() {
    run_file(Api::Chat);
}

#[test]
fn responses() {
    run_file(Api::Responses);
}

#[test]
fn messages() {
    run_file(Api::Messages);
}

fn run_file(api: Api) {
    let divergences = fixture::json(DIVERGENCES);
    let divergences = divergences.as_array().unwrap();
    let golden =
        |divergence: &Json| divergence.get("golden").and_then(Json::as_array).unwrap_or_default().to_vec();
    let divergent: Vec<Json> = divergences.iter().flat_map(golden).collect();
    let mut failures = Vec::new();
    let mut cases = 0;
    for case in fixture::lines(&format!("protocol/golden/{}.jsonl", api.as_str())) {
        cases += 1;
        let id = fixture::text(&case, "id");
        let problems = check(api, &case);
        let is_divergent = divergent.contains(&format!("{}:{id}", api.as_str()).into());
        if problems.is_empty() == is_divergent {
            failures.push(format!(
                "{id}: {}",
                if is_divergent { "differs no longer".to_owned() } else { problems.join("\n    ") }
            ));
        }
    }
    assert!(cases > 100, "{cases} cases");
    assert!(failures.is_empty(), "{} of {cases} differ:\n{}", failures.len(), failures.join("\n"));
}

/// How a case differs from what it expects. Its body is `request`, or the text `request_raw`.
pub(crate) fn check(api: Api, case: &Json) -> Vec<String> {
    let expect = &Value::from(case.get("expect").unwrap().clone());
    let lower = |policy| match case.get("request") {
        Some(request) => lower_json(api, request.clone(), &Options::new(policy)),
        None => lower(api, fixture::text(case, "request_raw").as_bytes(), &Options::new(policy)),
    };
    let mut problems = Vec::new();
    match lower(Policy::Strict) {
        Ok(lowered) => {
            let found = accepted(&lowered, expect.get("ids_count").is_some());
            compare(expect, &found, &mut problems);
            match lower(Policy::Lenient) {
                Ok(lenient) if prompt(&lenient) == prompt(&lowered) => {}
                Ok(lenient) => problems.push(format!("lenient prompt differs: {:?}", prompt(&lenient))),
                Err(error) => problems.push(format!("lenient refuses: {error}")),
            }
        }
        Err(error) => compare_refusal(api, expect, &error, &mut problems),
    }
    problems
}

fn prompt(lowered: &Lowered) -> String {
    lowered.profile.render(&lowered.conversation).to_string()
}

/// What the crate makes of an accepted request, in the fixture's keys.
fn accepted(lowered: &Lowered, long: bool) -> Value {
    let prompt = lowered.profile.render(&lowered.conversation);
    let ids: Vec<u32> = lowered.profile.tokenizer().encode(&prompt).into_iter().map(u32::from).collect();
    let sampling = &lowered.sampling;
    let special: Vec<_> = prompt
        .display_specials()
        .map(|(start, end, special)| json!([start, end, special.spelling()]))
        .collect();
    let constraint = Constraint::of(&lowered.conversation)
        .map(|constraint| json!({"kind": constraint.kind(), "schema": constraint.schema_text()}));
    let mut found = json!({
        "status": 200,
        "prompt": prompt.to_string(),
        "special": special,
        "images": lowered.profile.images(&lowered.conversation).len(),
        "thinking": lowered.conversation.thinking.is_on(),
        "stream": lowered.stream,
        "stops": lowered.stops,
        "sampling": {
            "max_tokens": sampling.max_tokens,
            "temperature": sampling.temperature,
            "top_p": sampling.top_p,
            "logprobs": sampling.logprobs,
            "top_logprobs": sampling.top_logprobs,
            "seed": sampling.seed,
            "constraint": constraint,
        },
    });
    if long {
        found["ids_count"] = ids.len().into();
        found["ids_first"] = ids[..16].into();
        found["ids_last"] = ids[ids.len() - 16..].into();
    } else {
        found["ids"] = ids.into();
    }
    found
}

fn compare(expect: &Value, found: &Value, problems: &mut Vec<String>) {
    for (key, expected) in expect.as_object().unwrap() {
        let is_same = match (key.as_str(), expected) {
            ("sampling", Value::Object(sampling)) => sampling.iter().all(|(key, expected)| {
                let found = &found["sampling"][key];
                match (expected.as_f64(), found.as_f64()) {
                    (Some(expected), Some(found)) => expected as f32 == found as f32,
                    _ => expected == found,
                }
            }),
            _ => *expected == found[key],
        };
        if !is_same {
            problems.push(format!("{key}: expected {expected}\n    {key}: found    {}", found[key]));
        }
    }
}

fn compare_refusal(api: Api, expect: &Value, error: &RequestError, problems: &mut Vec<String>) {
    let status = expect["status"].as_u64().unwrap();
    if status != u64::from(error.status()) {
        problems.push(format!("refused: {error}"));
    } else if let Some(body) = expect.get("error") {
        let found = Value::from(error.body(api, Dialect::Deepseek));
        if *body != found {
            problems.push(format!("error: expected {body}\n    error: found    {found}"));
        }
    } else if expect.get("unreadable").is_none() {
        problems.push("the fixture has neither error nor unreadable".to_owned());
    }
}

/// Whole files by hash: prompts and ids of agents' sessions.
#[test]
fn requests() {
    let mut cases = 0;
    for case in fixture::lines("protocol/golden/requests.jsonl") {
        cases += 1;
        let file = fixture::text(&case, "file");
        let api = Api::by_name(fixture::text(&case, "protocol")).unwrap();
        let body = fixture::json(&format!("requests/{file}"));
        let expect = Value::from(case.get("expect").unwrap().clone());
        for policy in [Policy::Strict, Policy::Lenient] {
            let lowered = lower_json(api, body.clone(), &Options::new(policy)).unwrap();
            let prompt = lowered.profile.render(&lowered.conversation);
            let text = prompt.to_string();
            let ids = lowered.profile.tokenizer().encode(&prompt);
            let id_bytes: Vec<u8> = ids.iter().flat_map(|id| id.0.to_le_bytes()).collect();
            let found = json!({
                "prompt_bytes": text.len(),
                "prompt_fnv": fnv(text.as_bytes()),
                "special_count": prompt.specials().len(),
                "ids_count": ids.len(),
                "ids_fnv": fnv(&id_bytes),
                "images": lowered.profile.images(&lowered.conversation).len(),
            });
            for (key, found) in found.as_object().unwrap() {
                assert_eq!(expect[key], *found, "{file}: {key} under {policy:?}");
            }
        }
    }
    assert!(cases > 20);
}

/// FNV-1a with 64 bits, in hexadecimal.
fn fnv(bytes: &[u8]) -> String {
    let hash = bytes.iter().fold(0xcbf2_9ce4_8422_2325_u64, |hash, &byte| {
        (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3)
    });
    format!("{hash:016x}")
}

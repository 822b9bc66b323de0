//! Requests made to hurt: huge, deep or endless. Each is refused or served, in time linear in its size and without
//! a panic or a stack overflow.

use std::time::{Duration, Instant};

use deepseek_codec::protocol::{Api, Options, Policy, lower};
use serde_json::{Value, json};

/// Far more than any of these bodies needs in an unoptimised build; quadratic work on them takes minutes.
const PATIENCE: Duration = Duration::from_secs(20);

/// What becomes of `body` under each policy: `ok`, or the error's kind.
#[track_caller]
fn outcome(api: Api, body: &str) -> [&'static str; 2] {
    [Policy::Strict, Policy::Lenient].map(|policy| {
        let start = Instant::now();
        let result = lower(api, body.as_bytes(), &Options::new(policy)).map(|lowered| {
            let prompt = lowered.profile.render(&lowered.conversation);
            assert!(prompt.text().len() < 4 * body.len() + 100_000);
        });
        assert!(start.elapsed() < PATIENCE, "{api:?} took {:?}", start.elapsed());
        match result {
            Ok(()) => "ok",
            Err(error) => error.kind().as_str(),
        }
    })
}

/// A request whose single user message is `content`, with one more field.
fn body(api: Api, content: &Value, key: &str, value: &Value) -> String {
    let input = if api == Api::Responses { "input" } else { "messages" };
    let user = json!([{"role": "user", "content": content}]);
    json!({"model": "deepseek-v4.1-flash", "max_tokens": 10, input: user, key: value}).to_string()
}

/// A tool declaration as `api` has them.
fn tool(api: Api, name: &str, schema: &Value) -> Value {
    match api {
        Api::Chat => json!({"type": "function", "function": {"name": name, "parameters": schema}}),
        Api::Responses => json!({"type": "function", "name": name, "parameters": schema}),
        Api::Messages => json!({"name": name, "input_schema": schema}),
    }
}

fn with_tools(api: Api, tools: &[Value]) -> String {
    body(api, &json!("hi"), "tools", &json!(tools))
}

fn with_schema(schema: &Value) -> Vec<[&'static str; 2]> {
    Api::ALL.iter().map(|&api| outcome(api, &with_tools(api, &[tool(api, "f", schema)]))).collect()
}

#[test]
fn ten_thousand_tools_of_every_api() {
    let schema = json!({"type": "object", "properties": {"a": {"type": "string"}}});
    for api in Api::ALL {
        let tools: Vec<Value> = (0..10_000).map(|n| tool(api, &format!("tool_{n}"), &schema)).collect();
        assert_eq!(outcome(api, &with_tools(api, &tools)), ["ok", "ok"]);
        let tools: Vec<Value> = (0..10_000).map(|_| tool(api, "same", &schema)).collect();
        assert_eq!(outcome(api, &with_tools(api, &tools)), ["tool", "tool"]);
    }
}

#[test]
fn arguments_of_brackets() {
    for arguments in [
        "[".repeat(1 << 20),
        "{\"a\":".repeat(1 << 18),
        format!("{}{}", "[".repeat(1 << 19), "]".repeat(1 << 19)),
    ] {
        let call = json!({"id": "c", "type": "function", "function": {"name": "f", "arguments": arguments}});
        let messages = json!([{"role": "user", "content": "u"}, {"role": "assistant", "content": null, "tool_calls": [call]}, {"role": "tool", "tool_call_id": "c", "content": ""}]);
        assert_eq!(
            outcome(Api::Chat, &json!({"model": "deepseek-v4-pro", "messages": messages}).to_string()),
            ["ok", "ok"]
        );
    }
}

#[test]
fn long_texts_and_many_parts() {
    for api in Api::ALL {
        let kind = if api == Api::Responses { "input_text" } else { "text" };
        let parts: Vec<Value> = (0..50_000).map(|n| json!({"type": kind, "text": n.to_string()})).collect();
        for content in [json!("<｜User｜>".repeat(100_000)), json!("\u{0}".repeat(1 << 20)), json!(parts)] {
            assert_eq!(outcome(api, &body(api, &content, "stream", &json!(true))), ["ok", "ok"]);
        }
    }
}

#[test]
fn many_messages_and_calls() {
    let count = 20_000;
    let users: Vec<Value> = (0..count).map(|_| json!({"role": "user", "content": "a"})).collect();
    let names: Vec<String> = (0..count).map(|n| format!("call_{:05}", (n * 7919) % count)).collect();
    let calls: Vec<Value> = names
        .iter()
        .map(|id| json!({"id": id, "type": "function", "function": {"name": "f", "arguments": "{}"}}))
        .collect();
    let results = names.iter().rev().map(|id| json!({"role": "tool", "tool_call_id": id, "content": "r"}));
    let chat: Vec<Value> = [json!({"role": "assistant", "content": "", "tool_calls": calls})]
        .into_iter()
        .chain(results)
        .collect();
    let uses: Vec<Value> =
        names.iter().map(|id| json!({"type": "tool_use", "id": id, "name": "f", "input": {}})).collect();
    let found: Vec<Value> =
        names.iter().rev().map(|id| json!({"type": "tool_result", "tool_use_id": id})).collect();
    let messages = json!([{"role": "assistant", "content": uses}, {"role": "user", "content": found}]);
    let made = names.iter().map(|id| json!({"type": "function_call", "call_id": id, "name": "f", "namespace": "n", "arguments": "{}"}));
    let outputs =
        names.iter().rev().map(|id| json!({"type": "function_call_output", "call_id": id, "output": "r"}));
    let items: Vec<Value> = made.chain(outputs).collect();
    for model in ["deepseek-v4-pro", "deepseek-v4.1-flash"] {
        for messages in [&users, &chat] {
            assert_eq!(
                outcome(Api::Chat, &json!({"model": model, "messages": messages}).to_string()),
                ["ok", "ok"]
            );
        }
        for messages in [&json!(users), &messages] {
            assert_eq!(
                outcome(
                    Api::Messages,
                    &json!({"model": model, "max_tokens": 9, "messages": messages}).to_string()
                ),
                ["ok", "ok"]
            );
        }
        for items in [&users, &items] {
            assert_eq!(
                outcome(Api::Responses, &json!({"model": model, "input": items}).to_string()),
                ["ok", "ok"]
            );
        }
    }
}

/// Calls of tools that are not declared, and declarations that all want the same name.
#[test]
fn many_namespaces() {
    let call = |n: usize| {
        let id = n.to_string();
        [
            json!({"type": "function_call", "call_id": id, "name": id, "namespace": "n", "arguments": "{}"}),
            json!({"type": "function_call_output", "call_id": id, "output": "r"}),
        ]
    };
    let items: Vec<Value> = (0..50_000).flat_map(call).collect();
    let body = json!({"model": "deepseek-v4-pro", "input": items}).to_string();
    assert_eq!(outcome(Api::Responses, &body), ["ok", "ok"]);
    let inner = json!([{"type": "function", "name": "f"}]);
    let tools: Vec<Value> =
        (0..50_000).map(|_| json!({"type": "namespace", "name": "n", "tools": inner})).collect();
    assert_eq!(outcome(Api::Responses, &with_tools(Api::Responses, &tools)), ["ok", "ok"]);
}

#[test]
fn schemas_that_never_end() {
    let chain: serde_json::Map<String, Value> = (0..20_000)
        .map(|n| (format!("d{n}"), json!({"$ref": format!("#/$defs/d{}", (n + 1) % 20_000)})))
        .collect();
    let mut deep = json!({"type": "string"});
    for _ in 0..50 {
        deep = json!({"anyOf": [deep]});
    }
    let wide: serde_json::Map<String, Value> =
        (0..20_000).map(|n| (format!("p{n}"), json!({"type": "string"}))).collect();
    let required: Vec<String> = wide.keys().cloned().collect();
    for schema in [
        json!({"type": "object", "properties": {"a": {"$ref": "#"}}}),
        json!({"type": "object", "properties": {"a": {"$ref": "#/$defs/d0"}}, "$defs": chain}),
        json!({"type": "object", "properties": {"a": deep}}),
        json!({"type": "object", "properties": wide, "required": required}),
    ] {
        assert_eq!(
            with_schema(&schema),
            [["ok", "ok"]; 3],
            "{}",
            schema.to_string().get(..80).unwrap_or_default()
        );
    }
}

/// Whether a pattern is refused is the regular expression's business; it must be decided.
#[test]
fn patterns_that_explode() {
    for pattern in [
        "(".repeat(100_000),
        format!("{}{}", "(".repeat(100_000), ")".repeat(100_000)),
        "[".repeat(100_000),
        "\\".repeat(100_001),
        "a{9999}{9999}{9999}".to_owned(),
        "(?:a?){1000}".repeat(100),
        "|".repeat(100_000),
        "(?=".repeat(10_000),
        "\\p{L}".repeat(20_000),
        "(a+)+$".to_owned(),
    ] {
        with_schema(&json!({"type": "object", "properties": {"a": {"type": "string", "pattern": pattern}}}));
    }
}

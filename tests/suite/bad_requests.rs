//! Bad bodies: each is refused clearly or read rightly, and none panics.

use deepseek_codec::json::Json;
use deepseek_codec::protocol::{Api, Dialect, Options, Policy, lower};

use crate::fixture;

#[test]
fn chat() {
    snapshot(Api::Chat);
}

#[test]
fn responses() {
    snapshot(Api::Responses);
}

#[test]
fn messages() {
    snapshot(Api::Messages);
}

/// One line for each body and policy: what became of it.
fn snapshot(api: Api) {
    let mut lines = Vec::new();
    for case in fixture::lines(&format!("requests/bad/{}.jsonl", api.as_str())) {
        let body = match (case.get("raw"), case.get("body")) {
            (Some(raw), _) => raw.as_str().unwrap().to_owned(),
            (None, body) => body.unwrap().to_string(),
        };
        lines.push(fixture::text(&case, "name").to_owned());
        for policy in [Policy::Strict, Policy::Lenient] {
            lines.push(format!("    {policy:?}: {}", outcome(api, body.as_bytes(), policy)));
        }
    }
    insta::with_settings!({snapshot_path => "../../fixtures/requests/bad", prepend_module_to_snapshot => false}, {
        insta::assert_snapshot!(api.as_str(), lines.join("\n"));
    });
}

fn outcome(api: Api, body: &[u8], policy: Policy) -> String {
    match lower(api, body, &Options::new(policy)) {
        Ok(lowered) => {
            let prompt = lowered.profile.render(&lowered.conversation);
            let warnings: Vec<_> = lowered
                .warnings
                .iter()
                .map(|warning| format!("{} at {}", warning.kind.as_str(), warning.path))
                .collect();
            let tokens = lowered.profile.tokenizer().count(&prompt);
            format!("{tokens} tokens, warnings [{}]", warnings.join(", "))
        }
        Err(error) => {
            let body = error.body(api, Dialect::Deepseek);
            assert_eq!(body.get("error").unwrap().get("message").unwrap().as_str(), Some(error.message()));
            let message: String = error.message().chars().take(300).collect();
            format!("{} {} at `{}`: {message}", error.status(), error.kind().as_str(), error.path())
        }
    }
}

#[test]
fn ten_thousand_tools() {
    let tool = |n: usize| {
        format!(
            r#"{{"type": "function", "function": {{"name": "tool_{n}", "description": "Tool {n}", "parameters": {{"type": "object", "properties": {{"a": {{"type": "string"}}}}}}}}}}"#
        )
    };
    let tools: Vec<_> = (0..10_000).map(tool).collect();
    let body = format!(
        r#"{{"model": "deepseek-v4-pro", "messages": [{{"role": "user", "content": "hi"}}], "tools": [{}]}}"#,
        tools.join(",")
    );
    let lowered = lower(Api::Chat, body.as_bytes(), &Options::default()).unwrap();
    assert_eq!(lowered.conversation.tools.len(), 10_000);
    let prompt = lowered.profile.render(&lowered.conversation).to_string();
    assert!(prompt.contains(r#"{"name": "tool_9999", "description": "Tool 9999""#));
}

#[test]
fn a_megabyte_of_brackets() {
    for open in ["[", "{\"a\":"] {
        let brackets = open.repeat(1_000_000 / open.len());
        for field in ["messages", "tools", "input", "metadata", "system"] {
            let body = format!(r#"{{"model": "deepseek-v4-pro", "{field}": {brackets}"#);
            for api in Api::ALL {
                let error = lower(api, body.as_bytes(), &Options::default()).unwrap_err();
                assert!(error.message().contains("recursion limit"), "{error}");
            }
        }
    }
}

#[test]
fn schemas_as_deep_as_json_goes() {
    let deep = "{\"items\":".repeat(120) + "{}" + &"}".repeat(120);
    let body = format!(
        r#"{{"model": "deepseek-v4-pro", "messages": [{{"role": "user", "content": "hi"}}], "tools": [{{"type": "function", "function": {{"name": "f", "strict": true, "parameters": {deep}}}}}]}}"#
    );
    // Too deep for JSON or not valid for strict mode: either way an answer, on a small stack too.
    let outcome = std::thread::Builder::new()
        .stack_size(512 * 1024)
        .spawn(move || lower(Api::Chat, body.as_bytes(), &Options::default()).is_ok())
        .unwrap()
        .join();
    assert!(outcome.is_ok());
}

#[test]
fn bodies_over_the_limit_are_refused_with_their_own_status() {
    let options = Options { max_body_bytes: 100, ..Options::default() };
    let body = vec![b' '; 101];
    let error = lower(Api::Messages, &body, &options).unwrap_err();
    assert_eq!(error.status(), 413);
    let body = error.body(Api::Messages, Dialect::Vendor);
    assert_eq!(body.get("error").unwrap().get("type"), Some(&Json::from("request_too_large")));
    assert_eq!(lower(Api::Messages, &[b' '; 100], &options).unwrap_err().status(), 400);
}

//! What the lenient policy accepts beyond the official API, with its warnings.

use deepseek_codec::constraint::Constraint;
use deepseek_codec::protocol::{Api, ErrorKind, Options, Policy, lower, lower_json};

use crate::fixture;

/// Every file in fixtures/requests whose name begins with `lenient_`.
#[test]
fn files() {
    let directory = concat!(env!("CARGO_MANIFEST_DIR"), "/fixtures/requests");
    let mut names: Vec<String> = std::fs::read_dir(directory)
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .filter(|name| name.starts_with("lenient_"))
        .collect();
    names.sort();
    assert!(names.len() > 20);
    for name in names {
        let api = Api::by_name(name.split('_').nth(1).unwrap()).unwrap();
        let body = fixture::json(&format!("requests/{name}"));
        let refusal = lower_json(api, body.clone(), &Options::new(Policy::Strict)).unwrap_err();
        let lowered = lower_json(api, body, &Options::default()).unwrap();
        assert!(!lowered.warnings.is_empty(), "{name}");
        let warnings: Vec<_> = lowered
            .warnings
            .iter()
            .map(|warning| format!("{}: {}: {}", warning.kind.as_str(), warning.path, warning.message))
            .collect();
        let constraint = Constraint::of(&lowered.conversation)
            .map(|constraint| format!("{}: {}", constraint.kind(), constraint.schema_text()));
        let report = format!(
            "strict: {} at `{}`: {}\n\n{}\n\nmax_tokens: {:?}\nconstraint: {}\n\n{}",
            refusal.kind().as_str(),
            refusal.path(),
            refusal.message(),
            warnings.join("\n"),
            lowered.sampling.max_tokens,
            constraint.unwrap_or_default(),
            lowered.profile.render(&lowered.conversation),
        );
        insta::with_settings!({snapshot_path => "../../fixtures/requests/lenient", prepend_module_to_snapshot => false}, {
            insta::assert_snapshot!(name.trim_end_matches(".json"), report);
        });
    }
}

/// Small acceptances: request, expected warnings `kind path`, and a piece of the prompt.
#[test]
fn acceptances() {
    for case in fixture::lines("protocol/lenient.jsonl") {
        let name = fixture::text(&case, "name");
        let api = Api::by_name(fixture::text(&case, "protocol")).unwrap();
        let request = case.get("request").unwrap();
        let strict = lower_json(api, request.clone(), &Options::new(Policy::Strict));
        assert_eq!(strict.is_ok(), case.get("strict_accepts").is_some(), "{name}: {strict:?}");
        let lowered = lower_json(api, request.clone(), &Options::default())
            .unwrap_or_else(|error| panic!("{name}: {}: {error}", error.path()));
        let warnings: Vec<String> = lowered
            .warnings
            .iter()
            .map(|warning| format!("{} {}", warning.kind.as_str(), warning.path))
            .collect();
        let expected: Vec<&str> = case
            .get("warnings")
            .and_then(|list| list.as_array())
            .unwrap()
            .iter()
            .filter_map(|text| text.as_str())
            .collect();
        // A schema's faults are reported one by one behind the first.
        let shown = if case.get("first_warnings_only").is_some() { expected.len() } else { warnings.len() };
        assert_eq!(warnings[..shown], expected, "{name}");
        let prompt = lowered.profile.render(&lowered.conversation).to_string();
        assert!(prompt.contains(fixture::text(&case, "prompt_contains")), "{name}: {prompt}");
    }
}

#[test]
fn forced_choice_with_explicit_thinking_is_refused_by_both() {
    let body = br#"{"model": "deepseek-v4-pro", "messages": [{"role": "user", "content": "hi"}], "thinking": {"type": "enabled"},
        "tools": [{"type": "function", "function": {"name": "f"}}], "tool_choice": "required"}"#;
    for policy in [Policy::Strict, Policy::Lenient] {
        let error = lower(Api::Chat, body, &Options::new(policy)).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::ToolChoice);
        assert_eq!(error.message(), "Thinking mode does not support this tool_choice");
    }
}

#[test]
fn errors_of_tools_can_be_marked() {
    let body = br#"{"model": "deepseek-v4-pro", "max_tokens": 9, "messages": [{"role": "user", "content": "q"},
        {"role": "assistant", "content": [{"type": "tool_use", "id": "t", "name": "f", "input": {}}]},
        {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "t", "content": "no such file", "is_error": true}]}]}"#;
    let prompt = |mark_tool_errors| {
        let options = Options { mark_tool_errors, ..Options::default() };
        let lowered = lower(Api::Messages, body, &options).unwrap();
        lowered.profile.render(&lowered.conversation).to_string()
    };
    assert!(prompt(false).contains("<tool_result>no such file</tool_result>"));
    assert!(prompt(true).contains("<tool_result>Error: no such file</tool_result>"));
}

#[test]
fn model_names_can_be_added() {
    let profile = deepseek_codec::model::Profile::by_name("deepseek-flash").unwrap();
    let body =
        br#"{"model": "claude-sonnet", "max_tokens": 9, "messages": [{"role": "user", "content": "q"}]}"#;
    let error = lower(Api::Messages, body, &Options::default()).unwrap_err();
    assert_eq!(error.path(), "model");
    assert_eq!(
        error.message(),
        "The supported API model names are DeepSeek-V4-Pro, DeepSeek-V4.1-Flash, deepseek-flash, deepseek-v4-pro, \
         deepseek-v4.1-flash, but you passed claude-sonnet."
    );
    let options = Options::default().with_model("claude-sonnet", profile);
    assert_eq!(lower(Api::Messages, body, &options).unwrap().profile, profile);
}

#[test]
fn the_default_number_of_tokens_depends_on_thinking_and_the_context() {
    let lowered = |effort: &str| {
        let body = format!(
            r#"{{"model": "deepseek-v4-pro", "messages": [{{"role": "user", "content": "q"}}], "reasoning_effort": "{effort}"}}"#
        );
        lower(Api::Chat, body.as_bytes(), &Options::default()).unwrap()
    };
    assert_eq!(lowered("none").max_tokens(10, 1_000_000).unwrap(), 8 * 1024);
    assert_eq!(lowered("low").max_tokens(10, 1_000_000).unwrap(), 64 * 1024);
    assert_eq!(lowered("max").max_tokens(10, 1_000_000).unwrap(), 128 * 1024);
    assert_eq!(lowered("max").max_tokens(10, 100).unwrap(), 90);
    assert_eq!(lowered("max").max_tokens(100, 100).unwrap(), 1);
    let error = lowered("max").max_tokens(101, 100).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::ContextLength);
}

//! Constraints as structural tags, and structural tags as constraints.

use deepseek_codec::constraint::Constraint;
use deepseek_codec::grammar::Layout;
use deepseek_codec::json::Json;
use deepseek_codec::model::PROFILES;
use deepseek_codec::output::{Plan, Start};
use deepseek_codec::protocol::{Api, Options, lower, lower_json};

use crate::fixture;
use crate::masks::{SETUP, accepts};
use crate::tool_masks::spelled;

fn shown(body: &str) -> Vec<String> {
    let profiles = PROFILES.iter().map(|profile| {
        let options = Options::default().with_model("any", profile);
        let lowered = lower(Api::Chat, body.as_bytes(), &options).expect("a good request");
        let constraint = Constraint::of(&lowered.conversation).expect("a constraint");
        let start = Plan::of(&lowered.conversation, &lowered.stops).start;
        constraint.structural_tag(start, profile).to_string()
    });
    profiles.collect()
}

#[test]
fn answers_follow_their_schema_after_the_reasoning() {
    let body = r#"{"model": "any", "messages": [{"role": "user", "content": "json"}], "response_format":
        {"type": "json_schema", "json_schema": {"name": "x", "schema": {"type": "integer"}}}}"#;
    let schema = r#"{"type":"json_schema","json_schema":{"type":"integer"}}"#;
    let reasoning = r#"{"type":"tag","begin":"","content":{"type":"any_text"},"end":"</think>"}"#;
    let whole = format!(
        r#"{{"type":"structural_tag","format":{{"type":"sequence","elements":[{reasoning},{schema}]}}}}"#
    );
    assert!(shown(body).iter().all(|shown| *shown == whole), "{:?}", shown(body));
    let body = body.replace("\"model\"", "\"thinking\": {\"type\": \"disabled\"}, \"model\"");
    let whole = format!(r#"{{"type":"structural_tag","format":{schema}}}"#);
    assert!(shown(&body).iter().all(|shown| *shown == whole), "{:?}", shown(&body));
}

#[test]
fn calls_are_written_in_the_markup_of_the_version() {
    let body = r##"{"model": "any", "thinking": {"type": "disabled"},
        "messages": [{"role": "user", "content": "hi"}], "tools": [{"type": "function", "function": {"name": "f",
        "parameters": {"type": "object", "required": ["city"], "properties": {"city": {"type": "string"},
        "days": {"type": ["integer", "string"], "enum": [1, "all"]}, "place": {"$ref": "#/$defs/place"}},
        "$defs": {"place": {"type": "boolean"}}}}}]}"##;
    for (shown, profile) in shown(body).iter().zip(PROFILES) {
        let tag = Json::parse(shown.as_bytes()).expect("JSON");
        let whole = tag.get("format").expect("a format");
        assert_eq!(whole.get("type").and_then(Json::as_str), Some("triggered_tags"));
        let (block, parameter) = (profile.dsml().block, profile.dsml().parameter);
        let expected = [
            format!(r#""triggers":["<｜DSML｜{block}>"]"#),
            format!(
                r#"{{"type":"tag","begin":"<｜DSML｜{parameter} name=\"city\" string=\"true\">","content":{{"type":"any_text"}},"end":"</｜DSML｜{parameter}>\n"}}"#
            ),
            r#"{"type":"optional","content":{"type":"or","elements":["#.to_owned(),
            r#"{"type":"const_string","value":"all"}"#.to_owned(),
            r#""json_schema":{"type":["integer"],"enum":[1],"$defs":{"place":{"type":"boolean"}}}"#
                .to_owned(),
            r##""json_schema":{"$ref":"#/$defs/place","$defs":{"place":{"type":"boolean"}}}"##.to_owned(),
            format!(r#""end":"</｜DSML｜{block}>"}}],"stop_after_first":true"#),
        ];
        let mut rest = shown.as_str();
        for part in &expected {
            let at = rest.find(part.as_str()).unwrap_or_else(|| panic!("no {part} in {rest}"));
            rest = &rest[at + part.len()..];
        }
    }
}

#[test]
fn what_has_to_be_called_is_called() {
    let body = r#"{"model": "any", "messages": [{"role": "user", "content": "hi"}],
        "thinking": {"type": "disabled"}, "parallel_tool_calls": false, "tool_choice": "required",
        "tools": [{"type": "function", "function": {"name": "f", "parameters": {"type": "object"}}}]}"#;
    for (shown, profile) in shown(body).iter().zip(PROFILES) {
        // The prompt ends inside the block.
        let front = r#"{"type":"structural_tag","format":{"type":"sequence","elements":[{"type":"tags_with_separator","tags":["#;
        assert!(shown.starts_with(front), "{shown}");
        assert!(shown.contains("\"stop_after_first\":true"), "{shown}");
        let end = format!(r#"{{"type":"const_string","value":"</｜DSML｜{}>"}}]}}}}"#, profile.dsml().block);
        assert!(shown.ends_with(&end), "{shown}");
    }
}

#[test]
fn tags_are_masks() {
    for case in fixture::lines("grammar/structural_tags.jsonl") {
        let name = fixture::text(&case, "name");
        let constraint = Constraint::StructuralTag(case.get("tag").unwrap().clone());
        let start = if case.get("start").is_some() { Start::Reasoning } else { Start::Content };
        let compiled = constraint.compile(start, PROFILES[0], &SETUP.compiler, Layout::default());
        if case.get("error").is_some() {
            let error = compiled.err().unwrap_or_else(|| panic!("{name}: no error"));
            assert!(error.to_string().contains(fixture::text(&case, "error")), "{name}: {error}");
            assert_eq!(case.get("unsupported"), Some(&error.is_unsupported().into()), "{name}");
            continue;
        }
        let compiled = compiled.unwrap_or_else(|error| panic!("{name}: {error}"));
        for (key, expected) in [("accepts", true), ("rejects", false)] {
            for text in case.get(key).and_then(Json::as_array).unwrap() {
                let text = text.as_str().unwrap();
                assert_eq!(accepts(&compiled, &spelled(text)), expected, "{name}: {text}");
            }
        }
    }
}

/// What is written for other engines means to this one what it should: fewer answers than the masks of tools, and none
/// that these refuse for their markup.
#[test]
fn tags_of_tools_are_read_back() {
    let (mut accepted, mut rejected, mut all) = (0, 0, 0);
    for case in fixture::json("grammar/tools.json").as_array().unwrap() {
        let request = case.get("request").unwrap().clone();
        let lowered = lower_json(Api::Chat, request, &Options::default()).unwrap();
        let start = Plan::of(&lowered.conversation, &lowered.stops).start;
        let constraint = Constraint::of(&lowered.conversation).unwrap();
        let tag = Constraint::StructuralTag(constraint.structural_tag(start, lowered.profile));
        let compiled = tag.compile(start, lowered.profile, &SETUP.compiler, Layout::default()).unwrap();
        let count = |key: &str| {
            let texts = case.get(key).and_then(Json::as_array).unwrap();
            let taken = texts.iter().filter(|text| accepts(&compiled, &spelled(text.as_str().unwrap())));
            (taken.count(), texts.len())
        };
        let (accepts, of) = count("accepts");
        assert!(accepts > 0, "{}", fixture::text(case, "name"));
        let (takes, rejects) = count("rejects");
        accepted += accepts;
        all += of + rejects;
        rejected += rejects - takes;
    }
    // Keys in another order, and demands of schemas that no tag says, are the rest.
    assert!((accepted + rejected) * 10 >= all * 7, "{accepted} and {rejected} of {all}");
}

//! Outputs that no mask kept to their schemas: what is wrong is reported, and the response stays as it is.

use deepseek_codec::constraint::{Constraint, Validator};
use deepseek_codec::json::Json;
use deepseek_codec::output::Finish;
use deepseek_codec::protocol::{Api, Chunk, Lowered, Options, lower};
use serde_json::{Value, json};

const SCHEMA: &str = r#"{
    "type": "object",
    "properties": {"city": {"enum": [{"name": "Rome", "code": 1}, "Rome"]}, "day": {"type": "string", "format": "date"}, "hours": {"type": "array", "items": {"type": "integer"}}},
    "required": ["city"],
    "additionalProperties": false
}"#;

fn lowered(extra: Value) -> Lowered {
    let mut request = json!({"model": "deepseek-v4-pro", "thinking": {"type": "disabled"}, "messages": [{"role": "user", "content": "JSON, please."}]});
    let Value::Object(extra) = extra else { panic!("members") };
    request.as_object_mut().unwrap().extend(extra);
    lower(Api::Chat, request.to_string().as_bytes(), &Options::default()).unwrap()
}

fn with_format() -> Lowered {
    let schema: Value = serde_json::from_str(SCHEMA).unwrap();
    lowered(
        json!({"response_format": {"type": "json_schema", "json_schema": {"name": "weather", "schema": schema}}}),
    )
}

fn with_tool() -> Lowered {
    let schema: Value = serde_json::from_str(SCHEMA).unwrap();
    lowered(json!({"tools": [{"type": "function", "function": {"name": "weather", "parameters": schema}}]}))
}

/// The warnings as `call path keyword`, and the response.
fn run(lowered: &Lowered, pieces: &[&str], finish: Finish, validated: bool) -> (Vec<String>, Json) {
    let tokenizer = lowered.profile.tokenizer();
    let mut stream = lowered.stream(&tokenizer, deepseek_codec::protocol::StreamOptions::new("r"));
    if validated {
        let constraint = Constraint::of(&lowered.conversation).unwrap();
        stream.validate(Validator::new(&constraint).unwrap());
    }
    let mut chunks: Vec<Chunk> = Vec::new();
    pieces.iter().for_each(|piece| stream.push_text(piece, 1, &mut chunks));
    stream.finish(finish, &mut chunks);
    let warnings = stream.schema_warnings().iter().map(|warning| {
        let call = warning.call.as_ref().map(|(index, name)| format!("{name} {index} ")).unwrap_or_default();
        format!("{call}{} {}", warning.violation.instance_path, warning.violation.keyword)
    });
    (warnings.collect(), stream.response())
}

#[test]
fn an_answer_that_breaks_its_schema_says_where() {
    let lowered = with_format();
    let warnings = |pieces: &[&str], finish| run(&lowered, pieces, finish, true).0;
    for valid in [
        r#"{"city": "Rome"}"#,
        r#"{"day": "2024-02-29", "city": {"code": 1.0, "name": "Rome"}, "hours": [1, 2.0]}"#,
    ] {
        assert!(warnings(&[valid], Finish::Stop).is_empty(), "{valid}");
    }
    assert_eq!(
        warnings(&[r#"{"day": "2023-02-"#, r#"29", "hours": [1, "2"], "x": 1}"#], Finish::Stop),
        ["/day format", "/hours/1 type", " additionalProperties", " required"]
    );
    assert_eq!(warnings(&["Sorry, no."], Finish::Stop), [" "]);
    // What was cut is not complete.
    assert!(warnings(&[r#"{"day": 1"#], Finish::Length).is_empty());
}

#[test]
fn a_call_that_breaks_its_schema_says_where() {
    let lowered = with_tool();
    let call = |parameters: &str| {
        format!(
            "<｜DSML｜tool_calls>\n<｜DSML｜invoke name=\"weather\">\n{parameters}</｜DSML｜invoke>\n</｜DSML｜tool_calls>"
        )
    };
    let string = |name: &str, value: &str| {
        format!("<｜DSML｜parameter name=\"{name}\" string=\"true\">{value}</｜DSML｜parameter>\n")
    };
    let good = string("city", "Rome");
    let bad = string("city", "Paris") + &string("hours", "1");
    assert!(run(&lowered, &[&call(&good)], Finish::Stop, true).0.is_empty());
    let pieces = [&call(&bad)[..]];
    let (warnings, response) = run(&lowered, &pieces, Finish::Stop, true);
    assert_eq!(warnings, ["weather 0 /city enum", "weather 0 /hours type"]);
    assert_eq!(response, run(&lowered, &pieces, Finish::Stop, false).1);
    // Free text has no schema.
    assert!(run(&lowered, &["It rains."], Finish::Stop, true).0.is_empty());
}

#[test]
fn a_schema_that_is_not_valid_is_an_error() {
    let schema = |text: &str| Constraint::Json { schema: Some(Json::parse(text.as_bytes()).unwrap()) };
    assert!(Validator::new(&schema(r#"{"type": "nothing"}"#)).is_err());
    assert!(Validator::new(&schema(r#"{"$ref": "https://example.com/other.json"}"#)).is_err());
    let any = Validator::new(&Constraint::Json { schema: None }).unwrap();
    assert!(!any.has_answer() && any.answer("no JSON").is_empty());
}

use super::meta;
use super::strict::{self, Normalized, Top};
use crate::json::Json;

fn parse(text: &str) -> Json {
    Json::parse(text.as_bytes()).unwrap()
}

fn lines(text: &str) -> Vec<Json> {
    text.lines().map(parse).collect()
}

fn check(text: &str) -> Result<(), (String, String)> {
    meta::check(&parse(text)).map_err(|error| (error.message().to_owned(), error.pointer().to_owned()))
}

fn normalize(text: &str) -> Normalized {
    strict::normalize(&parse(text), Top::Parameters).unwrap()
}

#[test]
fn validity_is_decided_as_officially() {
    for case in lines(include_str!("../../fixtures/schema/meta.jsonl")) {
        let schema = case.get("schema").unwrap();
        let error = meta::check(schema).err();
        let expected = case.get("error").and_then(Json::as_str);
        assert_eq!(error.as_ref().map(meta::MetaError::message), expected, "{schema}");
    }
}

#[test]
fn strict_schemas_are_normalised_as_officially() {
    for case in lines(include_str!("../../fixtures/schema/strict.jsonl")) {
        let schema = case.get("schema").unwrap();
        for (top, key) in [(Top::Parameters, "parameters"), (Top::Response, "response")] {
            let forms = strict::normalize(schema, top);
            let error = forms.as_ref().err().map(strict::StrictError::message);
            assert_eq!(error, case.get(key).and_then(Json::as_str), "{top:?} {schema}");
            if let Ok(Normalized { prompt: Json::Object(members), .. }) = forms {
                let kept =
                    members.into_iter().filter(|(key, _)| !matches!(key.as_str(), "$defs" | "definitions"));
                let prompt = Json::Object(kept.collect());
                assert_eq!(prompt.to_string(), case.get("prompt").unwrap().to_string(), "{schema}");
            }
        }
    }
}

#[test]
fn faults_are_located() {
    let pointer = |text: &str| check(text).unwrap_err().1;
    assert_eq!(pointer(r#"{"properties": {"a/b": {"type": "strin"}}}"#), "/properties/a~1b/type");
    assert_eq!(pointer(r#"{"allOf": [{}, {"required": [1]}]}"#), "/allOf/1/required/0");
    assert_eq!(pointer(r#"{"items": {"pattern": "("}}"#), "/items/pattern");
    assert_eq!(
        pointer(r##"{"items": {"$ref": "#/$defs/a"}, "$defs": {"a": {"not": {"pattern": "("}}}}"##),
        "/$defs/a/not/pattern"
    );
    assert_eq!(pointer(r##"{"not": {"$ref": "#/$defs/b"}}"##), "/not/$ref");
    assert_eq!(pointer(r#"{"$defs": {"a": {"$ref": "https://example.com/"}}}"#), "/$defs/a");
    assert_eq!(pointer("5"), "");
}

#[test]
fn a_strict_schema_loses_nothing_where_the_official_form_does_not() {
    let forms = normalize(
        r#"{"properties": {"b": {"anyOf": [{"type": "integer", "default": 1}], "description": "x"}}, "type": "object"}"#,
    );
    assert_eq!(
        forms.prompt.to_string(),
        r#"{"type":"object","properties":{"b":{"anyOf":[{"type":"integer","default":1}],"description":"x"}},"additionalProperties":false,"required":["b"]}"#
    );
    assert_eq!(forms.enforced.to_string(), forms.prompt.to_string());
}

#[test]
fn what_the_official_form_drops_is_still_enforced() {
    let forms = normalize(
        r#"{"title": "T", "type": "object", "properties": {"a": {"minLength": 1, "type": "string"}},
            "oneOf": [{"type": "object", "properties": {"c": {}}}], "not": {"type": "object"}}"#,
    );
    assert_eq!(
        forms.prompt.to_string(),
        r#"{"type":"object","properties":{"a":{"type":"string"}},"additionalProperties":false,"required":["a"]}"#
    );
    assert_eq!(
        forms.enforced.to_string(),
        r#"{"type":"object","properties":{"a":{"type":"string","minLength":1}},"additionalProperties":false,"required":["a"],"title":"T","oneOf":[{"type":"object","properties":{"c":{}},"additionalProperties":false,"required":["c"]}],"not":{"type":"object"}}"#
    );
}

#[test]
fn definitions_stay_in_the_prompt_if_something_refers_to_them() {
    let forms = normalize(
        r##"{"definitions": {"b": {"type": "string"}}, "$defs": {"a": {"type": "object", "properties": {"x": {"type": "null"}}}, "odd": {"const": 1}},
            "type": "object", "properties": {"a": {"$ref": "#/$defs/a"}}}"##,
    );
    assert_eq!(
        forms.prompt.to_string(),
        r##"{"type":"object","properties":{"a":{"$ref":"#/$defs/a"}},"additionalProperties":false,"required":["a"],"$defs":{"a":{"type":"object","properties":{"x":{"type":"null"}},"additionalProperties":false,"required":["x"]},"odd":{"const":1}}}"##
    );
    let enforced = forms.enforced.to_string();
    assert!(enforced.ends_with(r#","definitions":{"b":{"type":"string"}}}"#), "{enforced}");
}

#[test]
fn all_unsupported_places_are_listed() {
    let schema = parse(
        r#"{"type": "object", "required": ["q"], "properties": {
            "a": {"type": "strin"}, "b": {"type": "object"}, "c": {"anyOf": [{"type": "integer", "minimum": 0.5, "maximum": "x"}]}}}"#,
    );
    let error = strict::normalize(&schema, Top::Response).unwrap_err();
    let places: Vec<_> =
        error.places().iter().map(|(pointer, what)| (pointer.as_str(), what.as_str())).collect();
    let unknown = "unknown variant `strin`, expected one of `object`, `string`, `number`, `integer`, `boolean`, `array`, `null`";
    assert_eq!(
        places,
        [
            ("/properties/a/type", unknown),
            ("/properties/c/anyOf/0/minimum", "invalid type: floating point `0.5`, expected i64"),
            ("/properties/c/anyOf/0/maximum", "invalid type: string \"x\", expected i64"),
            ("/properties/b", "An object with no properties is not allowed."),
            ("/required", "Required property 'q' not found in object"),
            ("/required", "Required properties must match all properties in the object"),
        ]
    );
    assert_eq!(error.message(), format!("Invalid json schema: {unknown}"));
}

#[test]
fn hostile_schemas_are_bounded() {
    let deep =
        |open: &str, close: &str, depth: usize| format!("{}{{}}{}", open.repeat(depth), close.repeat(depth));
    assert_eq!(check(&deep(r#"{"not":"#, "}", 126)), Ok(()));
    assert_eq!(
        check(&deep(r#"{"$schema":"http://json-schema.org/draft-07/schema#","items":"#, "}", 126)),
        Ok(())
    );
    assert_eq!(check(&deep(r#"{"allOf":["#, "]}", 63)), Ok(()));
    let nested = parse(&deep(r#"{"type":"object","properties":{"a":"#, "}}", 63));
    assert!(strict::normalize(&nested, Top::Parameters).is_err());

    let chain: String =
        (0..20_000).map(|n| format!("\"d{n}\": {{\"$ref\": \"#/$defs/d{}\"}},", n + 1)).collect();
    let chain = |end: &str| format!("{{\"$ref\": \"#/$defs/d0\", \"$defs\": {{{chain} \"d20000\": {end}}}}}");
    assert_eq!(check(&chain("{}")), Ok(()));
    assert_eq!(check(&chain(r#"{"pattern": "("}"#)).unwrap_err().1, "/$defs/d20000/pattern");

    let pattern = format!("{{\"pattern\": \"{}\"}}", "(".repeat(1_000_000));
    assert!(check(&pattern).is_err());
    let names: Vec<String> = (0..100_000).map(|n| format!("\"n{n}\"")).collect();
    assert_eq!(check(&format!("{{\"required\": [{}]}}", names.join(","))), Ok(()));
    assert!(check(&format!("{{\"required\": [{}, \"n7\"]}}", names.join(","))).is_err());
}

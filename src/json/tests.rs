use super::*;

fn parse(text: &str) -> Json {
    Json::parse(text.as_bytes()).unwrap()
}

#[test]
fn floats_in_each_style() {
    let json = parse(
        "[1e15,1e16,1.5e300,1e-4,1e-5,0.000012345,1e-6,1e-7,1.25e-10,-0.0,-0,5.0,1e2,18446744073709551616]",
    );
    assert_eq!(
        json.text(Style::Spaced),
        "[1000000000000000.0, 1e+16, 1.5e+300, 0.0001, 0.00001, 0.000012345, 1e-6, 1e-7, 1.25e-10, -0.0, -0.0, 5.0, \
         100.0, 1.8446744073709552e+19]"
    );
    assert_eq!(
        json.text(Style::Python),
        "[1000000000000000.0, 1e+16, 1.5e+300, 0.0001, 1e-05, 1.2345e-05, 1e-06, 1e-07, 1.25e-10, -0.0, -0.0, 5.0, \
         100.0, 1.8446744073709552e+19]"
    );
}

#[test]
fn of_two_equally_near_shortest_floats_the_even_one_is_written() {
    assert_eq!(parse("2081957764757468.25").to_string(), "2081957764757468.2");
    assert_eq!(parse("-1.0e-5").to_string(), "-0.00001");
    assert_eq!(parse("[123.456,0.5,1e21,5e-324]").to_string(), "[123.456,0.5,1e+21,5e-324]");
}

#[test]
fn strings_are_escaped_as_little_as_json_allows() {
    let json = Json::from("\"\\\u{8}\u{c}\n\r\t\u{0}\u{1f}\u{7f}/é\u{2028}😀");
    assert_eq!(json.text(Style::Compact), "\"\\\"\\\\\\b\\f\\n\\r\\t\\u0000\\u001f\u{7f}/é\u{2028}😀\"");
    assert_eq!(parse(&json.text(Style::Compact)), json);
}

#[test]
fn of_duplicate_keys_the_last_value_wins_at_the_first_place() {
    assert_eq!(parse(r#"{"a":1,"b":2,"a":3}"#).to_string(), r#"{"a":3,"b":2}"#);
    let many: String = (0..50).map(|n| format!("\"k{}\":{n},", n % 20)).collect();
    let expected: String =
        (0..20).map(|n| format!("\"k{n}\":{},", if n < 10 { n + 40 } else { n + 20 })).collect();
    assert_eq!(
        parse(&format!("{{{}}}", many.trim_end_matches(','))).to_string(),
        format!("{{{}}}", expected.trim_end_matches(','))
    );
}

#[test]
fn errors_name_their_place() {
    let error = Json::parse(br#"{"messages": [{}, {"content": "\ud800"}]}"#).unwrap_err();
    assert_eq!(error.path(), "messages[1].content");
    assert_eq!(error.line(), 1);
    let error = Json::parse(br#"{"a b": {"c": [1, 2,, 3]}}"#).unwrap_err();
    assert_eq!(error.path(), r#"["a b"].c[2]"#);
    assert_eq!(Json::parse(b"").unwrap_err().path(), "");
    assert!(Json::parse(b"{} {}").is_err());
    assert!(Json::parse(&[b'"', 0xff, b'"']).is_err());
}

#[test]
fn lone_surrogates_are_replaced_and_named() {
    let text = br#"{"a": ["x", "\ud83d\ude00 \\ud800 \uD800\u0041"], "b": {"\udc00": "\udFFF\ud800\ud800"}}"#;
    assert!(Json::parse_with(text, LoneSurrogates::Refuse).is_err());
    let (json, places) = Json::parse_with(text, LoneSurrogates::Replace).unwrap();
    assert_eq!(
        json.to_string(),
        "{\"a\":[\"x\",\"😀 \\\\ud800 \u{fffd}A\"],\"b\":{\"\u{fffd}\":\"\u{fffd}\u{fffd}\u{fffd}\"}}"
    );
    assert_eq!(places, ["a[1]", "b[\"\u{fffd}\"]", "b[\"\u{fffd}\"]"]);
}

#[test]
fn nesting_is_bounded() {
    let deep = |depth: usize| [vec![b'['; depth], vec![b']'; depth]].concat();
    assert!(Json::parse(&deep(127)).is_ok());
    assert!(Json::parse(&deep(129)).unwrap_err().message().contains("recursion limit"));
    assert!(Json::parse(&vec![b'['; 1_000_000]).is_err());
}

#[test]
fn values_convert_both_ways() {
    let json = parse(r#"{"z":[1,-2,3.5,null,true,"s"],"a":{}}"#);
    assert_eq!(Json::from(serde_json::Value::from(json.clone())).get("z"), json.get("z"));
    assert_eq!(serde_json::to_string(&json).unwrap(), json.to_string());
}

/// Each kind of character at each place of texts of each length, escaped character by character.
#[test]
fn strings_are_escaped_at_every_place() {
    let naive = |text: &str| -> String {
        let escape = |c: char| match c {
            '"' => "\\\"".to_owned(),
            '\\' => "\\\\".to_owned(),
            '\u{8}' => "\\b".to_owned(),
            '\u{c}' => "\\f".to_owned(),
            '\n' => "\\n".to_owned(),
            '\r' => "\\r".to_owned(),
            '\t' => "\\t".to_owned(),
            '\0'..' ' => format!("\\u{:04x}", u32::from(c)),
            _ => c.to_string(),
        };
        text.chars().map(escape).collect()
    };
    let characters = ('\0'..='\u{ff}').chain("▁｜😀".chars());
    for character in characters {
        for length in 0..40 {
            for at in 0..=length {
                let text = format!("{}{character}{}", "a".repeat(at), "é\"".repeat((length - at) / 3));
                let (expected, mut pushed) = (naive(&text), String::new());
                push_escaped(&mut pushed, &text);
                assert_eq!(pushed, expected);
                assert_eq!(Json::from(text.as_str()).to_string(), format!("\"{expected}\""));
                assert_eq!(needs_escape(&text), text != expected, "{text:?}");
            }
        }
    }
}

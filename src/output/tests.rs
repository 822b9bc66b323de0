//! The table of faults in the module's documentation, row by row.

use super::*;

/// What is made of an output that starts with the answer, while the tool `f` is offered.
fn read(output: &str) -> (String, Vec<&'static str>) {
    read_with(Plan { tools: Some(vec!["f".to_owned()]), ..Plan::default() }, output, Finish::Stop)
}

/// Reasoning stands in `[]`, calls as `name(arguments)` with `…` at the end of one that is cut, the stop at the end.
fn read_with(plan: Plan, output: &str, finish: Finish) -> (String, Vec<&'static str>) {
    let mut shown = String::new();
    let mut warnings = Vec::new();
    let mut sink = |event: Event<'_>| match event {
        Event::Reasoning { text, .. } => shown.push_str(&format!("[{text}]")),
        Event::Content { text, .. } => shown.push_str(text),
        Event::CallStart { name, .. } => shown.push_str(&format!(" {name}(")),
        Event::CallArguments { json, .. } => shown.push_str(json),
        Event::CallEnd { complete, .. } => shown.push_str(if complete { ")" } else { "…)" }),
        Event::Warning(warning) => warnings.push(warning.kind.as_str()),
        Event::Stop { reason, .. } => shown.push_str(&format!(" {reason:?}")),
    };
    let mut parser = Parser::new(plan);
    // `<#x>` is short for markup.
    parser.spelled(&output.replace("<#", "<｜DSML｜").replace("</#", "</｜DSML｜"), &mut sink);
    parser.finish(finish, &mut sink);
    (shown, warnings)
}

const BLOCK: &str = "\n\n<#tool_calls>\n";
const CALL: &str =
    "<#invoke name=\"f\">\n<#parameter name=\"a\" string=\"true\">x</#parameter>\n</#invoke>\n";
const END: &str = "</#tool_calls>";

#[test]
fn faults() {
    let block = format!("{BLOCK}{CALL}{END}");
    let value =
        |form: &str| format!("{BLOCK}<#invoke name=\"f\"><#parameter name=\"a\"{form}</#invoke>{END}");
    let body = |body: &str| format!("{BLOCK}<#invoke name=\"f\">{body}</#invoke>{END}");
    let cases: &[(String, &str, &[&str])] = &[
        ("Hello".into(), "Hello End", &[]),
        (format!("Hello{block}"), "Hello f({\"a\": \"x\"}) ToolCalls", &[]),
        ("a</think>b".into(), "ab End", &["extra_think_end"]),
        (format!("a{CALL}"), "a f({\"a\": \"x\"}) ToolCalls", &["missing_block"]),
        (
            format!("a{CALL}b{CALL}{END}c"),
            "a f({\"a\": \"x\"})b f({\"a\": \"x\"})c ToolCalls",
            &["missing_block", "text_after_calls", "missing_block", "stray_markup", "text_after_calls"],
        ),
        (format!("{block}{block}"), " f({\"a\": \"x\"}) f({\"a\": \"x\"}) ToolCalls", &["second_block"]),
        (format!("{block}\n\nDone."), " f({\"a\": \"x\"})Done. ToolCalls", &["text_after_calls"]),
        (
            format!("{BLOCK}one{CALL}two{CALL}{END}"),
            " f({\"a\": \"x\"}) f({\"a\": \"x\"}) ToolCalls",
            &["text_in_markup", "text_in_markup"],
        ),
        (body("").replace("\"f\"", "\"g\""), " g({}) ToolCalls", &["unknown_tool"]),
        (value(" string=\"true\">x\n"), " f({\"a\": \"x\"}) ToolCalls", &["missing_close"]),
        (value(" string=\"true\">x\n\n"), " f({\"a\": \"x\\n\"}) ToolCalls", &["missing_close"]),
        (value(" string=\"true\">x\n</#parameter>"), " f({\"a\": \"x\\n\"}) ToolCalls", &[]),
        (value(" string=\"true\">x\n</#param>"), " f({\"a\": \"x\\n\"}) ToolCalls", &["malformed_tag"]),
        (
            value(" string=\"true\">x</#parameter></#parameter>"),
            " f({\"a\": \"x\"}) ToolCalls",
            &["stray_markup"],
        ),
        (body("</#parameter>"), " f({}) ToolCalls", &["stray_markup"]),
        (
            format!("{BLOCK}<#invoke name=\"f\"><#parameter name=\"a\" string=\"true\">x\n{END}"),
            " f({\"a\": \"x\"}) ToolCalls",
            &["missing_close", "missing_close"],
        ),
        (
            format!(
                "{BLOCK}<#invoke name=\"f\"><#parameter name=\"a\" string=\"true\">x\n<#parameter name=\"b\" string=\"true\">y</#parameter></#invoke>{END}"
            ),
            " f({\"a\": \"x\", \"b\": \"y\"}) ToolCalls",
            &["missing_close"],
        ),
        (
            format!("{BLOCK}<#invoke name=\"f\">{CALL}{END}"),
            " f({}) f({\"a\": \"x\"}) ToolCalls",
            &["missing_close"],
        ),
        (value(">12</#parameter>"), " f({\"a\": 12}) ToolCalls", &["malformed_tag", "untyped_parameter"]),
        (value(">x</#parameter>"), " f({\"a\": \"x\"}) ToolCalls", &["malformed_tag", "untyped_parameter"]),
        (value(" string=\"false\">x</#parameter>"), " f({\"a\": \"x\"}) ToolCalls", &["invalid_json_value"]),
        (value(" string=\"false\">[1]</#parameter>"), " f({\"a\": [1]}) ToolCalls", &[]),
        (body("{\"a\": 1}"), " f({\"a\": 1}) ToolCalls", &["json_body"]),
        (body("a: 1"), " f(…) Length", &["unreadable_call"]),
        (
            format!("{BLOCK}<#invoke name=\"f\"><#parameter name=\"a\" string=\"true\">x"),
            " f({\"a\": \"x…) Length",
            &["cut_call"],
        ),
        ("a<｜User｜>b".into(), "ab End", &["stray_special"]),
        (
            value(" string=\"true\">a</think>b<｜User｜></#parameter>"),
            " f({\"a\": \"a</think>b<｜User｜>\"}) ToolCalls",
            &[],
        ),
        ("a<｜ref｜>b<｜/ref｜>".into(), "a<｜ref｜>b<｜/ref｜> End", &[]),
        ("a</#invoke>b".into(), "ab End", &["stray_markup"]),
        ("a<#b>c".into(), "ac End", &["malformed_tag"]),
        ("a<#b c\nd > e".into(), "a\nd > e End", &["malformed_tag"]),
        ("a</#invoke\nd > e".into(), "a\nd > e End", &["malformed_tag"]),
        (
            format!("a{}", CALL.replacen("<#invoke", "｜DSML｜invoke", 1)),
            "a f({\"a\": \"x\"}) ToolCalls",
            &["malformed_tag", "missing_block"],
        ),
        ("a<｜end▁of▁sentence｜>b".into(), "a End", &[]),
    ];
    for (output, shown, warnings) in cases {
        assert_eq!(read(output), ((*shown).to_owned(), warnings.to_vec()), "{output}");
    }
}

#[test]
fn faults_in_reasoning() {
    let plan = |tools: bool| Plan {
        start: Start::Reasoning,
        tools: tools.then(|| vec!["f".to_owned()]),
        ..Plan::default()
    };
    let call = format!("\na\n{BLOCK}{CALL}{END}");
    assert_eq!(
        read_with(plan(true), &call, Finish::Stop),
        ("[a] f({\"a\": \"x\"}) ToolCalls".to_owned(), vec!["unended_reasoning"])
    );
    assert_eq!(
        read_with(plan(false), &call, Finish::Stop),
        ("[a] End".to_owned(), vec!["unended_reasoning", "call_without_tools"])
    );
    assert_eq!(
        read_with(plan(true), "\n\na\n\n</think>\n\nb</think>c", Finish::Length),
        ("[a]bc Length".to_owned(), vec!["extra_think_end"])
    );
}

#[test]
fn json_answers() {
    let plan = Plan { json: true, ..Plan::default() };
    for (output, shown, warnings) in [
        ("{\"a\": \"}\"}", "{\"a\": \"}\"} End", &[][..]),
        ("Sure:\n```json\n{\"a\": 1}\n```\n", "{\"a\": 1} End", &["text_around_json", "text_around_json"]),
        ("[1, {\"b\": \"<｜ref｜>\"}]", "[1, {\"b\": \"<｜ref｜>\"}] End", &[]),
        ("{\"a\": ", "{\"a\":  End", &["incomplete_json"]),
    ] {
        assert_eq!(
            read_with(plan.clone(), output, Finish::Stop),
            (shown.to_owned(), warnings.to_vec()),
            "{output}"
        );
    }
}

#[test]
fn stop_sequences() {
    let read = |stops: &[&str], keep_stop: bool, output: &str| {
        let stops = stops.iter().map(|&stop| stop.to_owned()).collect();
        let tools = Some(vec!["f".to_owned()]);
        read_with(Plan { stops, keep_stop, tools, ..Plan::default() }, output, Finish::Stop).0
    };
    assert_eq!(read(&["ab"], false, "xaabc"), "xa StopSequence");
    assert_eq!(read(&["ab"], true, "xaabc"), "xaab StopSequence");
    assert_eq!(read(&["abc", "b"], false, "xabc"), "xa StopSequence");
    assert_eq!(read(&["abc"], false, "xab"), "xab End");
    assert_eq!(read(&[""], false, "x"), "x End");
    // Neither markup nor the blank lines in front of it are answer.
    let block = format!("Hi{BLOCK}{CALL}{END}");
    assert_eq!(read(&["\n", "<", "DSML", "invoke", "x"], false, &block), "Hi f({\"a\": \"x\"}) ToolCalls");
}

#[test]
fn strings_of_json() {
    let types = [("a", &["object", "array"][..]), ("n", &["integer"])];
    let types = types.map(|(name, types)| (name.to_owned(), JsonTypes::from_names(types.iter().copied())));
    let plan = Plan {
        tools: Some(vec!["f".to_owned()]),
        types: [("f".to_owned(), types.into())].into(),
        ..Plan::default()
    };
    let call = |name: &str, is_string: bool, value: &str| {
        format!(
            "{BLOCK}<#invoke name=\"f\"><#parameter name=\"{name}\" string=\"{is_string}\">{value}</#parameter></#invoke>{END}"
        )
    };
    for (output, arguments, warnings) in [
        (call("a", true, "{\"x\": [1]}"), "{\"a\": {\"x\": [1]}}", &["double_encoded"][..]),
        (call("a", false, "\"[1]\""), "{\"a\": [1]}", &["double_encoded"]),
        (call("a", true, "\"[1]\""), "{\"a\": [1]}", &["double_encoded"]),
        (call("a", false, "[1]"), "{\"a\": [1]}", &[]),
        (call("a", true, "text\n"), "{\"a\": \"text\\n\"}", &[]),
        (call("a", true, "12"), "{\"a\": \"12\"}", &[]),
        (call("a", false, "12"), "{\"a\": 12}", &[]),
        (call("n", true, "12"), "{\"n\": 12}", &["double_encoded"]),
        (call("n", true, "1.5"), "{\"n\": \"1.5\"}", &[]),
        (call("other", true, "[1]"), "{\"other\": \"[1]\"}", &[]),
    ] {
        let expected = (format!(" f({arguments}) ToolCalls"), warnings.to_vec());
        assert_eq!(read_with(plan.clone(), &output, Finish::Stop), expected, "{output}");
    }
    let cut = call("a", true, "[1").replace("</#parameter></#invoke></#tool_calls>", "");
    assert_eq!(
        read_with(plan, &cut, Finish::Stop),
        (" f({\"a\": \"[1…) Length".to_owned(), vec!["cut_call"])
    );
    // The whole arguments as a string.
    let body = format!("{BLOCK}<#invoke name=\"f\">\"{{\\\"a\\\": 1}}\"</#invoke>{END}");
    assert_eq!(read(&body), (" f({\"a\": 1}) ToolCalls".to_owned(), vec!["json_body"]));
}

//! The program, run as a user would.

use std::io::Write;
use std::process::{Command, Output, Stdio};

use deepseek_codec::json::Json;

fn fixture(name: &str) -> String {
    format!("{}/fixtures/requests/{name}", env!("CARGO_MANIFEST_DIR"))
}

fn run(arguments: &[&str], input: &[u8]) -> Output {
    let mut child = Command::new(env!("CARGO_BIN_EXE_deepseek-codec"))
        .args(arguments)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    // A program that refuses early may close its input.
    let _ = child.stdin.take().unwrap().write_all(input);
    child.wait_with_output().unwrap()
}

/// Standard output of a run that succeeds.
fn stdout(arguments: &[&str], input: &[u8]) -> String {
    let output = run(arguments, input);
    assert!(output.status.success(), "{arguments:?}: {}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).unwrap()
}

/// Exit code and standard error of a run that fails.
fn failure(arguments: &[&str], input: &[u8]) -> (Option<i32>, String) {
    let output = run(arguments, input);
    assert!(output.stdout.is_empty(), "{}", String::from_utf8_lossy(&output.stdout));
    (output.status.code(), String::from_utf8(output.stderr).unwrap())
}

const HI: &[u8] =
    br#"{"model": "deepseek-v4-pro", "messages": [{"role": "user", "content": "hi"}], "thinking": {"type": "disabled"}}"#;

#[test]
fn encode_prints_ids_text_or_json() {
    assert_eq!(stdout(&["encode"], HI), "0 128803 6366 128804 128822\n");
    assert_eq!(
        stdout(&["encode", "--format", "text", "-"], HI),
        "<｜begin▁of▁sentence｜><｜User｜>hi<｜Assistant｜></think>\n"
    );
    let json =
        Json::parse(stdout(&["encode", "--format", "json", "--protocol", "chat"], HI).as_bytes()).unwrap();
    assert_eq!(json.get("status").unwrap().to_string(), "200");
    assert_eq!(json.get("ids").unwrap().to_string(), "[0,128803,6366,128804,128822]");
    assert_eq!(json.get("special").unwrap().as_array().unwrap().len(), 4);
    let other = stdout(&["encode", "--model", "deepseek-flash", "--format", "text"], HI);
    assert_eq!(other, "<｜begin▁of▁sentence｜><｜User｜>hi<｜Assistant｜></think>\n");
}

#[test]
fn the_format_is_told_from_the_body() {
    for (file, api) in [("agent.json", "messages"), ("codex.json", "responses"), ("chat_agent.json", "chat")]
    {
        let output = run(&["count", &fixture(file)], b"");
        assert!(output.status.success());
        let notice = String::from_utf8(output.stderr).unwrap();
        assert!(notice.contains(&format!("read as {api}")), "{notice}");
        let count: usize = String::from_utf8(output.stdout).unwrap().trim().parse().unwrap();
        assert!(count > 60_000, "{count}");
    }
}

#[test]
fn count_is_the_number_of_ids() {
    for file in ["agent.json", "chat_tools_required.json", "messages_images.json", "responses_tools.json"] {
        let ids = stdout(&["encode", &fixture(file)], b"");
        let count = stdout(&["count", &fixture(file)], b"");
        assert_eq!(ids.split_whitespace().count().to_string(), count.trim(), "{file}");
    }
}

#[test]
fn explain_adds_up() {
    let report = stdout(&["explain", &fixture("agent.json")], b"");
    let total: usize = report
        .lines()
        .find_map(|line| line.strip_prefix("prompt: ")?.split(' ').next()?.parse().ok())
        .unwrap();
    let rows = report.lines().skip_while(|line| !line.trim_start().starts_with("tokens")).skip(1);
    let rows = rows.take_while(|line| !line.is_empty());
    let sum: usize = rows.map(|line| line.split_whitespace().next().unwrap().parse::<usize>().unwrap()).sum();
    assert_eq!(sum, total);
    assert!(report.contains("35 tools"), "{report}");
    let json = Json::parse(stdout(&["explain", "--json", &fixture("agent.json")], b"").as_bytes()).unwrap();
    assert_eq!(json.get("tokens").unwrap().to_string(), total.to_string());
    assert!(json.get("parts").unwrap().as_array().unwrap().len() > 230);
    assert!(report.contains("billing_header"));
}

#[test]
fn diff_names_the_place_and_the_reason() {
    let directory = tempfile();
    let write = |name: &str, body: &str| {
        let path = directory.join(name);
        std::fs::write(&path, body).unwrap();
        path.to_str().unwrap().to_owned()
    };
    let request = |messages: &str, rest: &str| {
        format!(
            r#"{{"model": "deepseek-v4-pro", "messages": [{{"role": "system", "content": "Be brief."}}, {messages}]{rest}}}"#
        )
    };
    let a = write("a.json", &request(r#"{"role": "user", "content": "one two three"}"#, ""));
    let b = write("b.json", &request(r#"{"role": "user", "content": "one two four"}"#, ""));
    let report = stdout(&["diff", "--protocol", "chat", &a, &b], b"");
    assert!(report.contains("message 1: user differs"), "{report}");
    assert!(stdout(&["diff", "--protocol", "chat", &a, &a], b"").contains("the prompts are the same"));
    let json = stdout(&["diff", "--json", "--protocol", "chat", &a, &b], b"");
    assert_eq!(
        Json::parse(json.as_bytes()).unwrap().get("reason"),
        Some(&Json::from("message 1: user differs"))
    );
    let off = write(
        "off.json",
        &request(r#"{"role": "user", "content": "one two three"}"#, r#", "reasoning_effort": "none""#),
    );
    assert!(stdout(&["diff", "--protocol", "chat", &a, &off], b"").contains("thinking differs"));
    std::fs::remove_dir_all(directory).unwrap();
}

/// A fresh folder.
fn tempfile() -> std::path::PathBuf {
    let path = std::env::temp_dir().join(format!("deepseek-codec-{}", std::process::id()));
    std::fs::create_dir_all(&path).unwrap();
    path
}

#[test]
fn text_goes_to_ids_and_back() {
    let text = "Grüße, 世界! <｜User｜> 🙂";
    let ids = stdout(&["tokenize"], text.as_bytes());
    assert!(ids.split_whitespace().all(|id| id.parse::<u32>().unwrap() < 128_000));
    assert_eq!(stdout(&["detokenize"], ids.as_bytes()).trim_end_matches('\n'), text);
    let lines = stdout(&["tokenize", "--jsonl"], b"{\"text\": \"hi\"}\n\n{\"ids\": [6366]}\n");
    assert_eq!(lines, "{\"ids\":[6366]}\n{\"text\":\"hi\"}\n");
}

#[test]
fn decode_makes_a_response_or_its_events() {
    let request = fixture("chat_minimal.json");
    let text = b"Two and two.</think>\n\nFour.";
    let whole = stdout(&["decode", "--protocol", "chat", "--text", &request], text);
    let response = Json::parse(whole.as_bytes()).unwrap();
    let message = response.get("choices").unwrap().as_array().unwrap()[0].get("message").unwrap().to_string();
    assert_eq!(message, r#"{"role":"assistant","content":"Four.","reasoning_content":"Two and two."}"#);
    let ids = stdout(&["tokenize"], b"Two and two.");
    let ids = format!("{ids} 128822 {} 1", stdout(&["tokenize"], b"\n\nFour."));
    let same = stdout(&["decode", "--protocol", "chat", &request], ids.as_bytes());
    let same = Json::parse(same.as_bytes()).unwrap();
    assert_eq!(same.get("choices"), response.get("choices"));
    let events = stdout(&["decode", "--protocol", "chat", "--text", "--stream", &request], text);
    assert!(events.starts_with("data: {"), "{events}");
    assert!(events.ends_with("data: [DONE]\n\n"), "{events}");
    let content = |options: &[&str]| {
        let whole =
            stdout(&[&["decode", "--protocol", "chat"], options, &[&request]].concat(), ids.as_bytes());
        let response = Json::parse(whole.as_bytes()).unwrap();
        let message = response.get("choices").unwrap().as_array().unwrap()[0].get("message").unwrap();
        message.get("content").unwrap().to_string()
    };
    // The full stop.
    let full_stop = ids.split_whitespace().rev().nth(1).unwrap();
    assert_eq!(content(&["--stop-id", full_stop]), r#""""#, "the reasoning has one");
    let four = ids.split_whitespace().rev().nth(2).unwrap();
    assert_eq!(content(&["--stop-id", "5", "--stop-id", four]), r#""""#);
    assert_eq!(content(&["--stop-id", four, "--keep-stop"]), r#""Four""#);
}

#[test]
fn bad_input_fails_with_its_place_and_code_2() {
    let unknown_model = br#"{"model": "gpt-4o", "messages": [{"role": "user", "content": "hi"}]}"#;
    let bad_part = br#"{"model": "deepseek-v4-pro", "messages": [{"role": "user", "content": [{"type": "text", "text": 5}]}]}"#;
    let request = fixture("chat_minimal.json");
    let cases: [(&[&str], &[u8], &str); 18] = [
        (&["encode"], b" \n", "standard input is empty"),
        (&["count"], b"{\"messages\": [", "not JSON: messages"),
        (&["encode"], b"\x7fELF\x02", "not JSON"),
        (&["encode"], b"[]", "not an object"),
        (&["encode", "--bogus"], b"{}", "unexpected argument '--bogus'"),
        (&["decode", "-"], b"{}", "cannot both come from standard input"),
        (&["decode", &request], b"12 {}", "standard input: not a token id: {} (--text reads text)"),
        (&["decode", &request], b"[12, 129280]", "no token has the id 129280"),
        (&["decode", "--text", &request], &[0xff], "not UTF-8"),
        (&["decode", "--text", "--stop-id", "1", &request], b"x", "cannot be used with '--stop-id"),
        (&["encode"], b"{}", "name the format with --protocol"),
        (&["encode", "--protocol", "chat"], b"[", "(status 400, syntax)"),
        (&["encode", "--protocol", "chat"], unknown_model, "model: The supported API model names are"),
        (&["encode", "--protocol", "chat"], bad_part, "messages[0].content[0].text"),
        (&["count", "/nowhere/request.json"], b"", "/nowhere/request.json"),
        (&["tokenize", "--model", "gpt"], b"x", "unknown model gpt"),
        (&["detokenize"], b"12 999999999", "999999999"),
        (&["tokenize"], &[0xff], "not UTF-8"),
    ];
    for (arguments, input, expected) in cases {
        let (code, message) = failure(arguments, input);
        assert_eq!(code, Some(2), "{arguments:?}");
        assert!(message.contains(expected), "{arguments:?}: {message}");
    }
}

#[test]
fn replay_answers_every_line() {
    let jobs = [
        r#"{"id": "a", "protocol": "chat", "request": {"model": "deepseek-flash", "messages": [{"role": "user", "content": "hi"}]}}"#,
        r#"{"id": "b", "protocol": "messages", "dialect": "vendor", "request": {"model": "deepseek-flash", "messages": []}}"#,
        r#"{"id": 3, "protocol": "chat", "request_raw": "{\"model\""}"#,
        r#"{"id": "d", "protocol": "smoke"}"#,
        "not json",
    ];
    let answers = stdout(&["replay"], jobs.join("\n").as_bytes());
    let answers: Vec<Json> = answers.lines().map(|line| Json::parse(line.as_bytes()).unwrap()).collect();
    assert_eq!(answers.len(), 5);
    let text = |index: usize, key: &str| answers[index].get(key).map(ToString::to_string).unwrap_or_default();
    assert_eq!((text(0, "id"), text(0, "status")), ("\"a\"".to_owned(), "200".to_owned()));
    assert_eq!(
        text(1, "error"),
        r#"{"type":"error","error":{"type":"invalid_request_error","message":"messages: at least one message is required"}}"#
    );
    assert_eq!((text(2, "id"), text(2, "status")), ("3".to_owned(), "400".to_owned()));
    assert!(text(3, "bad_job").contains("unknown protocol"));
    assert!(answers[4].get("bad_job").is_some());
}

/// Several answers to one request: the choices of all, each with its index, and what they used together.
#[test]
fn replay_joins_several_outputs() {
    let job = r#"{"protocol": "chat", "request": {"model": "deepseek-flash", "n": 2, "thinking": {"type": "disabled"},
        "messages": [{"role": "user", "content": "hi"}]}, "usage": {"prompt_tokens": 10},
        "outputs": [[{"text": "One"}], [{"text": "T"}, {"text": "wo"}]]}"#;
    let answer = stdout(&["replay"], job.replace('\n', " ").as_bytes());
    let answer = Json::parse(answer.as_bytes()).unwrap();
    let response = answer.get("response").unwrap();
    let choices = response.get("choices").and_then(Json::as_array).unwrap();
    let shown = |choice: &Json| {
        let content = choice.get("message").and_then(|message| message.get("content")).unwrap();
        format!("{} {content}", choice.get("index").unwrap())
    };
    assert_eq!(choices.iter().map(shown).collect::<Vec<_>>(), ["0 \"One\"", "1 \"Two\""]);
    let usage = response.get("usage").unwrap();
    let count = |key: &str| usage.get(key).unwrap().to_string();
    assert_eq!((count("prompt_tokens"), count("completion_tokens")), ("10".to_owned(), "3".to_owned()));
    assert_eq!(count("total_tokens"), "13");
    let events = answer.get("events").and_then(Json::as_array).unwrap();
    assert_eq!(events.len(), 2);
}

#[test]
fn constrain_shows_masks_if_asked() {
    let job = br#"{"schema": {"const": 7}, "masks": true, "tests": [{"data": 7}, {"data": "7"}]}"#;
    let results = Json::parse(stdout(&["constrain"], job).as_bytes()).unwrap();
    let tests = results.get("tests").unwrap().as_array().unwrap();
    assert_eq!(tests[0].get("accepted").unwrap().to_string(), "true");
    assert_eq!(tests[1].get("accepted").unwrap().to_string(), "false");
    // 16,160 bytes in base64, one mask for the one token.
    let masks = tests[0].get("masks").unwrap().as_array().unwrap();
    assert_eq!(masks.iter().map(|mask| mask.as_str().unwrap().len()).collect::<Vec<_>>(), [21_548]);
}

#[test]
fn mask_lists_what_may_come_and_why() {
    let schema = br#"{"enum": ["red", "green"]}"#;
    let out = stdout(&["mask", "--prefix", "\"gr", "--limit", "3"], schema);
    assert!(out.starts_with("3 of 129280 tokens may come\n"), "{out}");
    assert!(out.contains("because the text is inside a string\n"), "{out}");
    assert!(out.contains("must go on with \"e"), "{out}");
    assert!(out.contains("\t\"een\"\n"), "{out}");
    assert!(stdout(&["mask", "--prefix", "\"red\""], schema).contains("it may end here"));
    let (code, error) = failure(&["mask", "--prefix", "\"blue"], schema);
    assert_eq!(code, Some(2));
    assert!(error.contains("is not allowed"), "{error}");
    assert!(stdout(&["mask", "--regex", "[0-9]{2}", "--prefix", "1"], b"").starts_with("10 of "));
    let request = fixture("chat_tools_required.json");
    assert!(stdout(&["mask", "--request", &request], b"").contains("because the text is"));
}

#[test]
fn what_no_mask_can_enforce_is_refused_or_left_out_and_named() {
    let schema = br#"{"type": "string", "not": {"format": "uri"}, "maxLength": 1}"#;
    let (code, error) = failure(&["mask"], schema);
    assert_eq!(code, Some(2));
    assert!(error.contains("unsupported"), "{error}");
    let output = run(&["mask", "--relax"], schema);
    assert!(output.status.success());
    let warning = String::from_utf8(output.stderr).unwrap();
    assert!(warning.contains("is not enforced"), "{warning}");
}

#[test]
fn constrain_answers_each_line() {
    let jobs = concat!(
        r#"{"id": 1, "schema": {"type": "integer"}, "tests": [{"valid": true, "data": 7}, {"valid": false, "data": "7"}]}"#,
        "\n",
        r#"{"id": 2, "regex": "a+", "tests": [{"valid": true, "data": "aaa"}, {"valid": false, "data": "b"}]}"#,
        "\n",
        r#"{"id": 3, "schema": {"type": "nothing"}}"#,
        "\n",
        r#"{"id": 4, "schema": {"type": "string", "not": {"format": "uri"}}}"#,
        "\n",
        r#"{"id": 5, "schema": {"type": "string", "not": {"format": "uri"}}, "relax": true}"#,
        "\n",
        r#"{"id": 6, "schema": {"properties": {"a": {"type": "integer"}, "b": {"type": "integer"}}}, "order": "schema", "tests": [{"valid": true, "data": {"b": 1, "a": 2}}]}"#,
        "\n",
        r#"{"id": 7}"#,
        "\nnot JSON\n"
    );
    let out = stdout(&["constrain"], jobs.as_bytes());
    let results: Vec<Json> = out.lines().map(|line| Json::parse(line.as_bytes()).unwrap()).collect();
    let status = |at: usize| results[at].get("status").and_then(Json::as_str);
    let accepted = |at: usize| -> Vec<Json> {
        let tests = results[at].get("tests").and_then(Json::as_array).unwrap();
        tests.iter().map(|test| test.get("accepted").unwrap().clone()).collect()
    };
    assert_eq!(accepted(0), [Json::Bool(true), Json::Bool(false)]);
    assert_eq!(accepted(1), [Json::Bool(true), Json::Bool(false)]);
    assert_eq!(status(2), Some("invalid"));
    assert_eq!(status(3), Some("unsupported"));
    assert_eq!(status(4), Some("ok"));
    assert_eq!(results[4].get("left_out").and_then(Json::as_array).unwrap().len(), 1);
    assert_eq!(accepted(5), [Json::Bool(false)]);
    assert_eq!(status(6), Some("invalid"));
    assert!(results[7].get("bad_job").is_some());
}

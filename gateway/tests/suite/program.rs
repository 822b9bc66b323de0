//! The program itself: what it prints, logs and does with signals.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::process::{Child, Command, Stdio};

use deepseek_codec::model::PROFILES;

pub(crate) struct Program {
    child: Child,
    address: String,
    pub(crate) banner: String,
}

/// Runs the program until it ends by itself: its exit code, and what it says of errors.
pub(crate) fn run(flags: &[&str]) -> (Option<i32>, String) {
    let output = Command::new(env!("CARGO_BIN_EXE_deepseek-codec-gateway")).args(flags).output().unwrap();
    (output.status.code(), String::from_utf8(output.stderr).unwrap())
}

impl Program {
    fn start(flags: &[&str]) -> Self {
        let script = concat!(env!("CARGO_MANIFEST_DIR"), "/fixtures/script.jsonl");
        Self::with(&[&["--engine", "script", script], flags].concat())
    }

    pub(crate) fn with(flags: &[&str]) -> Self {
        let mut child = Command::new(env!("CARGO_BIN_EXE_deepseek-codec-gateway"))
            .args(["--listen", "127.0.0.1:0"])
            .args(flags)
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        let mut out = BufReader::new(child.stdout.take().unwrap());
        let mut banner = String::new();
        while !banner.contains("no keys") {
            assert!(out.read_line(&mut banner).unwrap() > 0, "{banner}");
        }
        let address = banner.lines().next().unwrap().rsplit('/').next().unwrap().to_owned();
        Self { child, address, banner }
    }

    /// Begins a streamed request.
    fn ask(&self, text: &str) -> BufReader<TcpStream> {
        self.open("POST", "/v1/chat/completions", &crate::server::chat(text))
    }

    fn open(&self, method: &str, path: &str, body: &str) -> BufReader<TcpStream> {
        let mut stream = TcpStream::connect(&self.address).unwrap();
        let head = format!("{method} {path} HTTP/1.1\r\nhost: x\r\nconnection: close\r\n");
        write!(stream, "{head}content-length: {}\r\n\r\n{body}", body.len()).unwrap();
        BufReader::new(stream)
    }

    /// Sends a request: the status, and the body.
    pub(crate) fn send(&self, method: &str, path: &str, body: &str) -> (u16, String) {
        let mut reply = String::new();
        self.open(method, path, body).read_to_string(&mut reply).unwrap();
        let (head, body) = reply.split_once("\r\n\r\n").unwrap();
        (head.split(' ').nth(1).unwrap().parse().unwrap(), body.to_owned())
    }

    /// Ends it by a signal, and returns its log.
    pub(crate) fn end(mut self, signal: &str) -> String {
        let killed = Command::new("kill").args([signal, &self.child.id().to_string()]).status().unwrap();
        assert!(killed.success());
        let mut log = String::new();
        self.child.stderr.take().unwrap().read_to_string(&mut log).unwrap();
        assert!(self.child.wait().unwrap().success(), "{log}");
        log
    }
}

#[test]
fn a_signal_ends_the_program_when_its_answers_have_ended() {
    let program = Program::start(&["--log", "json"]);
    assert!(program.banner.contains("engine: script") && program.banner.contains("not from a model"));
    let mut reply = program.ask("Count slowly, please");
    let mut text = String::new();
    while !text.contains(" one") {
        assert!(reply.read_line(&mut text).unwrap() > 0, "{text}");
    }
    let log = program.end("-TERM");
    reply.read_to_string(&mut text).unwrap();
    assert_eq!(text.matches(" one").count(), 400);
    assert!(text.ends_with("data: [DONE]\n\n\r\n0\r\n\r\n"), "{text}");
    let answer = log.lines().find(|line| line.contains("\"answer\"")).unwrap_or_else(|| panic!("{log}"));
    for part in ["\"id\":\"chatcmpl-", "\"completion_tokens\":400", "\"outcome\":\"complete\""] {
        assert!(answer.contains(part), "{answer}");
    }
    assert!(!log.contains("please"), "texts stay out of the log: {log}");
}

#[test]
fn masks_wait_for_no_request() {
    let program = Program::start(&[]);
    let (_, metrics) = program.send("GET", "/metrics", "");
    let ready = metrics.lines().find(|line| line.starts_with("gateway_mask_vocabularies ")).unwrap();
    assert_eq!(ready, format!("gateway_mask_vocabularies {}", PROFILES.len()));
    program.end("-TERM");
    let program = Program::start(&["--masks", "off"]);
    assert!(program.send("GET", "/metrics", "").1.contains("gateway_mask_vocabularies 0\n"));
    program.end("-TERM");
}

#[test]
fn texts_are_logged_if_asked_for() {
    let file = std::env::temp_dir().join(format!("gateway-{}.toml", std::process::id()));
    std::fs::write(&file, "[log]\ntexts = true").unwrap();
    let program = Program::start(&["--config", file.to_str().unwrap()]);
    let mut text = String::new();
    program.ask("Hi, please").read_to_string(&mut text).unwrap();
    assert!(text.contains("Hello"), "{text}");
    std::fs::remove_file(file).unwrap();
    assert!(program.end("-INT").contains("Hi, please"));
}

#[test]
fn what_cannot_be_used_is_said() {
    let (code, error) = run(&["--engine", "script", "/nowhere.jsonl"]);
    assert_eq!(code, Some(2));
    assert!(error.contains("/nowhere.jsonl"), "{error}");
    let script = concat!(env!("CARGO_MANIFEST_DIR"), "/fixtures/script.jsonl");
    let (code, error) = run(&["--engine", "script", script, "--listen", "nowhere"]);
    assert_eq!(code, Some(2));
    assert!(error.contains("cannot listen at nowhere"), "{error}");
    let (code, error) = run(&["--engine", "script", script, "--max-requests", "0"]);
    assert!(code == Some(2) && error.contains("limits.requests cannot be 0"), "{error}");
    let file = std::env::temp_dir().join(format!("gateway-wrong-{}.toml", std::process::id()));
    for (settings, problem) in [
        ("[limits]\nping_seconds = -1", "limits.ping_seconds cannot be -1"),
        ("[limits]\ntoken_seconds = nan", "limits.token_seconds cannot be NaN"),
        ("listn = 1", "unknown field `listn`"),
    ] {
        std::fs::write(&file, settings).unwrap();
        let (code, error) = run(&["--config", file.to_str().unwrap()]);
        assert!(code == Some(2) && error.contains(problem), "{error}");
    }
    let (_, error) = run(&["--config", file.to_str().unwrap()]);
    assert!(error.contains("gateway-wrong-"), "the file is named: {error}");
    std::fs::remove_file(file).unwrap();
}

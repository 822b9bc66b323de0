//! Replays what fuzzing found, and the seeds: every file of `fuzz/regressions/TARGET/`.
//!
//! The published package leaves that folder out; there is nothing to replay then.

use std::fs;
use std::path::{Path, PathBuf};

pub(crate) mod masks;
pub(crate) mod outputs;
pub(crate) mod properties;
pub(crate) mod tokens;

/// The target's inputs with their names, in order.
fn inputs(target: &str) -> Vec<(String, Vec<u8>)> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("fuzz/regressions").join(target);
    let Ok(files) = fs::read_dir(&folder) else { return Vec::new() };
    let mut paths: Vec<_> = files.flatten().map(|file| file.path()).collect();
    paths.sort();
    assert!(!paths.is_empty(), "{} is empty", folder.display());
    let read = |path: &PathBuf| fs::read(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    paths.iter().map(|path| (path.display().to_string(), read(path))).collect()
}

#[test]
fn encode_request() {
    for (name, data) in inputs("encode_request") {
        println!("{name}");
        properties::encode_request(&data);
    }
}

#[test]
fn parse_json() {
    for (name, data) in inputs("parse_json") {
        println!("{name}");
        properties::parse_json(&data);
    }
}

#[test]
fn parse_output() {
    for (name, data) in inputs("parse_output") {
        println!("{name}");
        outputs::parse_output(&data);
    }
}

#[test]
fn round_trip() {
    for (name, data) in inputs("round_trip") {
        println!("{name}");
        outputs::round_trip_bytes(&data);
    }
}

#[test]
fn schema_to_mask() {
    for (name, data) in inputs("schema_to_mask") {
        println!("{name}");
        masks::schema_to_mask(&data);
    }
}

#[test]
fn encode_text() {
    for (name, data) in inputs("encode_text") {
        println!("{name}");
        tokens::encode_text(&data);
    }
}

#[test]
fn regex_to_mask() {
    for (name, data) in inputs("regex_to_mask") {
        println!("{name}");
        masks::regex_to_mask(&data);
    }
}

#[test]
fn detokenize() {
    for (name, data) in inputs("detokenize") {
        println!("{name}");
        tokens::detokenize(&data);
    }
}

/// The properties hold for the requests that are fixtures, too.
#[test]
fn fixtures() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures/protocol/golden");
    for (selector, api) in ["chat", "responses", "messages"].into_iter().enumerate() {
        let text = fs::read_to_string(folder.join(format!("{api}.jsonl"))).unwrap();
        for line in text.split('\n').filter(|line| !line.is_empty()) {
            let case: serde_json::Value = serde_json::from_str(line).unwrap();
            println!("{api} {}", case["id"]);
            let request = case["request"].to_string();
            let selector = b'0' + u8::try_from(selector).unwrap();
            properties::encode_request(&[&[selector], request.as_bytes()].concat());
        }
    }
}

//! Replays what fuzzing found, and the seeds: every file of `fuzz/regressions/TARGET/`.
//!
//! The published package leaves that folder out; there is nothing to replay then.

use std::fs;
use std::path::Path;

mod properties;

fn replay(target: &str, property: fn(&[u8])) {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("fuzz/regressions").join(target);
    let Ok(files) = fs::read_dir(&folder) else { return };
    let mut paths: Vec<_> = files.map(|file| file.unwrap().path()).collect();
    paths.sort();
    assert!(!paths.is_empty(), "{} is empty", folder.display());
    for path in paths {
        println!("{}", path.display());
        property(&fs::read(&path).unwrap());
    }
}

#[test]
fn encode_request() {
    replay("encode_request", properties::encode_request);
}

#[test]
fn parse_json() {
    replay("parse_json", properties::parse_json);
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

//! Writes generated requests with the reference's results, for tests that do not build the reference.

use std::fs;
use std::path::Path;

use deepseek_codec::protocol::Api;
use serde_json::{Value, json};

use crate::generate::case;
use crate::outcome::{Outcome, Refusal};
use crate::run::{Sides, explained};

/// Longest request and prompt that are written, in bytes.
const MAX_BODY: usize = 2_500;
const MAX_PROMPT: usize = 5_000;
/// Prompts of more tokens are written without ids.
const MAX_IDS: usize = 400;

/// Writes `count` cases in all, a file for each API.
///
/// Cases on which the sides differ for a documented reason are left out, and so are bodies that are no JSON.
pub fn write(sides: &Sides, seed: u64, count: u64, folder: &Path) -> Result<(), String> {
    if !sides.reference.has_tokenizers() {
        return Err("export needs --tokenizer FILE: the fixtures hold token ids".to_owned());
    }
    let explain = |error: std::io::Error| format!("{}: {error}", folder.display());
    fs::create_dir_all(folder).map_err(explain)?;
    for (index, api) in Api::ALL.into_iter().enumerate() {
        let wanted = (count + 2 - index as u64) / 3;
        let mut lines = String::new();
        let mut written = 0;
        let mut number = index as u64;
        while written < wanted {
            if let Some(line) = line(sides, seed, number, written) {
                lines += &line;
                lines.push('\n');
                written += 1;
            }
            number += 3;
        }
        fs::write(folder.join(format!("{}.jsonl", api.as_str())), lines).map_err(explain)?;
    }
    Ok(())
}

fn line(sides: &Sides, seed: u64, number: u64, written: u64) -> Option<String> {
    let case = case(seed, number);
    let body = case.text();
    if body.len() > MAX_BODY {
        return None;
    }
    let request: Value = serde_json::from_str(&body).ok()?;
    let outcome = sides.reference.run(case.api, &body, true);
    if ["strict", "lenient"].into_iter().any(|policy| explained(sides, case.api, &body, policy).is_some()) {
        return None;
    }
    let expect = match &outcome {
        Outcome::Accepted(accepted) if accepted.prompt.len() > MAX_PROMPT => return None,
        Outcome::Accepted(accepted) => {
            let mut expect = accepted.to_json();
            let ids = accepted.ids.as_deref().unwrap_or_default();
            if ids.len() > MAX_IDS {
                let fields = expect.as_object_mut()?;
                fields.shift_remove("ids");
                fields.insert("ids_count".to_owned(), json!(ids.len()));
                fields.insert("ids_first".to_owned(), json!(ids[..16]));
                fields.insert("ids_last".to_owned(), json!(ids[ids.len() - 16..]));
            }
            expect
        }
        // Most of these bodies are alike: a few are enough.
        Outcome::Refused(Refusal { message: None, .. }) if !written.is_multiple_of(4) => return None,
        Outcome::Refused(Refusal { status, message: None }) => {
            json!({ "status": status, "unreadable": true })
        }
        Outcome::Refused(Refusal { status, message: Some(message) }) => json!({
            "status": status,
            "error": {
                "error": {
                    "message": message, "type": "invalid_request_error", "param": null, "code": "invalid_request_error"
                }
            },
        }),
    };
    // Values change when they are read and written: numbers beyond 64 bits, repeated keys. Such bodies stay text.
    let text = request.to_string();
    let kept = text == body;
    let mut line = json!({ "id": format!("generated/{number}"), "protocol": case.api.as_str() });
    if kept {
        line["request"] = request;
    } else {
        line["request_raw"] = body.into();
    }
    line["expect"] = expect;
    Some(line.to_string())
}

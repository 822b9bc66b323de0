//! The fixtures of the package: schemas with what the official crates say about them.

use std::fs;

use serde_json::{Value, json};

use crate::dice::Dice;
use crate::{SEED, generate, oracle};

/// How many generated schemas stand behind the chosen ones, and how long they may be as text.
const GENERATED: usize = 150;
const LONGEST: usize = 260;

/// Rewrites `meta.jsonl` and `strict.jsonl` in `folder`: keeps the schemas up to the first generated one, asks again
/// about them, and adds generated ones.
pub fn write(folder: &str) -> Result<(), String> {
    let mut dice = Dice::new(SEED);
    rewrite(&format!("{folder}/meta.jsonl"), &mut || generate::schema(&mut dice), meta)?;
    let mut dice = Dice::new(SEED);
    rewrite(&format!("{folder}/strict.jsonl"), &mut || generate::strict(&mut dice), strict)
}

fn rewrite(
    path: &str,
    generate: &mut dyn FnMut() -> Value,
    ask: fn(&Value) -> Option<Value>,
) -> Result<(), String> {
    let text = fs::read_to_string(path).map_err(|error| error.to_string())?;
    let mut lines = Vec::new();
    for line in text.lines() {
        let line: Value = serde_json::from_str(line).map_err(|error| format!("{error}: {line}"))?;
        if line["generated"] == true {
            break;
        }
        lines.extend(ask(&line["schema"]));
    }
    let chosen = lines.len();
    while lines.len() < chosen + GENERATED {
        let schema = generate();
        if schema.to_string().len() > LONGEST {
            continue;
        }
        if let Some(mut line) = ask(&schema) {
            line["generated"] = true.into();
            lines.push(line);
        }
    }
    let text: String = lines.iter().map(|line| format!("{line}\n")).collect();
    fs::write(path, text).map_err(|error| error.to_string())
}

fn meta(schema: &Value) -> Option<Value> {
    Some(json!({ "schema": schema, "error": oracle::meta(schema)?.err() }))
}

fn strict(schema: &Value) -> Option<Value> {
    let parameters = oracle::strict_parameters(schema);
    let response = oracle::strict_response(schema);
    let prompt = parameters.as_ref().ok();
    Some(
        json!({ "schema": schema, "prompt": prompt, "parameters": parameters.as_ref().err(), "response": response.err() }),
    )
}

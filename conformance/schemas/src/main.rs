//! Compares deepseek-codec's schema checks with the crates the official conversion uses.
//!
//! `cargo run --release -- [N] [schemas.jsonl]` generates N schemas from a fixed seed; with a file of JSON lines
//! (each a schema, or an object with a member `schema`) its schemas are compared as they are, and damaged ones as
//! well. `--schema JSON` shows both sides for one schema, `--pattern N` compares N random regular expressions,
//! `--languages N` what N of them and the formats accept, and `--fixtures FOLDER` writes the official verdicts into
//! the fixtures of the package.

mod compare;
mod dice;
mod fixtures;
mod generate;
mod languages;
mod oracle;
mod patterns;

use std::process::ExitCode;

use compare::Totals;
use dice::Dice;
use serde_json::Value;

const SEED: u64 = 2026;

fn main() -> ExitCode {
    // A panic of the official crates is a result like others; it needs no message.
    std::panic::set_hook(Box::new(|_| {}));
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    match arguments.iter().map(String::as_str).collect::<Vec<_>>()[..] {
        ["--schema", text] => {
            let Ok(schema) = serde_json::from_str(text) else {
                eprintln!("not JSON: {text}");
                return ExitCode::from(2);
            };
            compare::show(&schema);
            return ExitCode::SUCCESS;
        }
        ["--fixtures", folder] => {
            return match fixtures::write(folder) {
                Ok(()) => ExitCode::SUCCESS,
                Err(error) => {
                    eprintln!("{folder}: {error}");
                    ExitCode::from(2)
                }
            };
        }
        ["--pattern", count] => return patterns_alone(count.parse().unwrap_or(10_000)),
        ["--languages", count] => return languages_alone(count.parse().unwrap_or(10_000)),
        _ => {}
    }
    let count = arguments.iter().find_map(|argument| argument.parse().ok()).unwrap_or(20_000);
    let real = match arguments.iter().find(|argument| argument.parse::<usize>().is_err()) {
        Some(path) => match read(path) {
            Ok(schemas) => schemas,
            Err(error) => {
                eprintln!("{path}: {error}");
                return ExitCode::from(2);
            }
        },
        None => Vec::new(),
    };
    let mut dice = Dice::new(SEED);
    let mut totals = Totals::default();
    for schema in &real {
        totals.add(schema);
    }
    for _ in 0..count {
        let mut schema = if !real.is_empty() && dice.once_in(2) {
            dice.pick(&real).clone()
        } else {
            generate::schema(&mut dice)
        };
        for _ in 0..dice.below(3) {
            generate::damage(&mut schema, &mut dice);
        }
        totals.add(&schema);
    }
    totals.print()
}

fn languages_alone(count: usize) -> ExitCode {
    let mut dice = Dice::new(SEED);
    let mut totals = languages::Totals::default();
    for _ in 0..count {
        totals.pattern(&mut dice);
    }
    totals.formats(count / 10, &mut dice);
    if totals.print() { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

fn patterns_alone(count: usize) -> ExitCode {
    let mut dice = Dice::new(SEED);
    let mut totals = Totals::default();
    for _ in 0..count {
        let pattern = patterns::random(&mut dice);
        let draft = if dice.once_in(2) {
            "http://json-schema.org/draft-07/schema#"
        } else {
            "https://json-schema.org/schema"
        };
        totals.add_meta(&serde_json::json!({"$schema": draft, "pattern": pattern}));
    }
    totals.print()
}

fn read(path: &str) -> Result<Vec<Value>, String> {
    let text = std::fs::read_to_string(path).map_err(|error| error.to_string())?;
    text.lines()
        .filter(|line| !line.trim().is_empty())
        .map(|line| {
            let line: Value = serde_json::from_str(line).map_err(|error| error.to_string())?;
            Ok(line.get("schema").cloned().unwrap_or(line))
        })
        .collect()
}

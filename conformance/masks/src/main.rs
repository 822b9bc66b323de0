//! Masks against the verdicts of `jsonschema`, and beside llguidance.
//!
//! - `check [--count N] [--seed S] [--threads T] [--walks W] [schemas.jsonl …]`: N generated schemas and those of
//!   the files, with random walks through their masks and with damaged instances. Exit code 1 if a verdict differs.
//! - `one SCHEMA [INSTANCE …]`: both verdicts on instances of one schema, as JSON texts.
//! - `bench [--rounds R] schemas.jsonl`: figures of both libraries in one run.

mod bench;
mod check;
#[path = "../../schemas/src/dice.rs"]
mod dice;
mod generate;
mod instances;
mod jobs;
mod llguidance_side;
mod shrink;
mod sides;
mod walk;

use std::process::ExitCode;

use jobs::Job;

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let outcome = match arguments.split_first() {
        Some((command, rest)) if command == "check" => check(rest),
        Some((command, rest)) if command == "one" => one(rest),
        Some((command, rest)) if command == "bench" => {
            let (numbers, files) = options(rest);
            jobs::read_all(&files).map(|jobs| {
                bench::run(&jobs, numbers.get("--rounds").copied().unwrap_or(5) as usize);
                ExitCode::SUCCESS
            })
        }
        _ => Err("check, one or bench? See src/main.rs".to_owned()),
    };
    outcome.unwrap_or_else(|problem| {
        eprintln!("{problem}");
        ExitCode::from(2)
    })
}

/// Options with a number, and the rest.
fn options(arguments: &[String]) -> (std::collections::BTreeMap<String, u64>, Vec<String>) {
    let (mut numbers, mut rest) = (std::collections::BTreeMap::new(), Vec::new());
    let mut arguments = arguments.iter();
    while let Some(argument) = arguments.next() {
        if !argument.starts_with("--") {
            rest.push(argument.clone());
        } else if let Some(number) = arguments.next().and_then(|text| text.parse().ok()) {
            numbers.insert(argument.clone(), number);
        }
    }
    (numbers, rest)
}

fn check(arguments: &[String]) -> Result<ExitCode, String> {
    let (numbers, files) = options(arguments);
    let number = |name: &str, default: u64| numbers.get(name).copied().unwrap_or(default);
    let plan = check::Plan {
        jobs: jobs::read_all(&files)?,
        generated: number("--count", if files.is_empty() { 1000 } else { 0 }),
        seed: number("--seed", 2026),
        walks: number("--walks", 3) as usize,
        threads: number("--threads", 2) as usize,
    };
    Ok(check::run(&plan))
}

fn one(arguments: &[String]) -> Result<ExitCode, String> {
    let (schema, instances) = arguments.split_first().ok_or("a schema, then instances")?;
    let job =
        Job { schema: serde_json::from_str(schema).map_err(|error| error.to_string())?, ..Job::default() };
    check::show(&job, instances);
    Ok(ExitCode::SUCCESS)
}

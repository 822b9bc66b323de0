//! `conformance COMMAND [--count N] [--seed N] [--first N] [--ids-every N] [--threads N] [--tokenizer FILE]`
//!
//! Commands: `requests`, `streams`, `json`, `golds`, `export`, `export-streams`, `show`, `show-stream`, `speed`; README.md says what each does.

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use conformance::generate::case;
use conformance::reference::Reference;
use conformance::run::{Plan, Sides, run};
use conformance::{corpus, export, golds, report, streams};

/// The options after the command.
struct Options {
    command: String,
    count: Option<u64>,
    seed: u64,
    first: u64,
    ids_every: u64,
    threads: usize,
    tokenizer: Option<PathBuf>,
}

fn main() -> ExitCode {
    match options().and_then(|options| dispatch(&options)) {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::FAILURE,
        Err(error) => {
            eprintln!("{error}");
            ExitCode::from(2)
        }
    }
}

fn options() -> Result<Options, String> {
    let mut arguments = std::env::args().skip(1);
    let threads = std::thread::available_parallelism().map_or(1, usize::from);
    let tokenizer = std::env::var_os("DEEPSEEK_TOKENIZER_JSON").map(PathBuf::from);
    let command = arguments.next().ok_or(
        "which command? requests, streams, json, golds, export, export-streams, show, show-stream or speed",
    )?;
    let mut options = Options { command, count: None, seed: 1, first: 0, ids_every: 10, threads, tokenizer };
    while let Some(name) = arguments.next() {
        let value = arguments.next().ok_or_else(|| format!("{name} needs a value"))?;
        let number = || value.parse::<u64>().map_err(|error| format!("{name} {value}: {error}"));
        match name.as_str() {
            "--count" => options.count = Some(number()?),
            "--seed" => options.seed = number()?,
            "--first" => options.first = number()?,
            "--ids-every" => options.ids_every = number()?,
            "--threads" => options.threads = number()? as usize,
            "--tokenizer" => options.tokenizer = Some(value.into()),
            _ => return Err(format!("unknown option {name}")),
        }
    }
    Ok(options)
}

/// Whether all is as it should be.
fn dispatch(options: &Options) -> Result<bool, String> {
    let here = Path::new(env!("CARGO_MANIFEST_DIR"));
    match options.command.as_str() {
        "show" => {
            println!("{}", case(options.seed, options.first).text());
            Ok(true)
        }
        "golds" => {
            let rendered = golds::run()?;
            print!("{}", golds::report(&rendered));
            Ok(rendered.iter().all(golds::Gold::is_explained))
        }
        "requests" => requests(options, here),
        "streams" => streams(options, here),
        "speed" => {
            print!("{}", streams::speed::report(options.tokenizer.as_deref())?);
            Ok(true)
        }
        "show-stream" => {
            print!("{}", streams::run::show(options.seed, options.first)?);
            Ok(true)
        }
        "json" => {
            let result = corpus::run(&sides(options)?, options.seed, options.count.unwrap_or(100_000));
            println!(
                "{} values in {} prompts, {} requests differ",
                result.values,
                result.prompts,
                result.differences.len()
            );
            for (body, differences) in result.differences.iter().take(3) {
                println!("{}\n{differences:#?}", body.chars().take(2000).collect::<String>());
            }
            Ok(result.differences.is_empty())
        }
        "export" => {
            let folder = here.join("../fixtures/protocol/generated");
            let count = options.count.unwrap_or(300);
            export::write(&sides(options)?, options.seed, count, &folder)?;
            Ok(true)
        }
        "export-streams" => {
            let file = here.join("../fixtures/output/generated.jsonl");
            streams::export::write(options.seed, options.count.unwrap_or(300), &file)?;
            Ok(true)
        }
        other => Err(format!("unknown command {other}")),
    }
}

fn sides(options: &Options) -> Result<Sides, String> {
    let reference = match &options.tokenizer {
        Some(path) => Reference::load(path)?,
        None => {
            eprintln!(
                "no --tokenizer FILE and no DEEPSEEK_TOKENIZER_JSON: prompts are compared, token ids are not"
            );
            Reference::default()
        }
    };
    Ok(Sides { reference, ..Sides::default() })
}

fn requests(options: &Options, here: &Path) -> Result<bool, String> {
    let sides = sides(options)?;
    let count = options.count.unwrap_or(20_000);
    let ids_every = if sides.reference.has_tokenizers() { options.ids_every } else { 0 };
    let plan = Plan { seed: options.seed, first: options.first, count, ids_every, keep: 2 };
    let totals = run(&sides, plan, options.threads);
    let table = report::markdown(&totals, plan);
    println!("{table}\n{}", report::refusals(&totals));
    if totals.signatures.is_empty() {
        report::write_between(&here.join("README.md"), "totals", &table)?;
        return Ok(true);
    }
    println!("Unexplained differences:\n{}", report::findings(&totals));
    Ok(false)
}

fn streams(options: &Options, here: &Path) -> Result<bool, String> {
    let plan = streams::run::Plan {
        seed: options.seed,
        first: options.first,
        count: options.count.unwrap_or(20_000),
        keep: 2,
    };
    let totals = streams::run::run(plan, options.threads)?;
    println!("{}", totals.markdown(plan));
    if totals.signatures.is_empty() {
        report::write_between(
            &here.join("README.md"),
            &format!("streams-{}", plan.seed),
            &totals.markdown(plan),
        )?;
        return Ok(true);
    }
    println!("Unexplained differences:\n{}", totals.findings());
    Ok(false)
}

//! `replay`: jobs in, results out, one JSON object a line.

use std::io::{self, BufWriter, Write};
use std::path::Path;

use deepseek_codec::inspect::{View, report};
use deepseek_codec::json::{Json, Object};
use deepseek_codec::protocol::{Api, Dialect, Lowered, Options, Policy, RequestError, lower, lower_json};

use crate::failure::Failure;
use crate::lines::Lines;
use crate::output;

pub(crate) fn replay(file: Option<&Path>) -> Result<(), Failure> {
    let mut out = BufWriter::new(io::stdout().lock());
    for line in Lines::open(file)? {
        let line = line?;
        let result = match Json::parse(&line) {
            Ok(job) => run(&job),
            Err(error) => bad_job(error.to_string()),
        };
        writeln!(out, "{result}")?;
        // Whoever drives the program line by line waits for this answer.
        out.flush()?;
    }
    Ok(())
}

fn bad_job(problem: impl Into<String>) -> Json {
    [("bad_job", problem.into().into())].into()
}

/// The result of one job.
fn run(job: &Json) -> Json {
    let text = |key: &str| job.get(key).and_then(Json::as_str);
    let (api, dialect, policy) = match settings(text("protocol"), text("dialect"), text("policy")) {
        Ok(settings) => settings,
        Err(message) => return with_id(job, bad_job(message)),
    };
    let options = Options::new(policy);
    let lowered = match (text("request_raw"), job.get("request")) {
        (Some(raw), _) => lower(api, raw.as_bytes(), &options),
        (None, Some(request)) => lower_json(api, request.clone(), &options),
        (None, None) => return with_id(job, bad_job("neither `request` nor `request_raw`")),
    };
    let result = match lowered {
        Ok(lowered) => answered(job, &lowered, dialect),
        Err(error) => Ok(refused(&error, api, dialect)),
    };
    with_id(job, result.unwrap_or_else(bad_job))
}

/// The result of a job whose request was accepted, with its events if it has an output.
fn answered(job: &Json, lowered: &Lowered, dialect: Dialect) -> Result<Json, String> {
    let prompt = lowered.profile.render(&lowered.conversation);
    let tokenizer = lowered.profile.tokenizer();
    let result = report(View { lowered, prompt: &prompt, tokenizer: &tokenizer });
    let list = |key: &str| job.get(key).and_then(Json::as_array);
    let output = match (list("chunks"), list("outputs")) {
        (Some(chunks), _) => output::run(job, lowered, chunks, dialect, 0)?,
        (None, Some(outputs)) => output::run_all(job, lowered, outputs, dialect)?,
        (None, None) => return Ok(result),
    };
    let Json::Object(result) = result else { return Ok(result) };
    let mut result: Object = result.into_iter().chain(output.members).collect();
    if let Some(Json::Array(warnings)) = result.get("warnings").cloned() {
        result.insert("warnings", Json::Array(warnings.into_iter().chain(output.warnings).collect()));
    }
    Ok(result.into())
}

fn settings(
    protocol: Option<&str>,
    dialect: Option<&str>,
    policy: Option<&str>,
) -> Result<(Api, Dialect, Policy), String> {
    let api = match protocol {
        None => Api::Chat,
        Some(name) => Api::by_name(name).ok_or_else(|| format!("unknown protocol {name}"))?,
    };
    let dialect = match dialect {
        None | Some("deepseek") => Dialect::Deepseek,
        Some("vendor") => Dialect::Vendor,
        Some(name) => return Err(format!("unknown dialect {name}")),
    };
    let policy = match policy {
        None | Some("lenient") => Policy::Lenient,
        Some("strict") => Policy::Strict,
        Some(name) => return Err(format!("unknown policy {name}")),
    };
    Ok((api, dialect, policy))
}

fn with_id(job: &Json, result: Json) -> Json {
    let id = ("id".to_owned(), job.get("id").cloned().unwrap_or_default());
    match result {
        Json::Object(result) => Json::Object(std::iter::once(id).chain(result).collect()),
        other => other,
    }
}

fn refused(error: &RequestError, api: Api, dialect: Dialect) -> Json {
    Json::from([
        ("status", u32::from(error.status()).into()),
        ("error", error.body(api, dialect)),
        ("kind", error.kind().as_str().into()),
        ("path", error.path().into()),
    ])
}

//! `replay`: jobs in, results out, one JSON object a line.

use std::fs::File;
use std::io::{self, BufRead, BufReader, BufWriter, Write};
use std::path::Path;

use deepseek_codec::constraint::Constraint;
use deepseek_codec::json::Json;
use deepseek_codec::model::Profile;
use deepseek_codec::prompt::Prompt;
use deepseek_codec::protocol::{Api, Dialect, Lowered, Options, Policy, RequestError, Warning, lower, lower_json};
use serde_json::{Map, Value, json};

use crate::failure::Failure;

pub(crate) fn replay(file: Option<&Path>) -> Result<(), Failure> {
    let input: Box<dyn BufRead> = match file.filter(|file| *file != Path::new("-")) {
        None => Box::new(io::stdin().lock()),
        Some(path) => {
            let file = File::open(path).map_err(|error| Failure::new(format!("{}: {error}", path.display())))?;
            Box::new(BufReader::new(file))
        }
    };
    let mut out = BufWriter::new(io::stdout().lock());
    for line in input.split(b'\n') {
        let line = line?;
        if line.iter().all(u8::is_ascii_whitespace) {
            continue;
        }
        let result = match Json::parse(&line) {
            Ok(job) => run(&job),
            Err(error) => json!({ "bad_job": error.to_string() }),
        };
        serde_json::to_writer(&mut out, &result).map_err(io::Error::from)?;
        writeln!(out)?;
        // Whoever drives the program line by line waits for this answer.
        out.flush()?;
    }
    Ok(())
}

/// The result of one job.
fn run(job: &Json) -> Value {
    let text = |key: &str| job.get(key).and_then(Json::as_str);
    let (api, dialect, policy) = match settings(text("protocol"), text("dialect"), text("policy")) {
        Ok(settings) => settings,
        Err(message) => return with_id(job, json!({ "bad_job": message })),
    };
    let options = Options::new(policy);
    let lowered = match (text("request_raw"), job.get("request")) {
        (Some(raw), _) => lower(api, raw.as_bytes(), &options),
        (None, Some(request)) => lower_json(api, request.clone(), &options),
        (None, None) => return with_id(job, json!({ "bad_job": "neither `request` nor `request_raw`" })),
    };
    let result = match lowered {
        Ok(lowered) => accepted(&lowered, lowered.profile, &lowered.profile.render(&lowered.conversation)),
        Err(error) => refused(&error, api, dialect),
    };
    with_id(job, result)
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

fn with_id(job: &Json, result: Value) -> Value {
    let mut members = Map::new();
    members.insert("id".to_owned(), job.get("id").cloned().unwrap_or_default().into());
    if let Value::Object(result) = result {
        members.extend(result);
    }
    Value::Object(members)
}

fn refused(error: &RequestError, api: Api, dialect: Dialect) -> Value {
    json!({
        "status": error.status(),
        "error": Value::from(error.body(api, dialect)),
        "kind": error.kind().as_str(),
        "path": error.path(),
    })
}

/// All about a request that was accepted and its prompt.
pub(crate) fn accepted(lowered: &Lowered, profile: &Profile, prompt: &Prompt) -> Value {
    let special = prompt.display_specials().map(|(start, end, special)| json!([start, end, special.spelling()]));
    let ids: Vec<u32> = profile.tokenizer().encode(prompt).into_iter().map(u32::from).collect();
    let sampling = &lowered.sampling;
    let constraint = Constraint::of(&lowered.conversation)
        .map(|constraint| json!({ "kind": constraint.kind(), "schema": constraint.schema_text() }));
    json!({
        "status": 200,
        "model": profile.name(),
        "prompt": prompt.to_string(),
        "special": special.collect::<Vec<_>>(),
        "ids": ids,
        "images": profile.images(&lowered.conversation).len(),
        "thinking": lowered.conversation.thinking.is_on(),
        "stream": lowered.stream,
        "sampling": {
            "max_tokens": sampling.max_tokens,
            "temperature": sampling.temperature,
            "top_p": sampling.top_p,
            "logprobs": sampling.logprobs,
            "top_logprobs": sampling.top_logprobs,
            "seed": sampling.seed,
            "n": sampling.n,
            "constraint": constraint,
        },
        "stops": lowered.stops,
        "warnings": lowered.warnings.iter().map(warning).collect::<Vec<_>>(),
    })
}

fn warning(warning: &Warning) -> Value {
    json!({ "kind": warning.kind.as_str(), "path": warning.path, "message": warning.message })
}

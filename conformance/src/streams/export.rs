//! Writes generated outputs for tests that do not build the reference: the request, the chunks as they arrive, and how
//! what this project makes of them compares with the reference.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use deepseek_codec::output::Finish;
use deepseek_codec::protocol::{Api, Options, Policy, lower};
use serde_json::{Value, json};

use super::Input;
use super::arrival::{self, Chunk};
use super::explain::{Verdict, judge};
use super::generate::{Case, Class, case};

/// Longest request and output that are written, in bytes, and the most chunks.
const MAX_REQUEST: usize = 1_500;
const MAX_OUTPUT: usize = 400;
const MAX_CHUNKS: usize = 60;
/// How many of the cases of one API and class may show the same divergences, so that all are shown.
const MAX_ALIKE: usize = 4;

const CLASSES: [Class; 4] = [Class::WellFormed, Class::CutOff, Class::Faulty, Class::Mutated];

/// Writes `count` cases in all, as many of each API and class.
///
/// # Errors
///
/// If a difference is unexplained or the file cannot be written.
pub fn write(seed: u64, count: u64, file: &Path) -> Result<(), String> {
    let wanted = count.div_ceil((Api::ALL.len() * CLASSES.len()) as u64);
    let mut rows = BTreeMap::<_, u64>::new();
    let mut alike = BTreeMap::<_, usize>::new();
    let mut lines = String::new();
    let mut number = 0;
    while rows.values().sum::<u64>() < wanted * (Api::ALL.len() * CLASSES.len()) as u64 {
        let case = case(seed, number);
        number += 1;
        let row = (case.input.api.as_str(), case.class);
        if rows.get(&row) == Some(&wanted) {
            continue;
        }
        let Some(mut line) = line(&case)? else { continue };
        let reference = reference(&case)?;
        let same = alike.entry((row, reference.clone())).or_default();
        let most = match case.class {
            Class::WellFormed | Class::CutOff if reference == "equal" => wanted as usize,
            _ if reference == "equal" => wanted as usize / 2,
            _ => MAX_ALIKE,
        };
        if *same == most {
            continue;
        }
        *same += 1;
        *rows.entry(row).or_default() += 1;
        line["reference"] = reference.into();
        lines += &line.to_string();
        lines.push('\n');
    }
    fs::write(file, lines).map_err(|error| format!("{}: {error}", file.display()))
}

/// How the sides compare.
fn reference(case: &Case) -> Result<String, String> {
    Ok(match judge(case)? {
        Verdict::Equal => "equal".to_owned(),
        Verdict::Repaired(ids) => format!("equal but for {}", ids.join(", ")),
        Verdict::EqualUpTo(id) => format!("equal up to {id}"),
        Verdict::Unexplained(differences) => {
            return Err(format!("case {} differs: {differences:?}", case.number));
        }
    })
}

/// The case, if it is short.
fn line(case: &Case) -> Result<Option<Value>, String> {
    let Input { api, request, finish, .. } = &case.input;
    let body = request.to_string();
    if body.len() > MAX_REQUEST || case.input.text().len() > MAX_OUTPUT {
        return Ok(None);
    }
    let lowered = lower(*api, body.as_bytes(), &Options::new(Policy::Lenient))
        .map_err(|error| error.message().to_owned())?;
    let chunks = arrival::chunks(&case.input, arrival::tokenizer(lowered.profile.name()));
    let chunks: Vec<Value> = chunks
        .into_iter()
        .map(|chunk| match chunk {
            Chunk::Text(text) => text.into(),
            Chunk::Ids(ids) => json!(ids.iter().map(|id| id.0).collect::<Vec<_>>()),
        })
        .collect();
    let finish = match finish {
        Finish::Stop => "stop",
        Finish::Length => "length",
        Finish::ContentFilter => "content_filter",
        _ => "unknown",
    };
    Ok((chunks.len() <= MAX_CHUNKS).then(|| {
        json!({
            "id": format!("{:05}", case.number),
            "protocol": api.as_str(),
            "class": case.class.name(),
            "request": request,
            "chunks": chunks,
            "finish": finish,
        })
    }))
}

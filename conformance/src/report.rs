//! The tables of a run, for the terminal and for README.md.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::path::Path;

use deepseek_codec::protocol::Api;

use crate::divergence;
use crate::errors::KINDS;
use crate::run::{Class, Plan, Totals};

/// Counts of one row: one API and model.
#[derive(Default)]
struct Row {
    generated: u64,
    accepted: u64,
    refused: u64,
    unreadable: u64,
    divergent: u64,
    unexplained: u64,
}

/// The totals as Markdown.
pub fn markdown(totals: &Totals, plan: Plan) -> String {
    let mut rows: BTreeMap<(Api, &str), Row> = BTreeMap::new();
    let mut divergent: BTreeMap<&str, u64> = BTreeMap::new();
    let mut all = Row::default();
    for ((api, model, class), &count) in &totals.classes {
        for row in [rows.entry((*api, model)).or_default(), &mut all] {
            row.generated += count;
            *match class {
                Class::Accepted => &mut row.accepted,
                Class::Refused => &mut row.refused,
                Class::Unreadable => &mut row.unreadable,
                Class::Divergent(_) => &mut row.divergent,
                Class::Unexplained => &mut row.unexplained,
            } += count;
        }
        if let Class::Divergent(id) = class {
            *divergent.entry(id).or_default() += count;
        }
    }
    let mut out =
        format!("Cases {} to {} of seed {}.\n\n", plan.first, plan.first + plan.count - 1, plan.seed);
    out.push_str("| API | model | generated | equal: accepted | equal: refused | equal: unreadable | divergent | unexplained |\n");
    out.push_str("| --- | --- | ---: | ---: | ---: | ---: | ---: | ---: |\n");
    for ((api, model), row) in &rows {
        row.write(api.as_str(), model, &mut out);
    }
    all.write("all", "", &mut out);
    let _ = writeln!(out, "\nToken ids compared for {} accepted requests.\n", totals.tokenized);
    out.push_str("| divergence | strict | lenient |\n| --- | ---: | ---: |\n");
    for id in divergence::all().iter().map(|divergence| divergence.id.as_str()) {
        let count = |counts: &BTreeMap<&str, u64>| counts.get(id).copied().unwrap_or(0);
        let _ = writeln!(out, "| {id} | {} | {} |", count(&divergent), count(&totals.lenient));
    }
    let reached = KINDS.iter().filter(|kind| totals.refusals.contains_key(kind.name)).count();
    let _ = writeln!(out, "\nRefusals of the reference reached: {reached} of {} kinds.", KINDS.len());
    out
}

impl Row {
    fn write(&self, api: &str, model: &str, out: &mut String) {
        let Self { generated, accepted, refused, unreadable, divergent, unexplained } = self;
        let _ = writeln!(
            out,
            "| {api} | {model} | {generated} | {accepted} | {refused} | {unreadable} | {divergent} | {unexplained} |"
        );
    }
}

/// The unexplained differences, most frequent first.
pub fn findings(totals: &Totals) -> String {
    const LONGEST: usize = 1500;
    let mut signatures: Vec<(&String, &u64)> = totals.signatures.iter().collect();
    signatures.sort_by_key(|(signature, count)| (std::cmp::Reverse(**count), *signature));
    let mut out = String::new();
    for (signature, count) in signatures {
        let _ = writeln!(out, "\n### {count} × {signature}");
        for finding in totals.findings.iter().filter(|finding| finding.signature == *signature) {
            let body: String = finding.body.chars().take(LONGEST).collect();
            let _ = writeln!(out, "case {}: {body}", finding.number);
            for difference in &finding.differences {
                let field = difference.field;
                let _ = writeln!(
                    out,
                    "  {field}:\n    reference {}\n    ours      {}",
                    difference.reference, difference.ours
                );
            }
        }
    }
    out
}

/// How often each refusal of the reference was reached.
pub fn refusals(totals: &Totals) -> String {
    let mut out = String::new();
    for kind in KINDS {
        let _ = writeln!(out, "{:8} {}", totals.refusals.get(kind.name).copied().unwrap_or(0), kind.name);
    }
    for (message, count) in &totals.unknown_refusals {
        let _ = writeln!(out, "{count:8} not listed: {message}");
    }
    out
}

/// Replaces what stands between the markers `<!-- NAME -->` and `<!-- /NAME -->` of a file.
pub fn write_between(path: &Path, name: &str, text: &str) -> Result<(), String> {
    let explain = |error: &dyn std::fmt::Display| format!("{}: {error}", path.display());
    let old = std::fs::read_to_string(path).map_err(|error| explain(&error))?;
    let (open, close) = (format!("<!-- {name} -->"), format!("<!-- /{name} -->"));
    let (before, rest) = old.split_once(&open).ok_or_else(|| explain(&format!("no marker {open}")))?;
    let (_, after) = rest.split_once(&close).ok_or_else(|| explain(&format!("no marker {close}")))?;
    let new = format!("{before}{open}\n{}\n{close}{after}", text.trim_end());
    std::fs::write(path, new).map_err(|error| explain(&error))
}

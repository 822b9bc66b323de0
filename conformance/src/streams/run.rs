//! Runs generated outputs through both sides and counts.

use std::collections::BTreeMap;
use std::fmt::Write;

use super::events::Difference;
use super::explain::{Verdict, judge};
use super::generate::{Case, Class, case, joined};
use super::{Unit, reference, subject};
use crate::blocks;

/// What to run.
#[derive(Debug, Clone, Copy)]
pub struct Plan {
    pub seed: u64,
    pub first: u64,
    pub count: u64,
    /// How many unexplained differences of each kind are kept and shrunk.
    pub keep: usize,
}

/// The result of a run.
#[derive(Debug, Default)]
pub struct Totals {
    /// Streams by API, class and outcome: equal, equal after repair, equal up to a fault, unexplained.
    rows: BTreeMap<(&'static str, Class), [u64; 4]>,
    /// Streams that show each divergence: those that are equal in full after repair, and those equal up to it.
    divergences: BTreeMap<&'static str, [u64; 2]>,
    /// Unexplained differences by signature.
    pub signatures: BTreeMap<String, u64>,
    findings: Vec<Finding>,
}

#[derive(Debug)]
struct Finding {
    number: u64,
    signature: String,
    output: String,
    differences: Vec<Difference>,
}

/// Runs the plan on `threads` threads. The result does not depend on their number.
pub fn run(plan: Plan, threads: usize) -> Result<Totals, String> {
    let cases = plan.first..plan.first + plan.count;
    let mut totals = blocks::gather(cases, threads, |number, totals: &mut Totals| {
        totals.one(&case(plan.seed, number), plan.keep).map_err(|error| format!("case {number}: {error}"))
    })?;
    blocks::keep_first(&mut totals.findings, plan.keep, |finding| (finding.number, &finding.signature));
    totals.findings.iter_mut().for_each(|finding| finding.shrink(plan.seed));
    Ok(totals)
}

fn signature(case: &Case, differences: &[Difference]) -> String {
    let first = differences.first().map_or("", |difference| difference.place.as_str());
    let fault = case.mended.as_ref().map_or("", |mended| mended.fault.id());
    format!("{} {} {fault}: {first}", case.input.api.as_str(), case.class.name())
}

impl Totals {
    fn one(&mut self, case: &Case, keep: usize) -> Result<(), String> {
        let row = self.rows.entry((case.input.api.as_str(), case.class)).or_default();
        match judge(case)? {
            Verdict::Equal => row[0] += 1,
            Verdict::Repaired(ids) => {
                row[1] += 1;
                ids.into_iter().for_each(|id| self.divergences.entry(id).or_default()[0] += 1);
            }
            Verdict::EqualUpTo(id) => {
                row[2] += 1;
                self.divergences.entry(id).or_default()[1] += 1;
            }
            Verdict::Unexplained(differences) => {
                row[3] += 1;
                let signature = signature(case, &differences);
                *self.signatures.entry(signature.clone()).or_default() += 1;
                if self.findings.iter().filter(|finding| finding.signature == signature).count() < keep {
                    let output = case.input.text();
                    self.findings.push(Finding { number: case.number, signature, output, differences });
                }
            }
        }
        Ok(())
    }

    /// Streams with each outcome: equal, equal after repair, equal up to a fault, unexplained.
    pub fn outcomes(&self) -> [u64; 4] {
        self.rows.values().fold([0; 4], |sum, row| std::array::from_fn(|index| sum[index] + row[index]))
    }

    /// The tables of a run.
    pub fn markdown(&self, plan: Plan) -> String {
        let mut out = format!(
            "Streams {} to {} of seed {}.\n\n| API | output | equal | equal after repair | equal up to a fault | unexplained |\n| --- | --- | ---: | ---: | ---: | ---: |\n",
            plan.first,
            (plan.first + plan.count).saturating_sub(1),
            plan.seed
        );
        for ((api, class), [equal, repaired, up_to, unexplained]) in &self.rows {
            let _ = writeln!(
                out,
                "| {api} | {} | {equal} | {repaired} | {up_to} | {unexplained} |",
                class.name()
            );
        }
        let [equal, repaired, up_to, unexplained] = self.outcomes();
        let _ = writeln!(out, "| all | | {equal} | {repaired} | {up_to} | {unexplained} |");
        out.push_str("\n| divergence | equal after repair | equal up to it |\n| --- | ---: | ---: |\n");
        for (id, [repaired, up_to]) in &self.divergences {
            let _ = writeln!(out, "| {id} | {repaired} | {up_to} |");
        }
        out
    }

    /// The unexplained differences, most frequent first.
    pub fn findings(&self) -> String {
        let mut signatures: Vec<_> = self.signatures.iter().collect();
        signatures.sort_by_key(|(signature, count)| (std::cmp::Reverse(**count), *signature));
        let mut out = String::new();
        for (signature, count) in signatures {
            let _ = writeln!(out, "\n### {count} × {signature}");
            for finding in self.findings.iter().filter(|finding| finding.signature == *signature) {
                let _ = writeln!(out, "case {}: {:?}", finding.number, finding.output);
                for Difference { place, reference, ours } in finding.differences.iter().take(3) {
                    let _ = writeln!(out, "  {place}:\n    reference {reference}\n    ours      {ours}");
                }
            }
        }
        out
    }
}

impl blocks::Totals for Totals {
    fn merge(&mut self, other: Self) {
        for (key, counts) in other.rows {
            let row = self.rows.entry(key).or_default();
            row.iter_mut().zip(counts).for_each(|(into, count)| *into += count);
        }
        for (id, counts) in other.divergences {
            let row = self.divergences.entry(id).or_default();
            row.iter_mut().zip(counts).for_each(|(into, count)| *into += count);
        }
        for (signature, count) in other.signatures {
            *self.signatures.entry(signature).or_default() += count;
        }
        self.findings.extend(other.findings);
    }
}

impl Finding {
    /// Makes the output small while the difference stays.
    fn shrink(&mut self, seed: u64) {
        let mut best = case(seed, self.number);
        if best.mended.is_some() {
            return;
        }
        let mut tries = 0;
        loop {
            let smaller = candidates(&best.input.output).into_iter().find_map(|output| {
                tries += 1;
                let mut candidate = best.clone();
                candidate.input.output = output;
                match judge(&candidate) {
                    Ok(Verdict::Unexplained(differences))
                        if tries < 600 && signature(&candidate, &differences) == self.signature =>
                    {
                        Some((candidate, differences))
                    }
                    _ => None,
                }
            });
            let Some((candidate, differences)) = smaller else { return };
            best = candidate;
            self.output = best.input.text();
            self.differences = differences;
        }
    }
}

/// Outputs that are a little smaller.
fn candidates(output: &[Unit]) -> Vec<Vec<Unit>> {
    let mut candidates = Vec::new();
    for index in 0..output.len() {
        let mut without = output.to_vec();
        without.remove(index);
        candidates.push(joined(without));
        if let Unit::Text(text) = &output[index] {
            let places: Vec<usize> = text.char_indices().map(|(at, _)| at).collect();
            let mut size = places.len() / 2;
            while size > 0 {
                for from in (0..places.len()).step_by(size) {
                    let start = places[from];
                    let end = places.get(from + size).copied().unwrap_or(text.len());
                    let mut shorter = output.to_vec();
                    shorter[index] = Unit::Text(format!("{}{}", &text[..start], &text[end..]));
                    candidates.push(joined(shorter));
                }
                size /= 2;
            }
        }
    }
    candidates
}

/// A case, and what both sides make of it.
pub fn show(seed: u64, number: u64) -> Result<String, String> {
    let case = case(seed, number);
    let mut out = format!("{:?}\n{}\n{:?}\n", case.input, case.input.request, case.mended);
    for (side, run) in [("reference", reference::run(&case.input)?), ("ours", subject::run(&case.input)?)] {
        let _ = writeln!(out, "\n{side} {:?} {:?}", run.usage, run.warnings);
        for event in &run.events {
            let _ = writeln!(out, "  {} {}", event.name.as_deref().unwrap_or_default(), event.data);
        }
        let _ = writeln!(out, "  response {}", run.response);
    }
    let _ = writeln!(out, "{:?}", judge(&case)?);
    Ok(out)
}

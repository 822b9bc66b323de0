//! Runs generated requests through both sides and counts.

use std::collections::BTreeMap;
use std::convert::Infallible;

use deepseek_codec::protocol::Api;

use crate::blocks;
use crate::body::Node;
use crate::divergence::{Differing, explain_lenient, explain_strict, is_left_to_chance};
use crate::errors::kind_of;
use crate::generate::{Case, case};
use crate::outcome::{Difference, Outcome, Refusal};
use crate::reference::Reference;
use crate::shrink::shrink;
use crate::subject::Subject;

/// What to run.
#[derive(Debug, Clone, Copy)]
pub struct Plan {
    pub seed: u64,
    pub first: u64,
    pub count: u64,
    /// Every how many accepted requests the ids are compared; 0 for never.
    pub ids_every: u64,
    /// How many unexplained differences are kept and shrunk.
    pub keep: usize,
}

/// How a request came out, for the table.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub enum Class {
    /// Accepted by both, everything equal.
    Accepted,
    /// Refused by both with the same status and message.
    Refused,
    /// A body that the reference's types cannot hold, refused by both.
    Unreadable,
    /// Explained by a documented divergence.
    Divergent(&'static str),
    Unexplained,
}

/// An unexplained difference.
#[derive(Debug, Clone)]
pub struct Finding {
    pub number: u64,
    pub api: Api,
    /// `strict` or `lenient`.
    pub policy: &'static str,
    /// What kind of difference, for grouping.
    pub signature: String,
    pub differences: Vec<Difference>,
    /// The smallest body found that still differs in this way.
    pub body: String,
}

/// The result of a run.
#[derive(Debug, Default)]
pub struct Totals {
    /// Requests by API, model and class.
    pub classes: BTreeMap<(Api, &'static str, Class), u64>,
    /// Requests whose ids were compared.
    pub tokenized: u64,
    /// Documented divergences under the lenient policy.
    pub lenient: BTreeMap<&'static str, u64>,
    /// Refusals of the reference by kind.
    pub refusals: BTreeMap<&'static str, u64>,
    /// Refusals of the reference that the list of kinds does not know.
    pub unknown_refusals: BTreeMap<String, u64>,
    /// Unexplained differences by signature.
    pub signatures: BTreeMap<String, u64>,
    /// The first unexplained differences of each signature.
    pub findings: Vec<Finding>,
}

/// Both sides.
#[derive(Default)]
pub struct Sides {
    pub reference: Reference,
    pub subject: Subject,
}

/// Runs the plan on `threads` threads. The result does not depend on their number.
pub fn run(sides: &Sides, plan: Plan, threads: usize) -> Totals {
    let cases = plan.first..plan.first + plan.count;
    let Ok(mut totals) = blocks::gather(cases, threads, |number, totals| {
        one(sides, plan, number, totals);
        Ok::<(), Infallible>(())
    });
    blocks::keep_first(&mut totals.findings, plan.keep, |finding| (finding.number, &finding.signature));
    for finding in &mut totals.findings {
        minimize(sides, plan, finding);
    }
    totals
}

fn one(sides: &Sides, plan: Plan, number: u64, totals: &mut Totals) {
    let case = case(plan.seed, number);
    let body = case.text();
    let tokenize = plan.ids_every > 0 && number.is_multiple_of(plan.ids_every);
    let reference = sides.reference.run(case.api, &body, tokenize);
    match &reference {
        Outcome::Accepted(accepted) => totals.tokenized += u64::from(accepted.ids.is_some()),
        Outcome::Refused(Refusal { message: Some(message), .. }) => match kind_of(message) {
            Some(kind) => *totals.refusals.entry(kind).or_default() += 1,
            None => *totals.unknown_refusals.entry(message.clone()).or_default() += 1,
        },
        Outcome::Refused(_) => {}
    }
    let verdict = compare_strict(sides, case.api, &body, &reference, tokenize);
    let class = Class::of(&verdict, &reference);
    if let Verdict::Unexplained(differences) = verdict {
        totals.note(&case, "strict", differences);
    }
    match compare_lenient(sides, case.api, &body, &reference, tokenize) {
        Verdict::Equal => {}
        Verdict::Explained(id) => *totals.lenient.entry(id).or_default() += 1,
        Verdict::Unexplained(differences) => totals.note(&case, "lenient", differences),
    }
    *totals.classes.entry((case.api, model(&case.body), class)).or_default() += 1;
}

/// The documented divergence that explains how the sides differ on a body under a policy.
pub fn explained(sides: &Sides, api: Api, body: &str, policy: &str) -> Option<&'static str> {
    let reference = sides.reference.run(api, body, false);
    let verdict = match policy {
        "lenient" => compare_lenient(sides, api, body, &reference, false),
        _ => compare_strict(sides, api, body, &reference, false),
    };
    match verdict {
        Verdict::Explained(id) => Some(id),
        _ => None,
    }
}

impl Class {
    fn of(verdict: &Verdict, reference: &Outcome) -> Self {
        match (verdict, reference) {
            (Verdict::Explained(id), _) => Self::Divergent(id),
            (Verdict::Unexplained(_), _) => Self::Unexplained,
            (Verdict::Equal, Outcome::Accepted(_)) => Self::Accepted,
            (Verdict::Equal, Outcome::Refused(Refusal { message: Some(_), .. })) => Self::Refused,
            (Verdict::Equal, Outcome::Refused(_)) => Self::Unreadable,
        }
    }
}

enum Verdict {
    Equal,
    Explained(&'static str),
    Unexplained(Vec<Difference>),
}

fn compare_strict(sides: &Sides, api: Api, body: &str, reference: &Outcome, tokenize: bool) -> Verdict {
    let ours = sides.subject.strict(api, body, tokenize);
    let differences = reference.differences(&ours);
    judge(api, body, reference, &ours, differences, explain_strict)
}

/// A request that the reference accepts must give the same prompt and ids under the lenient policy.
fn compare_lenient(sides: &Sides, api: Api, body: &str, reference: &Outcome, tokenize: bool) -> Verdict {
    if reference.accepted().is_none() {
        return Verdict::Equal;
    }
    let ours = sides.subject.lenient(api, body, tokenize).0;
    let mut differences = reference.differences(&ours);
    differences.retain(|difference| {
        matches!(difference.field, "refused" | "model" | "prompt" | "special" | "ids" | "images")
    });
    judge(api, body, reference, &ours, differences, explain_lenient)
}

fn judge(
    api: Api,
    body: &str,
    reference: &Outcome,
    ours: &Outcome,
    differences: Vec<Difference>,
    explain: fn(&Differing<'_>) -> Option<&'static str>,
) -> Verdict {
    if differences.is_empty() && !is_left_to_chance(body, reference, ours) {
        return Verdict::Equal;
    }
    match explain(&Differing { api, body, reference, ours, differences: &differences }) {
        Some(id) => Verdict::Explained(id),
        None => Verdict::Unexplained(differences),
    }
}

/// Shrinks the body of a finding while it still differs in the same way.
fn minimize(sides: &Sides, plan: Plan, finding: &mut Finding) {
    let case = case(plan.seed, finding.number);
    let differs = |text: &str| -> Option<Vec<Difference>> {
        let reference = sides.reference.run(case.api, text, true);
        let verdict = match finding.policy {
            "strict" => compare_strict(sides, case.api, text, &reference, true),
            _ => compare_lenient(sides, case.api, text, &reference, true),
        };
        match verdict {
            Verdict::Unexplained(differences)
                if signature(case.api, finding.policy, &differences) == finding.signature =>
            {
                Some(differences)
            }
            _ => None,
        }
    };
    let text = |body: &Node| Case { body: body.clone(), ..case.clone() }.text();
    let small = shrink(case.body.clone(), |body| differs(&text(body)).is_some());
    finding.body = text(&small);
    if let Some(differences) = differs(&finding.body) {
        finding.differences = differences;
    }
}

/// Which fields differ, and of refusals which kind.
fn signature(api: Api, policy: &str, differences: &[Difference]) -> String {
    let fields: Vec<String> = differences
        .iter()
        .map(|difference| match difference.field {
            "refused" => format!("refused as {}", refusal_name(&difference.ours)),
            "accepted" => format!("accepted, not {}", refusal_name(&difference.reference)),
            "message" => format!(
                "{} instead of {}",
                refusal_name(&difference.ours),
                refusal_name(&difference.reference)
            ),
            field => field.to_owned(),
        })
        .collect();
    format!("{policy} {}: {}", api.as_str(), fields.join(", "))
}

/// The kind of a summarised refusal, or the start of its message.
fn refusal_name(summary: &str) -> String {
    let message = summary.get(4..).unwrap_or(summary);
    match kind_of(message) {
        Some(kind) => format!("“{kind}”"),
        None => format!("“{}”", message.chars().take(48).collect::<String>()),
    }
}

/// The model that a body names, for the table.
fn model(body: &Node) -> &'static str {
    match body.get("model") {
        Some(Node::String(name)) => {
            deepseek_codec::model::Profile::by_name(name).map_or("other", |profile| profile.name())
        }
        _ => "other",
    }
}

impl Totals {
    fn note(&mut self, case: &Case, policy: &'static str, differences: Vec<Difference>) {
        let signature = signature(case.api, policy, &differences);
        *self.signatures.entry(signature.clone()).or_default() += 1;
        // A block keeps a few of each signature; the run keeps the lowest numbers.
        if self.findings.iter().filter(|finding| finding.signature == signature).count() < 3 {
            let (number, api, body) = (case.number, case.api, String::new());
            self.findings.push(Finding { number, api, policy, signature, differences, body });
        }
    }
}

impl blocks::Totals for Totals {
    fn merge(&mut self, other: Self) {
        merge(&mut self.classes, other.classes);
        merge(&mut self.lenient, other.lenient);
        merge(&mut self.refusals, other.refusals);
        merge(&mut self.unknown_refusals, other.unknown_refusals);
        merge(&mut self.signatures, other.signatures);
        self.tokenized += other.tokenized;
        self.findings.extend(other.findings);
    }
}

fn merge<K: Ord>(into: &mut BTreeMap<K, u64>, from: BTreeMap<K, u64>) {
    for (key, count) in from {
        *into.entry(key).or_default() += count;
    }
}

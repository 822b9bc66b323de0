//! Documented divergences: where this project does not do what the reference does, and why.
//!
//! The reasons are data (`divergences.json`); which difference a reason explains is decided here, by id.

use serde::Deserialize;
use serde_json::Value;

use crate::outcome::{Api, Difference, Outcome};

/// One documented divergence.
#[derive(Debug, Clone, Deserialize)]
pub struct Divergence {
    pub id: String,
    /// Why the two sides differ, and why that is right.
    pub reason: String,
    /// A request, or what stands for one, on which they differ.
    pub example: Value,
}

/// All documented divergences.
pub fn all() -> Vec<Divergence> {
    serde_json::from_str(include_str!("../divergences.json")).expect("divergences.json is a list of divergences")
}

/// A request on which the sides differ.
pub struct Differing<'d> {
    pub api: Api,
    /// The body as text.
    pub body: &'d str,
    pub reference: &'d Outcome,
    pub ours: &'d Outcome,
    pub differences: &'d [Difference],
}

type Predicate = fn(&Differing<'_>) -> bool;

/// The predicates under the strict policy.
const STRICT: &[(&str, Predicate)] = &[];

/// The predicates under the lenient policy, for requests that the reference accepts.
const LENIENT: &[(&str, Predicate)] = &[];

/// The id of the documented divergence that explains a difference under the strict policy.
pub fn explain_strict(differing: &Differing<'_>) -> Option<&'static str> {
    explain(STRICT, differing)
}

/// The id of the documented divergence that explains a difference under the lenient policy.
pub fn explain_lenient(differing: &Differing<'_>) -> Option<&'static str> {
    explain(LENIENT, differing)
}

/// All ids that have a predicate.
pub fn ids() -> impl Iterator<Item = &'static str> {
    STRICT.iter().chain(LENIENT).map(|(id, _)| *id)
}

fn explain(predicates: &[(&'static str, Predicate)], differing: &Differing<'_>) -> Option<&'static str> {
    predicates.iter().find(|(_, holds)| holds(differing)).map(|(id, _)| *id)
}

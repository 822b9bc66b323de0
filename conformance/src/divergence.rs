//! Documented divergences: where this project does not do what the reference does, and why.
//!
//! The reasons are data (`fixtures/protocol/divergences.json`); which difference a reason explains is decided here, by id.

use deepseek_codec::protocol::Api;
use serde::Deserialize;
use serde_json::{Map, Value};

use crate::outcome::{Accepted, Difference, Outcome, Refusal};

/// One documented divergence.
#[derive(Debug, Clone, Deserialize)]
pub struct Divergence {
    pub id: String,
    /// `strict`, or `lenient` for requests that the reference accepts and the lenient policy treats differently.
    pub policy: String,
    /// Why the two sides differ, and why that is right.
    pub reason: String,
    pub example: Example,
}

/// A request on which the sides differ as the divergence says.
#[derive(Debug, Clone, Deserialize)]
pub struct Example {
    pub protocol: String,
    pub request: Value,
}

/// All documented divergences.
pub fn all() -> Vec<Divergence> {
    serde_json::from_str(include_str!("../../fixtures/protocol/divergences.json"))
        .expect("divergences.json is a list of divergences")
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
const STRICT: &[(&str, Predicate)] = &[
    ("strict-definitions", strict_definitions),
    ("strict-enforced", strict_enforced),
    ("pending-call", pending_call),
    ("positional", positional),
];

/// The predicates under the lenient policy, for requests that the reference accepts.
const LENIENT: &[(&str, Predicate)] = &[
    ("strict-definitions", strict_definitions),
    ("positional", positional),
    ("messages-billing-header", billing_header),
];

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

impl Differing<'_> {
    /// Both sides, if both accept and only the given parts differ.
    fn accepted_but_for(&self, fields: &[&str]) -> Option<(&Accepted, &Accepted)> {
        let only_these = self.differences.iter().all(|difference| fields.contains(&difference.field));
        self.reference.accepted().zip(self.ours.accepted()).filter(|_| only_these)
    }
}

/// In the prompt, a strict schema keeps the definitions that its references point to; nothing else may differ.
fn strict_definitions(differing: &Differing<'_>) -> bool {
    let Some((reference, ours)) = differing.accepted_but_for(&["prompt", "constraint"]) else { return false };
    let (theirs, mine): (Vec<_>, Vec<_>) =
        (reference.prompt.split('\n').collect(), ours.prompt.split('\n').collect());
    reference.prompt != ours.prompt
        && theirs.len() == mine.len()
        && theirs
            .iter()
            .zip(&mine)
            .all(|(theirs, mine)| theirs == mine || line_keeps_definitions(theirs, mine))
        && (reference.constraint == ours.constraint || constraint_keeps(reference, ours))
}

fn line_keeps_definitions(theirs: &str, mine: &str) -> bool {
    let Some((their_json, their_rest)) = leading_json(theirs) else { return false };
    let Some((my_json, my_rest)) = leading_json(mine) else { return false };
    their_rest == my_rest && keeps(&their_json, &my_json, &|key| matches!(key, "$defs" | "definitions"))
}

/// The JSON value at the start of a text, and the rest.
fn leading_json(text: &str) -> Option<(Value, &str)> {
    let mut values = serde_json::Deserializer::from_str(text).into_iter::<Value>();
    let value = values.next()?.ok()?;
    Some((value, &text[values.byte_offset()..]))
}

/// The constraint of a strict schema holds the output to the whole schema.
fn strict_enforced(differing: &Differing<'_>) -> bool {
    differing
        .accepted_but_for(&["constraint"])
        .is_some_and(|(reference, ours)| constraint_keeps(reference, ours))
}

/// Whether our constraint is the reference's with more keywords in its strict schemas.
fn constraint_keeps(reference: &Accepted, ours: &Accepted) -> bool {
    let (Some((kind, theirs)), Some((our_kind, mine))) = (&reference.constraint, &ours.constraint) else {
        return false;
    };
    let (Ok(theirs), Ok(mine)) = (serde_json::from_str::<Value>(theirs), serde_json::from_str::<Value>(mine))
    else {
        return false;
    };
    if kind != our_kind {
        return false;
    }
    match (&theirs, &mine) {
        (Value::Array(theirs), Value::Array(mine)) => {
            theirs.len() == mine.len()
                && theirs.iter().zip(mine).all(|(theirs, mine)| {
                    let is_strict = theirs["function"]["strict"] == Value::Bool(true);
                    theirs == mine || is_strict && keeps(theirs, mine, &is_lost)
                })
        }
        _ => keeps(&theirs, &mine, &is_lost),
    }
}

/// Whether the reference's strict normalisation drops a keyword where its types have no field for it.
fn is_lost(keyword: &str) -> bool {
    !matches!(keyword, "type" | "properties" | "additionalProperties" | "required" | "name" | "strict")
}

/// Whether `mine` is `theirs` with further members, all of which `may_add` allows, in its objects.
fn keeps(theirs: &Value, mine: &Value, may_add: &dyn Fn(&str) -> bool) -> bool {
    match (theirs, mine) {
        (Value::Object(theirs), Value::Object(mine)) => members_keep(theirs, mine, may_add),
        (Value::Array(theirs), Value::Array(mine)) => {
            theirs.len() == mine.len()
                && theirs.iter().zip(mine).all(|(theirs, mine)| keeps(theirs, mine, may_add))
        }
        _ => theirs == mine,
    }
}

fn members_keep(
    theirs: &Map<String, Value>,
    mine: &Map<String, Value>,
    may_add: &dyn Fn(&str) -> bool,
) -> bool {
    let common: Vec<&String> = mine.keys().filter(|key| theirs.contains_key(*key)).collect();
    common.into_iter().eq(theirs.keys())
        && mine.iter().all(|(key, value)| match theirs.get(key) {
            Some(their) => keeps(their, value, may_add),
            None => may_add(key),
        })
}

/// Whether a difference between two outcomes, or that there is none, follows from a randomly seeded hash. Such a
/// case counts as divergent either way, so that the same run gives the same table.
pub fn is_left_to_chance(body: &str, reference: &Outcome, ours: &Outcome) -> bool {
    named_call(reference).is_some() && named_call(ours).is_some() && pending_calls(body) > 1
}

/// How many calls at most are without output where a Responses input can be refused for that.
fn pending_calls(body: &str) -> usize {
    let body: Value = serde_json::from_str(body).unwrap_or_default();
    let (mut pending, mut most) = (Vec::new(), 0);
    for item in body["input"].as_array().into_iter().flatten() {
        match (item["type"].as_str().unwrap_or("message"), &item["call_id"]) {
            ("function_call" | "custom_tool_call" | "tool_search_call", id) => pending.push(id),
            (
                "function_call_output" | "custom_tool_call_output" | "tool_search_output",
                Value::String(id),
            ) => {
                pending.retain(|call| *call != id);
            }
            ("function_call_output" | "message" | "reasoning" | "web_search_call", _) => {
                most = most.max(pending.len())
            }
            _ => {}
        }
    }
    most.max(pending.len())
}

/// The call that a refusal names for having no output.
fn named_call(outcome: &Outcome) -> Option<Value> {
    match outcome {
        Outcome::Refused(Refusal { status: 400, message: Some(message) }) => {
            let id = message.strip_prefix("No tool output found for tool call ")?.strip_suffix('.')?;
            Some(id.into())
        }
        _ => None,
    }
}

/// The reference names any of the calls without output: which one follows from a randomly seeded hash.
fn pending_call(differing: &Differing<'_>) -> bool {
    let (Some(theirs), Some(mine)) = (named_call(differing.reference), named_call(differing.ours)) else {
        return false;
    };
    let Ok(body) = serde_json::from_str::<Value>(differing.body) else { return false };
    let is_call = |id: &Value| {
        body["input"].as_array().is_some_and(|items| {
            items.iter().any(|item| {
                item["call_id"] == *id && item["type"].as_str().is_some_and(|kind| kind.ends_with("_call"))
            })
        })
    };
    is_call(&theirs) && is_call(&mine)
}

/// The reference takes a list for an object, and in some nested values a number for the name of a type.
fn positional(differing: &Differing<'_>) -> bool {
    let Outcome::Refused(Refusal { status: 400, message: Some(message) }) = differing.ours else {
        return false;
    };
    let by_position = ["expected a string, found a number", "expected an object, found an array"]
        .iter()
        .any(|end| message.ends_with(end));
    by_position && !matches!(differing.reference, Outcome::Refused(Refusal { message: None, .. }))
}

/// The lenient policy removes a billing header for Messages as both sides do for Chat.
fn billing_header(differing: &Differing<'_>) -> bool {
    let Some((reference, ours)) = differing.accepted_but_for(&["prompt"]) else { return false };
    let Ok(body) = serde_json::from_str::<Value>(differing.body) else { return false };
    let system = &body["system"];
    let first = system.as_str().or_else(|| system[0]["text"].as_str()).unwrap_or_default();
    differing.api == Api::Messages
        && first.to_lowercase().starts_with("x-anthropic-billing-header")
        && is_cut(&reference.prompt, &ours.prompt)
}

/// Whether `short` is `long` without one stretch.
fn is_cut(long: &str, short: &str) -> bool {
    let front = long.bytes().zip(short.bytes()).take_while(|(a, b)| a == b).count();
    let back = long.bytes().rev().zip(short.bytes().rev()).take_while(|(a, b)| a == b).count();
    short.len() < long.len() && front + back >= short.len()
}

//! Which differences are meant. The reasons are data (`fixtures/output/divergences.json`); each difference has to be
//! explained by what the reference makes of a repaired input, or to begin at a fault that is handled otherwise here.

use std::collections::BTreeSet;

use deepseek_codec::output::{Finish, OutputWarningKind as Kind};
use deepseek_codec::token::Special;
use serde::Deserialize;

use super::events::{Difference, Run};
use super::generate::{Case, Fault};
use super::repair::{
    REPAIRS, has_stop_at_think_end, is_shown_there, mend, rename, stops, with_cut_arguments,
    with_plain_names, with_whole_last_call,
};
use super::{Arrival, Input, Unit, reference, subject};

/// One documented divergence.
#[derive(Debug, Clone, Deserialize)]
pub struct Divergence {
    pub id: String,
    /// Why the sides differ, and why that is right.
    pub reason: String,
}

/// All documented divergences.
pub fn documented() -> Vec<Divergence> {
    serde_json::from_str(include_str!("../../../fixtures/output/divergences.json"))
        .expect("a list of divergences")
}

/// What came of a case.
#[derive(Debug, Clone)]
pub enum Verdict {
    Equal,
    /// Equal in full to what the reference makes of the repaired input.
    Repaired(Vec<&'static str>),
    /// Equal up to a fault of this kind.
    EqualUpTo(&'static str),
    Unexplained(Vec<Difference>),
}

/// Faults behind which the sides may differ, with the ids of the divergences. What is not listed explains nothing.
const FAULTS: &[(Kind, &str)] = &[
    (Kind::StraySpecial, "stray-special"),
    (Kind::StrayMarkup, "stray-markup"),
    (Kind::MalformedTag, "malformed-tag"),
    (Kind::MissingBlock, "missing-block"),
    (Kind::CallWithoutTools, "calls-without-tools"),
    (Kind::SecondBlock, "second-block"),
    (Kind::TextAfterCalls, "text-after-calls"),
    (Kind::TextInMarkup, "text-in-markup"),
    (Kind::MissingClose, "missing-close"),
    (Kind::UntypedParameter, "untyped-parameter"),
    (Kind::InvalidJsonValue, "invalid-json"),
    (Kind::JsonBody, "json-body"),
    (Kind::UnreadableCall, "json-body"),
    (Kind::TextAroundJson, "text-around-json"),
];

/// Ids of divergences in the counts of tokens.
const STOP_USAGE: &str = "usage-at-stop";
const REASONING_USAGE: &str = "reasoning-tokens";
/// Of one that has to be undone behind the reference.
const ARGUMENT_NAME: &str = "argument-name";
/// Of one in the state of items.
const WHOLE_CALL: &str = "whole-call-at-limit";
/// Of one in the complete response.
const CUT_ARGUMENTS: &str = "cut-arguments";
/// Of one in every response of an API, which the comparison takes out.
const NULL_SETTINGS: &str = "null-settings";

/// All ids that explain something.
pub fn ids() -> BTreeSet<&'static str> {
    let faults = FAULTS.iter().map(|(_, id)| *id);
    let repairs = REPAIRS.iter().map(|(id, _)| *id);
    faults
        .chain(repairs)
        .chain(Fault::ids())
        .chain([STOP_USAGE, REASONING_USAGE, ARGUMENT_NAME, CUT_ARGUMENTS, WHOLE_CALL, NULL_SETTINGS])
        .collect()
}

/// Runs a case through both sides. A side that cannot run it is an error.
pub fn judge(case: &Case) -> Result<Verdict, String> {
    let input = &case.input;
    let theirs = reference::run(input).map_err(|error| format!("reference: {error}"))?;
    let ours = subject::run(input).map_err(|error| format!("ours: {error}"))?;
    let mut ids = Vec::new();
    let counts_alike = theirs.usage.0 == ours.usage.0;
    if !counts_alike && counts_to_the_stop(input, &theirs, &ours) {
        ids.push(STOP_USAGE);
    }
    let counts_differ = !counts_alike && ids.is_empty();
    let mut mended = Vec::new();
    let mut whole = input.clone();
    if !counts_differ && is_equal(input, theirs.clone(), &ours, &[], &mut ids)? {
        return Ok(if ids.is_empty() { Verdict::Equal } else { Verdict::Repaired(ids) });
    }
    if let Some(fault) = &case.mended {
        whole = mend(input, fault);
        mended.push(fault.fault.id());
    }
    if !counts_differ && let Some(repaired) = repaired(&whole, &ours, &[], !mended.is_empty())? {
        ids.extend(mended);
        ids.extend(repaired);
        return Ok(Verdict::Repaired(ids));
    }
    if let Some(id) = equal_up_to(input, &ours)? {
        return Ok(Verdict::EqualUpTo(id));
    }
    let mut differences = theirs.differences(&ours);
    if counts_differ {
        differences.push(usage_difference("generated", theirs.usage.0, ours.usage.0));
    }
    if differences.is_empty() {
        differences.push(usage_difference("reasoning", theirs.usage.1, ours.usage.1));
    }
    Ok(Verdict::Unexplained(differences))
}

fn usage_difference(place: &str, theirs: Option<u64>, ours: Option<u64>) -> Difference {
    let (reference, ours) = (format!("{theirs:?}"), format!("{ours:?}"));
    Difference { place: format!("usage.{place}"), reference, ours }
}

/// The reference counts the whole chunk in which a stop sequence ends; ours counts the ids up to it. Of a sequence that
/// ends with what may begin a marker, ours knows only with the next id or chunk that it is none.
fn counts_to_the_stop(input: &Input, theirs: &Run, ours: &Run) -> bool {
    let stops = stops(input);
    if ours.usage.0 < theirs.usage.0 {
        return input.arrival == Arrival::Tokens && !stops.is_empty();
    }
    // Of text, no more is known while a special token may be spelled.
    let spells = input.output.iter().any(|unit| matches!(unit, Unit::Special(_)));
    stops.iter().any(|stop| {
        stop.ends_with(['\n', '<', '/', '｜'])
            || input.arrival == Arrival::Text
                && (spells && stop.chars().count() == 1 || ends_in_spelling(&input.text(), stop))
    })
}

/// Whether a stop sequence ends in what may be the beginning of a special token's spelling.
fn ends_in_spelling(text: &str, stop: &str) -> bool {
    text.match_indices(stop).any(|(at, _)| {
        let text = &text[..at + stop.len()];
        let begins = |spelling: &str| {
            spelling.char_indices().skip(1).any(|(length, _)| text.ends_with(&spelling[..length]))
        };
        Special::ALL.iter().any(|special| begins(special.spelling()))
    })
}

/// Whether ours does what the reference did, with the names put back. Adds the ids of divergences that are no repairs.
fn is_equal(
    input: &Input,
    mut theirs: Run,
    ours: &Run,
    names: &[(String, String)],
    ids: &mut Vec<&'static str>,
) -> Result<bool, String> {
    rename(&mut theirs, names);
    let mut found = Vec::new();
    if with_cut_arguments(&mut theirs, ours) {
        found.push(CUT_ARGUMENTS);
    }
    if !theirs.differences(ours).is_empty() {
        let Some(mut whole) = with_whole_last_call(input, ours)? else { return Ok(false) };
        rename(&mut whole, names);
        if !whole.differences(ours).is_empty() {
            return Ok(false);
        }
        found.push(WHOLE_CALL);
    }
    if theirs.usage.1 != ours.usage.1 {
        // The reference encodes the reasoning again; ours counts the ids that came.
        if input.arrival != Arrival::Tokens || ours.usage.1.is_none() || ours.usage.1 > ours.usage.0 {
            return Ok(false);
        }
        found.push(REASONING_USAGE);
    }
    ids.extend(found);
    Ok(true)
}

/// The repairs under which the reference does with `input` what ours did.
fn repaired(
    input: &Input,
    ours: &Run,
    names: &[(String, String)],
    is_mended: bool,
) -> Result<Option<Vec<&'static str>>, String> {
    if let Some((plain, names)) = with_plain_names(input) {
        let repaired = repaired(&plain, ours, &names, true)?;
        return Ok(repaired.map(|ids| [&[ARGUMENT_NAME], &ids[..]].concat()));
    }
    let mut ids = Vec::new();
    if is_mended && is_equal(input, reference::run(input)?, ours, names, &mut ids)? {
        return Ok(Some(ids));
    }
    // One alone, so that no more than needed is named; else all that apply.
    for (id, repair) in REPAIRS {
        if let Some(input) = repair(input, ours)
            && is_equal(&input, reference::run(&input)?, ours, names, &mut ids)?
        {
            ids.push(id);
            return Ok(Some(ids));
        }
    }
    let mut all = input.clone();
    for (id, repair) in REPAIRS {
        if let Some(repaired) = repair(&all, ours) {
            all = repaired;
            ids.push(id);
        }
    }
    Ok((ids.len() > 1 && is_equal(&all, reference::run(&all)?, ours, names, &mut ids)?).then_some(ids))
}

/// The id of the first fault that may make a difference, if the sides agree on everything in front of it.
fn equal_up_to(input: &Input, ours: &Run) -> Result<Option<&'static str>, String> {
    let faults = ours.warnings.iter().filter_map(|warning| {
        let at = warning.at as usize;
        if warning.kind == Kind::ExtraThinkEnd && is_shown_there(input, at) {
            return Some(("stray-special", at));
        }
        // The repair does not fit where line ends are trimmed once it is gone.
        if warning.kind == Kind::ExtraThinkEnd && has_stop_at_think_end(input, at) {
            return Some(("stop-in-think-end", at));
        }
        FAULTS.iter().find(|(kind, _)| *kind == warning.kind).map(|(_, id)| (*id, at))
    });
    let Some((id, at)) = faults.min_by_key(|(_, at)| *at) else { return Ok(None) };
    let front = Input { finish: Finish::Length, ..input.prefix(at) };
    let (theirs, ours) = (reference::run(&front)?, subject::run(&front)?);
    let is_equal = is_equal(&front, theirs, &ours, &[], &mut Vec::new())?
        || repaired(&front, &ours, &[], false)?.is_some();
    Ok(is_equal.then_some(id))
}

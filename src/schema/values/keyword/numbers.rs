//! `minimum`, `maximum`, `exclusiveMinimum`, `exclusiveMaximum`, `multipleOf`.

use super::number;
use crate::grammar::number::NumberSet;
use crate::json::Json;
use crate::schema::meta::drafts::Draft;
use crate::schema::values::error::{Fault, Outcome};
use crate::schema::values::goal::{Compiler, Site};
use crate::schema::values::union::Union;

pub(super) fn minimum<'s>(
    compiler: &mut Compiler<'s>,
    site: &Site<'s>,
    value: &'s Json,
    left: &mut Union<'s>,
) -> Outcome<()> {
    let set = lower(site, value)?;
    compiler.narrow_numbers(left, &set)
}

pub(super) fn beyond_minimum<'s>(
    compiler: &mut Compiler<'s>,
    site: &Site<'s>,
    value: &'s Json,
) -> Outcome<Union<'s>> {
    compiler.outside(&lower(site, value)?)
}

fn lower(site: &Site<'_>, value: &Json) -> Outcome<NumberSet> {
    let number = number(value)?;
    Ok(if is_flagged(site, "exclusiveMinimum") {
        NumberSet::above(number.into())
    } else {
        NumberSet::at_least(number.into())
    })
}

pub(super) fn maximum<'s>(
    compiler: &mut Compiler<'s>,
    site: &Site<'s>,
    value: &'s Json,
    left: &mut Union<'s>,
) -> Outcome<()> {
    let set = upper(site, value)?;
    compiler.narrow_numbers(left, &set)
}

pub(super) fn beyond_maximum<'s>(
    compiler: &mut Compiler<'s>,
    site: &Site<'s>,
    value: &'s Json,
) -> Outcome<Union<'s>> {
    compiler.outside(&upper(site, value)?)
}

fn upper(site: &Site<'_>, value: &Json) -> Outcome<NumberSet> {
    let number = number(value)?;
    Ok(if is_flagged(site, "exclusiveMaximum") {
        NumberSet::below(number.into())
    } else {
        NumberSet::at_most(number.into())
    })
}

/// Whether the oldest draft's flag makes a bound exclusive.
fn is_flagged(site: &Site<'_>, flag: &str) -> bool {
    site.draft == Draft::Draft4 && site.members.get(flag) == Some(&Json::Bool(true))
}

pub(super) fn above<'s>(
    compiler: &mut Compiler<'s>,
    _: &Site<'s>,
    value: &'s Json,
    left: &mut Union<'s>,
) -> Outcome<()> {
    let set = NumberSet::above(number(value)?.into());
    compiler.narrow_numbers(left, &set)
}

pub(super) fn not_above<'s>(
    compiler: &mut Compiler<'s>,
    _: &Site<'s>,
    value: &'s Json,
) -> Outcome<Union<'s>> {
    compiler.outside(&NumberSet::above(number(value)?.into()))
}

pub(super) fn below<'s>(
    compiler: &mut Compiler<'s>,
    _: &Site<'s>,
    value: &'s Json,
    left: &mut Union<'s>,
) -> Outcome<()> {
    let set = NumberSet::below(number(value)?.into());
    compiler.narrow_numbers(left, &set)
}

pub(super) fn not_below<'s>(
    compiler: &mut Compiler<'s>,
    _: &Site<'s>,
    value: &'s Json,
) -> Outcome<Union<'s>> {
    compiler.outside(&NumberSet::below(number(value)?.into()))
}

pub(super) fn multiple<'s>(
    compiler: &mut Compiler<'s>,
    _: &Site<'s>,
    value: &'s Json,
    left: &mut Union<'s>,
) -> Outcome<()> {
    let set = multiples(value)?;
    compiler.narrow_numbers(left, &set)
}

pub(super) fn no_multiple<'s>(
    compiler: &mut Compiler<'s>,
    _: &Site<'s>,
    value: &'s Json,
) -> Outcome<Union<'s>> {
    compiler.outside(&multiples(value)?)
}

fn multiples(value: &Json) -> Outcome<NumberSet> {
    let step = number(value)?;
    if step.as_f64() <= 0.0 {
        return Err(Fault::malformed("not above zero"));
    }
    Ok(NumberSet::multiples(step.into()))
}

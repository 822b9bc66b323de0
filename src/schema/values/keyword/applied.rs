//! Keywords that apply schemas to the same value: references, `allOf`, `anyOf`, `oneOf`, `not`, `if`.

use std::collections::HashMap;

use super::{Applied, Refuted, list, text};
use crate::grammar::value::ValueId;
use crate::json::Json;
use crate::schema::values::error::{Fault, Outcome};
use crate::schema::values::goal::{Compiler, Site};
use crate::schema::values::union::Union;

fn branches<'s>(compiler: &mut Compiler<'s>, site: &Site<'s>, value: &'s Json) -> Outcome<Vec<ValueId>> {
    let schemas = list(value)?;
    compiler.spend(schemas.len())?;
    schemas.iter().map(|schema| compiler.subschema(site, schema)).collect()
}

/// Leaves what is in the value `id` as well.
fn narrow<'s>(compiler: &mut Compiler<'s>, site: &Site<'s>, id: ValueId, left: &mut Union<'s>) -> Applied {
    if id != ValueId::ANY {
        let valid = compiler.union_in_place(id, site.tracked)?;
        *left = left.and(&valid, compiler)?;
    }
    Ok(())
}

fn opposite<'s>(compiler: &mut Compiler<'s>, id: ValueId) -> Refuted<'s> {
    let other = compiler.negated(id)?;
    Ok((*compiler.union(other)?).clone())
}

pub(super) fn reference<'s>(
    compiler: &mut Compiler<'s>,
    site: &Site<'s>,
    value: &'s Json,
    left: &mut Union<'s>,
) -> Applied {
    let target = compiler.referenced(site, text(value)?)?;
    narrow(compiler, site, target, left)
}

pub(super) fn no_reference<'s>(compiler: &mut Compiler<'s>, site: &Site<'s>, value: &'s Json) -> Refuted<'s> {
    let target = compiler.referenced(site, text(value)?)?;
    opposite(compiler, target)
}

pub(super) fn dynamic_ref<'s>(
    compiler: &mut Compiler<'s>,
    site: &Site<'s>,
    value: &'s Json,
    left: &mut Union<'s>,
) -> Applied {
    unless_dynamic(compiler, text(value)?)?;
    reference(compiler, site, value, left)
}

pub(super) fn no_dynamic_ref<'s>(
    compiler: &mut Compiler<'s>,
    site: &Site<'s>,
    value: &'s Json,
) -> Refuted<'s> {
    unless_dynamic(compiler, text(value)?)?;
    no_reference(compiler, site, value)
}

/// Where an anchor of this name stands but once, a dynamic reference to it is an ordinary one.
fn unless_dynamic(compiler: &mut Compiler<'_>, reference: &str) -> Applied {
    let root = compiler.document();
    let anchors = compiler.dynamic.get_or_insert_with(|| {
        let mut anchors = HashMap::new();
        count_anchors(root, &mut anchors);
        anchors
    });
    let name = reference.rsplit_once('#').map_or("", |(_, fragment)| fragment);
    if anchors.get(name).is_some_and(|count| *count > 1) {
        return Err(Fault::unsupported("where the reference leads depends on the way to it"));
    }
    Ok(())
}

fn count_anchors<'s>(json: &'s Json, anchors: &mut HashMap<&'s str, usize>) {
    match json {
        Json::Array(elements) => elements.iter().for_each(|element| count_anchors(element, anchors)),
        Json::Object(members) => {
            for (key, value) in members.iter() {
                match (key, value) {
                    ("$dynamicAnchor", Json::String(name)) => *anchors.entry(name).or_default() += 1,
                    // Counted twice: as if it stood in several places.
                    ("$recursiveAnchor", Json::Bool(true)) => *anchors.entry("").or_default() += 2,
                    (_, value) => count_anchors(value, anchors),
                }
            }
        }
        _ => {}
    }
}

pub(super) fn all_of<'s>(
    compiler: &mut Compiler<'s>,
    site: &Site<'s>,
    value: &'s Json,
    left: &mut Union<'s>,
) -> Applied {
    let mut all = left.clone();
    for branch in branches(compiler, site, value)? {
        narrow(compiler, site, branch, &mut all)?;
    }
    *left = all;
    Ok(())
}

pub(super) fn no_all_of<'s>(compiler: &mut Compiler<'s>, site: &Site<'s>, value: &'s Json) -> Refuted<'s> {
    let mut some = Union::none();
    for branch in branches(compiler, site, value)? {
        some.or(&opposite(compiler, branch)?, compiler)?;
    }
    Ok(some)
}

pub(super) fn any_of<'s>(
    compiler: &mut Compiler<'s>,
    site: &Site<'s>,
    value: &'s Json,
    left: &mut Union<'s>,
) -> Applied {
    let branches = branches(compiler, site, value)?;
    let mut some = Union::none();
    let mut strings = Vec::new();
    // What has been met so far, by each set of branches. Only sets of more than one branch evaluate more than
    // their parts do, so without tracking the sets of one are enough.
    let mut sets: Vec<Union<'s>> = Vec::new();
    for branch in branches {
        if branch == ValueId::ANY && !site.tracked {
            return Ok(());
        }
        let valid = compiler.union_in_place(branch, site.tracked)?;
        let mut own = left.and(&valid, compiler)?;
        if site.tracked && valid.evaluates() {
            let mut more = Vec::new();
            for set in &sets {
                let joined = set.and(&own, compiler)?;
                if !joined.is_none() {
                    more.push(joined);
                }
            }
            sets.extend(more);
            compiler.check_alternatives(sets.len())?;
            sets.push(own);
        } else {
            strings.extend(own.strings.take());
            some.or(&own, compiler)?;
        }
    }
    some.strings = compiler.any_strings(strings)?;
    // What evaluates nothing may hold as well.
    for set in &sets {
        some.or(set, compiler)?;
    }
    *left = some;
    Ok(())
}

pub(super) fn no_any_of<'s>(compiler: &mut Compiler<'s>, site: &Site<'s>, value: &'s Json) -> Refuted<'s> {
    let mut all = Union::any();
    for branch in branches(compiler, site, value)? {
        all = all.and(&opposite(compiler, branch)?, compiler)?;
    }
    Ok(all)
}

pub(super) fn one_of<'s>(
    compiler: &mut Compiler<'s>,
    site: &Site<'s>,
    value: &'s Json,
    left: &mut Union<'s>,
) -> Applied {
    let branches = branches(compiler, site, value)?;
    let mut parts = Vec::with_capacity(branches.len());
    for branch in branches {
        let valid = compiler.union_in_place(branch, site.tracked)?;
        let part = left.and(&valid, compiler)?;
        if !part.is_none() {
            parts.push((branch, part));
        }
    }
    let mut some = Union::none();
    // Pairs are compared once: row `i` holds what is known about the parts before it.
    let mut overlaps = Vec::with_capacity(parts.len());
    for (index, (_, part)) in parts.iter().enumerate() {
        let row = parts[..index].iter().map(|(_, other)| compiler.overlap(part, other));
        overlaps.push(row.collect::<Outcome<Vec<_>>>()?);
    }
    for (index, (_, part)) in parts.iter().enumerate() {
        let mut alone = part.clone();
        for (other, (branch, _)) in parts.iter().enumerate().filter(|(other, _)| *other != index) {
            let overlap = &overlaps[index.max(other)][index.min(other)];
            if overlap.is_some() {
                let negated = compiler.negated(*branch)?;
                let opposite = compiler.union(negated)?;
                alone = alone.and(&overlap.only(&opposite), compiler)?;
            }
            if alone.is_none() {
                break;
            }
        }
        some.or(&alone, compiler)?;
    }
    *left = some;
    Ok(())
}

/// None is valid, or some two are.
pub(super) fn no_one_of<'s>(compiler: &mut Compiler<'s>, site: &Site<'s>, value: &'s Json) -> Refuted<'s> {
    let mut some = no_any_of(compiler, site, value)?;
    let branches = branches(compiler, site, value)?;
    for (index, branch) in branches.iter().enumerate() {
        let valid = compiler.union(*branch)?;
        for other in &branches[..index] {
            let both = valid.and(&*compiler.union(*other)?, compiler)?;
            some.or(&both, compiler)?;
        }
    }
    Ok(some)
}

pub(super) fn not<'s>(
    compiler: &mut Compiler<'s>,
    site: &Site<'s>,
    value: &'s Json,
    left: &mut Union<'s>,
) -> Applied {
    let schema = compiler.subschema(site, value)?;
    *left = left.and(&opposite(compiler, schema)?, compiler)?;
    Ok(())
}

pub(super) fn not_not<'s>(compiler: &mut Compiler<'s>, site: &Site<'s>, value: &'s Json) -> Refuted<'s> {
    let schema = compiler.subschema(site, value)?;
    Ok((*compiler.union(schema)?).clone())
}

/// The schemas of `if`, `then` and `else`; those that are missing allow anything.
fn conditional<'s>(
    compiler: &mut Compiler<'s>,
    site: &Site<'s>,
    value: &'s Json,
) -> Outcome<(ValueId, ValueId, ValueId)> {
    let mut branch =
        |name| site.members.get(name).map_or(Ok(ValueId::ANY), |schema| compiler.subschema(site, schema));
    let (then, otherwise) = (branch("then")?, branch("else")?);
    Ok((compiler.subschema(site, value)?, then, otherwise))
}

pub(super) fn condition<'s>(
    compiler: &mut Compiler<'s>,
    site: &Site<'s>,
    value: &'s Json,
    left: &mut Union<'s>,
) -> Applied {
    let (condition, then, otherwise) = conditional(compiler, site, value)?;
    if then == ValueId::ANY && otherwise == ValueId::ANY && !site.tracked {
        return Ok(());
    }
    let mut some = left.clone();
    narrow(compiler, site, condition, &mut some)?;
    narrow(compiler, site, then, &mut some)?;
    let mut other = left.and(&opposite(compiler, condition)?, compiler)?;
    narrow(compiler, site, otherwise, &mut other)?;
    some.or(&other, compiler)?;
    *left = some;
    Ok(())
}

pub(super) fn no_condition<'s>(compiler: &mut Compiler<'s>, site: &Site<'s>, value: &'s Json) -> Refuted<'s> {
    let (condition, then, otherwise) = conditional(compiler, site, value)?;
    let met = compiler.union(condition)?;
    let mut some = met.and(&opposite(compiler, then)?, compiler)?;
    let unmet = opposite(compiler, condition)?;
    some.or(&unmet.and(&opposite(compiler, otherwise)?, compiler)?, compiler)?;
    Ok(some)
}

//! `items` and what else is said about arrays.

use std::rc::Rc;

use super::{Applied, Refuted, list, size_from, size_to};
use crate::grammar::value::ValueId;
use crate::json::Json;
use crate::schema::meta::drafts::Draft;
use crate::schema::values::error::{Fault, Outcome};
use crate::schema::values::goal::{Compiler, Site};
use crate::schema::values::items::{Contains, EvaluatedItems, Items};
use crate::schema::values::union::Union;

/// Changes every alternative for arrays.
fn change(left: &mut Union<'_>, change: impl Fn(&mut Items)) {
    for items in &mut left.arrays {
        change(Rc::make_mut(items));
    }
}

/// Leaves what is in `items` as well.
fn narrow<'s>(compiler: &mut Compiler<'s>, left: &mut Union<'s>, items: Items) -> Applied {
    let narrowed = Union { arrays: left.arrays.clone(), ..Union::none() };
    left.arrays = narrowed.and(&Union::of_arrays([items]), compiler)?.arrays;
    Ok(())
}

pub(super) fn items<'s>(
    compiler: &mut Compiler<'s>,
    site: &Site<'s>,
    value: &'s Json,
    left: &mut Union<'s>,
) -> Applied {
    if let Json::Array(_) = value {
        return prefix(compiler, site, value, left);
    }
    let rest = compiler.subschema(site, value)?;
    let prefix = vec![ValueId::ANY; first_of_rest(site)?];
    let evaluated = EvaluatedItems { all: site.tracked, ..EvaluatedItems::default() };
    narrow(compiler, left, Items { prefix, rest, evaluated, ..Items::default() })
}

pub(super) fn no_items<'s>(compiler: &mut Compiler<'s>, site: &Site<'s>, value: &'s Json) -> Refuted<'s> {
    if let Json::Array(_) = value {
        return no_prefix(compiler, site, value);
    }
    let from = first_of_rest(site)?;
    some_other(compiler, site, value, from)
}

/// The index of the first item that `items` is about.
fn first_of_rest(site: &Site<'_>) -> Outcome<usize> {
    match site.members.get("prefixItems") {
        Some(prefix) if site.draft >= Draft::Draft202012 => Ok(list(prefix)?.len()),
        _ => Ok(0),
    }
}

/// Arrays in which some item from `from` on is not valid.
fn some_other<'s>(
    compiler: &mut Compiler<'s>,
    site: &Site<'s>,
    schema: &'s Json,
    from: usize,
) -> Refuted<'s> {
    let valid = compiler.subschema(site, schema)?;
    let kind = compiler.negated(valid)?;
    if kind == ValueId::NEVER {
        return Ok(Union::none());
    }
    let contains = vec![Contains { from, kind, min: 1, max: None }];
    Ok(Union::of_arrays([Items { contains, ..Items::default() }]))
}

pub(super) fn prefix<'s>(
    compiler: &mut Compiler<'s>,
    site: &Site<'s>,
    value: &'s Json,
    left: &mut Union<'s>,
) -> Applied {
    let schemas = list(value)?;
    let prefix =
        schemas.iter().map(|schema| compiler.subschema(site, schema)).collect::<Outcome<Vec<_>>>()?;
    let count = if site.tracked { prefix.len() } else { 0 };
    let evaluated = EvaluatedItems { prefix: count, ..EvaluatedItems::default() };
    narrow(compiler, left, Items { prefix, evaluated, ..Items::default() })
}

pub(super) fn no_prefix<'s>(compiler: &mut Compiler<'s>, site: &Site<'s>, value: &'s Json) -> Refuted<'s> {
    let mut others = Vec::new();
    for (index, schema) in list(value)?.iter().enumerate() {
        let valid = compiler.subschema(site, schema)?;
        let other = compiler.negated(valid)?;
        if other != ValueId::NEVER {
            compiler.spend(index)?;
            let mut prefix = vec![ValueId::ANY; index];
            prefix.push(other);
            #[allow(clippy::cast_possible_truncation)]
            others.push(Items { min: prefix.len() as u32, prefix, ..Items::default() });
        }
    }
    Ok(Union::of_arrays(others))
}

/// `additionalItems` is about the items that a list in `items` leaves; without one it says nothing.
pub(super) fn additional<'s>(
    compiler: &mut Compiler<'s>,
    site: &Site<'s>,
    value: &'s Json,
    left: &mut Union<'s>,
) -> Applied {
    let Some(Json::Array(schemas)) = site.members.get("items") else { return Ok(()) };
    let rest = compiler.subschema(site, value)?;
    let evaluated = EvaluatedItems { all: site.tracked, ..EvaluatedItems::default() };
    narrow(
        compiler,
        left,
        Items { prefix: vec![ValueId::ANY; schemas.len()], rest, evaluated, ..Items::default() },
    )
}

pub(super) fn no_additional<'s>(
    compiler: &mut Compiler<'s>,
    site: &Site<'s>,
    value: &'s Json,
) -> Refuted<'s> {
    match site.members.get("items") {
        Some(Json::Array(schemas)) => some_other(compiler, site, value, schemas.len()),
        _ => Ok(Union::none()),
    }
}

pub(super) fn contains<'s>(
    compiler: &mut Compiler<'s>,
    site: &Site<'s>,
    value: &'s Json,
    left: &mut Union<'s>,
) -> Applied {
    let kind = compiler.subschema(site, value)?;
    let (min, max) = contained(site)?;
    let contains =
        if min == 0 && max.is_none() { Vec::new() } else { vec![Contains { from: 0, kind, min, max }] };
    let kinds = if site.tracked { vec![kind] } else { Vec::new() };
    let evaluated = EvaluatedItems { kinds, ..EvaluatedItems::default() };
    narrow(compiler, left, Items { contains, evaluated, ..Items::default() })
}

pub(super) fn no_contains<'s>(compiler: &mut Compiler<'s>, site: &Site<'s>, value: &'s Json) -> Refuted<'s> {
    let kind = compiler.subschema(site, value)?;
    let (min, max) = contained(site)?;
    let arrays =
        |min, max| Items { contains: vec![Contains { from: 0, kind, min, max }], ..Items::default() };
    let fewer = min.checked_sub(1).map(|max| arrays(0, Some(max)));
    let more = max.and_then(|max| max.checked_add(1)).map(|min| arrays(min, None));
    Ok(Union::of_arrays(fewer.into_iter().chain(more)))
}

/// How many items `contains` is about.
fn contained(site: &Site<'_>) -> Outcome<(u32, Option<u32>)> {
    if site.draft < Draft::Draft201909 {
        return Ok((1, None));
    }
    let min = site.members.get("minContains").map_or(Ok(1), size_from)?;
    let max = site.members.get("maxContains").map_or(Ok(None), size_to)?;
    Ok((min, max))
}

pub(super) fn unique<'s>(
    _: &mut Compiler<'s>,
    _: &Site<'s>,
    value: &'s Json,
    left: &mut Union<'s>,
) -> Applied {
    if flag(value)? {
        change(left, |items| items.unique = true);
    }
    Ok(())
}

pub(super) fn not_unique<'s>(_: &mut Compiler<'s>, _: &Site<'s>, value: &'s Json) -> Refuted<'s> {
    if flag(value)? {
        return Err(Fault::unsupported("two items that are equal"));
    }
    Ok(Union::none())
}

fn flag(value: &Json) -> Outcome<bool> {
    match value {
        Json::Bool(flag) => Ok(*flag),
        _ => Err(Fault::malformed("not a boolean")),
    }
}

//! `unevaluatedProperties` and `unevaluatedItems`: every alternative knows what it has evaluated.

use std::rc::Rc;

use super::list;
use crate::grammar::value::ValueId;
use crate::json::Json;
use crate::schema::meta::drafts::Draft;
use crate::schema::values::error::{Fault, Outcome};
use crate::schema::values::goal::{Compiler, Site};
use crate::schema::values::items::{Contains, Items};
use crate::schema::values::members::{Keys, Members, Rules, Witness};
use crate::schema::values::union::Union;

pub(super) fn properties<'s>(
    compiler: &mut Compiler<'s>,
    site: &Site<'s>,
    value: &'s Json,
    left: &mut Union<'s>,
) -> Outcome<()> {
    let rest = compiler.subschema(site, value)?;
    for members in &mut left.objects {
        let members = Rc::make_mut(members);
        if members.evaluated.iter().any(|rules| rules.rest.is_some()) {
            continue;
        }
        let mut rules = Rules { rest: Some(rest), ..Rules::default() };
        for evaluated in &members.evaluated {
            rules.named.extend(evaluated.named.iter().map(|(key, _)| (*key, ValueId::ANY)));
            rules.patterns.extend(evaluated.patterns.iter().map(|(keys, _)| (keys.clone(), ValueId::ANY)));
        }
        compiler.spend(rules.named.len() + rules.patterns.len())?;
        let rules = Rc::new(rules);
        if rest != ValueId::ANY {
            members.rules.push(Rc::clone(&rules));
        }
        members.evaluated.push(rules);
    }
    Ok(())
}

/// Keywords that evaluate in ways that are only known from below; see [`properties`].
const APPLIED: &[&str] = &[
    "$dynamicRef",
    "$recursiveRef",
    "$ref",
    "allOf",
    "anyOf",
    "dependencies",
    "dependentSchemas",
    "if",
    "oneOf",
];

/// What is left unevaluated can be refuted only where it is the same for all values.
fn unless_applied(site: &Site<'_>) -> Outcome<()> {
    if APPLIED.iter().any(|keyword| site.members.get(keyword).is_some()) {
        return Err(Fault::unsupported("the opposite depends on what other schemas evaluate"));
    }
    Ok(())
}

pub(super) fn no_properties<'s>(
    compiler: &mut Compiler<'s>,
    site: &Site<'s>,
    value: &'s Json,
) -> Outcome<Union<'s>> {
    unless_applied(site)?;
    let rest = compiler.subschema(site, value)?;
    let other = compiler.negated(rest)?;
    if other == ValueId::NEVER || site.members.get("additionalProperties").is_some() {
        return Ok(Union::none());
    }
    let keys = Keys::Beyond(Rc::new(compiler.known(site)?));
    let witnesses = vec![Rc::new(Witness { keys, value: other, beside: None })];
    Ok(Union::of_objects([Members { witnesses, ..Members::default() }]))
}

pub(super) fn items<'s>(
    compiler: &mut Compiler<'s>,
    site: &Site<'s>,
    value: &'s Json,
    left: &mut Union<'s>,
) -> Outcome<()> {
    let rest = compiler.subschema(site, value)?;
    for items in &mut left.arrays {
        if items.evaluated.all {
            continue;
        }
        let items = Rc::make_mut(items);
        let mut kinds = items.evaluated.kinds.clone();
        kinds.push(rest);
        let valid = compiler.either(&kinds)?;
        let length = items.prefix.len().max(items.evaluated.prefix);
        compiler.spend(length)?;
        items.prefix.resize(length, items.rest);
        for item in items.prefix.iter_mut().skip(items.evaluated.prefix) {
            *item = compiler.both(*item, valid)?;
        }
        items.rest = compiler.both(items.rest, valid)?;
        items.evaluated.all = true;
    }
    Ok(())
}

pub(super) fn no_items<'s>(
    compiler: &mut Compiler<'s>,
    site: &Site<'s>,
    value: &'s Json,
) -> Outcome<Union<'s>> {
    unless_applied(site)?;
    let rest = compiler.subschema(site, value)?;
    let mut kind = compiler.negated(rest)?;
    if let Some(contains) = site.members.get("contains") {
        let evaluated = compiler.subschema(site, contains)?;
        let others = compiler.negated(evaluated)?;
        kind = compiler.both(kind, others)?;
    }
    let (of_all, of_first) = match site.members.get("items") {
        Some(Json::Array(first)) => (site.members.get("additionalItems").is_some(), first.len()),
        Some(_) => (true, 0),
        None => match site.members.get("prefixItems") {
            Some(first) if site.draft >= Draft::Draft202012 => (false, list(first)?.len()),
            _ => (false, 0),
        },
    };
    if of_all || kind == ValueId::NEVER {
        return Ok(Union::none());
    }
    let contains = vec![Contains { from: of_first, kind, min: 1, max: None }];
    Ok(Union::of_arrays([Items { contains, ..Items::default() }]))
}

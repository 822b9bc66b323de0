//! `properties` and what else is said about members.

use std::rc::Rc;

use super::{Applied, Refuted, by_name, names as names_of};
use crate::grammar::language::Language;
use crate::grammar::value::ValueId;
use crate::json::Json;
use crate::schema::values::error::Outcome;
use crate::schema::values::goal::{Compiler, Site};
use crate::schema::values::members::{Keys, Members, Rules, Witness};
use crate::schema::values::union::Union;

/// Changes every alternative for objects.
fn change<'s>(left: &mut Union<'s>, change: impl Fn(&mut Members<'s>)) {
    for members in &mut left.objects {
        change(Rc::make_mut(members));
    }
}

/// Adds rules to every alternative, and what they evaluate.
fn rule<'s>(site: &Site<'s>, left: &mut Union<'s>, rules: Rules<'s>) {
    let rules = Rc::new(rules);
    change(left, |members| {
        members.rules.push(Rc::clone(&rules));
        if site.tracked {
            members.evaluated.push(Rc::clone(&rules));
        }
    });
}

/// Whether `additionalProperties` reads this keyword together with itself.
fn is_read_by_additional(site: &Site<'_>) -> bool {
    site.members.get("additionalProperties").is_some_and(|value| !matches!(value, Json::Bool(true)))
}

pub(super) fn properties<'s>(
    compiler: &mut Compiler<'s>,
    site: &Site<'s>,
    value: &'s Json,
    left: &mut Union<'s>,
) -> Applied {
    let named = compiler.named(site, value)?;
    if !is_read_by_additional(site) {
        rule(site, left, Rules { named, ..Rules::default() });
    }
    Ok(())
}

pub(super) fn no_properties<'s>(
    compiler: &mut Compiler<'s>,
    site: &Site<'s>,
    value: &'s Json,
) -> Refuted<'s> {
    let mut others = Vec::new();
    for (key, value) in compiler.named(site, value)? {
        let other = compiler.negated(value)?;
        if other != ValueId::NEVER {
            others.push(Members::with(key, other));
        }
    }
    Ok(Union::of_objects(others))
}

pub(super) fn patterns<'s>(
    compiler: &mut Compiler<'s>,
    site: &Site<'s>,
    value: &'s Json,
    left: &mut Union<'s>,
) -> Applied {
    if !is_read_by_additional(site) {
        let patterns = compiler.by_pattern(site, value)?;
        rule(site, left, Rules { patterns, ..Rules::default() });
    }
    Ok(())
}

pub(super) fn no_patterns<'s>(compiler: &mut Compiler<'s>, site: &Site<'s>, value: &'s Json) -> Refuted<'s> {
    let mut others = Vec::new();
    for (pattern, value) in compiler.by_pattern(site, value)? {
        let value = compiler.negated(value)?;
        if value != ValueId::NEVER {
            others.push(witnessed(Keys::In(pattern), value));
        }
    }
    Ok(Union::of_objects(others))
}

fn witnessed<'s>(keys: Keys<'s>, value: ValueId) -> Members<'s> {
    Members { witnesses: vec![Rc::new(Witness { keys, value, beside: None })], ..Members::default() }
}

pub(super) fn additional<'s>(
    compiler: &mut Compiler<'s>,
    site: &Site<'s>,
    value: &'s Json,
    left: &mut Union<'s>,
) -> Applied {
    if !is_read_by_additional(site) {
        if site.tracked {
            rule(site, left, Rules { rest: Some(ValueId::ANY), ..Rules::default() });
        }
        return Ok(());
    }
    let mut rules = compiler.known(site)?;
    rules.rest = Some(compiler.subschema(site, value)?);
    rule(site, left, rules);
    Ok(())
}

pub(super) fn no_additional<'s>(
    compiler: &mut Compiler<'s>,
    site: &Site<'s>,
    value: &'s Json,
) -> Refuted<'s> {
    let value = compiler.subschema(site, value)?;
    let other = compiler.negated(value)?;
    if other == ValueId::NEVER {
        return Ok(Union::none());
    }
    let rules = Rc::new(compiler.known(site)?);
    // What the named members must be otherwise, and that they are there, is refuted by other alternatives.
    let beside = Members {
        rules: vec![Rc::new(Rules { named: rules.named.clone(), ..Rules::default() })],
        required: site.members.get("required").map_or(Ok(Vec::new()), names_of)?,
        ..Members::default()
    };
    let witness = Witness { keys: Keys::Beyond(rules), value: other, beside: Some(beside) };
    Ok(Union::of_objects([Members { witnesses: vec![Rc::new(witness)], ..Members::default() }]))
}

impl<'s> Compiler<'s> {
    /// The rules of `properties` and `patternProperties` together.
    pub(super) fn known(&mut self, site: &Site<'s>) -> Outcome<Rules<'s>> {
        let named = site.members.get("properties").map_or(Ok(Vec::new()), |value| self.named(site, value))?;
        let patterns = site
            .members
            .get("patternProperties")
            .map_or(Ok(Vec::new()), |value| self.by_pattern(site, value))?;
        Ok(Rules { named, patterns, rest: None })
    }

    fn named(&mut self, site: &Site<'s>, value: &'s Json) -> Outcome<Vec<(&'s str, ValueId)>> {
        let properties = by_name(value)?;
        self.spend(properties.len())?;
        properties.iter().map(|(key, schema)| Ok((key, self.subschema(site, schema)?))).collect()
    }

    fn by_pattern(&mut self, site: &Site<'s>, value: &'s Json) -> Outcome<Vec<(Language, ValueId)>> {
        let mut patterns = Vec::new();
        for (pattern, schema) in by_name(value)?.iter() {
            let value = self.subschema(site, schema)?;
            patterns.push((self.pattern(pattern)?, value));
        }
        Ok(patterns)
    }
}

pub(super) fn required<'s>(
    compiler: &mut Compiler<'s>,
    _: &Site<'s>,
    value: &'s Json,
    left: &mut Union<'s>,
) -> Applied {
    let names = names_of(value)?;
    compiler.spend(names.len())?;
    // Lists of names are short, or all different.
    let known: std::collections::HashSet<&str> = names.iter().copied().collect();
    let is_repeating = known.len() < names.len();
    change(left, |members| {
        if members.required.is_empty() && !is_repeating {
            members.required.clone_from(&names);
            return;
        }
        for name in &names {
            if !members.required.contains(name) {
                members.required.push(name);
            }
        }
    });
    Ok(())
}

pub(super) fn not_required<'s>(_: &mut Compiler<'s>, _: &Site<'s>, value: &'s Json) -> Refuted<'s> {
    Ok(Union::of_objects(names_of(value)?.into_iter().map(Members::without)))
}

pub(super) fn names<'s>(
    compiler: &mut Compiler<'s>,
    site: &Site<'s>,
    value: &'s Json,
    left: &mut Union<'s>,
) -> Applied {
    let names = name_language(compiler, site, value)?;
    if !names.is_any() {
        change(left, |members| members.names.push(names.clone()));
    }
    Ok(())
}

pub(super) fn no_names<'s>(compiler: &mut Compiler<'s>, site: &Site<'s>, value: &'s Json) -> Refuted<'s> {
    let names = name_language(compiler, site, value)?;
    if names.is_any() {
        return Ok(Union::none());
    }
    Ok(Union::of_objects([witnessed(Keys::Outside(names), ValueId::ANY)]))
}

fn name_language<'s>(compiler: &mut Compiler<'s>, site: &Site<'s>, value: &'s Json) -> Outcome<Language> {
    let names = compiler.subschema(site, value)?;
    Ok(compiler.union(names)?.strings.clone().unwrap_or_else(Language::never))
}

/// `dependencies`, which may hold either, `dependentRequired` and `dependentSchemas`.
pub(super) fn dependencies<'s>(
    compiler: &mut Compiler<'s>,
    site: &Site<'s>,
    value: &'s Json,
    left: &mut Union<'s>,
) -> Applied {
    let mut objects = Union { objects: left.objects.clone(), ..Union::none() };
    for (key, dependency) in by_name(value)?.iter() {
        if let Json::Array(_) = dependency {
            let pairs: Vec<_> = names_of(dependency)?.into_iter().map(|name| (key, name)).collect();
            change(&mut objects, |members| members.dependent.extend(&pairs));
            continue;
        }
        let schema = compiler.subschema(site, dependency)?;
        if schema == ValueId::ANY {
            continue;
        }
        let mut either = Union::of_objects([Members::without(key)]);
        if schema != ValueId::NEVER {
            let present = Union::of_objects([Members::with(key, ValueId::ANY)]);
            let valid = compiler.union_in_place(schema, site.tracked)?;
            either.or(&present.and(&valid, compiler)?, compiler)?;
        }
        objects = objects.and(&either, compiler)?;
    }
    left.objects = objects.objects;
    Ok(())
}

pub(super) fn no_dependencies<'s>(
    compiler: &mut Compiler<'s>,
    site: &Site<'s>,
    value: &'s Json,
) -> Refuted<'s> {
    let mut others = Union::none();
    for (key, dependency) in by_name(value)?.iter() {
        let present = Union::of_objects([Members::with(key, ValueId::ANY)]);
        let invalid = if let Json::Array(_) = dependency {
            Rc::new(Union::of_objects(names_of(dependency)?.into_iter().map(Members::without)))
        } else {
            let schema = compiler.subschema(site, dependency)?;
            let other = compiler.negated(schema)?;
            compiler.union(other)?
        };
        others.or(&present.and(&invalid, compiler)?, compiler)?;
    }
    Ok(others)
}

impl Union<'_> {
    /// Drops what is remembered of evaluated members and items.
    pub(in crate::schema::values) fn forget_evaluated(&mut self) {
        for members in &mut self.objects {
            if !members.evaluated.is_empty() {
                Rc::make_mut(members).evaluated.clear();
            }
        }
        for items in &mut self.arrays {
            if items.evaluated != Default::default() {
                Rc::make_mut(items).evaluated = Default::default();
            }
        }
    }
}

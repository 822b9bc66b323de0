//! A slow obvious reading of JSON Schema (2020-12, without dynamic references), and random schemas and instances.

use std::cell::Cell;
use std::collections::BTreeSet;

use super::twin::same;
use crate::grammar::language::{Language, Limits};
use crate::grammar::number::Decimal;
use crate::json::{Json, Number, Object};

/// What a schema has evaluated.
#[derive(Default, Clone)]
pub(super) struct Evaluated {
    keys: BTreeSet<String>,
    items: BTreeSet<usize>,
}

impl Evaluated {
    fn add(&mut self, other: Self) {
        self.keys.extend(other.keys);
        self.items.extend(other.items);
    }
}

/// How deep schemas may be nested; deeper ones are endless.
const MAX_DEPTH: usize = 60;

thread_local! {
    static DEPTH: Cell<usize> = const { Cell::new(0) };
    /// Whether a schema was endless.
    static IS_ENDLESS: Cell<bool> = const { Cell::new(false) };
}

/// The verdict on an instance, unless a reference leads to itself for ever.
pub(super) fn verdict(document: &Json, instance: &Json) -> Option<bool> {
    IS_ENDLESS.set(false);
    let valid = is_valid(document, document, instance);
    (!IS_ENDLESS.get()).then_some(valid)
}

fn is_valid(document: &Json, schema: &Json, instance: &Json) -> bool {
    validate(document, schema, instance).is_some()
}

fn validate(document: &Json, schema: &Json, instance: &Json) -> Option<Evaluated> {
    if IS_ENDLESS.get() || DEPTH.get() == MAX_DEPTH {
        IS_ENDLESS.set(true);
        return None;
    }
    DEPTH.set(DEPTH.get() + 1);
    let evaluated = validate_here(document, schema, instance);
    DEPTH.set(DEPTH.get() - 1);
    evaluated
}

fn validate_here(document: &Json, schema: &Json, instance: &Json) -> Option<Evaluated> {
    let members = match schema {
        Json::Bool(valid) => return valid.then(Evaluated::default),
        Json::Object(members) => members,
        _ => return None,
    };
    let mut evaluated = Evaluated::default();
    for (keyword, value) in members.iter() {
        evaluated.add(in_place(document, members, keyword, value, instance)?);
    }
    let is_fine = match instance {
        Json::Object(object) => {
            members.iter().all(|(keyword, value)| {
                about_object(document, members, keyword, value, object, &mut evaluated)
            }) && members.get("unevaluatedProperties").is_none_or(|schema| {
                object.iter().all(|(key, value)| {
                    let is_known = !evaluated.keys.insert(key.to_owned());
                    is_known || is_valid(document, schema, value)
                })
            })
        }
        Json::Array(items) => {
            about_array(document, members, items, &mut evaluated)
                && members.get("unevaluatedItems").is_none_or(|schema| {
                    items.iter().enumerate().all(|(index, item)| {
                        let is_known = !evaluated.items.insert(index);
                        is_known || is_valid(document, schema, item)
                    })
                })
        }
        Json::String(text) => members.iter().all(|(keyword, value)| about_string(keyword, value, text)),
        Json::Number(number) => members.iter().all(|(keyword, value)| about_number(keyword, value, *number)),
        _ => true,
    };
    is_fine.then_some(evaluated)
}

fn in_place(
    document: &Json,
    members: &Object,
    keyword: &str,
    value: &Json,
    instance: &Json,
) -> Option<Evaluated> {
    let valid = |schema: &Json| validate(document, schema, instance);
    let each = || value.as_array().into_iter().flatten().map(valid);
    let mut evaluated = Evaluated::default();
    match keyword {
        "type" => {
            let names = value.as_array().map_or_else(|| vec![value], |names| names.iter().collect());
            names.iter().any(|name| is_of_type(name.as_str().unwrap(), instance)).then_some(evaluated)
        }
        "const" => same(value, instance).then_some(evaluated),
        "enum" => value.as_array()?.iter().any(|listed| same(listed, instance)).then_some(evaluated),
        "$ref" => valid(target(document, value.as_str()?)),
        "allOf" => {
            for result in each() {
                evaluated.add(result?);
            }
            Some(evaluated)
        }
        "anyOf" | "oneOf" => {
            let mut count = 0;
            each().flatten().for_each(|result| {
                count += 1;
                evaluated.add(result);
            });
            (count == 1 || count > 1 && keyword == "anyOf").then_some(evaluated)
        }
        "not" => valid(value).is_none().then_some(evaluated),
        "if" => {
            let condition = valid(value);
            let branch = if condition.is_some() { "then" } else { "else" };
            evaluated.add(condition.unwrap_or_default());
            if let Some(schema) = members.get(branch) {
                evaluated.add(valid(schema)?);
            }
            Some(evaluated)
        }
        "dependentSchemas" => {
            for (key, schema) in value.as_object()?.iter() {
                if instance.get(key).is_some() {
                    evaluated.add(valid(schema)?);
                }
            }
            Some(evaluated)
        }
        _ => Some(evaluated),
    }
}

fn target<'d>(document: &'d Json, reference: &str) -> &'d Json {
    match reference.strip_prefix("#/$defs/") {
        Some(name) => document.get("$defs").and_then(|defs| defs.get(name)).unwrap(),
        None => document,
    }
}

fn is_of_type(name: &str, instance: &Json) -> bool {
    match instance {
        Json::Null => name == "null",
        Json::Bool(_) => name == "boolean",
        Json::Number(number) => name == "number" || name == "integer" && Decimal::from(*number).is_integer(),
        Json::String(_) => name == "string",
        Json::Array(_) => name == "array",
        Json::Object(_) => name == "object",
    }
}

fn size(value: &Json) -> usize {
    match value {
        Json::Number(Number::Unsigned(size)) => usize::try_from(*size).unwrap(),
        _ => panic!("{value}"),
    }
}

fn found(pattern: &str, text: &str) -> bool {
    Language::pattern(pattern, &Limits::default()).unwrap().contains(text)
}

fn about_object(
    document: &Json,
    members: &Object,
    keyword: &str,
    value: &Json,
    object: &Object,
    evaluated: &mut Evaluated,
) -> bool {
    let names = |list: &Json| {
        list.as_array().unwrap().iter().all(|name| object.get(name.as_str().unwrap()).is_some())
    };
    let named = |key: &str| members.get("properties").is_some_and(|named| named.get(key).is_some());
    let matched = |key: &str| {
        let patterns = members.get("patternProperties").and_then(Json::as_object);
        patterns.is_some_and(|patterns| patterns.iter().any(|(pattern, _)| found(pattern, key)))
    };
    match keyword {
        "required" => names(value),
        "minProperties" => object.len() >= size(value),
        "maxProperties" => object.len() <= size(value),
        "propertyNames" => object.iter().all(|(key, _)| is_valid(document, value, &Json::from(key))),
        "dependentRequired" => {
            value.as_object().unwrap().iter().all(|(key, list)| object.get(key).is_none() || names(list))
        }
        "properties" => object.iter().all(|(key, member)| match value.get(key) {
            Some(schema) => {
                evaluated.keys.insert(key.to_owned());
                is_valid(document, schema, member)
            }
            None => true,
        }),
        "patternProperties" => object.iter().all(|(key, member)| {
            value.as_object().unwrap().iter().filter(|(pattern, _)| found(pattern, key)).all(|(_, schema)| {
                evaluated.keys.insert(key.to_owned());
                is_valid(document, schema, member)
            })
        }),
        "additionalProperties" => {
            object.iter().filter(|(key, _)| !named(key) && !matched(key)).all(|(key, member)| {
                evaluated.keys.insert(key.to_owned());
                is_valid(document, value, member)
            })
        }
        _ => true,
    }
}

fn about_array(document: &Json, members: &Object, items: &[Json], evaluated: &mut Evaluated) -> bool {
    let prefix = members.get("prefixItems").and_then(Json::as_array).unwrap_or_default();
    evaluated.items.extend(0..prefix.len().min(items.len()));
    let mut is_fine = prefix.iter().zip(items).all(|(schema, item)| is_valid(document, schema, item));
    if let Some(schema) = members.get("items") {
        evaluated.items.extend(0..items.len());
        is_fine &= items.iter().skip(prefix.len()).all(|item| is_valid(document, schema, item));
    }
    if let Some(schema) = members.get("contains") {
        let matching: Vec<usize> =
            (0..items.len()).filter(|index| is_valid(document, schema, &items[*index])).collect();
        is_fine &= matching.len() >= members.get("minContains").map_or(1, size);
        is_fine &= members.get("maxContains").is_none_or(|max| matching.len() <= size(max));
        evaluated.items.extend(matching);
    }
    let differ = |i: usize| items[..i].iter().all(|other| !same(other, &items[i]));
    is_fine
        && members.get("minItems").is_none_or(|min| items.len() >= size(min))
        && members.get("maxItems").is_none_or(|max| items.len() <= size(max))
        && (members.get("uniqueItems") != Some(&Json::Bool(true)) || (0..items.len()).all(differ))
}

fn about_string(keyword: &str, value: &Json, text: &str) -> bool {
    match keyword {
        "minLength" => text.chars().count() >= size(value),
        "maxLength" => text.chars().count() <= size(value),
        "pattern" => found(value.as_str().unwrap(), text),
        _ => true,
    }
}

fn about_number(keyword: &str, value: &Json, number: Number) -> bool {
    let Json::Number(bound) = value else { return true };
    match keyword {
        "minimum" => number.as_f64() >= bound.as_f64(),
        "maximum" => number.as_f64() <= bound.as_f64(),
        "exclusiveMinimum" => number.as_f64() > bound.as_f64(),
        "exclusiveMaximum" => number.as_f64() < bound.as_f64(),
        "multipleOf" => Decimal::from(number).is_multiple_of(Decimal::from(*bound)),
        _ => true,
    }
}

/// Random choices that a seed decides.
pub(super) struct Dice(u64);

impl Dice {
    pub(super) const fn new(seed: u64) -> Self {
        Self(seed.wrapping_mul(0x9E37_79B9_7F4A_7C15) | 1)
    }

    fn below(&mut self, count: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        #[allow(clippy::cast_possible_truncation)]
        let roll = (self.0 >> 20) as usize;
        roll % count
    }

    fn pick<'a, T: ?Sized>(&mut self, all: &[&'a T]) -> &'a T {
        all[self.below(all.len())]
    }

    fn small(&mut self) -> Json {
        Json::from(self.below(4) as u64)
    }
}

const KEYS: &[&str] = &["a", "b", "ab", "c"];
const PATTERNS: &[&str] = &["^a", "b", "^.$", "^[ab]*$"];
const WHOLE: &[&str] = &[
    "type",
    "type",
    "enum",
    "const",
    "properties",
    "properties",
    "required",
    "additionalProperties",
    "patternProperties",
    "propertyNames",
    "minProperties",
    "maxProperties",
    "dependentRequired",
    "dependentSchemas",
    "items",
    "prefixItems",
    "contains",
    "minItems",
    "maxItems",
    "uniqueItems",
    "minimum",
    "maximum",
    "exclusiveMinimum",
    "multipleOf",
    "minLength",
    "maxLength",
    "pattern",
    "allOf",
    "anyOf",
    "oneOf",
    "not",
    "if",
    "$ref",
    "unevaluatedProperties",
    "unevaluatedItems",
];

/// A document with two definitions.
pub(super) fn document(dice: &mut Dice) -> Json {
    let defs = Json::from([("x", schema(dice, 2)), ("y", schema(dice, 1))]);
    match schema(dice, 3) {
        Json::Object(mut members) => {
            members.insert("$defs", defs);
            Json::Object(members)
        }
        _ => Json::from([("$defs", defs)]),
    }
}

fn schema(dice: &mut Dice, depth: usize) -> Json {
    if dice.below(12) == 0 {
        return Json::Bool(dice.below(3) > 0);
    }
    let mut members = Object::new();
    for _ in 0..=dice.below(3) {
        let keyword = dice.pick(WHOLE);
        let value = keyword_value(dice, keyword, depth);
        members.insert(keyword, value);
        if keyword == "contains" {
            if dice.below(3) == 0 {
                members.insert("minContains", dice.small());
            }
            if dice.below(3) == 0 {
                members.insert("maxContains", dice.small());
            }
        }
        if keyword == "if" {
            for branch in ["then", "else"] {
                if dice.below(3) > 0 {
                    members.insert(branch, below(dice, depth));
                }
            }
        }
    }
    Json::Object(members)
}

fn below(dice: &mut Dice, depth: usize) -> Json {
    if depth == 0 { Json::Bool(dice.below(4) > 0) } else { schema(dice, depth - 1) }
}

fn keyword_value(dice: &mut Dice, keyword: &str, depth: usize) -> Json {
    let some_keys = |dice: &mut Dice| -> Vec<Json> {
        let mut keys: Vec<&str> = (0..=dice.below(2)).map(|_| dice.pick(KEYS)).collect();
        keys.sort_unstable();
        keys.dedup();
        keys.into_iter().map(Json::from).collect()
    };
    let named = |dice: &mut Dice, names: &[&'static str], value: &mut dyn FnMut(&mut Dice) -> Json| {
        let members = (0..=dice.below(2)).map(|_| (dice.pick(names).to_owned(), value(dice)));
        Json::Object(members.collect::<Vec<_>>().into_iter().collect())
    };
    match keyword {
        "type" => {
            Json::from(dice.pick(&[
                "null", "boolean", "integer", "number", "string", "array", "object", "array", "object",
            ]))
        }
        "enum" => Json::from((0..=dice.below(3)).map(|_| instance(dice, 1)).collect::<Vec<_>>()),
        "const" => instance(dice, 2),
        "properties" | "dependentSchemas" => named(dice, KEYS, &mut |dice| below(dice, depth)),
        "patternProperties" => named(dice, PATTERNS, &mut |dice| below(dice, depth)),
        "dependentRequired" => named(dice, KEYS, &mut |dice| Json::from(some_keys(dice))),
        "required" => Json::from(some_keys(dice)),
        "propertyNames" => match dice.below(3) {
            0 => Json::from([("maxLength", dice.small())]),
            1 => Json::from([("enum", Json::from(some_keys(dice)))]),
            _ => Json::from([("pattern", Json::from(dice.pick(PATTERNS)))]),
        },
        "prefixItems" | "allOf" | "anyOf" | "oneOf" => {
            Json::from((0..=dice.below(2)).map(|_| below(dice, depth)).collect::<Vec<_>>())
        }
        "uniqueItems" => Json::Bool(true),
        "pattern" => Json::from(dice.pick(PATTERNS)),
        "$ref" => Json::from(dice.pick(&["#/$defs/x", "#/$defs/y", "#"])),
        "multipleOf" => Json::Number(Number::Float([0.5, 2.0, 3.0][dice.below(3)])),
        "unevaluatedProperties" | "unevaluatedItems" if dice.below(2) == 0 => Json::Bool(false),
        "additionalProperties"
        | "items"
        | "contains"
        | "not"
        | "if"
        | "unevaluatedProperties"
        | "unevaluatedItems" => below(dice, depth),
        _ => dice.small(),
    }
}

pub(super) fn instance(dice: &mut Dice, depth: usize) -> Json {
    let kinds = if depth == 0 { 7 } else { 13 };
    match dice.below(kinds) {
        0 => Json::Null,
        1 => Json::Bool(dice.below(2) == 0),
        2 | 3 => dice.small(),
        4 => Json::Number(Number::Float([0.5, -1.5, 6.0][dice.below(3)])),
        5 | 6 => Json::from(dice.pick(&["", "a", "b", "ab", "abc", "d"])),
        7..10 => Json::from((0..dice.below(4)).map(|_| instance(dice, depth - 1)).collect::<Vec<_>>()),
        _ => {
            let members = (0..dice.below(4)).map(|_| (dice.pick(KEYS).to_owned(), instance(dice, depth - 1)));
            Json::Object(members.collect::<Vec<_>>().into_iter().collect())
        }
    }
}

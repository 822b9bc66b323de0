//! The form of keywords' values where no meta-schema has checked them: in what a reference reaches outside of the
//! places for schemas. The official conversion finds such faults late and words them in its own ways.

use super::drafts::Draft;
use super::rules::{TYPE_NAMES, are_different};
use crate::json::{Json, Number, Object};

/// What is wrong with the value of `keyword`, a member of the schema `members`.
pub(super) fn fault(draft: Draft, members: &Object, keyword: &str, value: &Json) -> Option<String> {
    let is_newer = draft >= Draft::Draft6;
    match keyword {
        "type" => types(value),
        "required" if !is_unread(members, value) => names(value),
        "enum" | "allOf" | "anyOf" | "oneOf" => not_array(value),
        "prefixItems" if draft >= Draft::Draft202012 => not_array(value),
        "minLength" | "maxLength" | "minItems" | "maxItems" | "minProperties" | "maxProperties" => {
            size(draft, value)
        }
        "minContains" | "maxContains" if draft >= Draft::Draft201909 && members.get("contains").is_some() => {
            size(draft, value)
        }
        "minimum" | "maximum" | "multipleOf" => not_number(value),
        "exclusiveMinimum" | "exclusiveMaximum" if is_newer => not_number(value),
        "pattern" | "format" => not_text(value),
        "contentEncoding" | "contentMediaType" if matches!(draft, Draft::Draft6 | Draft::Draft7) => {
            not_text(value)
        }
        "properties" | "patternProperties" | "dependencies" => not_object(value),
        "dependentSchemas" if draft >= Draft::Draft201909 => not_object(value),
        "dependentRequired" if draft >= Draft::Draft201909 => dependent_required(value),
        _ => None,
    }
}

/// Whether a `required` of one or two names is applied together with `properties`; its elements are not looked at
/// then.
fn is_unread(members: &Object, required: &Json) -> bool {
    const FEW: usize = 15;
    let properties = members.get("properties");
    if members.get("patternProperties").is_some() || properties.is_none() {
        return false;
    }
    match (required.as_array().map(<[Json]>::len), members.get("additionalProperties")) {
        (Some(1), Some(Json::Bool(false))) => true,
        (Some(2), Some(Json::Bool(false) | Json::Object(_))) => false,
        (Some(2), _) => properties.and_then(Json::as_object).is_some_and(|properties| properties.len() < FEW),
        _ => false,
    }
}

/// The list of a `required`.
pub(super) fn names(value: &Json) -> Option<String> {
    match value {
        Json::Array(names) => names.iter().find_map(not_text),
        other => Some(not(other, "array")),
    }
}

fn dependent_required(value: &Json) -> Option<String> {
    let Some(lists) = value.as_object() else {
        return not_object(value);
    };
    lists.iter().find_map(|(_, list)| match list {
        Json::Array(elements) if !are_different(elements) => Some(format!("{list} has non-unique elements")),
        list => names(list),
    })
}

fn types(value: &Json) -> Option<String> {
    let is_known = |name: &str| TYPE_NAMES.contains(&name);
    let single = |name: &str| (!is_known(name)).then(|| "Unexpected type".to_owned());
    match value {
        Json::String(name) => single(name),
        Json::Array(names) => match &names[..] {
            [Json::String(name)] => single(name),
            names => names.iter().find_map(|name| match name {
                Json::String(text) if is_known(text) => None,
                Json::String(_) => {
                    Some(format!("{name} is not one of \"array\", \"boolean\" or 5 other candidates"))
                }
                other => Some(not(other, "string")),
            }),
        },
        other => Some(format!("{other} is not of types \"string\", \"array\"")),
    }
}

/// Whether `number` can be the size of something.
fn size(draft: Draft, value: &Json) -> Option<String> {
    match value {
        Json::Number(Number::Unsigned(_)) => None,
        Json::Number(Number::Negative(_)) => Some(format!("{value} is less than the minimum of 0")),
        Json::Number(Number::Float(n)) if is_integer(draft, *n) && *n >= 0.0 => None,
        other => Some(not(other, "integer")),
    }
}

/// Whether a double counts as an integer. The oldest draft wants integers written without a fraction; one too long
/// for an integer type looks the same as a double.
pub(super) fn is_integer(draft: Draft, number: f64) -> bool {
    const PAST_ALL_INTEGERS: f64 = 18_446_744_073_709_551_616.0;
    number.fract() == 0.0 && (draft != Draft::Draft4 || number.abs() >= PAST_ALL_INTEGERS)
}

fn not(value: &Json, kind: &str) -> String {
    format!("{value} is not of type \"{kind}\"")
}

fn not_array(value: &Json) -> Option<String> {
    value.as_array().is_none().then(|| not(value, "array"))
}

fn not_object(value: &Json) -> Option<String> {
    value.as_object().is_none().then(|| not(value, "object"))
}

fn not_text(value: &Json) -> Option<String> {
    value.as_str().is_none().then(|| not(value, "string"))
}

fn not_number(value: &Json) -> Option<String> {
    (!matches!(value, Json::Number(_))).then(|| not(value, "number"))
}

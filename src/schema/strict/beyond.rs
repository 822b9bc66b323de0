//! What the official shape has no place for: definitions with references to them, and other schemas that are closed
//! as well as that goes.

use std::collections::HashSet;

use crate::json::{Json, Object};

/// Closes the objects of a schema that the official shape has no place for. An object that says itself what else
/// it allows stays open.
pub(super) fn close(schema: &Json) -> Json {
    let Some(members) = schema.as_object() else {
        return schema.clone();
    };
    let mut closed: Object =
        members.iter().map(|(key, value)| (key.to_owned(), close_keyword(key, value))).collect();
    let is_object = members.get("type").and_then(Json::as_str) == Some("object");
    let is_open = !matches!(members.get("additionalProperties"), None | Some(Json::Null | Json::Bool(false)));
    if is_object && !is_open {
        let properties = members.get("properties").and_then(Json::as_object);
        let names = properties.into_iter().flat_map(Object::iter).map(|(name, _)| Json::from(name));
        let names: Vec<Json> = names.collect();
        closed.insert("additionalProperties", false.into());
        closed.insert("required", names.into());
    }
    closed.into()
}

/// Closes the schemas in the value of a keyword, as far as closing them cannot turn the meaning round: not under
/// `not` and `if`, and not under `allOf`, whose closed branches would exclude each other.
pub(super) fn close_keyword(key: &str, value: &Json) -> Json {
    match (key, value) {
        ("properties" | "patternProperties" | "$def" | "$defs" | "definitions", Json::Object(schemas)) => {
            schemas.iter().map(|(name, schema)| (name.to_owned(), close(schema))).collect::<Object>().into()
        }
        ("items" | "prefixItems" | "anyOf" | "oneOf", Json::Array(schemas)) => {
            schemas.iter().map(close).collect::<Vec<_>>().into()
        }
        ("items", schema) => close(schema),
        _ => value.clone(),
    }
}

/// The addresses of the objects with definitions into which a `$ref` of `schema` points.
pub(super) fn referenced(schema: &Json) -> HashSet<usize> {
    let mut holders = HashSet::new();
    collect_holders(schema, &mut holders);
    let find = |holder: &&str| {
        holder.split('/').skip(1).try_fold(schema, |place, token| {
            let key = token.replace("~1", "/").replace("~0", "~");
            match place {
                Json::Array(elements) => elements.get(key.parse::<usize>().ok()?),
                other => other.get(&key),
            }
        })
    };
    holders.iter().filter_map(find).map(address).collect()
}

/// Collects the pointers of objects with definitions from the `$ref`s in `json`.
fn collect_holders<'j>(json: &'j Json, holders: &mut HashSet<&'j str>) {
    match json {
        Json::Array(elements) => elements.iter().for_each(|element| collect_holders(element, holders)),
        Json::Object(members) => {
            for (key, value) in members.iter() {
                match value.as_str().and_then(|reference| reference.strip_prefix('#')) {
                    Some(pointer) if key == "$ref" => {
                        for keyword in ["/$defs/", "/definitions/"] {
                            let ends = pointer.match_indices(keyword).map(|(at, _)| at + keyword.len() - 1);
                            holders.extend(ends.take(MAX_HOLDERS).map(|end| &pointer[..end]));
                        }
                    }
                    _ => collect_holders(value, holders),
                }
            }
        }
        _ => {}
    }
}

/// How many objects with definitions one pointer can lead through; JSON nests no deeper.
const MAX_HOLDERS: usize = 64;

pub(super) fn address(json: &Json) -> usize {
    std::ptr::from_ref(json) as usize
}

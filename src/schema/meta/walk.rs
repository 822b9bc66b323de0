//! Where a schema has schemas inside it.

use super::drafts::Draft;
use crate::json::{Json, Object};
use crate::schema::pointer::Step;

/// The forms in which a keyword can hold schemas.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum Holds {
    One,
    /// One if it is an object.
    OneObject,
    Array,
    OneOrArray,
    ByName,
    /// The objects among the values.
    ObjectsByName,
}

/// Which schemas `keyword` holds as far as identifiers, anchors and references are concerned.
pub(super) fn holds(draft: Draft, keyword: &str) -> Option<Holds> {
    use Draft::{Draft4, Draft6, Draft7, Draft201909, Draft202012, Unknown};
    let newest = matches!(draft, Draft202012 | Unknown);
    Some(match keyword {
        "allOf" | "anyOf" | "oneOf" => Holds::Array,
        "definitions" | "patternProperties" | "properties" => Holds::ByName,
        "not" => Holds::One,
        "additionalProperties" if draft == Draft4 => Holds::OneObject,
        "additionalProperties" => Holds::One,
        "additionalItems" if draft == Draft4 => Holds::OneObject,
        "additionalItems" if !newest => Holds::One,
        "items" if newest => Holds::One,
        "items" => Holds::OneOrArray,
        "dependencies" if !newest => Holds::ObjectsByName,
        "contains" | "propertyNames" => Holds::One,
        "if" | "then" | "else" if draft != Draft6 => Holds::One,
        "contentSchema" | "unevaluatedItems" | "unevaluatedProperties"
            if !matches!(draft, Draft6 | Draft7) =>
        {
            Holds::One
        }
        "prefixItems" if newest || draft == Draft4 => Holds::Array,
        "$defs" | "dependentSchemas" if newest || matches!(draft, Draft4 | Draft201909) => Holds::ByName,
        _ => return None,
    })
}

/// A schema directly inside another one: its place and its draft.
pub(super) struct Child<'s> {
    pub(super) keyword: &'s str,
    pub(super) inner: Option<Step<'s>>,
    pub(super) draft: Draft,
    pub(super) schema: &'s Json,
}

/// The schemas directly inside a schema.
pub(super) fn children(draft: Draft, members: &Object) -> Vec<Child<'_>> {
    let mut found = Vec::new();
    for (keyword, value) in members.iter() {
        let Some(holds) = holds(draft, keyword) else { continue };
        let mut add = |inner, schema| {
            found.push(Child { keyword, inner, draft: own_draft(draft, schema), schema });
        };
        match (holds, value) {
            (Holds::One, _) | (Holds::OneOrArray | Holds::OneObject, Json::Object(_)) => add(None, value),
            (Holds::Array | Holds::OneOrArray, Json::Array(schemas)) => {
                schemas.iter().enumerate().for_each(|(index, schema)| add(Some(Step::Index(index)), schema));
            }
            (Holds::ByName | Holds::ObjectsByName, Json::Object(schemas)) => {
                for (name, schema) in schemas.iter() {
                    if matches!(holds, Holds::ByName) || schema.as_object().is_some() {
                        add(Some(Step::Key(name)), schema);
                    }
                }
            }
            _ => {}
        }
    }
    found
}

/// The draft of `schema`, which stands inside one of `draft`.
pub(in crate::schema) fn own_draft(draft: Draft, schema: &Json) -> Draft {
    schema.get("$schema").and_then(Json::as_str).map_or(draft, Draft::named)
}

/// Whether nothing in a document refers to a schema or can be referred to, but for the root. Where it is in doubt, it is
/// not so.
pub(super) fn names_nothing(root: &Json) -> bool {
    fn says_nothing((key, value): (&str, &Json)) -> bool {
        !key.starts_with('$') && (key != "id" || value.as_str().is_none()) && is_plain(value)
    }
    fn is_plain(value: &Json) -> bool {
        match value {
            Json::Array(elements) => elements.iter().all(is_plain),
            Json::Object(members) => members.iter().all(says_nothing),
            _ => true,
        }
    }
    let is_draft = |(key, value): (&str, &Json)| key == "$schema" && value.as_str().is_some();
    root.as_object()
        .is_some_and(|members| members.iter().all(|member| is_draft(member) || says_nothing(member)))
}

/// The identifier of a schema, unless it only names an anchor.
pub(in crate::schema) fn identifier(draft: Draft, members: &Object) -> Option<&str> {
    let keyword = if draft == Draft::Draft4 { "id" } else { "$id" };
    let id = members.get(keyword)?.as_str()?;
    if draft.is_classic() && (id.starts_with('#') || members.get("$ref").is_some()) {
        return None;
    }
    Some(id)
}

/// Collects the schemas inside `schema` that have a draft other than `outer` and an identifier.
pub(super) fn foreign<'s>(draft: Draft, outer: Draft, schema: &'s Json, found: &mut Vec<(Draft, &'s Json)>) {
    let Some(members) = schema.as_object() else { return };
    for child in children(draft, members) {
        let named = child.schema.as_object().is_some_and(|members| {
            identifier(draft, members).is_some() || identifier(child.draft, members).is_some()
        });
        if named && child.draft != outer && child.draft != Draft::Unknown {
            found.push((child.draft, child.schema));
        } else {
            foreign(child.draft, outer, child.schema, found);
        }
    }
}

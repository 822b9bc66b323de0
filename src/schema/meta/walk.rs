//! Where a schema has schemas inside it.

use super::drafts::Draft;
use crate::json::{Json, Object};

/// The forms in which a keyword can hold schemas.
#[derive(Clone, Copy)]
enum Holds {
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
fn holds(draft: Draft, keyword: &str) -> Option<Holds> {
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

/// Calls `visit` with every schema directly inside a schema and its draft.
pub(super) fn children<'s, E>(
    draft: Draft,
    members: &'s Object,
    visit: &mut dyn FnMut(Draft, &'s Json) -> Result<(), E>,
) -> Result<(), E> {
    let mut visit = |schema: &'s Json| visit(own_draft(draft, schema), schema);
    for (keyword, value) in members.iter() {
        let Some(holds) = holds(draft, keyword) else { continue };
        match (holds, value) {
            (Holds::One, _) | (Holds::OneOrArray, Json::Object(_)) | (Holds::OneObject, Json::Object(_)) => {
                visit(value)?;
            }
            (Holds::Array | Holds::OneOrArray, Json::Array(schemas)) => {
                schemas.iter().try_for_each(&mut visit)?
            }
            (Holds::ByName, Json::Object(schemas)) => {
                schemas.iter().try_for_each(|(_, schema)| visit(schema))?;
            }
            (Holds::ObjectsByName, Json::Object(schemas)) => {
                let mut objects = schemas.iter().filter(|(_, schema)| schema.as_object().is_some());
                objects.try_for_each(|(_, schema)| visit(schema))?;
            }
            _ => {}
        }
    }
    Ok(())
}

/// The draft of `schema`, which stands inside one of `draft`.
pub(super) fn own_draft(draft: Draft, schema: &Json) -> Draft {
    schema.get("$schema").and_then(Json::as_str).map_or(draft, Draft::named)
}

/// The identifier of a schema, unless it only names an anchor.
pub(super) fn identifier(draft: Draft, members: &Object) -> Option<&str> {
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
    let visited = children(draft, members, &mut |own, schema| {
        let named = schema.as_object().is_some_and(|members| {
            identifier(draft, members).is_some() || identifier(own, members).is_some()
        });
        if named && own != outer && own != Draft::Unknown {
            found.push((own, schema));
        } else {
            foreign(own, outer, schema, found);
        }
        Ok::<(), std::convert::Infallible>(())
    });
    match visited {
        Ok(()) => {}
    }
}

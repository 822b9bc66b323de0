//! Schemas that are valid at first sight.
//!
//! The schemas of most tools consist of a few keywords that nearly all drafts know, and refer to nothing. For them one
//! look at each keyword says what the two passes over any schema would say. What is not recognised here is not wrong:
//! it is left to those.

use super::drafts::Draft;
use super::rules::{TYPE_NAMES, are_different};
use crate::json::{Json, Number, Object};

/// Whether a document is certainly a valid schema.
pub(super) fn is_plain(draft: Draft, root: &Json) -> bool {
    matches!(draft, Draft::Draft6 | Draft::Draft7 | Draft::Draft201909 | Draft::Draft202012)
        && root.as_object().is_some_and(|members| {
            members.iter().all(|(keyword, value)| match keyword {
                // It has named the draft, so it is a URI, unless its end was trimmed for that.
                "$schema" => value.as_str().is_some_and(|uri| !uri.ends_with("##")),
                _ => is_plain_member(keyword, value),
            })
        })
}

fn is_plain_schema(schema: &Json) -> bool {
    match schema {
        Json::Bool(_) => true,
        Json::Object(members) => is_plain_object(members),
        _ => false,
    }
}

fn is_plain_object(members: &Object) -> bool {
    members.iter().all(|(keyword, value)| is_plain_member(keyword, value))
}

/// Whether every draft from the sixth on takes this value, and nothing about it refers to anything.
fn is_plain_member(keyword: &str, value: &Json) -> bool {
    match keyword {
        "description" | "title" | "format" => value.as_str().is_some(),
        "type" => value.as_str().is_some_and(|name| TYPE_NAMES.contains(&name)),
        "properties" => value.as_object().is_some_and(|schemas| {
            let mut schemas = schemas.iter();
            schemas.all(|(_, schema)| is_plain_schema(schema))
        }),
        "items" | "additionalProperties" | "not" => is_plain_schema(value),
        "allOf" | "anyOf" | "oneOf" => {
            value.as_array().is_some_and(|schemas| !schemas.is_empty() && schemas.iter().all(is_plain_schema))
        }
        "required" => value
            .as_array()
            .is_some_and(|names| names.iter().all(|name| name.as_str().is_some()) && are_different(names)),
        "enum" | "examples" => value.as_array().is_some(),
        "default" | "const" => true,
        "minimum" | "maximum" | "exclusiveMinimum" | "exclusiveMaximum" => matches!(value, Json::Number(_)),
        "multipleOf" => matches!(value, Json::Number(number) if number.as_f64() > 0.0),
        "minLength" | "maxLength" | "minItems" | "maxItems" | "minProperties" | "maxProperties" => {
            matches!(value, Json::Number(Number::Unsigned(_)))
        }
        "uniqueItems" => matches!(value, Json::Bool(_)),
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::schema::meta::{check, check_wholly};

    /// Schemas from these keywords and values, at random: some plain, some valid, some neither.
    fn schema(numbers: &mut impl FnMut(u64) -> u64, depth: u32) -> Json {
        const KEYWORDS: [&str; 28] = [
            "description",
            "title",
            "type",
            "properties",
            "items",
            "additionalProperties",
            "not",
            "allOf",
            "anyOf",
            "oneOf",
            "required",
            "enum",
            "examples",
            "default",
            "const",
            "minimum",
            "exclusiveMaximum",
            "maxLength",
            "minItems",
            "maxProperties",
            "uniqueItems",
            "$schema",
            "pattern",
            "$ref",
            "dependencies",
            "$id",
            "format",
            "multipleOf",
        ];
        const VALUES: [&str; 20] = [
            "\"string\"",
            "\"object\"",
            "\"strings\"",
            "[\"a\",\"b\"]",
            "[\"a\",\"a\"]",
            "[]",
            "[1]",
            "true",
            "null",
            "3",
            "-1",
            "2.5",
            "2.0",
            "{\"a\":1}",
            "\"#\"",
            "\"http://json-schema.org/draft-07/schema#\"",
            "\"http://json-schema.org/draft-07/schema##\"",
            "\"http://json-schema.org/draft-04/schema#\"",
            "\"[\"",
            "{\"a\":[\"b\"]}",
        ];
        let mut members = Object::new();
        for _ in 0..numbers(4) {
            let keyword = KEYWORDS[numbers(28) as usize];
            let value = match keyword {
                "properties" if depth > 0 && numbers(6) > 0 => Json::Object(
                    [("a", schema(numbers, depth - 1)), ("b", schema(numbers, depth - 1))]
                        .into_iter()
                        .collect(),
                ),
                "allOf" | "anyOf" | "oneOf" if depth > 0 && numbers(6) > 0 => {
                    Json::Array(vec![schema(numbers, depth - 1)])
                }
                "items" | "additionalProperties" | "not" if depth > 0 && numbers(6) > 0 => {
                    schema(numbers, depth - 1)
                }
                _ => Json::parse(VALUES[numbers(20) as usize].as_bytes()).expect("it is JSON"),
            };
            members.insert(keyword, value);
        }
        Json::Object(members)
    }

    #[test]
    fn plain_schemas_are_valid() {
        let mut state = 1u64;
        let mut numbers = |limit: u64| {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            (state >> 33) % limit
        };
        let (mut plain, mut valid, mut invalid) = (0, 0, 0);
        for _ in 0..200_000 {
            let schema = schema(&mut numbers, 3);
            let draft = super::super::walk::own_draft(Draft::Draft202012, &schema);
            let whole = check_wholly(draft, &schema);
            match (is_plain(draft, &schema), whole.is_ok()) {
                (true, true) => plain += 1,
                (true, false) => panic!("{schema}: {whole:?}"),
                (false, true) => valid += 1,
                (false, false) => invalid += 1,
            }
            assert_eq!(check(&schema), whole);
        }
        assert!(plain > 20_000 && valid > 2_000 && invalid > 20_000, "{plain} {valid} {invalid}");
    }
}

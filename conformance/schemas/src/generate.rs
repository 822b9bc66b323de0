//! Schemas: mostly valid ones, and small damages to them.

use serde_json::{Map, Value, json};

use crate::dice::Dice;
use crate::patterns;

const DRAFTS: [&str; 11] = [
    "https://json-schema.org/draft/2020-12/schema",
    "https://json-schema.org/draft/2020-12/schema#",
    "https://json-schema.org/draft/2019-09/schema",
    "http://json-schema.org/draft-07/schema#",
    "http://json-schema.org/draft-07/schema",
    "http://json-schema.org/draft-06/schema#",
    "http://json-schema.org/draft-04/schema#",
    "http://json-schema.org/schema#",
    "https://example.com/my-schema",
    "draft-07",
    "https://json-schema.org/draft/2020-12/meta/core",
];

const NAMES: [&str; 14] =
    ["a", "b", "name", "city", "$ref", "type", "items", "a/b", "c~d", "ü", "x y", "properties", "enum", "id"];

const REFERENCES: [&str; 34] = [
    "#",
    "#/$defs/a",
    "#/$defs/b",
    "#/definitions/a",
    "#/definitions/b",
    "#/properties/a",
    "#/$defs/missing",
    "#/definitions/none",
    "#a",
    "#node",
    "#/items/0",
    "#/allOf/0",
    "#/allOf/x",
    "#/$defs/a~1b",
    "#/$defs/%61",
    "#/$defs/x y",
    "#/a%FFb",
    "",
    "http://example.com/other.json",
    "https://example.com/s.json#/definitions/x",
    "other.json",
    "./sub/other.json#/x",
    "item",
    "http://json-schema.org/draft-07/schema#",
    "https://json-schema.org/draft/2020-12/schema",
    "urn:example:thing",
    "#/$defs",
    "#/x-extra",
    "not a uri",
    "#%zz",
    "http://[::1",
    "child#",
    "child#node",
    "#/required",
];

const IDS: [&str; 12] = [
    "https://example.com/root.json",
    "http://example.com/child",
    "child",
    "item",
    "#node",
    "#a",
    "urn:example:root",
    "https://example.com/a#frag",
    "not a uri",
    "https://example.com/root#",
    "",
    ":bad",
];

/// A schema of some draft.
pub fn schema(dice: &mut Dice) -> Value {
    let draft = match dice.below(12) {
        0 => Some(*dice.pick(&DRAFTS)),
        1..=3 => Some(*dice.pick(&DRAFTS[..8])),
        _ => None,
    };
    let mut schema = if dice.once_in(40) { scalar(dice) } else { node(dice, 4) };
    if let (Some(draft), Value::Object(members)) = (draft, &mut schema) {
        members.insert("$schema".into(), draft.into());
    }
    if let Value::Object(members) = &mut schema {
        for key in ["$defs", "definitions"] {
            if dice.once_in(2) {
                let mut schemas = by_name(dice, 2);
                for name in ["a", "b"] {
                    if !dice.once_in(8) && schemas.get(name).is_none() {
                        schemas[name] = node(dice, 1);
                    }
                }
                members.insert(key.into(), schemas);
            }
        }
    }
    schema
}

fn node(dice: &mut Dice, depth: usize) -> Value {
    if dice.once_in(12) {
        return Value::Bool(!dice.once_in(4));
    }
    let mut members = Map::new();
    if dice.once_in(2) {
        return typed(dice, depth);
    }
    for _ in 0..=dice.below(4) {
        let (key, value) = keyword(dice, depth);
        members.insert(key.into(), value);
    }
    Value::Object(members)
}

/// What schemas of tools look like.
fn typed(dice: &mut Dice, depth: usize) -> Value {
    let kinds = ["object", "array", "string", "number", "integer", "boolean", "null"];
    let kind = *dice.pick(if depth == 0 { &kinds[2..] } else { &kinds });
    let mut members = Map::new();
    members.insert("type".into(), kind.into());
    if dice.once_in(3) {
        members.insert("description".into(), "What it is for.".into());
    }
    match kind {
        "object" => {
            let mut properties = Map::new();
            for _ in 0..1 + dice.below(3) {
                let name = if dice.once_in(6) { *dice.pick(&NAMES) } else { *dice.pick(&NAMES[..4]) };
                properties.insert(name.into(), node(dice, depth - 1));
            }
            let mut required: Vec<Value> = properties.keys().map(|key| key.as_str().into()).collect();
            if dice.once_in(3) {
                required.truncate(1);
            }
            members.insert("properties".into(), Value::Object(properties));
            if dice.once_in(2) {
                members.insert("required".into(), required.into());
            }
            if dice.once_in(2) {
                members.insert("additionalProperties".into(), false.into());
            }
        }
        "array" => {
            members.insert("items".into(), node(dice, depth - 1));
        }
        _ => {}
    }
    for _ in 0..dice.below(3) {
        let (key, value) = keyword(dice, depth);
        members.insert(key.into(), value);
    }
    Value::Object(members)
}

fn by_name(dice: &mut Dice, depth: usize) -> Value {
    let mut members = Map::new();
    for _ in 0..dice.below(4) {
        let name = if dice.once_in(4) { *dice.pick(&NAMES) } else { *dice.pick(&NAMES[..2]) };
        members.insert(name.into(), node(dice, depth.saturating_sub(1)));
    }
    Value::Object(members)
}

fn list(dice: &mut Dice, depth: usize) -> Value {
    let count = if dice.once_in(30) { 0 } else { 1 + dice.below(3) };
    (0..count).map(|_| node(dice, depth.saturating_sub(1))).collect::<Vec<_>>().into()
}

fn keyword(dice: &mut Dice, depth: usize) -> (&'static str, Value) {
    let deep: &[&str] = if depth == 0 {
        &[]
    } else {
        &[
            "properties",
            "patternProperties",
            "additionalProperties",
            "items",
            "prefixItems",
            "additionalItems",
            "contains",
            "allOf",
            "anyOf",
            "oneOf",
            "not",
            "if",
            "then",
            "else",
            "propertyNames",
            "dependentSchemas",
            "dependencies",
            "unevaluatedItems",
            "unevaluatedProperties",
            "contentSchema",
            "$defs",
            "definitions",
            "$def",
            "x-extra",
        ]
    };
    let flat = [
        "type",
        "enum",
        "const",
        "required",
        "minLength",
        "maxLength",
        "minItems",
        "maxItems",
        "minProperties",
        "maxProperties",
        "minContains",
        "uniqueItems",
        "minimum",
        "maximum",
        "exclusiveMinimum",
        "exclusiveMaximum",
        "multipleOf",
        "pattern",
        "format",
        "title",
        "description",
        "default",
        "examples",
        "deprecated",
        "readOnly",
        "$comment",
        "$ref",
        "$dynamicRef",
        "$recursiveRef",
        "$id",
        "id",
        "$anchor",
        "$dynamicAnchor",
        "$recursiveAnchor",
        "dependentRequired",
        "contentEncoding",
        "contentMediaType",
        "$vocabulary",
        "$schema",
    ];
    let at = dice.below(flat.len() + deep.len());
    let key = if at < flat.len() { flat[at] } else { deep[at - flat.len()] };
    let value = match key {
        "properties" | "$defs" | "definitions" | "dependentSchemas" | "$def" => by_name(dice, depth),
        "patternProperties" => {
            let mut members = Map::new();
            for _ in 0..1 + dice.below(2) {
                members.insert(patterns::pattern(dice), node(dice, depth - 1));
            }
            Value::Object(members)
        }
        "dependencies" => {
            let value = if dice.once_in(2) { node(dice, depth - 1) } else { names(dice) };
            json!({ "a": value })
        }
        "items" if dice.once_in(4) => list(dice, depth),
        "allOf" | "anyOf" | "oneOf" | "prefixItems" => list(dice, depth),
        "additionalProperties" if dice.once_in(2) => Value::Bool(dice.once_in(2)),
        "type" => {
            let kinds = ["object", "array", "string", "number", "integer", "boolean", "null", "any", "file"];
            if dice.once_in(3) {
                (0..=dice.below(2)).map(|_| Value::from(*dice.pick(&kinds[..8]))).collect::<Vec<_>>().into()
            } else {
                (*dice.pick(&kinds)).into()
            }
        }
        "enum" => (0..dice.below(4)).map(|_| scalar(dice)).collect::<Vec<_>>().into(),
        "const" | "default" => scalar(dice),
        "required" => names(dice),
        "dependentRequired" => json!({ "a": names(dice) }),
        "uniqueItems" | "deprecated" | "readOnly" | "$recursiveAnchor" => dice.once_in(2).into(),
        "minLength" | "maxLength" | "minItems" | "maxItems" | "minProperties" | "maxProperties"
        | "minContains" => {
            if dice.once_in(5) {
                number(dice)
            } else {
                dice.below(20).into()
            }
        }
        "exclusiveMinimum" | "exclusiveMaximum" if dice.once_in(3) => dice.once_in(2).into(),
        "minimum" | "maximum" | "exclusiveMinimum" | "exclusiveMaximum" | "multipleOf" => number(dice),
        "pattern" => patterns::pattern(dice).into(),
        "format" => (*dice.pick(&[
            "date-time",
            "email",
            "hostname",
            "ipv4",
            "ipv6",
            "uri",
            "uuid",
            "regex",
            "my-format",
        ]))
        .into(),
        "$ref" => {
            let count = if dice.once_in(8) { REFERENCES.len() } else { 6 };
            (*dice.pick(&REFERENCES[..count])).into()
        }
        "$dynamicRef" | "$recursiveRef" => (*dice.pick(&REFERENCES[..10])).into(),
        "$id" | "id" => {
            let count = if dice.once_in(4) { IDS.len() } else { 4 };
            (*dice.pick(&IDS[..count])).into()
        }
        "$anchor" | "$dynamicAnchor" => (*dice.pick(&["node", "a", "_x", "9", "a b", "a:b", "ü", ""])).into(),
        "$schema" => (*dice.pick(&DRAFTS[..8])).into(),
        "$vocabulary" => json!({"https://json-schema.org/draft/2020-12/vocab/core": true}),
        "examples" => vec![scalar(dice)].into(),
        "contentEncoding" => "base64".into(),
        "contentMediaType" => "application/json".into(),
        "title" | "description" | "$comment" => "Text with \"quotes\" and ü.".into(),
        _ => node(dice, depth.saturating_sub(1)),
    };
    (key, value)
}

fn names(dice: &mut Dice) -> Value {
    (0..dice.below(3)).map(|_| Value::from(*dice.pick(&NAMES[..4]))).collect::<Vec<_>>().into()
}

fn number(dice: &mut Dice) -> Value {
    let numbers = [
        json!(0),
        json!(1),
        json!(5),
        json!(-1),
        json!(0.5),
        json!(1.0),
        json!(-0.0),
        json!(1e300),
        json!(1e-7),
        json!(1e16),
        json!(u64::MAX),
        json!(i64::MIN),
        json!(3.25),
    ];
    dice.pick(&numbers).clone()
}

pub fn scalar(dice: &mut Dice) -> Value {
    match dice.below(8) {
        0 => Value::Null,
        1 => dice.once_in(2).into(),
        2 | 3 => number(dice),
        4 => json!({}),
        5 => json!([]),
        6 => json!(["a", 1]),
        _ => (*dice.pick(&["", "a", "text", "string", "#"])).into(),
    }
}

/// Changes one place of `json`.
pub fn damage(json: &mut Value, dice: &mut Dice) {
    let count = places(json);
    let mut at = dice.below(count);
    change(json, &mut at, dice);
}

fn places(json: &Value) -> usize {
    1 + match json {
        Value::Array(elements) => elements.iter().map(places).sum(),
        Value::Object(members) => members.values().map(places).sum(),
        _ => 0,
    }
}

fn change(json: &mut Value, at: &mut usize, dice: &mut Dice) -> bool {
    if *at == 0 {
        replace(json, dice);
        return true;
    }
    *at -= 1;
    match json {
        Value::Array(elements) => elements.iter_mut().any(|element| change(element, at, dice)),
        Value::Object(members) => members.values_mut().any(|value| change(value, at, dice)),
        _ => false,
    }
}

fn replace(json: &mut Value, dice: &mut Dice) {
    match (dice.below(5), &mut *json) {
        (0, Value::Object(members)) => {
            let (key, value) = keyword(dice, 1);
            members.insert(key.into(), value);
        }
        (1, Value::Object(members)) if !members.is_empty() => {
            let key = members.keys().nth(dice.below(members.len())).cloned().unwrap_or_default();
            members.shift_remove(&key);
        }
        (0, Value::Array(elements)) if !elements.is_empty() => {
            let copy = elements[dice.below(elements.len())].clone();
            elements.push(copy);
        }
        (2, _) => *json = json!([json.clone()]),
        (3, _) => {
            let (key, value) = keyword(dice, 1);
            *json = json!({ key: value });
        }
        _ => *json = scalar(dice),
    }
}

/// A schema in the shape of strict schemas, more or less.
pub fn strict(dice: &mut Dice) -> Value {
    let mut schema = strict_node(dice, 3, "object");
    for key in ["$defs", "definitions"] {
        if dice.once_in(4) {
            schema[key] = json!({ "a": strict_part(dice, 1), "b": node(dice, 1) });
        }
    }
    schema
}

fn strict_part(dice: &mut Dice, depth: usize) -> Value {
    match dice.below(10) {
        0 => json!({ "$ref": *dice.pick(&["#/$defs/a", "#/definitions/b", "#"]) }),
        1 => json!({ "type": ["string", "null"], "description": "One of two." }),
        2 if depth > 0 => {
            let kinds = ["string", "integer", "null", "object", "array"];
            let branches: Vec<Value> = (0..1 + dice.below(3))
                .map(|_| {
                    let kind = *dice.pick(&kinds);
                    strict_node(dice, depth - 1, kind)
                })
                .collect();
            json!({ "anyOf": branches })
        }
        _ => {
            let kinds = ["string", "number", "integer", "boolean", "null", "object", "array"];
            let kind = *dice.pick(if depth == 0 { &kinds[..5] } else { &kinds });
            strict_node(dice, depth.saturating_sub(1), kind)
        }
    }
}

fn strict_node(dice: &mut Dice, depth: usize, kind: &str) -> Value {
    let mut members = Map::new();
    if dice.once_in(3) {
        members.insert("description".into(), "What it is for.".into());
    }
    members.insert("type".into(), kind.into());
    match kind {
        "object" => {
            let mut properties = Map::new();
            for _ in 0..1 + dice.below(3) {
                properties.insert((*dice.pick(&NAMES)).into(), strict_part(dice, depth));
            }
            if dice.once_in(2) {
                members.insert("required".into(), properties.keys().cloned().collect::<Vec<_>>().into());
            }
            members.insert("properties".into(), Value::Object(properties));
            if dice.once_in(2) {
                members.insert("additionalProperties".into(), false.into());
            }
            if dice.once_in(8) {
                members.insert("$def".into(), json!({ "a": strict_part(dice, 0) }));
            }
        }
        "array" => {
            members.insert("items".into(), strict_part(dice, depth));
        }
        "string" if dice.once_in(2) => {
            let (key, value) = [
                ("format", json!(*dice.pick(&["email", "uuid", "ipv4", "date-time"]))),
                ("pattern", json!("^a")),
                ("enum", json!(["a", "b"])),
                ("minLength", json!(1)),
            ][dice.below(4)]
            .clone();
            members.insert(key.into(), value);
        }
        "number" | "integer" => {
            for key in ["minimum", "exclusiveMaximum", "default", "const", "multipleOf"] {
                if dice.once_in(5) {
                    members.insert(
                        key.into(),
                        if dice.once_in(2) { dice.below(9).into() } else { number(dice) },
                    );
                }
            }
        }
        _ => {}
    }
    if dice.once_in(10) {
        let (key, value) = keyword(dice, 1);
        members.insert(key.into(), value);
    }
    Value::Object(members)
}

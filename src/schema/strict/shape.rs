//! The shape of strict schemas as the official conversion reads it, and its words for what does not fit.

use crate::json::{Json, Number};

/// The keywords kept for one type, in the order in which they are written.
pub(super) struct Type {
    pub(super) name: &'static str,
    /// The name in messages about the shape.
    pub(super) variant: &'static str,
    pub(super) keywords: &'static [(&'static str, Kind)],
}

/// What the value of a kept keyword is. All but `Schema` are optional, and `null` is the same as absent.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum Kind {
    Text,
    Texts,
    Format,
    Flag,
    Number,
    Integer,
    /// A schema; required.
    Schema,
    /// Schemas by name.
    Schemas,
}

pub(super) const TYPES: [Type; 7] = [
    Type {
        name: "object",
        variant: "Object",
        keywords: &[
            ("properties", Kind::Schemas),
            ("additionalProperties", Kind::Flag),
            ("required", Kind::Texts),
            ("description", Kind::Text),
            ("$def", Kind::Schemas),
        ],
    },
    Type {
        name: "string",
        variant: "String",
        keywords: &[
            ("description", Kind::Text),
            ("pattern", Kind::Text),
            ("format", Kind::Format),
            ("enum", Kind::Texts),
        ],
    },
    Type { name: "number", variant: "Number", keywords: &numeric(Kind::Number) },
    Type { name: "integer", variant: "Integer", keywords: &numeric(Kind::Integer) },
    Type { name: "boolean", variant: "Boolean", keywords: &[("description", Kind::Text)] },
    Type {
        name: "array",
        variant: "Array",
        keywords: &[("items", Kind::Schema), ("description", Kind::Text)],
    },
    Type { name: "null", variant: "Null", keywords: &[("description", Kind::Text)] },
];

const fn numeric(kind: Kind) -> [(&'static str, Kind); 8] {
    [
        ("description", Kind::Text),
        ("const", kind),
        ("default", kind),
        ("minimum", kind),
        ("maximum", kind),
        ("exclusiveMinimum", kind),
        ("exclusiveMaximum", kind),
        ("multipleOf", kind),
    ]
}

/// The types a list of types may name.
pub(super) const SIMPLE: [&str; 5] = ["string", "number", "integer", "boolean", "null"];

/// The formats that are kept.
pub(super) const FORMATS: [&str; 5] = ["email", "hostname", "ipv4", "ipv6", "uuid"];

/// Reads one of `names`, given as a string or as an object with that one key.
pub(super) fn variant<'n>(value: &Json, names: &[&'n str]) -> Result<&'n str, String> {
    let (name, content) = match value {
        Json::String(name) => (name.as_str(), &Json::Null),
        Json::Object(members) => match members.iter().next() {
            Some(only) if members.len() == 1 => only,
            _ => return Err("invalid value: map, expected map with a single key".to_owned()),
        },
        other => return Err(mismatch(other, "string or map")),
    };
    let Some(name) = names.iter().find(|known| **known == name) else {
        let known = quoted(names.iter().copied());
        return Err(format!("unknown variant `{name}`, expected one of {known}"));
    };
    if *content == Json::Null { Ok(name) } else { Err(mismatch(content, "unit")) }
}

pub(super) fn quoted<'n>(names: impl Iterator<Item = &'n str>) -> String {
    names.map(|name| format!("`{name}`")).collect::<Vec<_>>().join(", ")
}

/// The official reader's words for a value of the wrong type.
pub(super) fn mismatch(value: &Json, expected: &str) -> String {
    let found = match value {
        Json::Null => "null".to_owned(),
        Json::Bool(value) => format!("boolean `{value}`"),
        Json::Number(Number::Float(_)) => format!("floating point `{value}`"),
        Json::Number(_) => format!("integer `{value}`"),
        Json::String(text) => format!("string {text:?}"),
        Json::Array(_) => "sequence".to_owned(),
        Json::Object(_) => "map".to_owned(),
    };
    format!("invalid type: {found}, expected {expected}")
}

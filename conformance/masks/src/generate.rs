//! Schemas over all keywords that masks know, most of them with instances.

use serde_json::{Map, Value, json};

use crate::dice::Dice;

/// Keys share beginnings, need escapes, and some are met by the patterns.
pub const KEYS: [&str; 10] = ["a", "b", "ab", "abc", "c", "x1", "x2", "é", "a\"b", ""];

const KEY_PATTERNS: [&str; 7] = ["^a", "b", "^x[0-9]+$", "c$", "^.$", "^[^a]", "^(a|b)+$"];

const PATTERNS: [&str; 26] = [
    "^[a-z]+$",
    "^\\d{2,3}$",
    "a",
    "^a|b$",
    "^(ab|cd)*$",
    "^[^\\s/]+/[^\\s/]+$",
    "^[A-Z][a-z]{0,4}$",
    "^.{3}$",
    "^\\S*$",
    "^\\w+@\\w+$",
    "x{2,}y?",
    "^(?!a)",
    "^(?=.*\\d)[a-f0-9]{1,5}$",
    "^(?!.*bb)[ab]*$",
    "^\\p{L}+$",
    "\\u00e9",
    "^[\\u4e00-\\u9fa5]{1,2}$",
    "^$",
    "^#[0-9a-fA-F]{3}$",
    "\\bfoo\\b",
    "^-?\\d+(\\.\\d+)?$",
    "^[ -~]*$",
    "^(?:a(?:b|c)?){1,2}$",
    "^[\\w.-]{1,20}$",
    "^a.c$",
    "\\\\",
];

pub const FORMATS: [&str; 20] = [
    "date",
    "time",
    "date-time",
    "email",
    "idn-email",
    "hostname",
    "idn-hostname",
    "ipv4",
    "ipv6",
    "uri",
    "uri-reference",
    "iri",
    "iri-reference",
    "uri-template",
    "json-pointer",
    "relative-json-pointer",
    "regex",
    "unknown-format",
    "duration",
    "uuid",
];

pub fn schema(dice: &mut Dice) -> Value {
    let old = dice.once_in(3);
    let mut generator = Generator { dice, old };
    let mut schema = generator.node(3);
    if let Value::Object(members) = &mut schema {
        if old {
            members.insert("$schema".into(), "http://json-schema.org/draft-07/schema#".into());
        }
        if schema.to_string().contains("\"$ref\"") {
            let key = if old { "definitions" } else { "$defs" };
            schema[key] = json!({ "p": generator.typed(1), "q": generator.node(2) });
        }
    }
    schema
}

struct Generator<'d> {
    dice: &'d mut Dice,
    /// Draft 7.
    old: bool,
}

impl Generator<'_> {
    fn once_in(&mut self, n: usize) -> bool {
        self.dice.once_in(n)
    }

    fn small(&mut self, most: usize) -> Value {
        self.dice.below(most + 1).into()
    }

    fn node(&mut self, depth: usize) -> Value {
        if depth == 0 || !self.once_in(3) {
            return self.typed(depth);
        }
        match self.dice.below(14) {
            0 => Value::Bool(!self.once_in(4)),
            1 => json!({ "enum": (0..=self.dice.below(4)).map(|_| scalar(self.dice)).collect::<Vec<_>>() }),
            2 => json!({ "const": scalar(self.dice) }),
            3 => {
                let name = if self.once_in(6) {
                    "#"
                } else if self.old {
                    "#/definitions/"
                } else {
                    "#/$defs/"
                };
                let name = if name == "#" {
                    name.to_owned()
                } else {
                    format!("{name}{}", self.dice.pick(&["p", "q"]))
                };
                let mut schema = json!({ "$ref": name });
                if self.once_in(3) {
                    merge(&mut schema, self.typed(depth - 1));
                }
                schema
            }
            4 => {
                let kinds = ["object", "array", "string", "number", "integer", "boolean", "null"];
                let first = *self.dice.pick(&kinds);
                let mut schema = json!({ "type": [first] });
                for _ in 0..=self.dice.below(2) {
                    let other = *self.dice.pick(&kinds);
                    if let Some(types) = schema["type"].as_array_mut()
                        && !types.iter().any(|kind| kind == other)
                    {
                        types.push(other.into());
                    }
                }
                let keywords = self.keywords_of(first, depth);
                let Value::Object(members) = &mut schema else { unreachable!() };
                members.extend(keywords);
                schema
            }
            5 => json!({ "not": self.node(depth - 1) }),
            6 => {
                let mut schema = json!({ "if": self.node(depth - 1) });
                if !self.once_in(4) {
                    schema["then"] = self.node(depth - 1);
                }
                if !self.once_in(3) {
                    schema["else"] = self.node(depth - 1);
                }
                schema
            }
            _ => {
                let key = *self.dice.pick(&["anyOf", "anyOf", "oneOf", "allOf"]);
                let branches: Vec<Value> =
                    (0..1 + self.dice.below(3)).map(|_| self.node(depth - 1)).collect();
                let mut schema = json!({ key: branches });
                if self.once_in(3) {
                    merge(&mut schema, self.typed(depth - 1));
                }
                schema
            }
        }
    }

    fn typed(&mut self, depth: usize) -> Value {
        let kinds = ["string", "integer", "number", "boolean", "null", "object", "array", "object", "array"];
        let kind = *self.dice.pick(if depth == 0 { &kinds[..5] } else { &kinds });
        let mut members = Map::new();
        if !self.once_in(6) {
            members.insert("type".into(), kind.into());
        }
        members.extend(self.keywords_of(kind, depth));
        for key in ["title", "description"] {
            if self.once_in(12) {
                members.insert(key.into(), "Text.".into());
            }
        }
        let mut schema = Value::Object(members);
        // Further keywords beside those of the type.
        if depth > 0 && self.once_in(6) {
            merge(&mut schema, self.node(depth - 1));
        }
        schema
    }

    fn keywords_of(&mut self, kind: &str, depth: usize) -> Map<String, Value> {
        let mut members = Map::new();
        match kind {
            "string" => self.string(&mut members),
            "integer" | "number" => self.number(&mut members),
            "object" if depth > 0 => self.object(&mut members, depth),
            "array" if depth > 0 => self.array(&mut members, depth),
            _ => {}
        }
        members
    }

    fn string(&mut self, members: &mut Map<String, Value>) {
        if self.once_in(4) {
            members.insert("minLength".into(), self.small(4));
        }
        if self.once_in(4) {
            members.insert("maxLength".into(), (4 + self.dice.below(8)).into());
        }
        if self.once_in(4) {
            members.insert("pattern".into(), (*self.dice.pick(&PATTERNS)).into());
        } else if self.once_in(6) {
            // Draft 7 does not know the last two, but masks take whoever names them at his word.
            let known = if self.old { FORMATS.len() - 2 } else { FORMATS.len() };
            members.insert("format".into(), (*self.dice.pick(&FORMATS[..known])).into());
        } else if self.once_in(6) {
            members.insert("enum".into(), json!(["a", "ab", "\n", "é😀", "\"\\"]));
        }
    }

    fn number(&mut self, members: &mut Map<String, Value>) {
        if self.once_in(3) {
            let key = *self.dice.pick(&["minimum", "exclusiveMinimum"]);
            members.insert(key.into(), self.bound(-1));
        }
        if self.once_in(3) {
            let key = *self.dice.pick(&["maximum", "exclusiveMaximum"]);
            members.insert(key.into(), self.bound(1));
        }
        if self.once_in(5) {
            let steps =
                [json!(2), json!(3), json!(10), json!(0.5), json!(0.01), json!(1), json!(2.5), json!(100)];
            members.insert("multipleOf".into(), self.dice.pick(&steps).clone());
        }
    }

    fn bound(&mut self, sign: i64) -> Value {
        let numbers = [0.0, 1.0, 5.0, 10.0, 99.0, 0.5, 3.25, 1000.0, 0.001, 1e6, 123.456];
        let number = *self.dice.pick(&numbers) * sign as f64 * if self.once_in(5) { -1.0 } else { 1.0 };
        if number.fract() == 0.0 && !self.once_in(5) { json!(number as i64) } else { json!(number) }
    }

    fn object(&mut self, members: &mut Map<String, Value>, depth: usize) {
        if !self.once_in(6) {
            let mut properties = Map::new();
            for _ in 0..1 + self.dice.below(3) {
                let key = *self.dice.pick(&KEYS);
                properties.insert(key.into(), self.node(depth - 1));
            }
            if self.once_in(2) {
                let mut required: Vec<&String> = properties.keys().collect();
                if self.once_in(2) {
                    required.truncate(1);
                }
                members.insert("required".into(), json!(required));
            }
            members.insert("properties".into(), Value::Object(properties));
        }
        if self.once_in(10) {
            members.insert("required".into(), json!([self.dice.pick(&KEYS)]));
        }
        match self.dice.below(6) {
            0 | 1 => {
                members.insert("additionalProperties".into(), false.into());
            }
            2 => {
                members.insert("additionalProperties".into(), self.node(depth - 1));
            }
            3 if !self.old && self.once_in(2) => {
                members.insert(
                    "unevaluatedProperties".into(),
                    if self.once_in(2) { false.into() } else { self.typed(0) },
                );
            }
            _ => {}
        }
        if self.once_in(6) {
            let mut patterns = Map::new();
            for _ in 0..1 + self.dice.below(2) {
                let pattern = *self.dice.pick(&KEY_PATTERNS);
                patterns.insert(pattern.into(), self.node(depth - 1));
            }
            members.insert("patternProperties".into(), Value::Object(patterns));
        }
        if self.once_in(10) {
            let names = if self.once_in(2) {
                json!({ "pattern": self.dice.pick(&KEY_PATTERNS) })
            } else {
                json!({ "maxLength": 2 })
            };
            members.insert("propertyNames".into(), names);
        }
        if self.once_in(8) {
            members.insert("minProperties".into(), self.small(3));
        }
        if self.once_in(8) {
            members.insert("maxProperties".into(), (1 + self.dice.below(4)).into());
        }
        if self.once_in(10) {
            let lists = json!({ *self.dice.pick(&KEYS): [self.dice.pick(&KEYS)] });
            members.insert(if self.old { "dependencies" } else { "dependentRequired" }.into(), lists);
        }
        if self.once_in(14) {
            let schemas = json!({ *self.dice.pick(&KEYS): self.typed(depth - 1) });
            members.insert(if self.old { "dependencies" } else { "dependentSchemas" }.into(), schemas);
        }
    }

    fn array(&mut self, members: &mut Map<String, Value>, depth: usize) {
        let first = if self.old { "items" } else { "prefixItems" };
        let rest = if self.old { "additionalItems" } else { "items" };
        match self.dice.below(4) {
            0 => {
                let items: Vec<Value> = (0..1 + self.dice.below(2)).map(|_| self.node(depth - 1)).collect();
                members.insert(first.into(), items.into());
                match self.dice.below(3) {
                    0 => {
                        members.insert(rest.into(), false.into());
                    }
                    1 => {
                        members.insert(rest.into(), self.node(depth - 1));
                    }
                    _ => {}
                }
            }
            1 | 2 => {
                members.insert("items".into(), self.node(depth - 1));
            }
            _ => {}
        }
        if self.once_in(4) {
            members.insert("minItems".into(), self.small(3));
        }
        if self.once_in(4) {
            members.insert("maxItems".into(), (1 + self.dice.below(4)).into());
        }
        if self.once_in(6) {
            members.insert("uniqueItems".into(), (!self.once_in(5)).into());
        }
        if self.once_in(7) {
            members.insert("contains".into(), self.node(depth - 1));
            if !self.old && self.once_in(3) {
                members.insert("minContains".into(), self.small(2));
            }
            if !self.old && self.once_in(3) {
                members.insert("maxContains".into(), (1 + self.dice.below(2)).into());
            }
        }
        if !self.old && self.once_in(12) {
            members.insert("unevaluatedItems".into(), false.into());
        }
    }
}

/// Adds the keywords of `other` that `schema` does not have.
fn merge(schema: &mut Value, other: Value) {
    if let (Value::Object(members), Value::Object(other)) = (schema, other) {
        for (key, value) in other {
            members.entry(key).or_insert(value);
        }
    }
}

pub fn scalar(dice: &mut Dice) -> Value {
    match dice.below(9) {
        0 => Value::Null,
        1 => dice.once_in(2).into(),
        2 => json!(dice.below(12)),
        3 => json!([-1.5, 0.5, 3.25, 1.0, 1e21, -7.0, 0.01, 1e-7][dice.below(8)]),
        4 => json!([{}, [], ["a", 1], { "a": 1 }, { "a": null, "b": "x" }])[dice.below(5)].clone(),
        _ => {
            (*dice.pick(&["", "a", "b", "ab", "foo", "12", "é😀", "x/y", "#abc", "\n", "\"\\", "Ab"])).into()
        }
    }
}

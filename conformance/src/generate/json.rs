//! JSON values, tool arguments and JSON Schemas.

use super::dice::Dice;
use super::text::{ident, number_text, some_text, text};
use crate::body::Node;
use crate::object;

/// Any JSON value.
pub fn value(dice: &mut Dice, depth: usize) -> Node {
    let leaf = depth == 0;
    match dice.weighted(&[
        (2, 0),
        (2, 1),
        (6, 2),
        (8, 3),
        (if leaf { 0 } else { 3 }, 4),
        (if leaf { 0 } else { 4 }, 5),
    ]) {
        0 => Node::Null,
        1 => Node::Bool(dice.chance(0.5)),
        2 => Node::Number(number_text(dice)),
        3 => Node::String(text(dice)),
        4 => {
            let count = dice.below(4);
            Node::Array((0..count).map(|_| value(dice, depth - 1)).collect())
        }
        _ => {
            let count = dice.below(4);
            Node::Object((0..count).map(|_| (key(dice), value(dice, depth - 1))).collect())
        }
    }
}

/// An object key or parameter name.
pub fn key(dice: &mut Dice) -> String {
    match dice.weighted(&[(80, 0), (8, 1), (6, 2)]) {
        0 => (dice.pick(&[
            "a",
            "b",
            "city",
            "path",
            "query",
            "unit",
            "limit",
            "input",
            "command",
            "file_path",
            "old_string",
            "z",
            "id",
            "type",
            "name",
            "properties",
            "$ref",
            "description",
        ]))
        .to_owned(),
        1 => ident(dice, 8),
        _ => text(dice),
    }
}

/// An object of arguments.
pub fn arguments(dice: &mut Dice) -> Node {
    let count = dice.weighted(&[(2, 0), (5, 1), (4, 2), (2, 4), (1, 8)]);
    let mut fields: Vec<_> = (0..count).map(|_| (key(dice), value(dice, 3))).collect();
    if count > 0 && dice.chance(0.04) {
        let repeated = fields[0].0.clone();
        fields.push((repeated, value(dice, 1)));
    }
    if dice.chance(0.01) {
        let levels = dice.between(20, 140);
        fields.push(("deep".to_owned(), deep(levels)));
    }
    Node::Object(fields)
}

fn deep(levels: usize) -> Node {
    let mut node = Node::Number("1".to_owned());
    for level in 0..levels {
        node = if level % 2 == 0 {
            Node::Array(vec![node])
        } else {
            object! { "k": node }
        };
    }
    node
}

/// The text of a call's arguments: usually an object, sometimes another value or no JSON at all. All are accepted.
pub fn arguments_text(dice: &mut Dice) -> String {
    match dice.weighted(&[(70, 0), (8, 1), (6, 2), (8, 3), (6, 4)]) {
        0 => arguments(dice).text(),
        1 => spaced(&arguments(dice).text(), dice),
        2 => value(dice, 2).text(),
        3 => (dice.pick(&[
            "",
            "{",
            "{}",
            "{\"a\":}",
            "{'a': 1}",
            "{\"a\": 1,}",
            "not json",
            "{\"a\": 1} x",
            "[1",
            "nul",
            "{\"a\": 1e400}",
            "{\"a\": \"\\ud800\"}",
            "{\"a\": \"\\ud83d\\ude00\"}",
            "{\"a\": NaN}",
            "{\"a\": 01}",
            "{\"a\": .5}",
            "\u{feff}{}",
            " {} ",
            "{\"a\":\"\t\"}",
            "{\"a\": -}",
            "{\"\": \"\"}",
            "{\"a\\u0000b\": \"\\u0000\"}",
            "{\"a\":1,\"a\":2,\"b\":3,\"a\":4}",
            "\"{\\\"a\\\": 1}\"",
            "{\"a b\": 1}",
            "{\"\\\"\": 1}",
            "{\"a\": tru}",
        ]))
        .to_owned(),
        _ => text(dice),
    }
}

/// White space between tokens changes nothing; inside strings it would, so it only goes after separators outside
/// of them.
fn spaced(json: &str, dice: &mut Dice) -> String {
    let mut out = String::new();
    let (mut quoted, mut escaped) = (false, false);
    for c in json.chars() {
        out.push(c);
        if quoted {
            match (escaped, c) {
                (true, _) => escaped = false,
                (false, '\\') => escaped = true,
                (false, '"') => quoted = false,
                _ => {}
            }
        } else if c == '"' {
            quoted = true;
        } else if matches!(c, ',' | ':' | '{' | '[') {
            out.push_str(dice.pick(&["", " ", "\n", "  ", "\t"]));
        }
    }
    out
}

/// What a schema is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Use {
    /// Parameters of a tool, or a response format, that are only checked for validity.
    Loose,
    /// A schema that is normalised for strict decoding.
    Strict,
}

/// A schema whose top is an object.
pub fn object_schema(dice: &mut Dice, wanted: Use) -> Node {
    let mut schema = match wanted {
        Use::Loose => loose_object(dice, 3),
        Use::Strict => strict_object(dice, 3, true),
    };
    if wanted == Use::Loose && dice.chance(0.06) {
        schema.set(
            "$schema",
            dice.pick(&[
                "http://json-schema.org/draft-07/schema#",
                "https://json-schema.org/draft/2020-12/schema",
                "http://json-schema.org/draft-04/schema#",
                "https://json-schema.org/draft/2019-09/schema",
                "http://json-schema.org/draft-06/schema#",
                "http://json-schema.org/schema#",
            ]),
        );
    }
    schema
}

/// A schema of any type, for response formats that are not strict.
pub fn any_schema(dice: &mut Dice) -> Node {
    match dice.below(8) {
        0 => Node::Bool(dice.chance(0.5)),
        1 => object! {},
        2 => loose(dice, 2),
        _ => object_schema(dice, Use::Loose),
    }
}

/// A schema that is refused under one use or both.
pub fn bad_schema(dice: &mut Dice) -> Node {
    const BAD: &[&str] = &[
        r#"{}"#,
        r#"{"type":"string"}"#,
        r#"{"type":["object","null"]}"#,
        r#"{"type":"obj"}"#,
        r#"{"type":5}"#,
        r#"{"properties":{}}"#,
        r#"{"type":"object","properties":[]}"#,
        r#"{"type":"object","properties":{"a":5}}"#,
        r#"{"type":"object","properties":{"a":{"type":"strin"}}}"#,
        r#"{"type":"object","required":"a"}"#,
        r#"{"type":"object","required":["a","a"],"properties":{"a":{"type":"string"}}}"#,
        r#"{"type":"object","required":[1]}"#,
        r#"{"type":"object","required":["z"],"properties":{"a":{"type":"string"}}}"#,
        r#"{"type":"object","required":["a"],"properties":{"a":{"type":"string"},"b":{"type":"null"}}}"#,
        r#"{"type":"object","additionalProperties":true,"properties":{"a":{"type":"string"}}}"#,
        r#"{"type":"object","additionalProperties":{"type":"string"}}"#,
        r#"{"type":"object","properties":{"a":{"type":"object"}}}"#,
        r#"{"type":"object","properties":{"a":{"type":"object","properties":{}}}}"#,
        r#"{"type":"object","properties":{"a":{"type":"array"}}}"#,
        r#"{"type":"object","properties":{"a":{}}}"#,
        r#"{"type":"object","properties":{"a":{"description":"no type"}}}"#,
        r#"{"type":"object","properties":{"a":{"type":"string","minLength":-1}}}"#,
        r#"{"type":"object","properties":{"a":{"type":"string","pattern":"("}}}"#,
        r#"{"type":"object","properties":{"a":{"type":"string","pattern":"a(?=b)\\p{L}"}}}"#,
        r#"{"type":"object","properties":{"a":{"type":"string","pattern":5}}}"#,
        r#"{"type":"object","properties":{"a":{"type":"string","format":"date-time"}}}"#,
        r#"{"type":"object","properties":{"a":{"type":"string","format":5}}}"#,
        r#"{"type":"object","properties":{"a":{"type":"string","enum":[1]}}}"#,
        r#"{"type":"object","properties":{"a":{"type":"string","enum":"x"}}}"#,
        r#"{"type":"object","properties":{"a":{"type":"string","description":5}}}"#,
        r#"{"type":"object","properties":{"a":{"type":"integer","minimum":1.5}}}"#,
        r#"{"type":"object","properties":{"a":{"type":"integer","minimum":"1"}}}"#,
        r#"{"type":"object","properties":{"a":{"type":"number","multipleOf":0}}}"#,
        r#"{"type":"object","properties":{"a":{"type":"number","multipleOf":-1}}}"#,
        r#"{"type":"object","properties":{"a":{"enum":[]}}}"#,
        r#"{"type":"object","properties":{"a":{"enum":[1,1]}}}"#,
        r#"{"type":"object","properties":{"a":{"enum":{}}}}"#,
        r#"{"type":"object","anyOf":[]}"#,
        r#"{"type":"object","anyOf":{}}"#,
        r#"{"type":"object","allOf":[5]}"#,
        r#"{"type":"object","oneOf":"x"}"#,
        r#"{"type":"object","not":5}"#,
        r#"{"type":"object","items":5}"#,
        r#"{"type":"object","properties":{"a":{"type":[]}}}"#,
        r#"{"type":"object","properties":{"a":{"type":["string","string"]}}}"#,
        r#"{"type":"object","properties":{"a":{"type":["string","object"]}}}"#,
        r#"{"type":"object","properties":{"a":{"type":"array","items":[{"type":"string"}]}}}"#,
        r##"{"type":"object","properties":{"a":{"$ref":"#/$defs/none"}}}"##,
        r#"{"type":"object","properties":{"a":{"$ref":"http://example.com/schema.json"}}}"#,
        r#"{"type":"object","properties":{"a":{"$ref":"other.json"}}}"#,
        r#"{"type":"object","properties":{"a":{"$ref":5}}}"#,
        r##"{"$ref":"#/$defs/a","$defs":{"a":{"type":"object"}}}"##,
        r#"{"anyOf":[{"type":"object"}]}"#,
        r#"{"type":"object","$schema":"http://example.com/unknown"}"#,
        r#"{"type":"object","$schema":5}"#,
        r#"{"type":"object","$id":"http://example.com/%"}"#,
        r#"{"type":"object","minProperties":-1}"#,
        r#"{"type":"object","maxProperties":"1"}"#,
        r#"{"type":"object","patternProperties":{"(":{}}}"#,
        r#"{"type":"object","dependentRequired":{"a":"b"}}"#,
        r#"{"type":"object","$defs":{"a":5}}"#,
        r#"{"type":"object","$defs":[]}"#,
        r#"{"type":"object","uniqueItems":"yes"}"#,
        r#"{"type":"object","properties":{"a":{"const":1,"type":"integer","default":"x"}}}"#,
        r#"{"type":"object","title":5}"#,
        r#"{"type":"object","description":5}"#,
        r#"{"type":"object","deprecated":"no"}"#,
        r#"{"type":"object","$def":{"a":{"type":"object"}}}"#,
        r#"{"type":"object","$def":{"a":5}}"#,
        r#"{"type":"object","properties":{"a":{"anyOf":[{"anyOf":[{"type":"string"}]}]}}}"#,
        r##"{"type":"object","properties":{"a":{"anyOf":[{"$ref":"#"}]}}}"##,
        r#"{"type":"object","properties":{"a":{"anyOf":[]}}}"#,
        r#"{"type":"object","properties":null}"#,
        r#"{"type":"object","required":null}"#,
        r#"{"type":null}"#,
        r#"{"type":"object","properties":{"a":null}}"#,
        r#"{"type":"object","properties":{"a":true}}"#,
        r#"[]"#,
        r#""object""#,
        r#"5"#,
        r#"true"#,
        r#"false"#,
        r#"null"#,
    ];
    match dice.below(10) {
        0 => value(dice, 2),
        1 => {
            let mut schema = object_schema(dice, Use::Loose);
            let size = schema.size();
            let at = dice.below(size);
            if let Some(node) = schema.at_mut(at) {
                *node = value(dice, 1);
            }
            schema
        }
        _ => Node::Raw((dice.pick(BAD)).to_owned()),
    }
}

/// A schema that the types of strict schemas take and normalisation refuses.
pub fn bad_strict_schema(dice: &mut Dice) -> Node {
    const BAD: &[&str] = &[
        r#"{"type":"string"}"#,
        r#"{"type":["string","null"]}"#,
        r#"{"anyOf":[{"type":"object","properties":{"a":{"type":"null"}}}]}"#,
        r##"{"$ref":"#/$defs/a"}"##,
        r#"{"type":"array","items":{"type":"string"}}"#,
        r#"{"type":"object","properties":{"a":{"type":"object"}}}"#,
        r#"{"type":"object","properties":{"a":{"type":"object","properties":{}}}}"#,
        r#"{"type":"object","properties":{"a":{"type":"string"}},"required":["z"]}"#,
        r#"{"type":"object","required":["z"]}"#,
        r#"{"type":"object"}"#,
        r#"{"type":"object","properties":{}}"#,
        r#"{"type":"object","properties":{"a":{"type":"string"}},"required":["a","a"]}"#,
        r#"{"type":"object","properties":{"a":{"type":"string"},"b":{"type":"null"}},"required":["a"]}"#,
        r#"{"type":"object","properties":{"a":{"type":"string"}},"required":[]}"#,
        r#"{"type":"object","properties":{"a":{"type":"string"}},"additionalProperties":true}"#,
        r#"{"type":"object","properties":{"a":{"type":"array","items":{"type":"object"}}}}"#,
        r#"{"type":"object","properties":{"a":{"anyOf":[{"type":"object"}]}}}"#,
        r#"{"type":"object","properties":{"a":{"type":"string"}},"$def":{"d":{"type":"object"}}}"#,
    ];
    if dice.chance(0.25) { bad_schema(dice) } else { Node::Raw(dice.pick(BAD).to_owned()) }
}

fn loose_object(dice: &mut Dice, depth: usize) -> Node {
    let mut schema = object! { "type": "object" };
    let mut names = Vec::new();
    if dice.chance(0.9) {
        let count = dice.weighted(&[(1, 0), (4, 1), (4, 2), (2, 4), (1, 7)]);
        let mut properties = Vec::new();
        for _ in 0..count {
            let name = key(dice);
            if !names.contains(&name) {
                properties.push((name.clone(), loose(dice, depth.saturating_sub(1))));
                names.push(name);
            }
        }
        schema.set("properties", Node::Object(properties));
    }
    if dice.chance(0.5) {
        names.truncate(dice.below(names.len() + 1));
        schema.set("required", names.into_iter().map(Node::from).collect::<Vec<_>>());
    }
    if dice.chance(0.4) {
        schema.set(
            "additionalProperties",
            match dice.below(4) {
                0 => Node::Bool(true),
                1 if depth > 0 => loose(dice, depth - 1),
                _ => Node::Bool(false),
            },
        );
    }
    if dice.chance(0.2) {
        schema.set("description", text(dice));
    }
    if depth > 0 && dice.chance(0.15) {
        let (name, value): (&str, Node) = match dice.below(9) {
            0 => ("$defs", object! { "d": loose(dice, depth - 1), "e": object! { "$ref": "#/$defs/d" } }),
            1 => ("definitions", object! { "d": loose(dice, depth - 1) }),
            2 => ("patternProperties", object! { "^x-": loose(dice, depth - 1) }),
            3 => ("minProperties", 1.into()),
            4 => ("propertyNames", object! { "pattern": "^[a-z]+$" }),
            5 => ("title", text(dice).into()),
            6 => ("if", object! { "required": vec![Node::from("a")] }),
            7 => ("examples", Node::Array(vec![value(dice, 2)])),
            _ => ("x-unknown", value(dice, 2)),
        };
        schema.set(name, value);
    }
    schema
}

fn loose(dice: &mut Dice, depth: usize) -> Node {
    let leaf = depth == 0;
    let nested = usize::from(!leaf);
    let mut schema = match dice.weighted(&[
        (10, 0),
        (5, 1),
        (5, 2),
        (3, 3),
        (4 * nested, 4),
        (4 * nested, 5),
        (2 * nested, 6),
        (2, 7),
        (1, 8),
        (1, 9),
        (1, 10),
    ]) {
        0 => string_schema(dice),
        1 => number_schema(dice, "number"),
        2 => number_schema(dice, "integer"),
        3 => object! { "type": "boolean" },
        4 => {
            let mut schema = object! { "type": "array", "items": loose(dice, depth - 1) };
            if dice.chance(0.3) {
                schema.set("minItems", dice.below(3) as u64);
            }
            if dice.chance(0.2) {
                schema.set("uniqueItems", true);
            }
            schema
        }
        5 => loose_object(dice, depth - 1),
        6 => {
            let keyword = dice.pick(&["anyOf", "oneOf", "allOf"]);
            let count = dice.between(1, 3);
            let mut schema = object! {};
            schema.set(keyword, (0..count).map(|_| loose(dice, depth - 1)).collect::<Vec<_>>());
            schema
        }
        7 => object! { "type": vec![Node::from("string"), Node::from("null")] },
        8 => {
            object! { "enum": vec![Node::Null, text(dice).into(), 1.into(), Node::Number(number_text(dice))] }
        }
        9 => object! { "const": value(dice, 1) },
        _ => object! {},
    };
    if dice.chance(0.35) {
        schema.set("description", text(dice));
    }
    if dice.chance(0.1) {
        schema.set("default", value(dice, 1));
    }
    schema
}

fn string_schema(dice: &mut Dice) -> Node {
    let mut schema = object! { "type": "string" };
    match dice.below(8) {
        0 => {
            let count = dice.between(1, 4);
            let mut items: Vec<Node> = Vec::new();
            for index in 0..count {
                items.push(format!("{}{index}", text(dice)).into());
            }
            schema.set("enum", items);
        }
        1 => schema.set(
            "format",
            dice.pick(&["email", "hostname", "ipv4", "ipv6", "uuid", "date-time", "uri", "odd"]),
        ),
        2 => schema.set(
            "pattern",
            dice.pick(&["^[a-z]+$", "\\d{3}-\\d{4}", "^.{0,10}$", "a|b", "^\\S+@\\S+$", "[\\w.-]+"]),
        ),
        3 => {
            schema.set("minLength", dice.below(4) as u64);
            schema.set("maxLength", dice.below(400) as u64);
        }
        4 => schema.set("title", some_text(dice)),
        _ => {}
    }
    schema
}

fn number_schema(dice: &mut Dice, name: &str) -> Node {
    let mut schema = object! { "type": name };
    let number = |dice: &mut Dice| match name {
        "integer" => Node::Number((dice.bits() as i64 >> dice.below(63)).to_string()),
        _ => Node::Number(number_text(dice)),
    };
    for keyword in ["minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "const", "default"] {
        if dice.chance(0.12) {
            let value = number(dice);
            schema.set(keyword, value);
        }
    }
    if dice.chance(0.08) {
        schema
            .set("multipleOf", Node::Number((dice.pick(&["1", "2", "10", "0.5", "1e-3", "3.0"])).to_owned()));
    }
    schema
}

fn strict_object(dice: &mut Dice, depth: usize, top: bool) -> Node {
    let mut schema = object! {};
    if dice.chance(0.9) {
        schema.set("type", "object");
    }
    let count = if top { dice.weighted(&[(1, 0), (4, 1), (4, 2), (2, 4)]) } else { dice.between(1, 3) };
    let mut names: Vec<String> = Vec::new();
    let mut properties = Vec::new();
    for _ in 0..count {
        let name = key(dice);
        if !names.contains(&name) {
            properties.push((name.clone(), strict(dice, depth.saturating_sub(1))));
            names.push(name);
        }
    }
    if dice.chance(0.95) || !top {
        schema.set("properties", Node::Object(properties));
    } else {
        names.clear();
    }
    if schema.get("type").is_none() {
        schema.set("type", "object");
    }
    if dice.chance(0.6) {
        if dice.chance(0.3) {
            names.reverse();
        }
        schema.set("required", names.into_iter().map(Node::from).collect::<Vec<_>>());
    }
    if dice.chance(0.5) {
        schema.set("additionalProperties", false);
    }
    if dice.chance(0.3) {
        schema.set("description", text(dice));
    }
    if depth > 0 && dice.chance(0.2) {
        match dice.below(5) {
            0 => {
                let definition = strict(dice, depth - 1);
                schema.set("$def", object! { "d": definition });
            }
            1 => {
                let definition = strict(dice, depth - 1);
                schema.set("$defs", object! { "d": definition });
            }
            2 => schema.set("title", text(dice)),
            3 => schema.set("$schema", "https://json-schema.org/draft/2020-12/schema"),
            _ => schema.set("definitions", object! { "d": object! { "type": "string" } }),
        }
    }
    schema
}

fn strict(dice: &mut Dice, depth: usize) -> Node {
    let nested = usize::from(depth > 0);
    match dice.weighted(&[
        (8, 0),
        (4, 1),
        (4, 2),
        (3, 3),
        (4 * nested, 4),
        (4 * nested, 5),
        (3 * nested, 6),
        (2, 7),
        (2, 8),
        (1, 9),
    ]) {
        0 => {
            let mut schema = object! { "type": "string" };
            if dice.chance(0.3) {
                schema.set("description", text(dice));
            }
            match dice.below(6) {
                0 => schema.set("enum", vec![Node::from(text(dice)), text(dice).into()]),
                1 => schema.set("format", dice.pick(&["email", "hostname", "ipv4", "ipv6", "uuid"])),
                2 => schema.set("pattern", dice.pick(&["^[a-z]+$", "("])),
                3 => schema.set("minLength", 1),
                _ => {}
            }
            schema
        }
        1 => number_schema(dice, "number"),
        2 => number_schema(dice, "integer"),
        3 => object! { "type": "boolean", "description": text(dice) },
        4 => object! { "items": strict(dice, depth - 1), "type": "array", "maxItems": 3 },
        5 => strict_object(dice, depth - 1, false),
        6 => {
            let mut items = vec![object! { "type": "null" }];
            items.push(if dice.chance(0.4) {
                strict_object(dice, depth - 1, false)
            } else {
                object! { "type": "string", "enum": vec![Node::from("x")] }
            });
            let mut schema = object! { "anyOf": items };
            if dice.chance(0.4) {
                schema.set("description", text(dice));
            }
            schema
        }
        7 => {
            object! { "type": vec![Node::from("string"), "null".into(), "integer".into()], "description": text(dice) }
        }
        8 => object! { "$ref": dice.pick(&["#/$defs/d", "#/$def/d", "#", "#/definitions/d"]) },
        _ => object! { "type": "null" },
    }
}

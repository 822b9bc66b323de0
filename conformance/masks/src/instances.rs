//! Instances: made up, damaged, and written in many ways.

use std::fmt::Write;

use serde_json::{Map, Value, json};

use crate::dice::Dice;
use crate::generate::{KEYS, scalar};

/// The constants that a schema names: they make instances that are nearly valid.
pub fn constants(schema: &Value) -> Vec<Value> {
    let mut found = Vec::new();
    collect(schema, &mut found);
    found
}

fn collect(schema: &Value, found: &mut Vec<Value>) {
    match schema {
        Value::Object(members) => {
            for (key, value) in members {
                match (key.as_str(), value) {
                    ("const", value) => found.push(value.clone()),
                    ("enum" | "examples", Value::Array(values)) => found.extend(values.iter().cloned()),
                    (
                        "minimum" | "maximum" | "exclusiveMinimum" | "exclusiveMaximum" | "multipleOf",
                        number,
                    ) => {
                        found.push(number.clone());
                    }
                    (_, value) => collect(value, found),
                }
            }
        }
        Value::Array(items) => items.iter().for_each(|item| collect(item, found)),
        _ => {}
    }
}

/// Any value.
pub fn any(dice: &mut Dice, pool: &[Value], depth: usize) -> Value {
    match dice.below(6) {
        0 if depth > 0 => {
            let mut members = Map::new();
            for _ in 0..dice.below(4) {
                members.insert((*dice.pick(&KEYS)).into(), any(dice, pool, depth - 1));
            }
            Value::Object(members)
        }
        1 if depth > 0 => (0..dice.below(4)).map(|_| any(dice, pool, depth - 1)).collect(),
        2 | 3 if !pool.is_empty() => dice.pick(pool).clone(),
        _ => scalar(dice),
    }
}

/// Changes one place of `value`.
pub fn damage(value: &mut Value, dice: &mut Dice, pool: &[Value]) {
    let mut at = dice.below(places(value));
    change(value, &mut at, dice, pool);
}

fn places(value: &Value) -> usize {
    1 + match value {
        Value::Array(items) => items.iter().map(places).sum(),
        Value::Object(members) => members.values().map(places).sum(),
        _ => 0,
    }
}

fn change(value: &mut Value, at: &mut usize, dice: &mut Dice, pool: &[Value]) -> bool {
    if *at == 0 {
        replace(value, dice, pool);
        return true;
    }
    *at -= 1;
    match value {
        Value::Array(items) => items.iter_mut().any(|item| change(item, at, dice, pool)),
        Value::Object(members) => members.values_mut().any(|value| change(value, at, dice, pool)),
        _ => false,
    }
}

fn replace(value: &mut Value, dice: &mut Dice, pool: &[Value]) {
    let other = any(dice, pool, 1);
    if dice.once_in(4) {
        *value = other;
        return;
    }
    match value {
        Value::Object(members) => {
            let count = members.len();
            match dice.below(3) {
                0 if count > 0 => {
                    let key = members.keys().nth(dice.below(count)).cloned().unwrap_or_default();
                    members.shift_remove(&key);
                }
                1 if count > 0 => {
                    // A key that is nearly the same.
                    let key = members.keys().nth(dice.below(count)).cloned().unwrap_or_default();
                    let value = members.shift_remove(&key).unwrap_or_default();
                    members.insert(damaged_text(&key, dice), value);
                }
                _ => {
                    members.insert((*dice.pick(&KEYS)).into(), other);
                }
            }
        }
        Value::Array(items) => match dice.below(3) {
            0 if !items.is_empty() => {
                items.remove(dice.below(items.len()));
            }
            1 if !items.is_empty() => {
                let copy = dice.pick(items).clone();
                items.insert(dice.below(items.len() + 1), copy);
            }
            _ => items.insert(dice.below(items.len() + 1), other),
        },
        Value::String(text) => *text = damaged_text(text, dice),
        Value::Number(number) => {
            let float = number.as_f64().unwrap_or_default();
            let changed = match dice.below(6) {
                0 => float + 1.0,
                1 => float - 1.0,
                2 => -float,
                3 => float / 2.0,
                4 => float * 10.0,
                _ => float + 0.01,
            };
            let whole = changed.fract() == 0.0 && changed.abs() < 1e15 && !dice.once_in(4);
            *value = if whole { json!(changed as i64) } else { json!(changed) };
        }
        Value::Bool(yes) => *yes = !*yes,
        Value::Null => *value = other,
    }
}

fn damaged_text(text: &str, dice: &mut Dice) -> String {
    let mut characters: Vec<char> = text.chars().collect();
    let at = dice.below(characters.len() + 1);
    let other = *dice.pick(&['a', 'b', '0', ' ', '\n', 'é', '😀', '"', '\\', '/', '.', '-', 'T', 'Z', ':']);
    match dice.below(3) {
        0 if at < characters.len() => {
            characters.remove(at);
        }
        1 if at < characters.len() => characters[at] = other,
        _ => characters.insert(at, other),
    }
    characters.into_iter().collect()
}

/// The same value with its keys in another order.
pub fn shuffle(value: &Value, dice: &mut Dice) -> Value {
    match value {
        Value::Array(items) => items.iter().map(|item| shuffle(item, dice)).collect(),
        Value::Object(members) => {
            let mut members: Vec<_> = members.iter().collect();
            for at in (1..members.len()).rev() {
                members.swap(at, dice.below(at + 1));
            }
            members.into_iter().map(|(key, value)| (key.clone(), shuffle(value, dice))).collect()
        }
        other => other.clone(),
    }
}

/// Whether a number has more digits than doubles hold exactly. Where `multipleOf` or the like matters, masks keep to
/// numbers on which a reader of doubles agrees.
pub fn has_long_number(value: &Value) -> bool {
    match value {
        Value::Array(items) => items.iter().any(has_long_number),
        Value::Object(members) => members.values().any(has_long_number),
        Value::Number(number) => {
            let digits = number.to_string();
            let mantissa = digits.split(['e', 'E']).next().unwrap_or_default();
            mantissa.bytes().filter(u8::is_ascii_digit).count() > 15
                || number.as_f64().is_some_and(|float| float.abs() > 1e15)
        }
        _ => false,
    }
}

/// How a value is written. Also tells whether characters are escaped that need not be.
pub fn write(value: &Value, dice: &mut Dice) -> (String, bool) {
    let style = Style { gaps: dice.below(4), escapes: dice.once_in(6) };
    let mut out = String::new();
    style.write(value, dice, &mut out);
    (out, style.escapes)
}

struct Style {
    /// 0: none, 1: one space after a separator, 2: any, 3: none.
    gaps: usize,
    /// Whether characters are written as escapes now and then.
    escapes: bool,
}

impl Style {
    fn gap(&self, after_separator: bool, dice: &mut Dice, out: &mut String) {
        match self.gaps {
            1 if after_separator => out.push(' '),
            2 => (0..dice.below(3)).for_each(|_| out.push(*dice.pick(&[' ', '\n', '\t', '\r']))),
            _ => {}
        }
    }

    fn write(&self, value: &Value, dice: &mut Dice, out: &mut String) {
        match value {
            Value::Array(items) => {
                out.push('[');
                for (at, item) in items.iter().enumerate() {
                    if at > 0 {
                        out.push(',');
                    }
                    self.gap(at > 0, dice, out);
                    self.write(item, dice, out);
                    self.gap(false, dice, out);
                }
                out.push(']');
            }
            Value::Object(members) => {
                out.push('{');
                for (at, (key, value)) in members.iter().enumerate() {
                    if at > 0 {
                        out.push(',');
                    }
                    self.gap(at > 0, dice, out);
                    self.text(key, dice, out);
                    self.gap(false, dice, out);
                    out.push(':');
                    self.gap(true, dice, out);
                    self.write(value, dice, out);
                    self.gap(false, dice, out);
                }
                out.push('}');
            }
            Value::String(text) => self.text(text, dice, out),
            other => out.push_str(&other.to_string()),
        }
    }

    fn text(&self, text: &str, dice: &mut Dice, out: &mut String) {
        if !self.escapes {
            out.push_str(&Value::from(text).to_string());
            return;
        }
        out.push('"');
        for character in text.chars() {
            if dice.once_in(3) {
                for unit in character.encode_utf16(&mut [0; 2]) {
                    let _ = write!(out, "\\u{unit:04x}");
                }
            } else {
                let written = Value::from(character.to_string()).to_string();
                out.push_str(&written[1..written.len() - 1]);
            }
        }
        out.push('"');
    }
}

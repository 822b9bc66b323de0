//! Smaller schemas and instances that show the same difference.

use serde_json::Value;

/// How many smaller ones are tried.
const TRIES: usize = 3000;

/// Makes a schema and an instance smaller while `shows` holds.
pub fn shrink(schema: &mut Value, instance: &mut Value, shows: impl Fn(&Value, &Value) -> bool) {
    let mut tries = 0;
    loop {
        let smaller_schema = smaller(schema).into_iter().find(|schema| {
            tries += 1;
            tries < TRIES && shows(schema, instance)
        });
        if let Some(found) = smaller_schema {
            *schema = found;
            continue;
        }
        let smaller_instance = smaller(instance).into_iter().find(|instance| {
            tries += 1;
            tries < TRIES && shows(schema, instance)
        });
        match smaller_instance {
            Some(found) => *instance = found,
            None => return,
        }
    }
}

/// All values that are one step smaller, the smallest first.
fn smaller(value: &Value) -> Vec<Value> {
    let mut found = Vec::new();
    match value {
        Value::Object(members) => {
            found.extend(members.values().filter(|value| value.is_object() || value.is_array()).cloned());
            for key in members.keys() {
                let mut fewer = members.clone();
                fewer.shift_remove(key);
                found.push(Value::Object(fewer));
            }
            for (key, value) in members {
                for value in smaller(value) {
                    let mut other = members.clone();
                    other[key] = value;
                    found.push(Value::Object(other));
                }
            }
        }
        Value::Array(items) => {
            found.extend(items.iter().filter(|value| value.is_object() || value.is_array()).cloned());
            for at in 0..items.len() {
                let mut fewer = items.clone();
                fewer.remove(at);
                found.push(Value::Array(fewer));
            }
            for (at, value) in items.iter().enumerate() {
                for value in smaller(value) {
                    let mut other = items.clone();
                    other[at] = value;
                    found.push(Value::Array(other));
                }
            }
        }
        Value::String(text) => {
            let characters: Vec<char> = text.chars().collect();
            if characters.len() > 8 {
                found.push(characters[..characters.len() / 2].iter().collect::<String>().into());
                found.push(characters[characters.len() / 2..].iter().collect::<String>().into());
            }
            for at in 0..characters.len().min(40) {
                let mut fewer = characters.clone();
                fewer.remove(at);
                found.push(fewer.into_iter().collect::<String>().into());
            }
        }
        Value::Number(number) => {
            let float = number.as_f64().unwrap_or(0.0);
            let candidates = [0.0, 1.0, (float / 2.0).trunc(), float.trunc()];
            for candidate in candidates {
                if candidate.abs() < float.abs() && candidate.abs() < 1e15 {
                    found.push((candidate as i64).into());
                }
            }
        }
        _ => {}
    }
    found
}

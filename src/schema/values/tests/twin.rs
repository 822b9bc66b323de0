//! The slow obvious reading of [`Values`]: whether an instance is valid, and whether the promises on the fields hold.

use crate::grammar::language::{Language, Limits};
use crate::grammar::number::NumberSet;
use crate::grammar::value::{Array, Item, KeyClass, Object, ValueId, Values};
use crate::json::{Json, Number, Object as Members};

pub(super) fn accepts(values: &Values, id: ValueId, json: &Json) -> bool {
    let value = &values.values[id.0 as usize];
    match json {
        Json::Null => value.null,
        Json::Bool(true) => value.yes,
        Json::Bool(false) => value.no,
        Json::Number(number) => value.numbers.iter().any(|set| set.contains(&(*number).into())),
        Json::String(text) => value.strings.as_ref().is_some_and(|strings| strings.contains(text)),
        Json::Array(items) => {
            value.arrays.iter().any(|id| accepts_array(values, &values.arrays[id.0 as usize], items))
        }
        Json::Object(members) => {
            value.objects.iter().any(|id| accepts_object(values, &values.objects[id.0 as usize], members))
        }
    }
}

fn accepts_array(values: &Values, array: &Array, items: &[Json]) -> bool {
    let mut counted = 0;
    for (index, json) in items.iter().enumerate() {
        let item = array.prefix.get(index).unwrap_or(&array.rest);
        let counts = array.contains.is_some() && accepts(values, item.counted, json);
        counted += u32::from(counts);
        let has_upper = array.contains.is_some_and(|(_, to)| to.is_some());
        let is_valid = counts && has_upper || accepts(values, item.value, json);
        if !is_valid {
            return false;
        }
    }
    let differ = || (0..items.len()).all(|i| items[..i].iter().all(|other| !same(other, &items[i])));
    items.len() >= array.min as usize
        && array.max.is_none_or(|max| items.len() <= max as usize)
        && array.contains.is_none_or(|(from, to)| counted >= from && to.is_none_or(|to| counted <= to))
        && (!array.unique || differ())
}

fn accepts_object(values: &Values, object: &Object, members: &Members) -> bool {
    let mut has_witness = false;
    for (key, json) in members.iter() {
        let Some((value, witness)) = rule(object, key) else { return false };
        if !accepts(values, value, json) {
            return false;
        }
        has_witness |= accepts(values, witness, json);
    }
    let has = |place: &u32| members.get(&object.properties[*place as usize].name).is_some();
    members.len() >= object.min as usize
        && object.max.is_none_or(|max| members.len() <= max as usize)
        && object
            .properties
            .iter()
            .all(|property| !property.required || members.get(&property.name).is_some())
        && object.dependent.iter().all(|(first, second)| !has(first) || has(second))
        && (!object.needs_witness || has_witness)
}

fn rule(object: &Object, key: &str) -> Option<(ValueId, ValueId)> {
    if let Some(property) = object.properties.iter().find(|property| property.name == key) {
        return Some((property.value, property.witness));
    }
    object.others.iter().find(|class| class.keys.contains(key)).map(|class| (class.value, class.witness))
}

/// Equality of JSON values: numbers by value, members in any order.
pub(super) fn same(a: &Json, b: &Json) -> bool {
    match (a, b) {
        (Json::Number(a), Json::Number(b)) => match (a, b) {
            (Number::Float(_), _) | (_, Number::Float(_)) => a.as_f64() == b.as_f64(),
            _ => a == b,
        },
        (Json::Array(a), Json::Array(b)) => a.len() == b.len() && a.iter().zip(b).all(|(a, b)| same(a, b)),
        (Json::Object(a), Json::Object(b)) => {
            a.len() == b.len() && a.iter().all(|(key, a)| b.get(key).is_some_and(|b| same(a, b)))
        }
        _ => a == b,
    }
}

/// Checks what is promised on the fields, and that every value has an instance. Returns one of the root; nothing if there
/// is a value whose instances the search here is too simple for.
pub(super) fn check_promises(values: &Values) -> Option<Json> {
    assert_ne!(values.root, ValueId::NEVER);
    for value in &values.values {
        assert!(value.strings.as_ref().is_none_or(|strings| !strings.is_empty()));
        assert!(value.numbers.iter().all(|set| !set.is_empty()));
    }
    for object in &values.objects {
        check_object(object);
    }
    for array in &values.arrays {
        check_array(array);
    }
    let examples = Examples::of(values);
    for id in 1..values.values.len() {
        #[allow(clippy::cast_possible_truncation)]
        let id = ValueId(id as u32);
        match examples.get(id) {
            Some(example) => assert!(accepts(values, id, example), "{id:?} does not accept {example}"),
            None => assert!(is_intricate(values), "{id:?} has no instance"),
        }
    }
    examples.get(values.root).cloned()
}

/// Whether it may take luck to find instances: different items, or several keys of which some bring others with them.
fn is_intricate(values: &Values) -> bool {
    values.arrays.iter().any(|array| array.unique && array.min > 1)
        || values.objects.iter().any(|object| object.min > 1 && !object.dependent.is_empty())
}

fn check_object(object: &Object) {
    let properties = &object.properties;
    let required = properties.iter().filter(|property| property.required).count();
    for (place, property) in properties.iter().enumerate() {
        assert!(!property.required || property.value != ValueId::NEVER);
        assert!(properties[..place].iter().all(|other| other.name != property.name), "{}", property.name);
        assert!(object.needs_witness || property.witness == ValueId::NEVER);
    }
    for KeyClass { keys, value, .. } in &object.others {
        assert!(!keys.is_empty() && !keys.counts() && *value != ValueId::NEVER);
    }
    for (first, second) in &object.dependent {
        assert_ne!(properties[*first as usize].value, ValueId::NEVER);
        assert_ne!(properties[*second as usize].value, ValueId::NEVER);
        assert!(!properties[*first as usize].required);
    }
    assert!(object.max.is_none_or(|max| max >= object.min && max as usize >= required));
}

fn check_array(array: &Array) {
    let is_none = |item: &Item| item.value == ValueId::NEVER && item.counted == ValueId::NEVER;
    assert!(!array.prefix.iter().any(is_none));
    assert!(array.max.is_none_or(|max| max >= array.min));
    if is_none(&array.rest) {
        assert!(array.max.is_some_and(|max| max as usize <= array.prefix.len()));
    }
    if array.contains.is_none_or(|(_, to)| to.is_none()) {
        assert!(
            array
                .prefix
                .iter()
                .chain([&array.rest])
                .all(|item| { item.counted == ValueId::NEVER || item.value != ValueId::NEVER })
        );
    }
}

/// A small instance of each value, found from the leaves upwards.
pub(super) struct Examples {
    examples: Vec<Option<Json>>,
}

impl Examples {
    pub(super) fn of(values: &Values) -> Self {
        let mut all = Self { examples: vec![None; values.values.len()] };
        all.examples[1] = Some(Json::Null);
        loop {
            let mut is_changed = false;
            for place in 2..values.values.len() {
                if all.examples[place].is_none() {
                    all.examples[place] = all.example(values, place);
                    is_changed |= all.examples[place].is_some();
                }
            }
            if !is_changed {
                return all;
            }
        }
    }

    pub(super) fn get(&self, id: ValueId) -> Option<&Json> {
        self.examples[id.0 as usize].as_ref()
    }

    fn example(&self, values: &Values, place: usize) -> Option<Json> {
        let value = &values.values[place];
        if value.null {
            return Some(Json::Null);
        }
        if value.yes || value.no {
            return Some(Json::Bool(value.yes));
        }
        if let Some(text) = value.strings.as_ref().and_then(Language::example) {
            return Some(Json::String(text));
        }
        if let Some(number) = value.numbers.iter().find_map(number) {
            return Some(number);
        }
        let mut arrays = value.arrays.iter().map(|id| &values.arrays[id.0 as usize]);
        let mut objects = value.objects.iter().map(|id| &values.objects[id.0 as usize]);
        #[allow(clippy::cast_possible_truncation)]
        let id = ValueId(place as u32);
        let found = arrays
            .find_map(|array| self.array(values, array))
            .or_else(|| objects.find_map(|object| self.object(object)));
        // Arrays of different items need more than one example of their items: those are looked for by hand.
        found.filter(|json| accepts(values, id, json))
    }

    /// Some different instances of a value.
    fn several(&self, values: &Values, id: ValueId, count: usize) -> Vec<Json> {
        let value = &values.values[id.0 as usize];
        let mut found: Vec<Json> = self.get(id).cloned().into_iter().collect();
        let flags = [(value.null, Json::Null), (value.yes, Json::Bool(true)), (value.no, Json::Bool(false))];
        found.extend(flags.into_iter().filter(|(is_one, _)| *is_one).map(|(_, json)| json));
        for set in &value.numbers {
            let mut left = Some(set.clone());
            for _ in 0..count {
                let Some(Json::Number(one)) = left.as_ref().and_then(number) else { break };
                found.push(Json::Number(one));
                left = left.and_then(|set| set.and(&NumberSet::all_but(one.into())).ok());
            }
        }
        let mut left = value.strings.clone();
        for _ in 0..count {
            let Some(text) = left.as_ref().and_then(Language::example) else { break };
            let limits = Limits::default();
            let word = Language::words([text.as_str()], &limits).unwrap();
            left = left.and_then(|strings| strings.without(&word, &limits).ok());
            found.push(Json::String(text));
        }
        found
    }

    fn array(&self, values: &Values, array: &Array) -> Option<Json> {
        let (mut items, mut counted) = (Vec::new(), 0);
        for index in 0..array.min {
            let item = array.prefix.get(index as usize).unwrap_or(&array.rest);
            let wants = array.contains.is_some_and(|(from, _)| counted < from);
            let pick = if item.value == ValueId::NEVER || wants && item.counted != ValueId::NEVER {
                counted += 1;
                item.counted
            } else {
                item.value
            };
            let is_new = |json: &Json| !array.unique || items.iter().all(|known| !same(known, json));
            let example = self.several(values, pick, items.len() + 1).into_iter().find(is_new)?;
            items.push(example);
        }
        Some(Json::Array(items))
    }

    fn object(&self, object: &Object) -> Option<Json> {
        let mut members: Vec<(String, Json)> = Vec::new();
        let mut needs_witness = object.needs_witness;
        let mut places: Vec<usize> = Vec::new();
        for (place, property) in object.properties.iter().enumerate() {
            if property.required {
                needs_witness &= property.witness == ValueId::NEVER;
                let wants = object.needs_witness && property.witness != ValueId::NEVER;
                let value = if wants { property.witness } else { property.value };
                members.push((property.name.clone(), self.get(value)?.clone()));
                places.push(place);
            }
        }
        if needs_witness {
            let named = object
                .properties
                .iter()
                .find_map(|property| Some((property.name.clone(), self.get(property.witness)?.clone())));
            let other = || {
                object.others.iter().find_map(|class| {
                    let example = self.get(class.witness)?.clone();
                    Some((fresh_key(class, object, &members)?, example))
                })
            };
            let witness = named.or_else(other)?;
            members.push(witness);
        }
        for (place, property) in object.properties.iter().enumerate() {
            let is_new = members.iter().all(|(key, _)| *key != property.name);
            // A value that has no example yet may need this one.
            if members.len() < object.min as usize
                && is_new
                && self.has_all(object, place)
                && let Some(example) = self.get(property.value)
            {
                members.push((property.name.clone(), example.clone()));
            }
        }
        // What other keys need.
        for _ in &object.dependent {
            for (first, second) in &object.dependent {
                let has = |place: &u32| {
                    members.iter().any(|(key, _)| *key == object.properties[*place as usize].name)
                };
                if has(first) && !has(second) {
                    let second = &object.properties[*second as usize];
                    members.push((second.name.clone(), self.get(second.value)?.clone()));
                }
            }
        }
        while members.len() < object.min as usize {
            let (key, value) = object.others.iter().find_map(|class| {
                Some((fresh_key(class, object, &members)?, self.get(class.value)?.clone()))
            })?;
            members.push((key, value));
        }
        Some(Json::Object(members.into_iter().collect()))
    }
}

impl Examples {
    /// Whether there are examples for all properties that one brings with it.
    fn has_all(&self, object: &Object, property: usize) -> bool {
        let mut brought = vec![property as u32];
        let mut next = 0;
        while let Some(place) = brought.get(next).copied() {
            let needed = object.dependent.iter().filter(|(first, _)| *first == place);
            let new: Vec<u32> =
                needed.map(|(_, second)| *second).filter(|at| !brought.contains(at)).collect();
            brought.extend(new);
            next += 1;
        }
        brought.iter().all(|place| self.get(object.properties[*place as usize].value).is_some())
    }
}

fn fresh_key(class: &KeyClass, object: &Object, members: &[(String, Json)]) -> Option<String> {
    let taken = |key: &str| {
        members.iter().any(|(known, _)| known == key)
            || object.properties.iter().any(|property| property.name == key)
    };
    let limits = Limits::default();
    let names: Vec<&str> = members
        .iter()
        .map(|(key, _)| key.as_str())
        .chain(object.properties.iter().map(|property| property.name.as_str()))
        .collect();
    let taken_words = Language::words(names, &limits).ok()?;
    let free = class.keys.and(&taken_words.not(&limits).ok()?, &limits).ok()?;
    free.example().filter(|key| !taken(key))
}

/// A member of a set of numbers: digits that never lead into a dead end, up to the first number.
fn number(set: &NumberSet) -> Option<Json> {
    let (mut text, mut state) = (String::new(), set.start());
    while !set.is_complete(&state) && text.len() < 400 {
        let (digit, next) =
            b"0123456789.-eE+".iter().find_map(|byte| Some((*byte, set.next(&state, *byte)?)))?;
        text.push(char::from(digit));
        state = next;
    }
    Json::parse(text.as_bytes()).ok()
}

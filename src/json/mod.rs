//! JSON as a tree that keeps its key order, read and written deterministically.
//!
//! Prompts contain JSON (tool schemas, arguments), so its bytes are part of the model's input. [`Json`] does not
//! depend on which features of `serde_json` some other crate of the build turned on: key order is always the
//! order of the text, floats are read as the nearest double, and numbers are written by this module ([`Style`]).

use std::fmt;

use serde::ser::{Serialize, SerializeMap, SerializeSeq, Serializer};
use smol_str::SmolStr;

mod partial;
mod path;
mod read;
mod write;

pub(crate) use path::Path;
pub use read::{JsonError, LoneSurrogates};
pub use write::Style;
pub(crate) use write::{needs_escape, push_escaped, write_string};

/// A JSON value.
#[derive(Debug, Clone, Default, PartialEq)]
pub enum Json {
    /// `null`
    #[default]
    Null,
    /// `true` or `false`
    Bool(bool),
    /// A number.
    Number(Number),
    /// A string.
    String(String),
    /// An array.
    Array(Vec<Self>),
    /// An object.
    Object(Object),
}

/// A JSON number, as wide as it was read: an integer where it fits 64 bits, else a double.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Number {
    /// A non-negative integer.
    Unsigned(u64),
    /// A negative integer.
    Negative(i64),
    /// Anything else; always finite.
    Float(f64),
}

impl Number {
    /// The number as a double, rounded where it has to be.
    #[must_use]
    #[allow(clippy::cast_precision_loss)]
    pub fn as_f64(self) -> f64 {
        match self {
            Self::Unsigned(n) => n as f64,
            Self::Negative(n) => n as f64,
            Self::Float(n) => n,
        }
    }

    /// The number if it is a non-negative integer without a fraction or exponent.
    #[must_use]
    pub const fn as_u64(self) -> Option<u64> {
        match self {
            Self::Unsigned(n) => Some(n),
            Self::Negative(_) | Self::Float(_) => None,
        }
    }

    /// The number if it is an integer that fits 64 signed bits.
    #[must_use]
    pub fn as_i64(self) -> Option<i64> {
        match self {
            Self::Unsigned(n) => i64::try_from(n).ok(),
            Self::Negative(n) => Some(n),
            Self::Float(_) => None,
        }
    }
}

/// The members of a JSON object in their order. A key occurs once: of duplicates in a text the last value wins,
/// at the place of the first.
#[derive(Debug, Clone, Default)]
pub struct Object {
    /// Keys are mostly short, and then take no memory of their own.
    members: Vec<(SmolStr, Json)>,
    /// None if the members are few.
    sorted: Option<Box<Sorted>>,
}

/// The places of many members in the order of their keys. Apart from the object, which is thus no larger than a string
/// or an array.
#[derive(Debug, Clone)]
struct Sorted(Vec<u32>);

/// Up to so many members comparing one by one is quicker than searching.
const FEW_MEMBERS: usize = 16;

impl Object {
    /// An object without members.
    #[must_use]
    pub const fn new() -> Self {
        Self { members: Vec::new(), sorted: None }
    }

    /// The number of members.
    #[must_use]
    pub const fn len(&self) -> usize {
        self.members.len()
    }

    /// Whether there are no members.
    #[must_use]
    pub const fn is_empty(&self) -> bool {
        self.members.is_empty()
    }

    /// Where `key` stands. Takes time in the logarithm of the number of members.
    fn place(&self, key: &str) -> Option<usize> {
        let Some(Sorted(sorted)) = self.sorted.as_deref() else {
            return self.members.iter().position(|(name, _)| name == key);
        };
        let found = sorted.binary_search_by(|&place| self.members[place as usize].0.as_str().cmp(key));
        found.ok().map(|at| sorted[at] as usize)
    }

    /// The value of `key`. Takes time in the logarithm of the number of members.
    #[must_use]
    pub fn get(&self, key: &str) -> Option<&Json> {
        self.place(key).map(|place| &self.members[place].1)
    }

    /// Takes the value of `key` out, leaving `null` in its place.
    pub(crate) fn take(&mut self, key: &str) -> Option<Json> {
        self.place(key).map(|place| std::mem::take(&mut self.members[place].1))
    }

    /// Sets `key` to `value`: in place if it is there, else at the end. For many members collect them instead:
    /// adding one takes time linear in their number.
    pub fn insert(&mut self, key: impl AsRef<str>, value: Json) {
        let key = key.as_ref();
        if let Some(place) = self.place(key) {
            self.members[place].1 = value;
            return;
        }
        if let Some(Sorted(sorted)) = self.sorted.as_deref_mut() {
            let at = sorted.partition_point(|&place| self.members[place as usize].0.as_str() < key);
            sorted.insert(at, u32::try_from(self.members.len()).unwrap_or(u32::MAX));
        }
        self.members.push((SmolStr::new(key), value));
    }

    /// The members in order.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = (&str, &Json)> {
        self.members.iter().map(|(key, value)| (key.as_str(), value))
    }
}

impl PartialEq for Object {
    fn eq(&self, other: &Self) -> bool {
        self.members == other.members
    }
}

impl IntoIterator for Object {
    type Item = (String, Json);
    type IntoIter = IntoIter;

    fn into_iter(self) -> IntoIter {
        IntoIter(self.members.into_iter())
    }
}

/// The members of an [`Object`] in order.
#[derive(Debug)]
pub struct IntoIter(std::vec::IntoIter<(SmolStr, Json)>);

impl Iterator for IntoIter {
    type Item = (String, Json);

    fn next(&mut self) -> Option<(String, Json)> {
        self.0.next().map(|(key, value)| (key.into(), value))
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        self.0.size_hint()
    }
}

impl ExactSizeIterator for IntoIter {}

/// Collects members; of duplicate keys the last value wins, at the place of the first. Time is
/// `O(n log n)` in the number of members.
impl<K: AsRef<str>> FromIterator<(K, Json)> for Object {
    fn from_iter<I: IntoIterator<Item = (K, Json)>>(members: I) -> Self {
        Self::of(members.into_iter().map(|(key, value)| (SmolStr::new(key), value)).collect())
    }
}

impl Object {
    /// As by collecting.
    fn of(mut members: Vec<(SmolStr, Json)>) -> Self {
        if members.len() <= FEW_MEMBERS {
            if (1..members.len()).any(|i| members[..i].iter().any(|(key, _)| *key == members[i].0)) {
                merge_duplicates(&mut members);
            }
            return Self { members, sorted: None };
        }
        merge_duplicates(&mut members);
        let mut sorted: Vec<u32> = (0..u32::try_from(members.len()).unwrap_or(u32::MAX)).collect();
        sorted.sort_unstable_by(|&a, &b| members[a as usize].0.cmp(&members[b as usize].0));
        Self { members, sorted: Some(Box::new(Sorted(sorted))) }
    }
}

/// Gives the first of equal keys the value of the last, and drops the others.
fn merge_duplicates(members: &mut Vec<(SmolStr, Json)>) {
    // Equal keys lie together after a stable sort, in their order.
    let mut order: Vec<usize> = (0..members.len()).collect();
    order.sort_by(|&a, &b| members[a].0.cmp(&members[b].0));
    let mut keep = vec![true; members.len()];
    let mut first = order[0];
    for &later in &order[1..] {
        if members[later].0 == members[first].0 {
            members[first].1 = std::mem::take(&mut members[later].1);
            keep[later] = false;
        } else {
            first = later;
        }
    }
    let mut keep = keep.into_iter();
    members.retain(|_| keep.next() == Some(true));
}

impl Json {
    /// What kind of value this is, in the words of an error message.
    pub(crate) const fn kind(&self) -> &'static str {
        match self {
            Self::Null => "null",
            Self::Bool(_) => "a boolean",
            Self::Number(_) => "a number",
            Self::String(_) => "a string",
            Self::Array(_) => "an array",
            Self::Object(_) => "an object",
        }
    }

    /// The text if this is a string.
    #[must_use]
    pub fn as_str(&self) -> Option<&str> {
        match self {
            Self::String(text) => Some(text),
            _ => None,
        }
    }

    /// The members if this is an object.
    #[must_use]
    pub const fn as_object(&self) -> Option<&Object> {
        match self {
            Self::Object(members) => Some(members),
            _ => None,
        }
    }

    /// The elements if this is an array.
    #[must_use]
    pub fn as_array(&self) -> Option<&[Self]> {
        match self {
            Self::Array(elements) => Some(elements),
            _ => None,
        }
    }

    /// The member `key` if this is an object that has it.
    #[must_use]
    pub fn get(&self, key: &str) -> Option<&Self> {
        self.as_object()?.get(key)
    }

    /// Whether a number that is not an integer stands anywhere in the value.
    pub(crate) fn has_float(&self) -> bool {
        match self {
            Self::Number(Number::Float(_)) => true,
            Self::Array(elements) => elements.iter().any(Self::has_float),
            Self::Object(members) => members.iter().any(|(_, value)| value.has_float()),
            _ => false,
        }
    }
}

/// Writes the value in [`Style::Compact`].
impl fmt::Display for Json {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.write(Style::Compact, f)
    }
}

impl From<&str> for Json {
    fn from(text: &str) -> Self {
        Self::String(text.to_owned())
    }
}

impl From<String> for Json {
    fn from(text: String) -> Self {
        Self::String(text)
    }
}

impl From<bool> for Json {
    fn from(value: bool) -> Self {
        Self::Bool(value)
    }
}

impl From<u32> for Json {
    fn from(value: u32) -> Self {
        Self::from(u64::from(value))
    }
}

impl From<u64> for Json {
    fn from(value: u64) -> Self {
        Self::Number(Number::Unsigned(value))
    }
}

impl From<Vec<Self>> for Json {
    fn from(elements: Vec<Self>) -> Self {
        Self::Array(elements)
    }
}

impl From<Object> for Json {
    fn from(members: Object) -> Self {
        Self::Object(members)
    }
}

/// An object with these members.
impl<const N: usize> From<[(&str, Self); N]> for Json {
    fn from(members: [(&str, Self); N]) -> Self {
        Self::Object(members.into())
    }
}

impl<const N: usize> From<[(&str, Json); N]> for Object {
    fn from(members: [(&str, Json); N]) -> Self {
        members.into_iter().collect()
    }
}

impl<T: Into<Self>> From<Option<T>> for Json {
    fn from(value: Option<T>) -> Self {
        value.map_or(Self::Null, Into::into)
    }
}

impl From<serde_json::Value> for Json {
    fn from(value: serde_json::Value) -> Self {
        match value {
            serde_json::Value::Null => Self::Null,
            serde_json::Value::Bool(value) => Self::Bool(value),
            serde_json::Value::Number(number) => Self::Number(if let Some(n) = number.as_u64() {
                Number::Unsigned(n)
            } else if let Some(n) = number.as_i64() {
                Number::Negative(n)
            } else {
                Number::Float(number.as_f64().unwrap_or_default())
            }),
            serde_json::Value::String(text) => Self::String(text),
            serde_json::Value::Array(elements) => Self::Array(elements.into_iter().map(Self::from).collect()),
            serde_json::Value::Object(members) => {
                Self::Object(members.into_iter().map(|(key, value)| (key, Self::from(value))).collect())
            }
        }
    }
}

impl From<Json> for serde_json::Value {
    fn from(json: Json) -> Self {
        match json {
            Json::Null => Self::Null,
            Json::Bool(value) => Self::Bool(value),
            Json::Number(Number::Unsigned(n)) => n.into(),
            Json::Number(Number::Negative(n)) => n.into(),
            Json::Number(Number::Float(n)) => n.into(),
            Json::String(text) => Self::String(text),
            Json::Array(elements) => Self::Array(elements.into_iter().map(Self::from).collect()),
            Json::Object(members) => {
                Self::Object(members.into_iter().map(|(key, value)| (key, Self::from(value))).collect())
            }
        }
    }
}

impl Serialize for Json {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Self::Null => serializer.serialize_unit(),
            Self::Bool(value) => serializer.serialize_bool(*value),
            Self::Number(Number::Unsigned(n)) => serializer.serialize_u64(*n),
            Self::Number(Number::Negative(n)) => serializer.serialize_i64(*n),
            Self::Number(Number::Float(n)) => serializer.serialize_f64(*n),
            Self::String(text) => serializer.serialize_str(text),
            Self::Array(elements) => {
                let mut seq = serializer.serialize_seq(Some(elements.len()))?;
                elements.iter().try_for_each(|element| seq.serialize_element(element))?;
                seq.end()
            }
            Self::Object(members) => {
                let mut map = serializer.serialize_map(Some(members.len()))?;
                members.iter().try_for_each(|(key, value)| map.serialize_entry(key, value))?;
                map.end()
            }
        }
    }
}

#[cfg(test)]
mod tests;

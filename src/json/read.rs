//! Reading JSON text, with the place of what is wrong in it.

use std::cell::RefCell;
use std::fmt;
use std::sync::LazyLock;

use serde::de::{DeserializeSeed, Deserializer, MapAccess, SeqAccess, Visitor};
use serde::{Deserialize, de};
use smol_str::SmolStr;

use super::path::{Step, Steps};
use super::{Json, Number, Object};

/// What becomes of half a surrogate pair in a `\u` escape, which has no character.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LoneSurrogates {
    /// The text is refused.
    Refuse,
    /// It becomes U+FFFD.
    Replace,
}

/// Text that is not JSON.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct JsonError {
    path: String,
    message: String,
    line: usize,
    column: usize,
}

impl JsonError {
    /// Where in the document it stands, for example `messages[3].content`; empty at the top.
    #[must_use]
    pub fn path(&self) -> &str {
        &self.path
    }

    /// What is wrong, with line and column.
    #[must_use]
    pub fn message(&self) -> &str {
        &self.message
    }

    /// Line, from 1.
    #[must_use]
    pub const fn line(&self) -> usize {
        self.line
    }

    /// Column in bytes, from 1; 0 if the text ended at a line's start.
    #[must_use]
    pub const fn column(&self) -> usize {
        self.column
    }
}

impl fmt::Display for JsonError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if !self.path.is_empty() {
            write!(f, "{}: ", self.path)?;
        }
        f.write_str(&self.message)
    }
}

impl std::error::Error for JsonError {}

impl Json {
    /// Reads one JSON document. Arrays and objects may nest at most 128 deep.
    ///
    /// # Errors
    ///
    /// [`JsonError`] if `text` is not a JSON document in UTF-8.
    pub fn parse(text: &[u8]) -> Result<Self, JsonError> {
        let failed_at = RefCell::default();
        // A text that is UTF-8 as a whole needs no look at each string. Of others, only the reader knows what is wrong
        // first.
        let json = match str::from_utf8(text) {
            Ok(text) => tree(&mut serde_json::Deserializer::from_str(text), &failed_at),
            Err(_) => tree(&mut serde_json::Deserializer::from_slice(text), &failed_at),
        };
        json.map_err(|error| {
            let mut steps = failed_at.take();
            steps.reverse();
            JsonError {
                path: Steps(steps).to_string(),
                message: error.to_string(),
                line: error.line(),
                column: error.column(),
            }
        })
    }

    /// Reads one JSON document as [`Json::parse`] does, and treats lone surrogates as `surrogates` says. Also
    /// returns the places of the strings in which some were replaced.
    ///
    /// # Errors
    ///
    /// [`JsonError`] as of [`Json::parse`].
    pub fn parse_with(text: &[u8], surrogates: LoneSurrogates) -> Result<(Self, Vec<String>), JsonError> {
        let error = match Self::parse(text) {
            Ok(json) => return Ok((json, Vec::new())),
            Err(error) if surrogates == LoneSurrogates::Refuse => return Err(error),
            Err(error) => error,
        };
        let mut repaired = text.to_vec();
        let replaced = replace_lone_surrogates(&mut repaired);
        if replaced.is_empty() {
            return Err(error);
        }
        let json = Self::parse(&repaired)?;
        Ok((json, places(&repaired, &replaced)))
    }
}

impl<'de> Deserialize<'de> for Json {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Tree { failed_at: &RefCell::default() }.deserialize(deserializer)
    }
}

/// The document of `reader`.
fn tree<'de, R: serde_json::de::Read<'de>>(
    reader: &mut serde_json::Deserializer<R>,
    failed_at: &RefCell<Vec<Step>>,
) -> serde_json::Result<Json> {
    let json = Tree { failed_at }.deserialize(&mut *reader)?;
    reader.end().map(|()| json)
}

/// Builds the tree. An error collects the steps to its place while it passes up, innermost first.
#[derive(Clone, Copy)]
struct Tree<'t> {
    failed_at: &'t RefCell<Vec<Step>>,
}

impl Tree<'_> {
    fn note<E>(self, step: impl FnOnce() -> Step) -> impl FnOnce(E) -> E {
        move |error| {
            self.failed_at.borrow_mut().push(step());
            error
        }
    }
}

impl<'de> DeserializeSeed<'de> for Tree<'_> {
    type Value = Json;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Json, D::Error> {
        deserializer.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for Tree<'_> {
    type Value = Json;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a JSON value")
    }

    fn visit_unit<E: de::Error>(self) -> Result<Json, E> {
        Ok(Json::Null)
    }

    fn visit_none<E: de::Error>(self) -> Result<Json, E> {
        Ok(Json::Null)
    }

    fn visit_some<D: Deserializer<'de>>(self, deserializer: D) -> Result<Json, D::Error> {
        deserializer.deserialize_any(self)
    }

    fn visit_bool<E: de::Error>(self, value: bool) -> Result<Json, E> {
        Ok(Json::Bool(value))
    }

    fn visit_u64<E: de::Error>(self, value: u64) -> Result<Json, E> {
        Ok(Json::Number(Number::Unsigned(value)))
    }

    fn visit_i64<E: de::Error>(self, value: i64) -> Result<Json, E> {
        Ok(Json::Number(u64::try_from(value).map_or(Number::Negative(value), Number::Unsigned)))
    }

    fn visit_f64<E: de::Error>(self, value: f64) -> Result<Json, E> {
        if value.is_finite() {
            Ok(Json::Number(Number::Float(value)))
        } else {
            Err(E::custom("a number that is not finite"))
        }
    }

    fn visit_str<E: de::Error>(self, text: &str) -> Result<Json, E> {
        Ok(Json::String(text.to_owned()))
    }

    fn visit_string<E: de::Error>(self, text: String) -> Result<Json, E> {
        Ok(Json::String(text))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<Json, A::Error> {
        let mut elements = Vec::new();
        loop {
            let index = elements.len();
            match seq.next_element_seed(self).map_err(self.note(|| Step::Index(index)))? {
                Some(element) => elements.push(element),
                None => return Ok(Json::Array(elements)),
            }
        }
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Json, A::Error> {
        let mut members = Vec::new();
        while let Some(key) = map.next_key_seed(Key)? {
            if key == NUMBER_KEY && members.is_empty() && *NUMBERS_ARE_OBJECTS {
                return number_from_text(&map.next_value::<String>()?).map_err(de::Error::custom);
            }
            let value = map.next_value_seed(self).map_err(self.note(|| Step::Key(key.to_string())))?;
            members.push((key, value));
        }
        Ok(Json::Object(Object::of(members)))
    }
}

/// Reads an object's key, mostly without memory of its own.
struct Key;

impl<'de> DeserializeSeed<'de> for Key {
    type Value = SmolStr;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<SmolStr, D::Error> {
        deserializer.deserialize_str(self)
    }
}

impl Visitor<'_> for Key {
    type Value = SmolStr;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a key")
    }

    fn visit_str<E: de::Error>(self, key: &str) -> Result<SmolStr, E> {
        Ok(SmolStr::new(key))
    }
}

/// The key under which `serde_json` hands out numbers if some crate turned on its `arbitrary_precision`.
const NUMBER_KEY: &str = "$serde_json::private::Number";

/// Whether it does.
static NUMBERS_ARE_OBJECTS: LazyLock<bool> = LazyLock::new(|| {
    struct Probe;
    impl<'de> Visitor<'de> for Probe {
        type Value = bool;
        fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
            f.write_str("a number")
        }
        fn visit_f64<E: de::Error>(self, _: f64) -> Result<bool, E> {
            Ok(false)
        }
        fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<bool, A::Error> {
            while map.next_entry::<String, String>()?.is_some() {}
            Ok(true)
        }
    }
    serde_json::Deserializer::from_str("1.5").deserialize_any(Probe).unwrap_or_default()
});

fn number_from_text(text: &str) -> Result<Json, &'static str> {
    if let Ok(number) = text.parse() {
        return Ok(Json::Number(Number::Unsigned(number)));
    }
    match (text, text.parse()) {
        // `-0` is a float: integers know no sign of zero.
        ("-0", _) => Ok(Json::Number(Number::Float(-0.0))),
        (_, Ok(number)) => Ok(Json::Number(Number::Negative(number))),
        (_, Err(_)) => match text.parse::<f64>() {
            Ok(number) if number.is_finite() => Ok(Json::Number(Number::Float(number))),
            _ => Err("number out of range"),
        },
    }
}

/// Overwrites the four digits of every `\u` escape that is half a surrogate pair with `fffd`, and returns the
/// offsets of their backslashes. Outside strings a backslash is a syntax error anyway, so strings need no
/// tracking.
fn replace_lone_surrogates(text: &mut [u8]) -> Vec<usize> {
    let mut replaced = Vec::new();
    let mut at = 0;
    while at < text.len() {
        if text[at] != b'\\' {
            at += 1;
            continue;
        }
        match escape_value(text, at) {
            Some(0xD800..0xDC00) if matches!(escape_value(text, at + 6), Some(0xDC00..0xE000)) => at += 12,
            Some(0xD800..0xE000) => {
                text[at + 2..at + 6].copy_from_slice(b"fffd");
                replaced.push(at);
                at += 6;
            }
            Some(_) => at += 6,
            // Another escape, such as `\\`: both bytes belong to it.
            None => at += 2,
        }
    }
    replaced
}

/// The value of the `\uXXXX` escape at `at`, if there is one.
fn escape_value(text: &[u8], at: usize) -> Option<u32> {
    let escape = text.get(at..at + 6)?;
    if !escape.starts_with(b"\\u") || !escape[2..].iter().all(u8::is_ascii_hexdigit) {
        return None;
    }
    u32::from_str_radix(std::str::from_utf8(&escape[2..]).ok()?, 16).ok()
}

/// The places of the strings in `text`, a JSON document, that contain the byte `offsets` (ascending), each place
/// once.
fn places(text: &[u8], offsets: &[usize]) -> Vec<String> {
    /// An open array or object: the next index, or the last key.
    enum Open {
        Array(usize),
        Object(String),
    }
    let mut places: Vec<String> = Vec::new();
    let mut open: Vec<Open> = Vec::new();
    let mut offsets = offsets.iter().copied().peekable();
    let mut at = 0;
    while at < text.len() && offsets.peek().is_some() {
        match text[at] {
            b'[' => open.push(Open::Array(0)),
            b'{' => open.push(Open::Object(String::new())),
            b']' | b'}' => {
                open.pop();
            }
            b',' => {
                if let Some(Open::Array(index)) = open.last_mut() {
                    *index += 1;
                }
            }
            b'"' => {
                let end = string_end(text, at);
                let is_key = text[end..].iter().find(|byte| !byte.is_ascii_whitespace()) == Some(&b':');
                if is_key && let Some(Open::Object(key)) = open.last_mut() {
                    *key = serde_json::from_slice(&text[at..end]).unwrap_or_default();
                }
                let mut hit = false;
                while offsets.next_if(|&offset| offset < end).is_some() {
                    hit = true;
                }
                if hit {
                    let steps = open.iter().map(|step| match step {
                        Open::Array(index) => Step::Index(*index),
                        Open::Object(key) => Step::Key(key.clone()),
                    });
                    places.push(Steps(steps.collect()).to_string());
                }
                at = end;
                continue;
            }
            _ => {}
        }
        at += 1;
    }
    places
}

/// The offset after the closing quote of the string that opens at `start`.
fn string_end(text: &[u8], start: usize) -> usize {
    let mut at = start + 1;
    while at < text.len() {
        match text[at] {
            b'\\' => at += 2,
            b'"' => return at + 1,
            _ => at += 1,
        }
    }
    text.len()
}

//! From JSON to typed fields, with errors that name the field.
//!
//! The wire types of the three APIs are plain structs with public fields; they read from [`Json`] and implement
//! serde's `Deserialize`. Unknown fields are ignored, `null` counts as absent, and fields that may have several
//! forms are enums whose readers look at the value once.

use crate::json::{Json, Number, Object, Path};

use super::RequestError;

/// A type that reads from JSON.
pub(super) trait FromJson: Sized {
    /// Reads `json`, which stands at `at`.
    fn from_json(json: Json, at: Path<'_>) -> Result<Self, RequestError>;

    /// What a field of this type is when its object, at `at`, does not have it.
    fn absent(key: &str, at: Path<'_>) -> Result<Self, RequestError> {
        Err(RequestError::wrong_type(at, format_args!("missing field `{key}`")))
    }
}

/// The error for a value of the wrong form.
pub(super) fn expected(what: &str, found: &Json, at: Path<'_>) -> RequestError {
    RequestError::wrong_type(at, format_args!("expected {what}, found {}", found.kind()))
}

impl FromJson for Json {
    fn from_json(json: Json, _: Path<'_>) -> Result<Self, RequestError> {
        Ok(json)
    }
}

impl<T: FromJson> FromJson for Option<T> {
    fn from_json(json: Json, at: Path<'_>) -> Result<Self, RequestError> {
        match json {
            Json::Null => Ok(None),
            json => T::from_json(json, at).map(Some),
        }
    }

    fn absent(_: &str, _: Path<'_>) -> Result<Self, RequestError> {
        Ok(None)
    }
}

impl<T: FromJson> FromJson for Vec<T> {
    fn from_json(json: Json, at: Path<'_>) -> Result<Self, RequestError> {
        match json {
            Json::Array(elements) => elements
                .into_iter()
                .enumerate()
                .map(|(index, json)| T::from_json(json, at.index(index)))
                .collect(),
            other => Err(expected("a list", &other, at)),
        }
    }
}

impl<T: FromJson> FromJson for Box<T> {
    fn from_json(json: Json, at: Path<'_>) -> Result<Self, RequestError> {
        T::from_json(json, at).map(Box::new)
    }
}

impl FromJson for String {
    fn from_json(json: Json, at: Path<'_>) -> Result<Self, RequestError> {
        match json {
            Json::String(text) => Ok(text),
            other => Err(expected("a string", &other, at)),
        }
    }
}

impl FromJson for bool {
    fn from_json(json: Json, at: Path<'_>) -> Result<Self, RequestError> {
        match json {
            Json::Bool(value) => Ok(value),
            other => Err(expected("true or false", &other, at)),
        }
    }
}

impl FromJson for Object {
    fn from_json(json: Json, at: Path<'_>) -> Result<Self, RequestError> {
        match json {
            Json::Object(members) => Ok(members),
            other => Err(expected("an object", &other, at)),
        }
    }
}

/// Sampling parameters are single precision, as in the official conversion: ranges are checked on the rounded
/// value.
impl FromJson for f32 {
    #[allow(clippy::cast_possible_truncation)]
    fn from_json(json: Json, at: Path<'_>) -> Result<Self, RequestError> {
        match json {
            Json::Number(number) => Ok(number.as_f64() as Self),
            other => Err(expected("a number", &other, at)),
        }
    }
}

macro_rules! unsigned_from_json {
    ($($type:ty)*) => {$(
        impl FromJson for $type {
            fn from_json(json: Json, at: Path<'_>) -> Result<Self, RequestError> {
                if let Json::Number(Number::Unsigned(number)) = json
                    && let Ok(number) = <$type>::try_from(number)
                {
                    return Ok(number);
                }
                let what = format!("an integer from 0 to {}", <$type>::MAX);
                Err(RequestError::wrong_type(at, match &json {
                    Json::Number(_) => format!("expected {what}, found {json}"),
                    other => format!("expected {what}, found {}", other.kind()),
                }))
            }
        }
    )*};
}
unsigned_from_json!(u8 u32 u64);

/// The fields of an object that are still to be read.
pub(super) struct Fields(Object);

impl Fields {
    pub(super) fn of(json: Json, at: Path<'_>) -> Result<Self, RequestError> {
        Object::from_json(json, at).map(Self)
    }

    /// Reads the field `key` of the object, which stands at `at`.
    pub(super) fn take<T: FromJson>(&mut self, key: &str, at: Path<'_>) -> Result<T, RequestError> {
        match self.0.take(key) {
            Some(json) => T::from_json(json, at.key(key)),
            None => T::absent(key, at),
        }
    }

    /// The text of the field `key`, if it is there.
    pub(super) fn text(&self, key: &str) -> Option<&str> {
        self.0.get(key).and_then(Json::as_str)
    }

    /// Whether the field `key` is there, if only as null.
    pub(super) fn contains(&self, key: &str) -> bool {
        self.0.get(key).is_some()
    }

    /// Whether the field `key` is there and not null.
    pub(super) fn has(&self, key: &str) -> bool {
        self.0.get(key).is_some_and(|json| *json != Json::Null)
    }

    pub(super) fn into_json(self) -> Json {
        Json::Object(self.0)
    }
}

/// Declares structs that read from JSON objects, field by field.
macro_rules! wire_structs {
    ($($(#[$meta:meta])* pub struct $name:ident {
        $($(#[$field_meta:meta])* $field:ident $(as $key:literal)? : $type:ty,)*
    })*) => {$(
        $(#[$meta])*
        #[derive(Debug, Clone, PartialEq)]
        pub struct $name { $($(#[$field_meta])* pub $field: $type,)* }

        impl $crate::protocol::wire::FromJson for $name {
            fn from_json(
                json: $crate::json::Json,
                at: $crate::json::Path<'_>,
            ) -> Result<Self, $crate::protocol::RequestError> {
                let mut fields = $crate::protocol::wire::Fields::of(json, at)?;
                Ok(Self { $($field: fields.take(wire_structs!(@key $field $($key)?), at)?,)* })
            }
        }
    )*};
    (@key $field:ident) => { stringify!($field) };
    (@key $field:ident $key:literal) => { $key };
}
pub(super) use wire_structs;

/// Lets a request type be read by anything that speaks serde, such as a web framework's JSON extractor.
macro_rules! deserialize_from_json {
    ($type:ty) => {
        impl<'de> serde::Deserialize<'de> for $type {
            fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                use $crate::protocol::wire::FromJson;
                let json = $crate::json::Json::deserialize(deserializer)?;
                Self::from_json(json, $crate::json::Path::Root).map_err(serde::de::Error::custom)
            }
        }
    };
}
pub(super) use deserialize_from_json;

/// Text, or a list of parts: the two forms of most contents.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum TextOrList<T> {
    /// Text.
    Text(String),
    /// A list.
    List(Vec<T>),
}

impl<T: FromJson> FromJson for TextOrList<T> {
    fn from_json(json: Json, at: Path<'_>) -> Result<Self, RequestError> {
        match json {
            Json::String(text) => Ok(Self::Text(text)),
            json @ Json::Array(_) => Vec::from_json(json, at).map(Self::List),
            other => Err(expected("a string or a list", &other, at)),
        }
    }
}

/// An effort: a name, or a number.
#[derive(Debug, Clone, PartialEq)]
pub enum EffortField {
    /// A name such as `high`.
    Name(String),
    /// A number from 1 to 100.
    Number(Number),
}

impl FromJson for EffortField {
    fn from_json(json: Json, at: Path<'_>) -> Result<Self, RequestError> {
        match json {
            Json::String(name) => Ok(Self::Name(name)),
            Json::Number(number) => Ok(Self::Number(number)),
            other => Err(expected("the name of an effort or a number", &other, at)),
        }
    }
}

/// The arguments of a call in the history.
#[derive(Debug, Clone, PartialEq)]
pub enum Arguments {
    /// JSON text, as the API has it.
    Text(String),
    /// The object itself, as some clients send it.
    Object(Object),
    /// Nothing.
    Absent,
}

impl FromJson for Arguments {
    fn from_json(json: Json, at: Path<'_>) -> Result<Self, RequestError> {
        match json {
            Json::String(text) => Ok(Self::Text(text)),
            Json::Object(object) => Ok(Self::Object(object)),
            Json::Null => Ok(Self::Absent),
            other => Err(expected("a string that holds a JSON object", &other, at)),
        }
    }

    fn absent(_: &str, _: Path<'_>) -> Result<Self, RequestError> {
        Ok(Self::Absent)
    }
}

wire_structs! {
    /// The switch `thinking`.
    pub struct ThinkingField {
        /// `enabled`, `adaptive` or `disabled`.
        kind as "type": String,
        /// Has no effect.
        budget_tokens: Option<u64>,
    }
}

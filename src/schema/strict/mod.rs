//! Strict schemas: every property required, nothing else allowed.
//!
//! The official conversion reads a strict schema into a fixed shape (one `type` with the keywords it keeps for that
//! type, a list of simple types, an `anyOf`, or a `$ref`), closes every object and writes it back. What the shape
//! has no place for (`title`, `minLength`, `oneOf`, `$defs`) it drops without a word. The prompt has to show its
//! result, because that is what the model was trained on; the output is better held to the whole schema. So
//! [`normalize`] returns both.

use std::collections::HashSet;
use std::fmt;

use super::pointer::Pointer;
use crate::json::{Json, Number, Object};

mod beyond;
mod shape;

use beyond::{address, close, close_keyword, referenced};
use shape::{FORMATS, Kind, SIMPLE, TYPES, mismatch, quoted, variant};

/// Where a strict schema stands: the two places differ in their rules for the top level and in their messages.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Top {
    /// The parameters of a function tool. The object may have no properties.
    Parameters,
    /// The schema of a response format. The object must have properties.
    Response,
}

impl Top {
    /// What stands in front of a fault of the shape.
    const fn prefix(self) -> &'static str {
        match self {
            Self::Parameters => "Invalid tool parameters schema : ",
            Self::Response => "Invalid json schema: ",
        }
    }

    const fn not_an_object(self) -> &'static str {
        match self {
            Self::Parameters => "The top level of the function parameters schema must be an object.",
            Self::Response => "The top level of the json schema must be an object.",
        }
    }
}

/// A strict schema in its two forms.
#[derive(Debug, Clone, PartialEq)]
pub struct Normalized {
    /// What the prompt shows: byte for byte the official result, except that `$defs` and `definitions` stay (closed
    /// like the rest, at the end of their object) where a `$ref` of the schema points into them. The official
    /// conversion drops them and leaves the reference dangling.
    pub prompt: Json,
    /// What the output is held to: the schema with all objects closed and nothing lost. Equal to `prompt` if the
    /// official conversion loses nothing.
    pub enforced: Json,
}

/// Why a schema cannot be strict.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StrictError {
    message: String,
    places: Vec<(String, String)>,
}

impl StrictError {
    /// The first fault in the words of the official conversion, complete: its prefix is part of it where the
    /// official message has one (a fault of the shape) and is not where it has none (a rule for objects).
    #[must_use]
    pub fn message(&self) -> &str {
        &self.message
    }

    /// Every fault: the JSON pointer of its place and what is wrong there. The first is the one of
    /// [`message`](Self::message).
    #[must_use]
    pub fn places(&self) -> &[(String, String)] {
        &self.places
    }
}

impl fmt::Display for StrictError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

impl std::error::Error for StrictError {}

/// Makes `schema` strict.
///
/// # Errors
///
/// The schema does not fit the shape of strict schemas or breaks one of their rules; all faults are listed.
pub fn normalize(schema: &Json, top: Top) -> Result<Normalized, StrictError> {
    let mut walk = Walk::new(referenced(schema));
    let forms = walk.schema(schema, top == Top::Parameters);
    if schema.get("type").and_then(Json::as_str) != Some("object") {
        walk.rule(top.not_an_object().to_owned());
    }
    walk.faults.splice(0..0, walk.misshapen);
    let Some(first) = walk.faults.first() else {
        return Ok(forms);
    };
    let message = match first.inside_any_of {
        Some(depth) => format!("{}{}{}", top.prefix(), "field `anyOf`: ".repeat(depth), first.what),
        None => first.what.clone(),
    };
    let places = walk.faults.into_iter().map(|fault| (fault.pointer, fault.what)).collect();
    Err(StrictError { message, places })
}

/// Keywords with schemas by name, other than `properties`, to which a `$ref` can point.
const DEFINITIONS: [&str; 2] = ["$defs", "definitions"];

struct Fault {
    pointer: String,
    what: String,
    /// For a fault of the shape: how many `anyOf` lists surround it. The official message names each of them.
    inside_any_of: Option<usize>,
}

/// One pass over a schema. Faults of the shape come first in the official conversion, which reads the whole schema
/// before it applies the rules for objects; so the two are collected apart.
struct Walk {
    pointer: Pointer,
    any_of: usize,
    misshapen: Vec<Fault>,
    faults: Vec<Fault>,
    /// How many bytes of pointers may still be listed.
    room: usize,
    /// Addresses of the objects with definitions to which a `$ref` points.
    referenced: HashSet<usize>,
}

/// How many bytes the pointers of all faults may have, so that a long name above many faults costs little. The
/// faults beyond are not listed.
const ROOM_FOR_POINTERS: usize = 1 << 20;

impl Walk {
    fn new(referenced: HashSet<usize>) -> Self {
        Self {
            pointer: Pointer::default(),
            any_of: 0,
            misshapen: Vec::new(),
            faults: Vec::new(),
            room: ROOM_FOR_POINTERS,
            referenced,
        }
    }

    /// A fault of the shape at the current place.
    fn shape(&mut self, what: String) {
        if let Some(pointer) = self.place(self.misshapen.is_empty()) {
            self.misshapen.push(Fault { pointer, what, inside_any_of: Some(self.any_of) });
        }
    }

    /// A broken rule at the current place.
    fn rule(&mut self, what: String) {
        let is_first = self.room == ROOM_FOR_POINTERS;
        if let Some(pointer) = self.place(is_first) {
            self.faults.push(Fault { pointer, what, inside_any_of: None });
        }
    }

    /// The current pointer, if it is to be listed.
    fn place(&mut self, in_any_case: bool) -> Option<String> {
        let pointer = self.pointer.as_str();
        let cost = pointer.len() + 1;
        if !in_any_case && cost > self.room {
            return None;
        }
        self.room = self.room.saturating_sub(cost);
        Some(pointer.to_owned())
    }

    /// Runs `step` one level down, at `key`.
    fn at<T>(&mut self, key: &str, step: impl FnOnce(&mut Self) -> T) -> T {
        let length = self.pointer.enter(key);
        let result = step(self);
        self.pointer.leave(length);
        result
    }

    fn schema(&mut self, schema: &Json, may_be_empty: bool) -> Normalized {
        let none = Object::new();
        let members = schema.as_object().unwrap_or(&none);
        if let Some(Json::Array(types)) = members.get("type") {
            return self.list_of_types(members, types);
        }
        if members.get("type").is_some() {
            return self.typed(members, may_be_empty);
        }
        if let Some(any_of) = members.get("anyOf") {
            return self.any_of(members, any_of, may_be_empty);
        }
        if let Some(reference) = members.get("$ref") {
            if reference.as_str().is_none() {
                self.at("$ref", |walk| {
                    walk.shape(format!("field `$ref`: {}", mismatch(reference, "a string")))
                });
            }
            return self.finish(members, vec![("$ref", Forms::same(reference.clone()))], &["$ref"]);
        }
        self.shape("one of `type`, `anyOf`, `$ref` field is required".to_owned());
        Forms::same(Json::Null)
    }

    fn list_of_types(&mut self, members: &Object, types: &[Json]) -> Normalized {
        let mut names = Vec::with_capacity(types.len());
        for (index, name) in types.iter().enumerate() {
            match variant(name, &SIMPLE) {
                Ok(name) => names.push(Json::from(name)),
                Err(what) => self.at("type", |walk| {
                    walk.at(&index.to_string(), |walk| walk.shape(format!("field `type`: {what}")));
                }),
            }
        }
        let mut kept = vec![("type", Forms::same(names.into()))];
        kept.extend(self.described(members));
        self.finish(members, kept, &["type", "description"])
    }

    fn any_of(&mut self, members: &Object, any_of: &Json, may_be_empty: bool) -> Normalized {
        let (mut prompt, mut enforced) = (Vec::new(), Vec::new());
        self.any_of += 1;
        self.at("anyOf", |walk| match any_of.as_array() {
            Some(branches) => {
                for (index, branch) in branches.iter().enumerate() {
                    let forms = walk.at(&index.to_string(), |walk| walk.branch(branch, may_be_empty));
                    prompt.push(forms.prompt);
                    enforced.push(forms.enforced);
                }
            }
            None => walk.shape(mismatch(any_of, "a sequence")),
        });
        self.any_of -= 1;
        let mut kept = vec![("anyOf", Normalized { prompt: prompt.into(), enforced: enforced.into() })];
        kept.extend(self.described(members));
        self.finish(members, kept, &["anyOf", "description"])
    }

    /// A branch of an `anyOf`, which must have one type.
    fn branch(&mut self, branch: &Json, may_be_empty: bool) -> Normalized {
        match branch {
            Json::Object(members) => self.typed(members, may_be_empty),
            // The official reader takes a list for a type and its keywords in their order.
            Json::Array(elements) => self.positional(elements, may_be_empty),
            other => {
                self.shape(mismatch(other, "internally tagged enum JsonSchemaType"));
                Forms::same(Json::Null)
            }
        }
    }

    fn positional(&mut self, elements: &[Json], may_be_empty: bool) -> Normalized {
        let Some((name, values)) = elements.split_first() else {
            self.shape("missing field `type`".to_owned());
            return Forms::same(Json::Null);
        };
        let mut members = Object::new();
        members.insert("type", name.clone());
        let Some(kind) = TYPES.iter().find(|kind| name.as_str() == Some(kind.name)) else {
            return self.typed(&members, may_be_empty);
        };
        for ((keyword, _), value) in kind.keywords.iter().zip(values) {
            members.insert(*keyword, value.clone());
        }
        let (given, known) = (values.len(), kind.keywords.len());
        let elements = if known == 1 { "1 element".to_owned() } else { format!("{known} elements") };
        if given < known {
            let variant = kind.variant;
            self.shape(format!(
                "invalid length {given}, expected struct variant JsonSchemaType::{variant} with {elements}"
            ));
        } else if given > known {
            self.shape(format!("invalid length {given}, expected {elements} in sequence"));
        }
        self.typed(&members, may_be_empty)
    }

    /// The `description` of a list of types or an `anyOf`.
    fn described(&mut self, members: &Object) -> Option<(&'static str, Normalized)> {
        match members.get("description")? {
            Json::Null => None,
            text @ Json::String(_) => Some(("description", Forms::same(text.clone()))),
            other => {
                let what = format!("field `description`: {}", mismatch(other, "a string"));
                self.at("description", |walk| walk.shape(what));
                None
            }
        }
    }

    fn typed(&mut self, members: &Object, may_be_empty: bool) -> Normalized {
        let kind = match members.get("type") {
            Some(Json::String(name)) => TYPES.iter().find(|kind| kind.name == name).ok_or_else(|| {
                let names = TYPES.iter().map(|kind| kind.name);
                format!("unknown variant `{name}`, expected one of {}", quoted(names))
            }),
            Some(other) => Err(mismatch(other, "variant identifier")),
            None => {
                self.shape("missing field `type`".to_owned());
                return Forms::same(Json::Null);
            }
        };
        let kind = match kind {
            Ok(kind) => kind,
            Err(what) => {
                self.at("type", |walk| walk.shape(what));
                return Forms::same(Json::Null);
            }
        };
        let mut slots: Vec<Option<Normalized>> = vec![None; kind.keywords.len()];
        let mut broken: Vec<Vec<Fault>> = kind.keywords.iter().map(|_| Vec::new()).collect();
        for (key, value) in members.iter() {
            let Some(slot) = kind.keywords.iter().position(|(keyword, _)| *keyword == key) else { continue };
            // The shape is read in the order of the text, the rules are applied in the order of the keywords.
            let outer = std::mem::take(&mut self.faults);
            slots[slot] = self.at(key, |walk| walk.keyword(value, kind.keywords[slot].1));
            broken[slot] = std::mem::replace(&mut self.faults, outer);
        }
        if kind.name == "array" && members.get("items").is_none() {
            self.shape("missing field `items`".to_owned());
        }
        if kind.name == "object" {
            self.close(&mut slots, broken.into_iter().flatten().collect(), may_be_empty);
        } else {
            self.faults.extend(broken.into_iter().flatten());
        }
        let mut kept = vec![("type", Forms::same(kind.name.into()))];
        let keywords = kind.keywords.iter().zip(slots);
        kept.extend(keywords.filter_map(|((keyword, _), slot)| Some((*keyword, slot?))));
        let known: Vec<&str> =
            std::iter::once("type").chain(kind.keywords.iter().map(|(keyword, _)| *keyword)).collect();
        self.finish(members, kept, &known)
    }

    /// Applies the rules for objects: `slots` holds `properties`, `additionalProperties` and `required` first.
    fn close(&mut self, slots: &mut [Option<Normalized>], children: Vec<Fault>, may_be_empty: bool) {
        let empty = || Forms::same(Object::new().into());
        let properties = slots[0].get_or_insert_with(empty);
        let names: Vec<String> = properties
            .prompt
            .as_object()
            .into_iter()
            .flat_map(Object::iter)
            .map(|(name, _)| name.to_owned())
            .collect();
        if names.is_empty() && !may_be_empty {
            self.rule("An object with no properties is not allowed.".to_owned());
        }
        self.faults.extend(children);
        if let Some(required) = slots[2].as_ref().and_then(|forms| forms.prompt.as_array()) {
            let required: Vec<String> = required.iter().filter_map(Json::as_str).map(str::to_owned).collect();
            self.at("required", |walk| walk.required(&required, &names));
        }
        if slots[1].as_ref().is_some_and(|forms| forms.prompt == Json::Bool(true)) {
            let what = "additionalProperties should not be true".to_owned();
            self.at("additionalProperties", |walk| walk.rule(what));
        }
        slots[1] = Some(Forms::same(false.into()));
        slots[2] = Some(Forms::same(names.into_iter().map(Json::from).collect::<Vec<_>>().into()));
    }

    fn required(&mut self, required: &[String], names: &[String]) {
        let known: HashSet<&str> = names.iter().map(String::as_str).collect();
        let mut seen = HashSet::new();
        for name in required {
            if !known.contains(name.as_str()) {
                self.rule(format!("Required property '{name}' not found in object"));
            } else if !seen.insert(name.as_str()) {
                self.rule(format!("Duplicate required property '{name}'"));
            }
        }
        if seen.len() != known.len() {
            self.rule("Required properties must match all properties in the object".to_owned());
        }
    }

    /// The value of a kept keyword; `None` if it counts as absent.
    fn keyword(&mut self, value: &Json, kind: Kind) -> Option<Normalized> {
        if kind == Kind::Schema {
            return Some(self.schema(value, false));
        }
        let fault = match (kind, value) {
            (_, Json::Null) => return None,
            (Kind::Text, Json::String(_)) | (Kind::Flag, Json::Bool(_)) | (Kind::Number, Json::Number(_)) => {
                None
            }
            (Kind::Integer, Json::Number(number)) if number.as_i64().is_some() => None,
            (Kind::Integer, Json::Number(Number::Unsigned(n))) => {
                Some(format!("invalid value: integer `{n}`, expected i64"))
            }
            (Kind::Text, _) => Some(mismatch(value, "a string")),
            (Kind::Flag, _) => Some(mismatch(value, "a boolean")),
            (Kind::Number, _) => Some(mismatch(value, "a JSON number")),
            (Kind::Integer, _) => Some(mismatch(value, "i64")),
            (Kind::Format, _) => match variant(value, &FORMATS) {
                Ok(format) => return Some(Forms::same(format.into())),
                Err(what) => Some(what),
            },
            (Kind::Texts, Json::Array(elements)) => {
                for (index, element) in elements.iter().enumerate() {
                    if element.as_str().is_none() {
                        let what = mismatch(element, "a string");
                        self.at(&index.to_string(), |walk| walk.shape(what));
                    }
                }
                None
            }
            (Kind::Texts, _) => Some(mismatch(value, "a sequence")),
            (Kind::Schemas, Json::Object(members)) => return Some(self.schemas(members)),
            (Kind::Schemas | Kind::Schema, _) => Some(mismatch(value, "a map")),
        };
        match fault {
            Some(what) => {
                self.shape(what);
                None
            }
            None => Some(Forms::same(value.clone())),
        }
    }

    fn schemas(&mut self, members: &Object) -> Normalized {
        let (mut prompt, mut enforced) = (Vec::new(), Vec::new());
        for (name, schema) in members.iter() {
            let forms = self.at(name, |walk| walk.schema(schema, false));
            prompt.push((name.to_owned(), forms.prompt));
            enforced.push((name.to_owned(), forms.enforced));
        }
        Forms::objects(prompt, enforced)
    }

    /// Puts the two forms of a schema together from its `kept` keywords and its other members: all but the `known`.
    fn finish(&self, members: &Object, kept: Vec<(&'static str, Normalized)>, known: &[&str]) -> Normalized {
        let (mut prompt, mut enforced) = (Vec::new(), Vec::new());
        for (key, forms) in kept {
            prompt.push((key.to_owned(), forms.prompt));
            enforced.push((key.to_owned(), forms.enforced));
        }
        for key in DEFINITIONS {
            let Some(schemas) = members.get(key) else { continue };
            let forms = self.definitions(schemas);
            if self.referenced.contains(&address(schemas)) {
                prompt.push((key.to_owned(), forms.prompt));
            }
            enforced.push((key.to_owned(), forms.enforced));
        }
        for (key, value) in members.iter() {
            if !known.contains(&key) && !DEFINITIONS.contains(&key) {
                enforced.push((key.to_owned(), close_keyword(key, value)));
            }
        }
        Forms::objects(prompt, enforced)
    }

    /// Definitions are not part of the official shape, so none of them is a fault: one that does not fit stays as
    /// it is, with its objects closed in the enforced form.
    fn definitions(&self, schemas: &Json) -> Normalized {
        let Some(schemas) = schemas.as_object() else {
            return Forms::same(schemas.clone());
        };
        let (mut prompt, mut enforced) = (Vec::new(), Vec::new());
        for (name, schema) in schemas.iter() {
            let mut walk = Self::new(HashSet::new());
            let mut forms = walk.schema(schema, true);
            if !walk.misshapen.is_empty() || !walk.faults.is_empty() {
                forms = Normalized { prompt: schema.clone(), enforced: close(schema) };
            }
            prompt.push((name.to_owned(), forms.prompt));
            enforced.push((name.to_owned(), forms.enforced));
        }
        Forms::objects(prompt, enforced)
    }
}

/// Ways to make both forms at once.
struct Forms;

impl Forms {
    fn same(json: Json) -> Normalized {
        Normalized { prompt: json.clone(), enforced: json }
    }

    fn objects(prompt: Vec<(String, Json)>, enforced: Vec<(String, Json)>) -> Normalized {
        let object = |members: Vec<(String, Json)>| Json::Object(members.into_iter().collect());
        Normalized { prompt: object(prompt), enforced: object(enforced) }
    }
}

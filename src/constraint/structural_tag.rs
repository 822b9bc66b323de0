//! Constraints as structural tags, for engines that make their masks themselves; and structural tags as constraints.
//!
//! [Structural tags](https://github.com/mlc-ai/xgrammar/blob/main/docs/structural_tag/structural_tag.md) are the JSON
//! form in which SGLang and vLLM take grammars. They say less than the masks of this crate: keys come in the schema's
//! order, a call has only the parameters that its tool declares, and what a schema demands besides counts as far as the
//! engine's own reader of schemas knows it.

pub(super) mod read;

use super::Constraint;
use crate::conversation::{ParallelToolCalls, Tool};
use crate::json::{Json, Object};
use crate::model::{Dsml, Profile};
use crate::output::Start;
use crate::token::Special;

impl Constraint {
    /// The constraint on an output that begins at `start` and is written for `profile`, as a structural tag.
    ///
    /// Engines that know where reasoning ends hold only what follows it to their grammar: for them, `start` is
    /// [`Start::Content`].
    #[must_use]
    pub fn structural_tag(&self, start: Start, profile: &Profile) -> Json {
        let answer = match self {
            Self::Json { schema } => json_schema(schema.clone().unwrap_or_else(any_object)),
            Self::StructuralTag(tag) => return tag.clone(),
            Self::Regex(regex) => format("regex", [("pattern", regex.as_str().into())]),
            Self::Tools { tools, required, parallel } => {
                let markup = Markup(profile.dsml());
                let single = *parallel == ParallelToolCalls::Forbidden;
                let calls = markup.calls(tools, single);
                let end = markup.tag("</", markup.0.block, "");
                let open = markup.tag("<", markup.0.block, ">\n");
                match (start, required) {
                    (Start::Calls, _) => sequence([calls, constant(end + ">")]),
                    (_, true) => sequence([tag("", any_text(), open), calls, constant(end + ">")]),
                    (_, false) => format(
                        "triggered_tags",
                        [
                            ("triggers", Json::Array(vec![open.trim_end().into()])),
                            ("tags", Json::Array(vec![tag(&open, calls, end + ">")])),
                            ("stop_after_first", true.into()),
                        ],
                    ),
                }
            }
        };
        let reasons = matches!(start, Start::Reasoning | Start::InReasoning);
        let whole = if reasons {
            sequence([tag("", any_text(), Special::ThinkEnd.spelling().to_owned()), answer])
        } else {
            answer
        };
        Json::from([("type", "structural_tag".into()), ("format", whole)])
    }
}

/// The tags of a model version, spelled out.
struct Markup<'m>(&'m Dsml);

impl Markup<'_> {
    fn tag(&self, open: &str, name: &str, rest: &str) -> String {
        format!("{open}{}{name}{rest}", Special::Dsml.spelling())
    }

    fn calls(&self, tools: &[Tool], single: bool) -> Json {
        let calls = tools.iter().map(|tool| {
            let open = self.tag("<", self.0.invoke, &format!(" name=\"{}\">\n", tool.name));
            tag(&open, self.arguments(tool.schema()), self.tag("</", self.0.invoke, ">\n"))
        });
        format(
            "tags_with_separator",
            [
                ("tags", Json::Array(calls.collect())),
                ("separator", "".into()),
                ("at_least_one", true.into()),
                ("stop_after_first", single.into()),
            ],
        )
    }

    /// The arguments that a schema allows: its properties in their order. Where it has none, or says otherwise what its
    /// objects look like, anything.
    fn arguments(&self, schema: &Json) -> Json {
        let is_plain =
            ["$ref", "allOf", "anyOf", "oneOf", "if", "not"].iter().all(|key| schema.get(key).is_none());
        let properties = schema.get("properties").and_then(Json::as_object).filter(|_| is_plain);
        let Some(properties) = properties.filter(|properties| !properties.is_empty()) else {
            return any_text();
        };
        let required = schema.get("required").and_then(Json::as_array).unwrap_or_default();
        let definitions = ["$defs", "definitions"].map(|key| (key, schema.get(key)));
        // Markup cannot write a quotation mark in a name.
        let properties = properties.iter().filter(|(name, _)| !name.contains('"'));
        let arguments = properties.map(|(name, property)| {
            let argument = self.argument(name, property, &definitions);
            if required.iter().any(|required| required.as_str() == Some(name)) {
                argument
            } else {
                format("optional", [("content", argument)])
            }
        });
        sequence(arguments)
    }

    /// An argument: a string as it is, anything else as JSON.
    fn argument(&self, name: &str, schema: &Json, definitions: &[(&str, Option<&Json>)]) -> Json {
        let of_form = |string: bool, value: Json| {
            let open = self.tag("<", self.0.parameter, &format!(" name=\"{name}\" string=\"{string}\">"));
            tag(&open, value, self.tag("</", self.0.parameter, ">\n"))
        };
        let (strings, others) = forms(schema);
        let string = strings.then(|| of_form(true, text_of(schema)));
        let other = others.then(|| of_form(false, json_schema(with_definitions(schema, definitions))));
        match (string, other) {
            (Some(string), Some(other)) => format("or", [("elements", Json::Array(vec![string, other]))]),
            (Some(one), None) | (None, Some(one)) => one,
            (None, None) => of_form(false, any_text()),
        }
    }
}

/// Whether a schema may allow strings, and whether anything else, as far as `type`, `enum` and `const` say.
fn forms(schema: &Json) -> (bool, bool) {
    let values: Option<Vec<&Json>> = match (schema.get("const"), schema.get("enum")) {
        (Some(only), _) => Some(vec![only]),
        (None, Some(Json::Array(values))) => Some(values.iter().collect()),
        _ => None,
    };
    if let Some(values) = values {
        let is_string = |value: &&Json| value.as_str().is_some();
        return (values.iter().any(is_string), !values.iter().all(is_string));
    }
    match schema.get("type") {
        Some(Json::String(name)) => (name == "string", name != "string"),
        Some(Json::Array(names)) => {
            let is_string = |name: &Json| name.as_str() == Some("string");
            (names.iter().any(is_string), !names.iter().all(is_string))
        }
        _ => (true, true),
    }
}

/// What a string may be, without quotation marks.
fn text_of(schema: &Json) -> Json {
    let texts: Vec<Json> = match (schema.get("const"), schema.get("enum")) {
        (Some(only), _) => vec![only.clone()],
        (None, Some(Json::Array(values))) => values.clone(),
        _ => Vec::new(),
    };
    let texts: Vec<Json> =
        texts.iter().filter_map(Json::as_str).map(|text| constant(text.to_owned())).collect();
    match (texts.len(), schema.get("pattern").and_then(Json::as_str)) {
        (0, None) => any_text(),
        (0, Some(pattern)) => format("regex", [("pattern", pattern.into())]),
        _ => format("or", [("elements", Json::Array(texts))]),
    }
}

/// A property's schema on its own, without the strings that are written otherwise.
fn with_definitions(schema: &Json, definitions: &[(&str, Option<&Json>)]) -> Json {
    let Json::Object(mut members) = schema.clone() else { return schema.clone() };
    if let Some(Json::Array(names)) = members.get("type") {
        let names = names.iter().filter(|name| name.as_str() != Some("string")).cloned().collect();
        members.insert("type", Json::Array(names));
    }
    if let Some(Json::Array(values)) = members.get("enum") {
        let values = values.iter().filter(|value| value.as_str().is_none()).cloned().collect();
        members.insert("enum", Json::Array(values));
    }
    for (key, value) in definitions {
        if let Some(value) = value {
            members.insert(*key, (*value).clone());
        }
    }
    members.into()
}

fn format<const N: usize>(kind: &str, members: [(&str, Json); N]) -> Json {
    let mut object = Object::from([("type", kind.into())]);
    for (name, value) in members {
        object.insert(name, value);
    }
    object.into()
}

fn any_text() -> Json {
    format("any_text", [])
}

fn any_object() -> Json {
    Json::from([("type", "object".into())])
}

fn json_schema(schema: Json) -> Json {
    format("json_schema", [("json_schema", schema)])
}

fn constant(text: String) -> Json {
    format("const_string", [("value", text.into())])
}

fn sequence(elements: impl IntoIterator<Item = Json>) -> Json {
    format("sequence", [("elements", Json::Array(elements.into_iter().collect()))])
}

fn tag(begin: &str, content: Json, end: String) -> Json {
    format("tag", [("begin", begin.into()), ("content", content), ("end", end.into())])
}

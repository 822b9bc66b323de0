//! What an output may contain.

use std::collections::BTreeMap;

use crate::conversation::{Conversation, Message, ParallelToolCalls, ResponseFormat, Tool, ToolChoice};
use crate::json::{Json, Number};
use crate::token::TokenId;

/// What an output may contain, as it follows from the request.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Plan {
    /// Where the output starts.
    pub start: Start,
    /// The names of the tools that may be called; `None` if none may.
    pub tools: Option<Vec<String>>,
    /// Parameters that cannot be strings, by the tool's name and theirs: a string of JSON for one of them is taken for
    /// the JSON.
    pub types: BTreeMap<String, BTreeMap<String, JsonTypes>>,
    /// Whether the answer is JSON, of which text around it is no part.
    pub json: bool,
    /// Texts that end the answer. They apply to nothing but the answer's text.
    pub stops: Vec<String>,
    /// Ids that end the output wherever they come, as the end of the model's turn does.
    pub stop_ids: Vec<TokenId>,
    /// Whether a stop sequence stays in the answer, and the text of an id that ends the output.
    pub keep_stop: bool,
    /// Whether the output ends after the first call.
    pub single_call: bool,
}

/// Where an output starts.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Start {
    /// With reasoning.
    Reasoning,
    /// In the middle of reasoning.
    InReasoning,
    /// With the answer.
    #[default]
    Content,
    /// In the middle of the answer.
    InContent,
    /// Inside a block of calls.
    Calls,
}

impl Plan {
    /// The plan for the answer to `conversation`, which ends at any of `stops`.
    #[must_use]
    pub fn of(conversation: &Conversation, stops: &[String]) -> Self {
        let offers_tools = conversation.offers_tools();
        Self {
            start: start(conversation),
            tools: offers_tools.then(|| conversation.tools.iter().map(|tool| tool.name.clone()).collect()),
            types: conversation.tools.iter().filter_map(types_of).collect(),
            json: conversation.response_format == ResponseFormat::JsonObject,
            stops: stops.to_vec(),
            stop_ids: Vec::new(),
            keep_stop: false,
            single_call: conversation.parallel_tool_calls == ParallelToolCalls::Forbidden,
        }
    }
}

fn start(conversation: &Conversation) -> Start {
    if conversation.tool_choice == ToolChoice::Required && conversation.offers_tools() {
        return Start::Calls;
    }
    let continued = match conversation.messages.last() {
        Some(Message::Assistant(message)) if message.prefix => Some(message),
        _ => None,
    };
    match (conversation.thinking.is_on(), continued) {
        (true, Some(message)) if !message.content.is_empty() => Start::InContent,
        (true, Some(message)) if message.reasoning.as_ref().is_some_and(|text| !text.is_empty()) => {
            Start::InReasoning
        }
        (true, _) => Start::Reasoning,
        (false, _) => Start::Content,
    }
}

/// Types of JSON values.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct JsonTypes {
    bits: u8,
}

impl JsonTypes {
    const NAMES: [&'static str; 7] = ["null", "boolean", "integer", "number", "array", "object", "string"];
    const STRING: u8 = 1 << 6;

    /// The types with these names in JSON Schema; other names are left out.
    pub fn from_names<'n>(names: impl IntoIterator<Item = &'n str>) -> Self {
        let bit = |name| Self::NAMES.iter().position(|known| *known == name).map_or(0, |index| 1 << index);
        Self { bits: names.into_iter().fold(0, |bits, name| bits | bit(name)) }
    }

    /// Whether a value is of one of the types.
    #[must_use]
    pub fn allow(self, value: &Json) -> bool {
        let names: &[&str] = match value {
            Json::Null => &["null"],
            Json::Bool(_) => &["boolean"],
            Json::Number(Number::Float(value)) if value.fract() != 0.0 => &["number"],
            Json::Number(_) => &["integer", "number"],
            Json::String(_) => &["string"],
            Json::Array(_) => &["array"],
            Json::Object(_) => &["object"],
        };
        self.bits & Self::from_names(names.iter().copied()).bits != 0
    }
}

/// The parameters of a tool that cannot be strings, as the `type` of their schemas says.
fn types_of(tool: &Tool) -> Option<(String, BTreeMap<String, JsonTypes>)> {
    let Some(Json::Object(properties)) = tool.parameters.get("properties") else { return None };
    let types = |schema: &Json| {
        let types = match schema.get("type")? {
            Json::String(name) => JsonTypes::from_names([name.as_str()]),
            Json::Array(names) => JsonTypes::from_names(names.iter().filter_map(Json::as_str)),
            _ => return None,
        };
        (types.bits != 0 && types.bits & JsonTypes::STRING == 0).then_some(types)
    };
    let found = properties.iter().filter_map(|(name, schema)| Some((name.to_owned(), types(schema)?)));
    let found: BTreeMap<String, JsonTypes> = found.collect();
    (!found.is_empty()).then(|| (tool.name.clone(), found))
}

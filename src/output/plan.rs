//! What an output may contain.

use crate::conversation::{Conversation, Message, ParallelToolCalls, ResponseFormat, ToolChoice};

/// What an output may contain, as it follows from the request.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Plan {
    /// Where the output starts.
    pub start: Start,
    /// The names of the tools that may be called; `None` if none may.
    pub tools: Option<Vec<String>>,
    /// Whether the answer is JSON, of which text around it is no part.
    pub json: bool,
    /// Texts that end the answer. They apply to nothing but the answer's text.
    pub stops: Vec<String>,
    /// Whether a stop sequence stays in the answer.
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
            json: conversation.response_format == ResponseFormat::JsonObject,
            stops: stops.to_vec(),
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

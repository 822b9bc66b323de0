//! What an answer has to look like, so that constrained decoding can enforce it.

mod compile;
mod structural_tag;
#[cfg(feature = "validate")]
mod validate;

pub use compile::{ConstraintError, LeftOut};
pub use structural_tag::read::TagError;
#[cfg(feature = "validate")]
pub use validate::{InvalidSchema, Validator, Violation};

use crate::conversation::{Conversation, ParallelToolCalls, ResponseFormat, Tool, ToolChoice};
use crate::json::{Json, Object, Style};

/// A constraint on an answer. It holds for what follows the reasoning.
#[derive(Debug, Clone, PartialEq)]
pub enum Constraint {
    /// A JSON value; with a schema, one that follows it.
    Json {
        /// The schema.
        schema: Option<Json>,
    },
    /// What a structural tag says, the JSON form in which SGLang, vLLM and Dynamo take grammars: all of its formats but EBNF
    /// and other models' markup. What its texts spell as special tokens are special tokens, which free text has none of. If
    /// there must be one of `triggered_tags`, it stands at the beginning. The older form (`structures`) is read too.
    StructuralTag(Json),
    /// Text that matches a regular expression.
    Regex(String),
    /// Free text, or calls of tools.
    Tools {
        /// The tools that may be called.
        tools: Vec<Tool>,
        /// Whether there must be a call.
        required: bool,
        /// Whether there may be several.
        parallel: ParallelToolCalls,
    },
}

impl Constraint {
    /// The constraint of a conversation: its tools where it offers some, else its response format.
    #[must_use]
    pub fn of(conversation: &Conversation) -> Option<Self> {
        if conversation.offers_tools() {
            let tools = match &conversation.tool_choice {
                ToolChoice::Allowed { names, .. } => {
                    conversation.tools.iter().filter(|tool| names.contains(&tool.name)).cloned().collect()
                }
                _ => conversation.tools.clone(),
            };
            return Some(Self::Tools {
                tools,
                required: conversation.tool_choice.is_required(),
                parallel: conversation.parallel_tool_calls,
            });
        }
        match &conversation.response_format {
            ResponseFormat::Text => None,
            ResponseFormat::JsonObject => Some(Self::Json { schema: None }),
            ResponseFormat::JsonSchema { schema, enforced } => {
                Some(Self::Json { schema: Some(enforced.as_ref().unwrap_or(schema).clone()) })
            }
            ResponseFormat::Regex(regex) => Some(Self::Regex(regex.clone())),
        }
    }

    /// The constraint's kind as the official conversion names it: `json`, `regex`, `tool_call` or
    /// `tool_call_required`; `structural_tag`, which it does not know.
    #[must_use]
    pub const fn kind(&self) -> &'static str {
        match self {
            Self::Json { .. } => "json",
            Self::StructuralTag(_) => "structural_tag",
            Self::Regex(_) => "regex",
            Self::Tools { required: false, .. } => "tool_call",
            Self::Tools { required: true, .. } => "tool_call_required",
        }
    }

    /// The constraint as text, in the form of the official conversion: a schema, an expression, a list of Chat
    /// Completions tools, or nothing for any JSON.
    #[must_use]
    pub fn schema_text(&self) -> String {
        match self {
            Self::Json { schema } => {
                schema.as_ref().map(|schema| schema.text(Style::Compact)).unwrap_or_default()
            }
            Self::StructuralTag(tag) => tag.text(Style::Compact),
            Self::Regex(regex) => regex.clone(),
            Self::Tools { tools, .. } => {
                Json::Array(tools.iter().map(tool_json).collect()).text(Style::Compact)
            }
        }
    }
}

fn tool_json(tool: &Tool) -> Json {
    let function = Json::from([
        ("name", tool.name.as_str().into()),
        ("description", tool.description.as_deref().into()),
        ("parameters", tool.schema().clone()),
        ("strict", tool.strict.into()),
    ]);
    let mut members = Object::from([("type", "function".into()), ("function", function)]);
    if tool.deferred {
        members.insert("defer_loading", true.into());
    }
    members.into()
}

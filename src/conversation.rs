//! A conversation without any trace of the protocol it came by: what a model's renderer works on.
//!
//! Conversations usually come from lowering a request ([`protocol`](crate::protocol)), which has checked them
//! already. One built by hand renders too: rendering is total.

use crate::json::{Json, Object};

/// Everything that shapes a prompt.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Conversation {
    /// Messages, oldest first.
    pub messages: Vec<Message>,
    /// The tools that the model may be told of, in declaration order.
    pub tools: Vec<Tool>,
    /// Whether and how the model calls tools.
    pub tool_choice: ToolChoice,
    /// Whether the next assistant turn starts with reasoning, and how much of it.
    pub thinking: Thinking,
    /// The form of the answer.
    pub response_format: ResponseFormat,
    /// Whether one answer may contain several calls. Limits the constraint, not the prompt.
    pub parallel_tool_calls: ParallelToolCalls,
}

impl Conversation {
    /// Whether the model is told of tools: there are some, and it may call them.
    #[must_use]
    pub fn offers_tools(&self) -> bool {
        self.tool_choice != ToolChoice::None && !self.tools.is_empty()
    }
}

/// One message of a conversation.
#[derive(Debug, Clone, PartialEq)]
pub enum Message {
    /// Instructions.
    System {
        /// The instructions.
        content: Content,
        /// Tools that become available here. Models without mid-conversation system messages ignore them.
        tools: Vec<Tool>,
    },
    /// What the user says.
    User {
        /// The user's text and images.
        content: Content,
    },
    /// What the model said.
    Assistant(AssistantMessage),
    /// What a tool call returned.
    Tool {
        /// The result.
        content: Content,
        /// The call that it answers. Models use it to order results; it is not rendered.
        call_id: Option<String>,
    },
    /// A note that renders under a token of its own.
    LatestReminder {
        /// The note.
        content: String,
    },
}

/// A message of the model's own.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct AssistantMessage {
    /// The answer. Spellings of grounding tokens in it become those tokens: the model wrote them.
    pub content: String,
    /// The reasoning before the answer; `None` is none at all, which some models render differently from empty
    /// reasoning. Grounding tokens as in `content`.
    pub reasoning: Option<String>,
    /// The tool calls after the answer; `None` is no call block, which some models render differently from an
    /// empty one.
    pub calls: Option<Vec<Call>>,
    /// Whether the model continues this message instead of starting a new one. Only the last message can be
    /// continued.
    pub prefix: bool,
}

/// A tool call that the model made.
#[derive(Debug, Clone, PartialEq)]
pub struct Call {
    /// What its result refers to. Not rendered.
    pub id: String,
    /// The tool's name.
    pub name: String,
    /// The arguments by parameter name.
    pub arguments: Object,
}

impl Call {
    /// The arguments that `text` spells. Text that is not a JSON object becomes one parameter `arguments` that
    /// holds the text, so that no call of a history is lost.
    #[must_use]
    pub fn parse_arguments(text: String) -> Object {
        match Json::parse(text.as_bytes()) {
            Ok(Json::Object(arguments)) => arguments,
            _ => Object::from_iter([("arguments".to_owned(), Json::String(text))]),
        }
    }
}

/// Text and images, in order. Parts render with a blank line between them.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Content(pub Vec<Part>);

/// One part of a message's content.
#[derive(Debug, Clone, PartialEq)]
pub enum Part {
    /// Plain text.
    Text(String),
    /// An image, of which the prompt holds a placeholder.
    Image(Image),
}

impl Content {
    /// Whether the content renders as nothing.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        match self.0.as_slice() {
            [] => true,
            [Part::Text(text)] => text.is_empty(),
            _ => false,
        }
    }

    /// The images in order.
    pub fn images(&self) -> impl Iterator<Item = &Image> {
        self.0.iter().filter_map(|part| match part {
            Part::Image(image) => Some(image),
            Part::Text(_) => None,
        })
    }

    /// The texts in order.
    pub fn texts(&self) -> impl Iterator<Item = &str> {
        self.0.iter().filter_map(|part| match part {
            Part::Text(text) => Some(text.as_str()),
            Part::Image(_) => None,
        })
    }
}

impl From<String> for Content {
    fn from(text: String) -> Self {
        Self(vec![Part::Text(text)])
    }
}

impl From<&str> for Content {
    fn from(text: &str) -> Self {
        Self::from(text.to_owned())
    }
}

/// An image that a request refers to. This crate checks its form and never loads it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Image {
    /// Where its bytes are.
    pub source: ImageSource,
    /// The resolution that the request asks for.
    pub detail: ImageDetail,
    /// The place in the request, such as `messages[3].content[1]`; empty when made by hand.
    pub path: String,
}

/// Where an image's bytes are.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ImageSource {
    /// An `http` or `https` URL that the engine's image loader fetches.
    Url(String),
    /// A `data:` URL that carries the bytes.
    Data(String),
}

/// How much of an image's resolution is used.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum ImageDetail {
    /// A small version.
    Low,
    /// As much as the model's token budget for an image holds.
    #[default]
    High,
    /// The same as [`ImageDetail::High`].
    Original,
    /// The same as [`ImageDetail::High`].
    Auto,
}

/// A tool that the model may call.
#[derive(Debug, Clone, PartialEq)]
pub struct Tool {
    /// The name by which the model calls it.
    pub name: String,
    /// What it does, in words.
    pub description: Option<String>,
    /// The JSON Schema of its arguments, as the prompt shows it.
    pub parameters: Json,
    /// The schema that a constraint enforces, where it is not `parameters`.
    pub enforced: Option<Json>,
    /// Whether calls must follow the schema exactly; `None` if the request did not say.
    pub strict: Option<bool>,
    /// Whether the tool prompt leaves it out because a later message introduces it.
    pub deferred: bool,
    /// What it is in the protocol's eyes.
    pub kind: ToolKind,
}

impl Tool {
    /// A plain function tool.
    #[must_use]
    pub fn function(name: impl Into<String>, description: Option<String>, parameters: Json) -> Self {
        Self {
            name: name.into(),
            description,
            parameters,
            enforced: None,
            strict: None,
            deferred: false,
            kind: ToolKind::Function,
        }
    }

    /// The schema that calls have to follow.
    #[must_use]
    pub fn schema(&self) -> &Json {
        self.enforced.as_ref().unwrap_or(&self.parameters)
    }
}

/// What a tool is in the protocol's eyes: its calls go back in the form that the client declared.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ToolKind {
    /// A function with JSON arguments.
    Function,
    /// A custom tool: one free text, which the model writes as the string parameter `input`.
    Custom,
    /// A function inside a namespace.
    Namespaced {
        /// The namespace.
        namespace: String,
        /// The function's name inside the namespace.
        name: String,
    },
    /// The search for further tools that the client runs.
    ToolSearch,
}

/// Whether and how the model calls tools.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub enum ToolChoice {
    /// The model decides. The prompt lists the tools.
    #[default]
    Auto,
    /// No calls. The prompt lists no tools.
    None,
    /// At least one call. The prompt lists the tools and opens the call block.
    Required,
    /// As `Auto` or `Required`, but only the tools named here may be called. The prompt lists all tools, so that
    /// it stays the same from turn to turn.
    Allowed {
        /// Names of tools of the conversation.
        names: Vec<String>,
        /// Whether at least one call must be made.
        required: bool,
    },
}

impl ToolChoice {
    /// Whether the answer must contain a call.
    #[must_use]
    pub const fn is_required(&self) -> bool {
        matches!(self, Self::Required | Self::Allowed { required: true, .. })
    }
}

/// Whether one answer may contain several calls.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum ParallelToolCalls {
    /// Any number of calls.
    #[default]
    Allowed,
    /// At most one call.
    Forbidden,
}

/// Whether the next assistant turn starts with reasoning.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Thinking {
    /// No reasoning.
    Off,
    /// Reasoning of the given effort.
    On(Effort),
}

impl Thinking {
    /// Whether reasoning is on.
    #[must_use]
    pub const fn is_on(self) -> bool {
        matches!(self, Self::On(_))
    }
}

impl Default for Thinking {
    fn default() -> Self {
        Self::On(Effort::High)
    }
}

/// How thoroughly the model reasons.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Effort {
    /// Briefly.
    Low,
    /// The default.
    High,
    /// As `High`, under the name of clients that have a step between high and max.
    Xhigh,
    /// Without restraint.
    Max,
    /// A number from 1 to 100 for models that take one; others use the nearest named effort.
    Score(Score),
}

/// An effort from 1 to 100.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Score(u8);

impl Score {
    /// The score, if `value` lies between 1 and 100.
    #[must_use]
    pub fn new(value: u64) -> Option<Self> {
        u8::try_from(value).ok().filter(|score| (1..=100).contains(score)).map(Self)
    }

    /// A score known when compiling. Panics, at compile time in a `const`, unless it is between 1 and 100.
    #[must_use]
    pub const fn constant(value: u8) -> Self {
        assert!(value >= 1 && value <= 100, "an effort score lies between 1 and 100");
        Self(value)
    }

    /// The number.
    #[must_use]
    pub const fn get(self) -> u8 {
        self.0
    }
}

/// The form of the answer.
#[derive(Debug, Clone, PartialEq, Default)]
pub enum ResponseFormat {
    /// Free text.
    #[default]
    Text,
    /// Any JSON object. The prompt says so.
    JsonObject,
    /// JSON that follows a schema. The prompt shows the schema.
    JsonSchema {
        /// The schema as the request has it, which the prompt shows.
        schema: Json,
        /// The schema that a constraint enforces, where it is not `schema`.
        enforced: Option<Json>,
    },
    /// Text that matches a regular expression. The prompt does not mention it.
    Regex(String),
}

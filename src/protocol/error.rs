//! Refused requests.

use std::fmt;

use crate::json::{Json, JsonError};
use crate::output::named_kinds;

use super::{Api, Dialect};

named_kinds! {
    /// Why a request is refused.
    pub enum ErrorKind {
        /// The body is not JSON.
        Syntax = "syntax",
        /// A field has the wrong type or is missing.
        Type = "type",
        /// The body is too large.
        TooLarge = "too_large",
        /// The model's name is not known.
        Model = "model",
        /// A message cannot stand where or as it stands.
        Message = "message",
        /// Calls and results do not match.
        ToolResult = "tool_result",
        /// Reasoning that has to be passed back is missing.
        MissingReasoning = "missing_reasoning",
        /// An image or file cannot be used.
        Image = "image",
        /// A tool's declaration is not valid.
        Tool = "tool",
        /// A JSON Schema is not valid or not supported.
        Schema = "schema",
        /// The choice of tools cannot be served.
        ToolChoice = "tool_choice",
        /// The answer's format cannot be served.
        ResponseFormat = "response_format",
        /// A message cannot be continued.
        Prefix = "prefix",
        /// A stop sequence is not valid.
        Stop = "stop",
        /// A sampling parameter is out of range.
        Sampling = "sampling",
        /// A setting of the stream cannot be served.
        Stream = "stream",
        /// The effort or the thinking switch is not known.
        Thinking = "thinking",
        /// Prompt and answer do not fit the model's context.
        ContextLength = "context_length",
    }
}

/// A refused request: why, where, and what the API answers.
#[derive(Clone, PartialEq, Eq)]
pub struct RequestError(Box<Inner>);

#[derive(Debug, Clone, PartialEq, Eq)]
struct Inner {
    kind: ErrorKind,
    path: String,
    message: String,
}

impl RequestError {
    pub(super) fn new(kind: ErrorKind, path: impl ToString, message: impl Into<String>) -> Self {
        Self(Box::new(Inner { kind, path: path.to_string(), message: message.into() }))
    }

    /// A field of the wrong form. `problem` says what is wrong with the value at `path`.
    pub(super) fn wrong_type(path: impl ToString, problem: impl fmt::Display) -> Self {
        let path = path.to_string();
        let place = if path.is_empty() { String::new() } else { format!("{path}: ") };
        let message = format!("Failed to deserialize the JSON body into the target type: {place}{problem}");
        Self::new(ErrorKind::Type, path, message)
    }

    /// Why the request is refused.
    #[must_use]
    pub fn kind(&self) -> ErrorKind {
        self.0.kind
    }

    /// The place in the request, for example `messages[3].content[1]`; empty where no single place is at fault.
    #[must_use]
    pub fn path(&self) -> &str {
        &self.0.path
    }

    /// What is wrong, in the official API's words where it refuses the same.
    #[must_use]
    pub fn message(&self) -> &str {
        &self.0.message
    }

    /// The HTTP status: 413 for a body that is too large, else 400.
    #[must_use]
    pub fn status(&self) -> u16 {
        if self.0.kind == ErrorKind::TooLarge { 413 } else { 400 }
    }

    /// The body of the HTTP response: `{"error": {"message", "type", "param", "code"}}`, but for what [`Dialect`] says.
    #[must_use]
    pub fn body(&self, api: Api, dialect: Dialect) -> Json {
        const TYPE: &str = "invalid_request_error";
        let message = Json::from(self.message());
        match (dialect, api) {
            (Dialect::Vendor, Api::Messages) => {
                let kind = if self.0.kind == ErrorKind::TooLarge { "request_too_large" } else { TYPE };
                let error = Json::from([("type", kind.into()), ("message", message)]);
                Json::from([("type", "error".into()), ("error", error)])
            }
            (Dialect::Vendor, _) => {
                let param = Some(self.path()).filter(|path| !path.is_empty());
                let code = match self.0.kind {
                    ErrorKind::Model => Json::from("model_not_found"),
                    ErrorKind::ContextLength => Json::from("context_length_exceeded"),
                    _ => Json::Null,
                };
                openai_error([
                    ("message", message),
                    ("type", TYPE.into()),
                    ("param", param.into()),
                    ("code", code),
                ])
            }
            (Dialect::Deepseek, _) => openai_error([
                ("message", message),
                ("type", TYPE.into()),
                ("param", Json::Null),
                ("code", TYPE.into()),
            ]),
        }
    }
}

/// An error body in the form of OpenAI.
pub(super) fn openai_error(members: [(&str, Json); 4]) -> Json {
    Json::from([("error", members.into())])
}

impl From<JsonError> for RequestError {
    fn from(error: JsonError) -> Self {
        let message = format!("Failed to parse the request body as JSON: {error}");
        Self::new(ErrorKind::Syntax, error.path(), message)
    }
}

impl fmt::Debug for RequestError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

impl fmt::Display for RequestError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.message())
    }
}

impl std::error::Error for RequestError {}

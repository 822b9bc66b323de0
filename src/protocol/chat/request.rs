//! The request's wire types.

use crate::json::{Json, Path};
use crate::protocol::RequestError;
use crate::protocol::wire::{
    Arguments, EffortField, Fields, FromJson, TextOrList, ThinkingField, deserialize_from_json, expected,
    wire_structs,
};

wire_structs! {
    /// A Chat Completions request.
    pub struct Request {
        /// The model's name.
        model: String,
        /// The conversation so far.
        messages: Vec<Message>,
        /// Sampling temperature, from 0 to 2. Has no effect while thinking.
        temperature: Option<f32>,
        /// Share of probability to sample from, above 0 up to 1.
        top_p: Option<f32>,
        /// Checked to lie between -2 and 2; has no effect.
        frequency_penalty: Option<f32>,
        /// Checked to lie between -2 and 2; has no effect.
        presence_penalty: Option<f32>,
        /// Whether log probabilities are reported.
        logprobs: Option<bool>,
        /// Alternatives per token, from 0 to 20; needs `logprobs`.
        top_logprobs: Option<u8>,
        /// The most tokens to generate, reasoning included.
        max_tokens: Option<u32>,
        /// OpenAI's newer name of `max_tokens`. The official API ignores it, whatever it is.
        max_completion_tokens: Option<Json>,
        /// How many answers to generate. The official API serves one.
        n: Option<u8>,
        /// Sampling seed.
        seed: Option<u64>,
        /// Texts that end the answer.
        stop: Option<TextOrList<String>>,
        /// Whether to stream.
        stream: Option<bool>,
        /// Settings of the stream; not without `stream`.
        stream_options: Option<StreamOptions>,
        /// The answer's form.
        response_format: Option<ResponseFormat>,
        /// The tools that may be called.
        tools: Option<Vec<Tool>>,
        /// Which of them to call.
        tool_choice: Option<ToolChoice>,
        /// Whether one answer may contain several calls.
        parallel_tool_calls: Option<bool>,
        /// How thoroughly to reason.
        reasoning_effort: Option<EffortField>,
        /// Whether to reason.
        thinking: Option<ThinkingField>,
        /// The caller's own key-value pairs; not used.
        metadata: Option<Json>,
        /// The end user's id; not used.
        user: Option<Json>,
        /// DeepSeek's name of `user`; not used.
        user_id: Option<Json>,
        /// Not used.
        safety_identifier: Option<Json>,
        /// Not used: prefixes are cached by content.
        prompt_cache_key: Option<Json>,
        /// Not used.
        prompt_cache_retention: Option<Json>,
        /// Not used: nothing is stored.
        store: Option<Json>,
        /// Not used.
        service_tier: Option<Json>,
        /// Not used.
        logit_bias: Option<Json>,
        /// Not used.
        prediction: Option<Json>,
        /// Not used: answers are text.
        modalities: Option<Json>,
        /// Not used: answers are text.
        audio: Option<Json>,
        /// Not used.
        verbosity: Option<Json>,
        /// Not used: no tools run at the server.
        web_search_options: Option<Json>,
        /// The old form of `tools`; not used, as in the official API.
        functions: Option<Json>,
        /// The old form of `tool_choice`; not used, as in the official API.
        function_call: Option<Json>,
    }

    /// Settings of a stream.
    pub struct StreamOptions {
        /// Whether every chunk has a `usage` field.
        include_usage: Option<bool>,
        /// Not used.
        include_obfuscation: Option<Json>,
    }

    /// A system, developer or user message.
    pub struct TextMessage {
        /// What it says.
        content: Option<Content>,
        /// The author's name; not used.
        name: Option<String>,
    }

    /// A message of the model's own.
    pub struct AssistantMessage {
        /// The answer.
        content: Option<Content>,
        /// The reasoning before it.
        reasoning_content: Option<String>,
        /// The tool calls after it.
        tool_calls: Option<Vec<ToolCall>>,
        /// Whether the model continues this message.
        prefix: Option<bool>,
        /// A refusal, which takes the place of `content`.
        refusal: Option<Json>,
        /// The author's name; not used.
        name: Option<String>,
        /// An earlier spoken answer; not used.
        audio: Option<Json>,
        /// The old form of `tool_calls`; not used.
        function_call: Option<Json>,
    }

    /// The result of a tool call.
    pub struct ToolMessage {
        /// The call that it answers.
        tool_call_id: String,
        /// The result.
        content: Option<Content>,
    }

    /// The call of a function.
    pub struct FunctionCall {
        /// The function's name.
        name: String,
        /// The arguments.
        arguments: Arguments,
    }

    /// The call of a custom tool.
    pub struct CustomCall {
        /// The tool's name.
        name: String,
        /// What it is given.
        input: String,
    }

    /// The image of an `image_url` part.
    pub struct ImageUrl {
        /// An `http` URL or a base64 data URL.
        url: String,
        /// `low`, `high`, `original` or `auto`.
        detail: Option<String>,
    }

    /// The file of a `file` part: an image in a base64 data URL.
    pub struct File {
        /// An uploaded file; not supported.
        file_id: Option<String>,
        /// The data URL.
        file_data: Option<String>,
        /// The file's name; not used.
        filename: Option<String>,
    }

    /// A function that the model may call.
    pub struct Function {
        /// Its name.
        name: String,
        /// What it does.
        description: Option<String>,
        /// The JSON Schema of its arguments.
        parameters: Option<Json>,
        /// Whether calls must follow the schema exactly.
        strict: Option<bool>,
    }

    /// A custom tool: it takes one free text.
    pub struct CustomTool {
        /// Its name.
        name: String,
        /// What it does, in a string.
        description: Option<Json>,
        /// The form of the text.
        format: Option<Json>,
    }

    /// The schema of a `json_schema` response format.
    pub struct JsonSchema {
        /// The JSON Schema.
        schema: Json,
        /// Its name; not used.
        name: Option<String>,
        /// Its description; not used.
        description: Option<Json>,
        /// Whether answers must follow the schema exactly.
        strict: Option<bool>,
    }
}
deserialize_from_json!(Request);

/// A message by its role.
#[derive(Debug, Clone, PartialEq)]
pub enum Message {
    /// `system`
    System(TextMessage),
    /// `developer`, OpenAI's newer name of `system`.
    Developer(TextMessage),
    /// `user`
    User(TextMessage),
    /// `assistant`
    Assistant(Box<AssistantMessage>),
    /// `tool`
    Tool(ToolMessage),
    /// `latest_reminder`, DeepSeek's own.
    LatestReminder(TextMessage),
    /// Any other.
    Unknown {
        /// The role.
        role: String,
        /// The message.
        message: Json,
    },
}

impl FromJson for Message {
    fn from_json(json: Json, at: Path<'_>) -> Result<Self, RequestError> {
        let mut fields = Fields::of(json, at)?;
        let role: String = fields.take("role", at)?;
        let json = fields.into_json();
        Ok(match role.as_str() {
            "system" => Self::System(TextMessage::from_json(json, at)?),
            "developer" => Self::Developer(TextMessage::from_json(json, at)?),
            "user" => Self::User(TextMessage::from_json(json, at)?),
            "assistant" => Self::Assistant(FromJson::from_json(json, at)?),
            "tool" => Self::Tool(ToolMessage::from_json(json, at)?),
            "latest_reminder" => Self::LatestReminder(TextMessage::from_json(json, at)?),
            _ => Self::Unknown { role, message: json },
        })
    }
}

/// A tool call in the history.
#[derive(Debug, Clone, PartialEq)]
pub struct ToolCall {
    /// What its result refers to.
    pub id: String,
    /// What is called.
    pub call: CallKind,
}

/// What a tool call calls.
#[derive(Debug, Clone, PartialEq)]
pub enum CallKind {
    /// A function.
    Function {
        /// The call.
        call: FunctionCall,
        /// Whether it says `"type": "function"`.
        typed: bool,
    },
    /// A custom tool.
    Custom(CustomCall),
    /// Anything else, by its type.
    Unknown(String),
}

impl FromJson for ToolCall {
    fn from_json(json: Json, at: Path<'_>) -> Result<Self, RequestError> {
        let mut fields = Fields::of(json, at)?;
        let id = fields.take("id", at)?;
        let kind: Option<String> = fields.take("type", at)?;
        let call = match kind.as_deref() {
            None => CallKind::Function { call: fields.take("function", at)?, typed: false },
            Some("function") => CallKind::Function { call: fields.take("function", at)?, typed: true },
            Some("custom") => CallKind::Custom(fields.take("custom", at)?),
            Some(other) => CallKind::Unknown(other.to_owned()),
        };
        Ok(Self { id, call })
    }
}

/// What a message says: text, or parts.
pub type Content = TextOrList<Part>;

/// One part of a message's content.
#[derive(Debug, Clone, PartialEq)]
pub enum Part {
    /// `text`
    Text(String),
    /// `image_url`
    ImageUrl(ImageUrl),
    /// `file`
    File {
        /// The file.
        file: File,
        /// Whether its fields stand in an object of their own, as OpenAI has them, and not in the part.
        nested: bool,
    },
    /// `refusal`
    Refusal(String),
    /// `input_audio`; its contents are not used.
    InputAudio,
    /// Any other.
    Unknown(String),
}

impl FromJson for Part {
    fn from_json(json: Json, at: Path<'_>) -> Result<Self, RequestError> {
        let mut fields = Fields::of(json, at)?;
        let kind: String = fields.take("type", at)?;
        Ok(match kind.as_str() {
            "text" => Self::Text(fields.take("text", at)?),
            "image_url" => Self::ImageUrl(fields.take("image_url", at)?),
            "file" if fields.has("file") && !fields.has("file_id") && !fields.has("file_data") => {
                Self::File { file: fields.take("file", at)?, nested: true }
            }
            "file" => Self::File { file: File::from_json(fields.into_json(), at)?, nested: false },
            "refusal" => Self::Refusal(fields.take("refusal", at)?),
            "input_audio" => Self::InputAudio,
            _ => Self::Unknown(kind),
        })
    }
}

/// A tool that the model may call.
#[derive(Debug, Clone, PartialEq)]
pub enum Tool {
    /// `function`
    Function {
        /// The function.
        function: Function,
        /// Whether the declaration says `"type": "function"`.
        typed: bool,
    },
    /// `custom`
    Custom(CustomTool),
    /// Any other.
    Unknown(String),
}

impl FromJson for Tool {
    fn from_json(json: Json, at: Path<'_>) -> Result<Self, RequestError> {
        let mut fields = Fields::of(json, at)?;
        match fields.text("type") {
            None if fields.has("function") => {
                Ok(Self::Function { function: fields.take("function", at)?, typed: false })
            }
            Some("function") => Ok(Self::Function { function: fields.take("function", at)?, typed: true }),
            Some("custom") => fields.take("custom", at).map(Self::Custom),
            _ => fields.take("type", at).map(Self::Unknown),
        }
    }
}

/// Which tools to call.
#[derive(Debug, Clone, PartialEq)]
pub enum ToolChoice {
    /// `none`, `auto`, `required`, or another word.
    Mode(String),
    /// A certain tool.
    Named {
        /// `function` or `custom`.
        kind: String,
        /// The tool's name.
        name: String,
    },
    /// Some of the tools.
    Allowed {
        /// `auto` or `required`.
        mode: String,
        /// The tools' names.
        names: Vec<String>,
    },
    /// Any other object, by its type.
    Unknown(String),
}

wire_structs! {
    /// A tool named inside another object.
    pub struct ToolName {
        /// The name.
        name: String,
    }

    /// The tools that `allowed_tools` allows.
    pub struct AllowedTools {
        /// `auto` or `required`.
        mode: Option<String>,
        /// The tools.
        tools: Vec<AllowedTool>,
    }

    /// One of the allowed tools.
    pub struct AllowedTool {
        /// A function.
        function: Option<ToolName>,
        /// A custom tool.
        custom: Option<ToolName>,
        /// The name, in the form of the Responses API.
        name: Option<String>,
    }
}

impl FromJson for ToolChoice {
    fn from_json(json: Json, at: Path<'_>) -> Result<Self, RequestError> {
        if let Json::String(mode) = json {
            return Ok(Self::Mode(mode));
        }
        if json.as_object().is_none() {
            return Err(expected("`none`, `auto`, `required` or an object that names a tool", &json, at));
        }
        let mut fields = Fields::of(json, at)?;
        let kind: String = fields.take("type", at)?;
        match kind.as_str() {
            "function" | "custom" => {
                let tool: ToolName = fields.take(&kind, at)?;
                Ok(Self::Named { kind, name: tool.name })
            }
            "allowed_tools" => {
                let allowed: AllowedTools = fields.take("allowed_tools", at)?;
                let at = at.key("allowed_tools");
                let at = at.key("tools");
                let names = allowed.tools.into_iter().enumerate().map(|(index, tool)| {
                    let name = tool.function.or(tool.custom).map(|tool| tool.name).or(tool.name);
                    name.ok_or_else(|| RequestError::wrong_type(at.index(index), "missing field `function`"))
                });
                let names = names.collect::<Result<_, _>>()?;
                Ok(Self::Allowed { mode: allowed.mode.unwrap_or_else(|| "auto".to_owned()), names })
            }
            _ => Ok(Self::Unknown(kind)),
        }
    }
}

/// The answer's form.
#[derive(Debug, Clone, PartialEq)]
pub enum ResponseFormat {
    /// `text`
    Text,
    /// `json_object`
    JsonObject,
    /// `json_schema`
    JsonSchema(JsonSchema),
    /// `regex`, DeepSeek's own.
    Regex(String),
}

impl FromJson for ResponseFormat {
    fn from_json(json: Json, at: Path<'_>) -> Result<Self, RequestError> {
        let mut fields = Fields::of(json, at)?;
        let kind: String = fields.take("type", at)?;
        match kind.as_str() {
            "text" => Ok(Self::Text),
            "json_object" => Ok(Self::JsonObject),
            "json_schema" => fields.take("json_schema", at).map(Self::JsonSchema),
            "regex" => fields.take("regex", at).map(Self::Regex),
            other => Err(RequestError::wrong_type(
                at.key("type"),
                format_args!(
                    "unknown format `{other}`, expected `text`, `json_object`, `json_schema` or `regex`"
                ),
            )),
        }
    }
}

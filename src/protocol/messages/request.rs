//! The request's wire types.

use crate::json::{Json, Path};
use crate::protocol::RequestError;
use crate::protocol::wire::{
    EffortField, Fields, FromJson, TextOrList, ThinkingField, deserialize_from_json, wire_structs,
};

wire_structs! {
    /// A Messages request.
    pub struct Request {
        /// The model's name.
        model: String,
        /// The conversation so far.
        messages: Vec<Message>,
        /// Instructions.
        system: Option<System>,
        /// The most tokens to generate, reasoning included.
        max_tokens: Option<u32>,
        /// Sampling temperature, from 0 to 2. Has no effect while thinking.
        temperature: Option<f32>,
        /// Share of probability to sample from, above 0 up to 1.
        top_p: Option<f32>,
        /// Not used.
        top_k: Option<Json>,
        /// Texts that end the answer.
        stop_sequences: Option<Vec<String>>,
        /// Whether to stream.
        stream: Option<bool>,
        /// The tools that may be called.
        tools: Option<Vec<Tool>>,
        /// Which of them to call.
        tool_choice: Option<ToolChoice>,
        /// Whether to reason.
        thinking: Option<ThinkingField>,
        /// How thoroughly to reason.
        output_config: Option<OutputConfig>,
        /// Whose request it is.
        metadata: Option<Metadata>,
        /// Not used.
        container: Option<Json>,
        /// Not used.
        context_management: Option<Json>,
        /// Not used: no tools run at the server.
        mcp_servers: Option<Json>,
        /// Not used.
        service_tier: Option<Json>,
        /// Not used: prefixes are cached by content.
        cache_control: Option<Json>,
        /// Not used.
        inference_geo: Option<Json>,
        /// Not used.
        output_format: Option<Json>,
    }

    /// Whose request it is.
    pub struct Metadata {
        /// The end user's id; not used.
        user_id: Option<String>,
    }

    /// Settings of the output.
    pub struct OutputConfig {
        /// How thoroughly to reason.
        effort: Option<EffortField>,
        /// Not used, as in the official API.
        format: Option<Json>,
    }
}
deserialize_from_json!(Request);

/// A message by its role.
#[derive(Debug, Clone, PartialEq)]
pub enum Message {
    /// `user`
    User(Option<Content>),
    /// `assistant`
    Assistant(Option<Content>),
    /// `system`, in the middle of a conversation.
    System(Option<Content>),
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
        Ok(match role.as_str() {
            "user" => Self::User(fields.take("content", at)?),
            "assistant" => Self::Assistant(fields.take("content", at)?),
            "system" => Self::System(fields.take("content", at)?),
            _ => Self::Unknown { role, message: fields.into_json() },
        })
    }
}

/// What a message says: text, or blocks.
pub type Content = TextOrList<Block>;

/// The top-level instructions: text, or text blocks.
pub type System = TextOrList<SystemBlock>;

/// A block of the top-level instructions.
#[derive(Debug, Clone, PartialEq)]
pub enum SystemBlock {
    /// `text`
    Text(String),
    /// Any other.
    Unknown(String),
}

impl FromJson for SystemBlock {
    fn from_json(json: Json, at: Path<'_>) -> Result<Self, RequestError> {
        let mut fields = Fields::of(json, at)?;
        let kind: String = fields.take("type", at)?;
        match kind.as_str() {
            "text" => fields.take("text", at).map(Self::Text),
            _ => Ok(Self::Unknown(kind)),
        }
    }
}

/// A block of a message.
#[derive(Debug, Clone, PartialEq)]
pub enum Block {
    /// `text`
    Text(String),
    /// `image`
    Image(ImageSource),
    /// `document`: its media type; the contents are not read.
    Document(Option<String>),
    /// `thinking`; the signature is not checked.
    Thinking(String),
    /// `redacted_thinking`, which only the vendor can read.
    RedactedThinking,
    /// `tool_use`
    ToolUse {
        /// What its result refers to.
        id: String,
        /// The tool's name.
        name: String,
        /// The arguments.
        input: Json,
    },
    /// `tool_result`
    ToolResult {
        /// The call that it answers.
        tool_use_id: String,
        /// The result.
        content: Option<ResultContent>,
        /// Whether the tool failed.
        is_error: Option<bool>,
    },
    /// `tool_addition`: a deferred tool, by name, becomes available.
    ToolAddition(String),
    /// `server_tool_use`: a call that the vendor ran.
    ServerToolUse,
    /// `web_search_tool_result`: the result of such a call.
    WebSearchToolResult,
    /// Any other.
    Unknown(String),
}

/// A tool named by reference.
struct ToolReference {
    name: String,
}

impl FromJson for ToolReference {
    fn from_json(json: Json, at: Path<'_>) -> Result<Self, RequestError> {
        let mut fields = Fields::of(json, at)?;
        let kind: String = fields.take("type", at)?;
        if kind != "tool_reference" {
            let problem = format!("unknown type `{kind}`, expected `tool_reference`");
            return Err(RequestError::wrong_type(at.key("type"), problem));
        }
        fields.take("name", at).map(|name| Self { name })
    }
}

impl FromJson for Block {
    fn from_json(json: Json, at: Path<'_>) -> Result<Self, RequestError> {
        let mut fields = Fields::of(json, at)?;
        let kind: String = fields.take("type", at)?;
        Ok(match kind.as_str() {
            "text" => Self::Text(fields.take("text", at)?),
            "image" => Self::Image(fields.take("source", at)?),
            "document" => Self::Document(media_type(&mut fields, at)?),
            "thinking" => {
                let _: Option<String> = fields.take("signature", at)?;
                Self::Thinking(fields.take("thinking", at)?)
            }
            "redacted_thinking" => Self::RedactedThinking,
            "tool_use" => Self::ToolUse {
                id: fields.take("id", at)?,
                name: fields.take("name", at)?,
                input: fields.take("input", at)?,
            },
            "tool_result" => Self::ToolResult {
                tool_use_id: fields.take("tool_use_id", at)?,
                content: fields.take("content", at)?,
                is_error: fields.take("is_error", at)?,
            },
            "tool_addition" => {
                let tool: ToolReference = fields.take("tool", at)?;
                Self::ToolAddition(tool.name)
            }
            "server_tool_use" => Self::ServerToolUse,
            "web_search_tool_result" => Self::WebSearchToolResult,
            _ => Self::Unknown(kind),
        })
    }
}

/// The media type of a document's source.
fn media_type(fields: &mut Fields, at: Path<'_>) -> Result<Option<String>, RequestError> {
    let source: Json = fields.take("source", at)?;
    let at = at.key("source");
    Fields::of(source, at)?.take("media_type", at)
}

/// What a tool returned: text, or blocks.
pub type ResultContent = TextOrList<ResultBlock>;

/// A block of a tool's result.
#[derive(Debug, Clone, PartialEq)]
pub enum ResultBlock {
    /// `text`
    Text(String),
    /// `image`
    Image(ImageSource),
    /// `document`: its media type; the contents are not read.
    Document(Option<String>),
    /// `tool_reference`: a deferred tool that a search found, by name.
    ToolReference(String),
    /// Any other.
    Unknown(String),
}

impl FromJson for ResultBlock {
    fn from_json(json: Json, at: Path<'_>) -> Result<Self, RequestError> {
        let mut fields = Fields::of(json, at)?;
        let kind: String = fields.take("type", at)?;
        Ok(match kind.as_str() {
            "text" => Self::Text(fields.take("text", at)?),
            "image" => Self::Image(fields.take("source", at)?),
            "document" => Self::Document(media_type(&mut fields, at)?),
            "tool_reference" => Self::ToolReference(fields.take("tool_name", at)?),
            _ => Self::Unknown(kind),
        })
    }
}

/// Where an image's bytes are.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ImageSource {
    /// In the request.
    Base64 {
        /// The image's media type.
        media_type: String,
        /// The bytes in base64.
        data: String,
    },
    /// At an `http` URL.
    Url(String),
    /// In an uploaded file; not supported.
    File(String),
}

impl FromJson for ImageSource {
    fn from_json(json: Json, at: Path<'_>) -> Result<Self, RequestError> {
        let mut fields = Fields::of(json, at)?;
        let kind: String = fields.take("type", at)?;
        match kind.as_str() {
            "base64" => Ok(Self::Base64 {
                media_type: fields.take("media_type", at)?,
                data: fields.take("data", at)?,
            }),
            "url" => fields.take("url", at).map(Self::Url),
            "file" => fields.take("file_id", at).map(Self::File),
            other => Err(RequestError::wrong_type(
                at.key("type"),
                format_args!("unknown source `{other}`, expected `base64`, `url` or `file`"),
            )),
        }
    }
}

/// A tool that the model may call.
#[derive(Debug, Clone, PartialEq)]
pub struct Tool {
    /// Its type: absent or `custom` for a client tool, else that of a tool of the vendor's.
    pub kind: Option<String>,
    /// Its name.
    pub name: Option<String>,
    /// What it does.
    pub description: Option<String>,
    /// The JSON Schema of its arguments.
    pub input_schema: Option<Json>,
    /// Whether it is left out of the prompt until a message introduces it.
    pub defer_loading: Option<bool>,
    /// Whether calls must follow the schema exactly; not used, as in the official API.
    pub strict: Option<Json>,
}

impl FromJson for Tool {
    fn from_json(json: Json, at: Path<'_>) -> Result<Self, RequestError> {
        let mut fields = Fields::of(json, at)?;
        let kind: Option<String> = fields.take("type", at)?;
        // A tool of the vendor's may have fields of any form.
        let is_client = kind.as_deref().is_none_or(|kind| kind == "custom");
        // The official API asks for no name where there is a type: it refuses the type, and later.
        let name = if kind.is_none() {
            Some(fields.take::<String>("name", at)?)
        } else {
            fields.take("name", at)?
        };
        if !is_client {
            return Ok(Self {
                kind,
                name,
                description: None,
                input_schema: None,
                defer_loading: None,
                strict: None,
            });
        }
        Ok(Self {
            kind,
            name,
            description: fields.take("description", at)?,
            input_schema: fields.take("input_schema", at)?,
            defer_loading: fields.take("defer_loading", at)?,
            strict: fields.take("strict", at)?,
        })
    }
}

/// Which tools to call.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ToolChoice {
    /// `auto`, `any`, `tool` or `none`.
    pub kind: String,
    /// The tool, for `tool`.
    pub name: Option<String>,
    /// Whether one answer may contain at most one call.
    pub disable_parallel_tool_use: Option<bool>,
}

impl FromJson for ToolChoice {
    fn from_json(json: Json, at: Path<'_>) -> Result<Self, RequestError> {
        let mut fields = Fields::of(json, at)?;
        let kind: String = fields.take("type", at)?;
        let name = if kind == "tool" { Some(fields.take::<String>("name", at)?) } else { None };
        let has_switch = matches!(kind.as_str(), "auto" | "any" | "tool");
        let disable_parallel_tool_use =
            if has_switch { fields.take("disable_parallel_tool_use", at)? } else { None };
        Ok(Self { kind, name, disable_parallel_tool_use })
    }
}

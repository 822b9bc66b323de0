//! The request's wire types.

use crate::json::{Json, Object, Path};
use crate::protocol::RequestError;
use crate::protocol::wire::{
    Arguments, EffortField, Fields, FromJson, TextOrList, deserialize_from_json, expected, wire_structs,
};

wire_structs! {
    /// A Responses request.
    pub struct Request {
        /// The model's name.
        model: String,
        /// The conversation so far.
        input: Option<Input>,
        /// Instructions in front of the conversation.
        instructions: Option<String>,
        /// The most tokens to generate, reasoning included.
        max_output_tokens: Option<u32>,
        /// Whether and how thoroughly to reason.
        reasoning: Option<Reasoning>,
        /// Whether to stream.
        stream: Option<bool>,
        /// Sampling temperature, from 0 to 2. Has no effect while thinking.
        temperature: Option<f32>,
        /// Share of probability to sample from, above 0 up to 1.
        top_p: Option<f32>,
        /// Alternatives per token, from 0 to 20; any value turns log probabilities on.
        top_logprobs: Option<u8>,
        /// The answer's form.
        text: Option<TextConfig>,
        /// The tools that may be called.
        tools: Option<Vec<Tool>>,
        /// Which of them to call.
        tool_choice: Option<ToolChoice>,
        /// Whether one answer may contain several calls.
        parallel_tool_calls: Option<Json>,
        /// The end user's id; repeated in the response.
        user: Option<String>,
        /// The caller's own key-value pairs.
        metadata: Option<Json>,
        /// Not used: nothing is stored, so nothing can be continued.
        previous_response_id: Option<Json>,
        /// Not used: nothing is stored, so nothing can be continued.
        conversation: Option<Json>,
        /// Not used.
        prompt: Option<Json>,
        /// Not used.
        include: Option<Json>,
        /// Not used: nothing is stored.
        store: Option<Json>,
        /// Not used: every response is awaited.
        background: Option<Json>,
        /// Not used.
        truncation: Option<Json>,
        /// Not used.
        service_tier: Option<Json>,
        /// Not used.
        safety_identifier: Option<Json>,
        /// Not used: prefixes are cached by content.
        prompt_cache_key: Option<Json>,
        /// Not used.
        prompt_cache_retention: Option<Json>,
        /// Not used.
        context_management: Option<Json>,
        /// Not used.
        stream_options: Option<Json>,
        /// Not used.
        max_tool_calls: Option<Json>,
        /// Not used.
        client_metadata: Option<Json>,
    }

    /// Whether and how thoroughly to reason.
    pub struct Reasoning {
        /// The effort.
        effort: Option<EffortField>,
        /// `auto`, `concise` or `detailed`; repeated in the response, without other effect.
        summary: Option<String>,
        /// The old name of `summary`.
        generate_summary: Option<String>,
    }

    /// A message.
    pub struct Message {
        /// `user`, `assistant`, `system` or `developer`.
        role: String,
        /// What it says.
        content: Option<Content>,
    }

    /// An image.
    pub struct InputImage {
        /// An `http` URL or a base64 data URL.
        image_url: Option<String>,
        /// `low`, `high`, `original` or `auto`.
        detail: Option<String>,
        /// An uploaded file; not supported.
        file_id: Option<String>,
    }

    /// The call of a function in the history.
    pub struct FunctionCall {
        /// What its result refers to.
        call_id: String,
        /// The function's name, inside its namespace if there is one.
        name: String,
        /// The function's namespace.
        namespace: Option<String>,
        /// The arguments.
        arguments: Arguments,
    }

    /// What a call returned.
    pub struct CallOutput {
        /// The call that it answers.
        call_id: Option<String>,
        /// The result.
        output: Option<Output>,
    }

    /// The call of a custom tool in the history.
    pub struct CustomToolCall {
        /// What its result refers to.
        call_id: String,
        /// The tool's name.
        name: String,
        /// What it was given.
        input: String,
    }

    /// Earlier reasoning.
    pub struct ReasoningItem {
        /// Its text.
        content: Option<Vec<ReasoningText>>,
        /// Reasoning that only its vendor can read; not used.
        encrypted_content: Option<String>,
    }

    /// A piece of earlier reasoning.
    pub struct ReasoningText {
        /// The text.
        text: String,
    }

    /// A search for tools in the history.
    pub struct ToolSearchCall {
        /// What its result refers to.
        call_id: String,
        /// `client` or `server`.
        execution: Option<String>,
        /// The arguments.
        arguments: Object,
    }

    /// The tools that a search found.
    pub struct ToolSearchOutput {
        /// The search that it answers.
        call_id: String,
        /// `client` or `server`.
        execution: Option<String>,
        /// The tools.
        tools: Vec<Tool>,
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

    /// Functions under a common name.
    pub struct Namespace {
        /// The name.
        name: String,
        /// What they are for.
        description: Option<String>,
        /// The functions.
        tools: Vec<NamespaceTool>,
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

    /// The search for further tools.
    pub struct ToolSearch {
        /// `client` or `server`.
        execution: Option<String>,
        /// What it finds.
        description: Option<String>,
        /// The JSON Schema of its arguments.
        parameters: Option<Json>,
    }

    /// The web search that runs at the vendor.
    pub struct WebSearch {
        /// `low`, `medium` or `high`.
        search_context_size: Option<String>,
        /// Where the user is.
        user_location: Option<UserLocation>,
    }

    /// Where the user is.
    pub struct UserLocation {
        /// The city.
        city: Option<String>,
        /// The country's code.
        country: Option<String>,
        /// The region.
        region: Option<String>,
        /// The time zone's name.
        timezone: Option<String>,
    }

    /// The answer's form.
    pub struct TextConfig {
        /// The format.
        format: FormatField,
        /// `low`, `medium` or `high`; repeated in the response, without other effect.
        verbosity: Option<String>,
    }

    /// A JSON Schema for the answer.
    pub struct JsonSchema {
        /// Its name.
        name: Option<String>,
        /// The schema.
        schema: Json,
        /// Its description; not used.
        description: Option<String>,
        /// Whether answers must follow the schema exactly.
        strict: Option<bool>,
    }
}
deserialize_from_json!(Request);

/// The conversation so far: one user message, or items.
pub type Input = TextOrList<Item>;

/// An item of the conversation.
#[derive(Debug, Clone, PartialEq)]
pub enum Item {
    /// `message`, or no type but a role.
    Message(Message),
    /// `function_call`
    FunctionCall(FunctionCall),
    /// `function_call_output`
    FunctionCallOutput(CallOutput),
    /// `custom_tool_call`
    CustomToolCall(CustomToolCall),
    /// `custom_tool_call_output`
    CustomToolCallOutput(CallOutput),
    /// `reasoning`
    Reasoning(ReasoningItem),
    /// `tool_search_call`
    ToolSearchCall(ToolSearchCall),
    /// `tool_search_output`
    ToolSearchOutput(ToolSearchOutput),
    /// `web_search_call`
    WebSearchCall,
    /// Any other.
    Unknown(String),
}

impl FromJson for Item {
    fn from_json(json: Json, at: Path<'_>) -> Result<Self, RequestError> {
        let mut fields = Fields::of(json, at)?;
        if !fields.contains("type") && fields.contains("role") {
            return Message::from_json(fields.into_json(), at).map(Self::Message);
        }
        let kind: String = fields.take("type", at)?;
        let json = fields.into_json();
        Ok(match kind.as_str() {
            "message" => Self::Message(FromJson::from_json(json, at)?),
            "function_call" => Self::FunctionCall(FromJson::from_json(json, at)?),
            "function_call_output" => Self::FunctionCallOutput(FromJson::from_json(json, at)?),
            "custom_tool_call" => Self::CustomToolCall(FromJson::from_json(json, at)?),
            "custom_tool_call_output" => Self::CustomToolCallOutput(FromJson::from_json(json, at)?),
            "reasoning" => Self::Reasoning(FromJson::from_json(json, at)?),
            "tool_search_call" => Self::ToolSearchCall(FromJson::from_json(json, at)?),
            "tool_search_output" => Self::ToolSearchOutput(FromJson::from_json(json, at)?),
            "web_search_call" => Self::WebSearchCall,
            _ => Self::Unknown(kind),
        })
    }
}

/// What a message says: text, or parts.
pub type Content = TextOrList<Part>;

/// What a call returned.
pub type Output = Content;

/// One part of a message's content or of a call's output.
#[derive(Debug, Clone, PartialEq)]
pub enum Part {
    /// `input_text`
    InputText(String),
    /// `output_text`
    OutputText(String),
    /// `input_image`
    InputImage(InputImage),
    /// `input_file`; its contents are not read.
    InputFile,
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
            "input_text" => Self::InputText(fields.take("text", at)?),
            "output_text" => Self::OutputText(fields.take("text", at)?),
            "input_image" => Self::InputImage(InputImage::from_json(fields.into_json(), at)?),
            "input_file" => Self::InputFile,
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
    Function(Function),
    /// `namespace`
    Namespace(Namespace),
    /// `custom`
    Custom(CustomTool),
    /// `tool_search`
    ToolSearch(ToolSearch),
    /// `web_search` or one of its dated names.
    WebSearch {
        /// The type as written.
        kind: String,
        /// Its settings.
        search: WebSearch,
    },
    /// Any other.
    Unknown(String),
}

impl FromJson for Tool {
    fn from_json(json: Json, at: Path<'_>) -> Result<Self, RequestError> {
        let mut fields = Fields::of(json, at)?;
        let kind: String = fields.take("type", at)?;
        let json = fields.into_json();
        Ok(match kind.as_str() {
            "function" => Self::Function(FromJson::from_json(json, at)?),
            "namespace" => Self::Namespace(FromJson::from_json(json, at)?),
            "custom" => Self::Custom(FromJson::from_json(json, at)?),
            "tool_search" => Self::ToolSearch(FromJson::from_json(json, at)?),
            "web_search" | "web_search_2025_08_26" => {
                Self::WebSearch { kind, search: FromJson::from_json(json, at)? }
            }
            _ => Self::Unknown(kind),
        })
    }
}

/// A tool inside a namespace.
#[derive(Debug, Clone, PartialEq)]
pub enum NamespaceTool {
    /// `function`
    Function(Function),
    /// `custom`
    Custom(CustomTool),
    /// Any other.
    Unknown(String),
}

impl FromJson for NamespaceTool {
    fn from_json(json: Json, at: Path<'_>) -> Result<Self, RequestError> {
        let mut fields = Fields::of(json, at)?;
        let kind: String = fields.take("type", at)?;
        let json = fields.into_json();
        Ok(match kind.as_str() {
            "function" => Self::Function(FromJson::from_json(json, at)?),
            "custom" => Self::Custom(FromJson::from_json(json, at)?),
            _ => Self::Unknown(kind),
        })
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
        /// The tools' names; `None` for one that runs at the vendor.
        names: Vec<Option<String>>,
    },
    /// Any other object, by its type.
    Other(String),
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
            "function" | "custom" => Ok(Self::Named { name: fields.take("name", at)?, kind }),
            "allowed_tools" => {
                let mode: Option<String> = fields.take("mode", at)?;
                let tools: Vec<Object> = fields.take("tools", at)?;
                let names =
                    tools.iter().map(|tool| tool.get("name").and_then(Json::as_str).map(str::to_owned));
                Ok(Self::Allowed { mode: mode.unwrap_or_else(|| "auto".to_owned()), names: names.collect() })
            }
            _ => Ok(Self::Other(kind)),
        }
    }
}

/// The field `format`, which may be absent but, in the official API, not null.
#[derive(Debug, Clone, PartialEq)]
pub enum FormatField {
    /// Not there.
    Absent,
    /// `null`
    Null,
    /// A format.
    Format(TextFormat),
}

impl FromJson for FormatField {
    fn from_json(json: Json, at: Path<'_>) -> Result<Self, RequestError> {
        match json {
            Json::Null => Ok(Self::Null),
            json => TextFormat::from_json(json, at).map(Self::Format),
        }
    }

    fn absent(_: &str, _: Path<'_>) -> Result<Self, RequestError> {
        Ok(Self::Absent)
    }
}

/// The format of the answer's text.
#[derive(Debug, Clone, PartialEq)]
pub enum TextFormat {
    /// `text`
    Text,
    /// `json_object`
    JsonObject,
    /// `json_schema`
    JsonSchema(JsonSchema),
    /// `regex`, as DeepSeek's Chat Completions has it.
    Regex(String),
}

impl FromJson for TextFormat {
    fn from_json(json: Json, at: Path<'_>) -> Result<Self, RequestError> {
        let mut fields = Fields::of(json, at)?;
        let kind: String = fields.take("type", at)?;
        match kind.as_str() {
            "text" => Ok(Self::Text),
            "json_object" => Ok(Self::JsonObject),
            "json_schema" => JsonSchema::from_json(fields.into_json(), at).map(Self::JsonSchema),
            "regex" => fields.take("regex", at).map(Self::Regex),
            other => Err(RequestError::wrong_type(
                at.key("type"),
                format_args!("unknown format `{other}`, expected `text`, `json_object` or `json_schema`"),
            )),
        }
    }
}

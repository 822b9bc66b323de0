//! Requests of three APIs, read and lowered to one [`Conversation`].
//!
//! Reading ([`wire`]) turns a body into typed fields and knows no policy: whatever a client may send is
//! representable, so that one odd block does not make a session unreadable. Lowering checks the request in a
//! documented order and decides by [`Policy`] what to make of oddities.
//!
//! | policy | on a request that the official API refuses |
//! | --- | --- |
//! | [`Policy::Strict`] | refuses it too, with the same message |
//! | [`Policy::Lenient`] | accepts it if it has one obvious meaning, and says so in a [`Warning`] |
//!
//! A request that the official API accepts becomes the same prompt under both.

use std::collections::BTreeMap;

use crate::conversation::Conversation;
use crate::json::{Json, LoneSurrogates};
use crate::model::{PROFILES, Profile};

mod call_id;
pub mod chat;
#[cfg(feature = "validate")]
mod checks;
mod custom_input;
mod error;
mod failure;
mod images;
pub mod messages;
mod reasoning;
pub mod responses;
mod sampling;
mod sink;
mod stream;
#[cfg(test)]
mod tests;
mod tools;
mod warning;
pub mod wire;

#[cfg(feature = "validate")]
pub use checks::SchemaWarning;
pub use error::{ErrorKind, RequestError};
pub use failure::{Failure, count_response};
pub use sampling::Sampling;
pub use sink::{Chunk, EventSink};
pub use stream::{Stream, StreamOptions, TokenLogprob, Usage};
pub use warning::{Warning, WarningKind};

use wire::{FromJson, TextOrList};

/// One of the request formats.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Api {
    /// OpenAI Chat Completions, `POST /v1/chat/completions`.
    Chat,
    /// OpenAI Responses, `POST /v1/responses`.
    Responses,
    /// Anthropic Messages, `POST /v1/messages`.
    Messages,
}

impl Api {
    /// Every format.
    pub const ALL: [Self; 3] = [Self::Chat, Self::Responses, Self::Messages];

    /// The format's short name: `chat`, `responses` or `messages`.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Chat => "chat",
            Self::Responses => "responses",
            Self::Messages => "messages",
        }
    }

    /// The format by its short name.
    #[must_use]
    pub fn by_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|api| api.as_str() == name)
    }

    /// The format that a body is written in, as far as its fields tell; `None` if it could be several.
    ///
    /// Only Responses has `input` or `instructions`. Messages has a top-level `system`, tools with
    /// `input_schema`, or blocks of types that Chat does not know; Chat has roles, tools and fields that
    /// Messages does not know.
    #[must_use]
    pub fn detect(body: &Json) -> Option<Self> {
        let has = |key: &str| body.get(key).is_some();
        if has("input") || has("instructions") || has("max_output_tokens") {
            return Some(Self::Responses);
        }
        let messages = body.get("messages")?.as_array()?;
        let signs = std::iter::once(signs_of_body(body)).chain(messages.iter().map(signs_of_message));
        match signs.fold((false, false), |all, (chat, anthropic)| (all.0 | chat, all.1 | anthropic)) {
            (true, false) => Some(Self::Chat),
            (false, true) => Some(Self::Messages),
            _ => None,
        }
    }
}

/// Whether fields at the top speak for Chat, and whether any speak for Messages.
fn signs_of_body(body: &Json) -> (bool, bool) {
    let any = |keys: &[&str]| keys.iter().any(|key| body.get(key).is_some());
    let tools = body.get("tools").and_then(Json::as_array).unwrap_or_default();
    let chat = any(&[
        "response_format",
        "reasoning_effort",
        "stream_options",
        "max_completion_tokens",
        "n",
        "stop",
        "logprobs",
        "frequency_penalty",
        "presence_penalty",
        "seed",
    ]) || tools.iter().any(|tool| tool.get("function").is_some());
    let messages = any(&["system", "stop_sequences", "output_config", "top_k", "mcp_servers"])
        || tools.iter().any(|tool| tool.get("input_schema").is_some());
    (chat, messages)
}

fn signs_of_message(message: &Json) -> (bool, bool) {
    let role = message.get("role").and_then(Json::as_str).unwrap_or_default();
    let blocks = message.get("content").and_then(Json::as_array).unwrap_or_default();
    let has_block = |types: &[&str]| {
        blocks
            .iter()
            .any(|block| block.get("type").and_then(Json::as_str).is_some_and(|kind| types.contains(&kind)))
    };
    let chat = matches!(role, "tool" | "developer" | "latest_reminder")
        || message.get("tool_calls").is_some()
        || message.get("reasoning_content").is_some()
        || has_block(&["image_url", "file", "input_audio", "refusal"]);
    (
        chat,
        has_block(&[
            "image",
            "document",
            "tool_use",
            "tool_result",
            "thinking",
            "redacted_thinking",
            "tool_addition",
        ]),
    )
}

/// How much is accepted.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Policy {
    /// Exactly what the official API accepts.
    Strict,
    /// Also what has one obvious meaning; each acceptance is a [`Warning`].
    #[default]
    Lenient,
}

/// Whose habits responses and error bodies follow. All differences:
///
/// | API | what | `Deepseek` | `Vendor` |
/// | --- | --- | --- | --- |
/// | Chat | usage of a stream | in the last chunk, beside its choice | only if asked for: in a chunk of its own, with empty `choices` |
/// | Chat | cache fields of usage | `prompt_cache_hit_tokens`, `prompt_cache_miss_tokens` too | only `cached_tokens` |
/// | Chat | first delta | `content` or `reasoning_content` empty, the other null | `content` empty |
/// | Chat | delta of reasoning, and of an answer that follows thinking | the other one of `content` and `reasoning_content` null | only what there is |
/// | Chat | last delta | `content` empty | empty |
/// | Chat | `refusal` | absent | null |
/// | Chat | log probabilities of reasoning alone | without `content` | `content` null |
/// | Chat | calls of a complete message | with `index` | without |
/// | Chat | `system_fingerprint` | null if there is none | absent if there is none |
/// | Responses | `usage` before the end | null | absent |
/// | Responses | `input_tokens_details` | `cached_tokens` | `cache_write_tokens` too: 0 |
/// | Responses | `completed_at` | of every response that ended | only of a completed one, as its description says |
/// | Responses | `metadata` | empty | the request's |
/// | Responses | settings of tools and of the answer's form that the request lacks | null | absent where null is not allowed |
/// | Responses | `response.function_call_arguments.done` | without the function's name | with it |
/// | Messages | `service_tier` in the usage of `message_delta` | `standard` | absent |
/// | Messages | tokens of reasoning | not told | `output_tokens_details.thinking_tokens` in usage, when they are known |
/// | Chat, Responses | body of a refusal | `param` null, `code` the type | `param` the place, `code` the kind |
/// | Messages | body of a refusal | OpenAI's form | `{"type": "error", "error": {"type", "message"}}` |
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Dialect {
    /// What the official DeepSeek API sends.
    #[default]
    Deepseek,
    /// What OpenAI's and Anthropic's own specifications say.
    Vendor,
}

/// What becomes of an assistant message without reasoning in a conversation that thinks.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum MissingReasoning {
    /// It counts as empty.
    #[default]
    FillEmpty,
    /// The request is refused if the message stands after the last user message and belongs to a tool turn,
    /// unless its call ids say that there was none.
    Refuse,
}

/// The largest body by default, in bytes: what the official API takes.
pub const MAX_BODY_BYTES: usize = 48 * 1024 * 1024;

/// The largest `max_tokens` by default.
pub const MAX_TOKENS_BOUND: u32 = 393_216;

/// How requests are lowered.
#[derive(Debug, Clone)]
pub struct Options {
    /// How much is accepted.
    pub policy: Policy,
    /// Whether a request that does not say so thinks. On by default.
    pub default_thinking: bool,
    /// What becomes of missing reasoning.
    pub missing_reasoning: MissingReasoning,
    /// Whether a tool result marked as an error starts with `Error: ` in the prompt. Off by default: the
    /// official API does not show the mark to the model.
    pub mark_tool_errors: bool,
    /// The largest `max_tokens`; [`MAX_TOKENS_BOUND`] by default.
    pub max_tokens_bound: u32,
    /// The largest body in bytes; [`MAX_BODY_BYTES`] by default. Lowering takes time and memory linear in the
    /// body.
    pub max_body_bytes: usize,
    /// The model names that requests may use.
    pub models: Models,
}

/// Model names, each with the version that serves it. The default has the official names and aliases.
#[derive(Debug, Clone)]
pub struct Models {
    names: BTreeMap<String, &'static Profile>,
    /// What names may begin with that are not known otherwise.
    prefixes: BTreeMap<String, &'static Profile>,
}

impl Default for Models {
    fn default() -> Self {
        let names =
            PROFILES.iter().flat_map(|&profile| profile.names().map(move |name| (name.to_owned(), profile)));
        Self { names: names.collect(), prefixes: BTreeMap::new() }
    }
}

impl Models {
    /// Serves requests for the model `name` by `profile`, also where the name was known before.
    pub fn insert(&mut self, name: impl Into<String>, profile: &'static Profile) {
        self.names.insert(name.into(), profile);
    }

    /// Serves requests for models whose name begins with `prefix` by `profile`, unless the whole name or a longer
    /// prefix is known: `claude-` for every version of Claude.
    pub fn insert_prefix(&mut self, prefix: impl Into<String>, profile: &'static Profile) {
        self.prefixes.insert(prefix.into(), profile);
    }

    /// Keeps the names and prefixes for which `keep` says so.
    pub fn retain(&mut self, mut keep: impl FnMut(&str, &'static Profile) -> bool) {
        self.names.retain(|name, profile| keep(name, profile));
        self.prefixes.retain(|prefix, profile| keep(prefix, profile));
    }

    /// The prefixes in order, with their versions.
    pub fn prefixes(&self) -> impl Iterator<Item = (&str, &'static Profile)> {
        self.prefixes.iter().map(|(prefix, profile)| (prefix.as_str(), *profile))
    }

    /// The names in order, with their versions.
    pub fn iter(&self) -> impl Iterator<Item = (&str, &'static Profile)> {
        self.names.iter().map(|(name, profile)| (name.as_str(), *profile))
    }

    /// The version that serves the model `name`.
    ///
    /// # Errors
    ///
    /// [`ErrorKind::Model`] if the name is not known.
    pub fn get(&self, name: &str) -> Result<&'static Profile, RequestError> {
        let by_prefix = || {
            let fitting = self.prefixes.iter().filter(|(prefix, _)| name.starts_with(prefix.as_str()));
            fitting.max_by_key(|(prefix, _)| prefix.len()).map(|(_, profile)| profile)
        };
        self.names.get(name).or_else(by_prefix).copied().ok_or_else(|| {
            let names: Vec<&str> = self.names.keys().map(String::as_str).collect();
            let message =
                format!("The supported API model names are {}, but you passed {name}.", names.join(", "));
            RequestError::new(ErrorKind::Model, "model", message)
        })
    }
}

impl Default for Options {
    fn default() -> Self {
        Self {
            policy: Policy::default(),
            default_thinking: true,
            missing_reasoning: MissingReasoning::default(),
            mark_tool_errors: false,
            max_tokens_bound: MAX_TOKENS_BOUND,
            max_body_bytes: MAX_BODY_BYTES,
            models: Models::default(),
        }
    }
}

impl Options {
    /// The defaults under `policy`.
    #[must_use]
    pub fn new(policy: Policy) -> Self {
        Self { policy, ..Self::default() }
    }

    /// Serves requests for the model `name` by `profile` too.
    #[must_use]
    pub fn with_model(mut self, name: impl Into<String>, profile: &'static Profile) -> Self {
        self.models.insert(name, profile);
        self
    }
}

/// A request in the terms of this crate.
#[derive(Debug, Clone)]
pub struct Lowered {
    /// The format that it came in.
    pub api: Api,
    /// The model version that serves it.
    pub profile: &'static Profile,
    /// The model's name as the request spells it.
    pub model: String,
    /// What the prompt is made of.
    pub conversation: Conversation,
    /// How tokens are chosen.
    pub sampling: Sampling,
    /// Texts that end the answer.
    pub stops: Vec<String>,
    /// Whether the answer is streamed.
    pub stream: bool,
    /// Whether a stream reports usage in every chunk.
    pub include_usage: bool,
    /// Settings that responses repeat.
    pub echo: Echo,
    /// What was accepted although the official API would refuse it, and what was ignored.
    pub warnings: Vec<Warning>,
}

/// Settings of a request that its responses repeat.
#[derive(Debug, Clone, PartialEq)]
pub enum Echo {
    /// Nothing.
    None,
    /// The settings that a Responses object shows.
    Responses(Box<responses::Echo>),
}

/// `max_tokens` by default, without thinking.
const DEFAULT_MAX_TOKENS: u32 = 8 * 1024;
/// `max_tokens` by default, with thinking.
const DEFAULT_MAX_TOKENS_THINKING: u32 = 64 * 1024;
/// `max_tokens` by default, with thinking at the greatest effort.
const DEFAULT_MAX_TOKENS_MAX_EFFORT: u32 = 128 * 1024;

impl Lowered {
    /// The number of tokens to generate at most, in a context of `context_limit` tokens of which the prompt
    /// takes `prompt_tokens` (an image counts as the tokens that it becomes in the engine).
    ///
    /// A request that sets none gets 8,192 without thinking, 65,536 with, and 131,072 at the greatest effort.
    ///
    /// # Errors
    ///
    /// [`ErrorKind::ContextLength`] if the prompt and the requested tokens do not fit.
    pub fn max_tokens(&self, prompt_tokens: u32, context_limit: u32) -> Result<u32, RequestError> {
        use crate::conversation::{Effort, Thinking};
        let requested = self.sampling.max_tokens.unwrap_or(0);
        let total = prompt_tokens.saturating_add(requested);
        if total > context_limit {
            let message = format!(
                "This model's maximum context length is {context_limit} tokens. However, you requested {total} tokens \
                 ({prompt_tokens} in the messages, {requested} in the completion). Please reduce the length of the \
                 messages or completion."
            );
            return Err(RequestError::new(ErrorKind::ContextLength, "", message));
        }
        let default = match self.conversation.thinking {
            Thinking::Off => DEFAULT_MAX_TOKENS,
            Thinking::On(Effort::Max) => DEFAULT_MAX_TOKENS_MAX_EFFORT,
            Thinking::On(_) => DEFAULT_MAX_TOKENS_THINKING,
        };
        Ok(self.sampling.max_tokens.unwrap_or(default).min(context_limit - prompt_tokens).max(1))
    }
}

/// Reads and lowers the request `body`, which is JSON text in the format of `api`.
///
/// ```
/// use deepseek_codec::protocol::{Api, Options, lower};
///
/// let body = br#"{"model": "deepseek-flash", "messages": [{"role": "user", "content": "hi"}]}"#;
/// let lowered = lower(Api::Chat, body, &Options::default())?;
/// let prompt = lowered.profile.render(&lowered.conversation);
/// assert!(prompt.to_string().ends_with("<｜User｜>hi<｜Assistant｜><think>"));
/// # Ok::<(), deepseek_codec::protocol::RequestError>(())
/// ```
///
/// # Errors
///
/// [`RequestError`] if the request is refused.
pub fn lower(api: Api, body: &[u8], options: &Options) -> Result<Lowered, RequestError> {
    if body.len() > options.max_body_bytes {
        let message = format!(
            "The request body has {} bytes; at most {} are accepted.",
            body.len(),
            options.max_body_bytes
        );
        return Err(RequestError::new(ErrorKind::TooLarge, "", message));
    }
    let surrogates = match options.policy {
        Policy::Strict => LoneSurrogates::Refuse,
        Policy::Lenient => LoneSurrogates::Replace,
    };
    let (json, replaced) = Json::parse_with(body, surrogates).map_err(RequestError::from)?;
    let mut lowered = lower_json(api, json, options)?;
    let warnings = replaced
        .into_iter()
        .map(|path| Warning::new(WarningKind::LoneSurrogate, path, "half a surrogate pair became U+FFFD"));
    lowered.warnings.splice(0..0, warnings);
    Ok(lowered)
}

/// Lowers the request `body`, which is in the format of `api`. As [`lower`] does, but for the limit on the
/// body's size.
///
/// # Errors
///
/// [`RequestError`] if the request is refused.
pub fn lower_json(api: Api, body: Json, options: &Options) -> Result<Lowered, RequestError> {
    match api {
        Api::Chat => chat::Request::from_json(body, crate::json::Path::Root)?.lower(options),
        Api::Responses => responses::Request::from_json(body, crate::json::Path::Root)?.lower(options),
        Api::Messages => messages::Request::from_json(body, crate::json::Path::Root)?.lower(options),
    }
}

/// What every step of lowering needs to know, and the warnings so far.
struct Context<'o> {
    options: &'o Options,
    profile: &'static Profile,
    warnings: Vec<Warning>,
}

impl<'o> Context<'o> {
    fn new(options: &'o Options, model: &str) -> Result<Self, RequestError> {
        Ok(Self { options, profile: options.models.get(model)?, warnings: Vec::new() })
    }

    fn is_strict(&self) -> bool {
        self.options.policy == Policy::Strict
    }

    /// Notes something that the official API does too, under the lenient policy.
    fn note(&mut self, kind: WarningKind, path: impl ToString, message: impl Into<String>) {
        if !self.is_strict() {
            self.warnings.push(Warning::new(kind, path.to_string(), message));
        }
    }

    /// Accepts something that the official API refuses, with a warning; the strict policy refuses it as `refusal`
    /// says.
    fn accept(
        &mut self,
        kind: WarningKind,
        path: impl ToString,
        message: impl Into<String>,
        refusal: impl FnOnce() -> RequestError,
    ) -> Result<(), RequestError> {
        if self.is_strict() {
            return Err(refusal());
        }
        self.warnings.push(Warning::new(kind, path.to_string(), message));
        Ok(())
    }

    /// The content of the message at `path`, which has to have one. Without any it counts as empty.
    fn required<T>(
        &mut self,
        content: Option<TextOrList<T>>,
        path: &dyn std::fmt::Display,
    ) -> Result<TextOrList<T>, RequestError> {
        if let Some(content) = content {
            return Ok(content);
        }
        let message = "the message has no content: it counts as empty";
        self.accept(WarningKind::NullContent, path, message, || {
            RequestError::wrong_type(path, "missing field `content`")
        })?;
        Ok(TextOrList::Text(String::new()))
    }
}

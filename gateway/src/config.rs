//! Settings: their names in `gateway.toml`, and their defaults.

use std::collections::BTreeMap;
use std::num::NonZeroUsize;
use std::path::PathBuf;
use std::time::Duration;

use deepseek_codec::model::Profile;
use deepseek_codec::protocol::{Api, Dialect, MAX_BODY_BYTES, Models, Options, Policy};
use serde::Deserialize;

/// All settings. The names are those of `gateway.toml`.
#[derive(Debug, Clone, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Config {
    /// The address to listen at.
    pub listen: String,
    /// What generates.
    pub engine: EngineConfig,
    /// Who may ask; everyone if there is nobody.
    pub keys: Vec<Key>,
    /// What is too much, and too long.
    pub limits: Limits,
    /// How each API is served.
    pub routes: Routes,
    /// Further model names, each with the model that serves it. A name that ends in `*` stands for all that begin so.
    pub aliases: BTreeMap<String, String>,
    /// Masks.
    pub masks: Masks,
    /// Hashes of the prompt's blocks, for routers.
    pub prefix: Prefix,
    /// The log.
    pub log: Log,
}

impl Default for Config {
    fn default() -> Self {
        Self {
            listen: "127.0.0.1:8000".to_owned(),
            engine: EngineConfig::default(),
            keys: Vec::new(),
            limits: Limits::default(),
            routes: Routes::default(),
            aliases: BTreeMap::new(),
            masks: Masks::default(),
            prefix: Prefix::default(),
            log: Log::default(),
        }
    }
}

/// What generates.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct EngineConfig {
    /// Its kind.
    pub kind: EngineKind,
    /// The script of the engine `script`.
    pub script: Option<PathBuf>,
    /// The address of the engines `sglang` and `vllm`, `http://host:port`.
    pub url: Option<String>,
    /// The model's name there; the engine's own choice if there is none. Of the engine `candle`, a checkpoint: a folder or
    /// a GGUF file.
    pub model: Option<String>,
    /// The key that the engine asks for.
    pub key: Option<String>,
    /// Whether the engine knows where reasoning ends and holds only what follows it to a grammar (it was started with
    /// `--reasoning-parser`).
    pub knows_reasoning: bool,
}

/// The kinds of engines.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum EngineKind {
    /// A model inside this program: a checkpoint, or a tiny one of random weights.
    #[default]
    Candle,
    /// What a file says is generated.
    Script,
    /// A server of SGLang.
    Sglang,
    /// A server of vLLM.
    Vllm,
}

impl EngineKind {
    /// Every kind.
    pub const ALL: [Self; 4] = [Self::Candle, Self::Script, Self::Sglang, Self::Vllm];

    /// Its name.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Candle => "candle",
            Self::Script => "script",
            Self::Sglang => "sglang",
            Self::Vllm => "vllm",
        }
    }
}

/// Someone who may ask.
#[derive(Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Key {
    /// The name, for the log and the counts.
    pub name: String,
    /// The secret.
    pub key: String,
}

/// Secrets stay out of logs.
impl std::fmt::Debug for Key {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Key").field("name", &self.name).finish_non_exhaustive()
    }
}

/// What is too much, and too long. What each costs stands in the README.
#[derive(Debug, Clone, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Limits {
    /// Connections at once; further ones wait.
    pub connections: usize,
    /// Requests at once; further ones are refused.
    pub requests: usize,
    /// Requests of one key at once; further ones are refused.
    pub requests_per_key: usize,
    /// Bytes of a body.
    pub body_bytes: usize,
    /// Answers of one request.
    pub answers: u32,
    /// Tokens of prompt and answer together.
    pub context: u32,
    /// Seconds for a request's head.
    pub head_seconds: f64,
    /// Seconds for a request's body.
    pub body_seconds: f64,
    /// Seconds until the first token.
    pub first_token_seconds: f64,
    /// Seconds between two tokens.
    pub token_seconds: f64,
    /// Seconds for a whole answer.
    pub answer_seconds: f64,
    /// Seconds that a client may take nothing of what it is sent.
    pub write_seconds: f64,
    /// Seconds of silence after which a stream says that it lives.
    pub ping_seconds: f64,
    /// Seconds that answers may still take when the server is told to end.
    pub shutdown_seconds: f64,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            connections: 4096,
            requests: 1024,
            requests_per_key: 1024,
            body_bytes: MAX_BODY_BYTES,
            answers: 8,
            context: 1 << 17,
            head_seconds: 30.0,
            body_seconds: 60.0,
            first_token_seconds: 600.0,
            token_seconds: 120.0,
            answer_seconds: 3600.0,
            write_seconds: 60.0,
            ping_seconds: 15.0,
            shutdown_seconds: 60.0,
        }
    }
}

impl Limits {
    /// Whether they leave room for anything.
    ///
    /// # Errors
    ///
    /// If there may be none of something that every answer needs, or a time is negative or no number.
    pub fn check(&self) -> Result<(), ConfigError> {
        let counts = [
            ("connections", self.connections),
            ("requests", self.requests),
            ("requests_per_key", self.requests_per_key),
            ("body_bytes", self.body_bytes),
            ("answers", self.answers as usize),
            ("context", self.context as usize),
        ];
        let times = [
            ("head_seconds", self.head_seconds),
            ("body_seconds", self.body_seconds),
            ("first_token_seconds", self.first_token_seconds),
            ("token_seconds", self.token_seconds),
            ("answer_seconds", self.answer_seconds),
            ("write_seconds", self.write_seconds),
            ("ping_seconds", self.ping_seconds),
            ("shutdown_seconds", self.shutdown_seconds),
        ];
        let wrong = |name, value: &dyn std::fmt::Display| {
            Err(ConfigError(format!("limits.{name} cannot be {value}")))
        };
        if let Some((name, count)) = counts.iter().find(|(_, count)| *count == 0) {
            return wrong(*name, count);
        }
        // No time at all is enough for an end, and for nothing else.
        let is_wrong = |(name, time): &&(&str, f64)| {
            !time.is_finite() || *time < 0.0 || (*time == 0.0 && *name != "shutdown_seconds")
        };
        times.iter().find(is_wrong).map_or(Ok(()), |(name, time)| wrong(*name, time))
    }
}

/// How each API is served.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Routes {
    /// `/v1/chat/completions`.
    pub chat: Route,
    /// `/v1/responses`.
    pub responses: Route,
    /// `/v1/messages`.
    pub messages: Route,
}

/// How an API is served.
#[derive(Debug, Clone, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Route {
    /// Whether requests are answered at all.
    pub on: bool,
    /// How much is accepted: `lenient` or `strict`.
    pub policy: PolicyName,
    /// Whose habits answers follow: `vendor` or `deepseek`.
    pub dialect: DialectName,
}

impl Default for Route {
    fn default() -> Self {
        Self { on: true, policy: PolicyName::Lenient, dialect: DialectName::Vendor }
    }
}

/// Names of [`Policy`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum PolicyName {
    /// [`Policy::Lenient`].
    Lenient,
    /// [`Policy::Strict`].
    Strict,
}

/// Names of [`Dialect`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum DialectName {
    /// [`Dialect::Vendor`].
    Vendor,
    /// [`Dialect::Deepseek`].
    Deepseek,
}

/// Masks.
#[derive(Debug, Clone, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Masks {
    /// Whether answers are held to their schemas.
    pub mode: MaskMode,
    /// How many compiled schemas are kept for each vocabulary.
    pub kept: usize,
}

impl Default for Masks {
    fn default() -> Self {
        Self { mode: MaskMode::Exact, kept: 256 }
    }
}

/// Whether answers are held to their schemas.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum MaskMode {
    /// Yes; what cannot be enforced is refused.
    Exact,
    /// Yes; what cannot be enforced is left out, and logged.
    Relaxed,
    /// No.
    Off,
}

/// Hashes of the prompt's blocks.
#[derive(Debug, Clone, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Prefix {
    /// Tokens of a block.
    pub block: NonZeroUsize,
    /// How many blocks are reported at most; none if 0.
    pub most: usize,
}

impl Default for Prefix {
    fn default() -> Self {
        Self { block: NonZeroUsize::new(256).unwrap_or(NonZeroUsize::MIN), most: 64 }
    }
}

/// The log.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Log {
    /// Its form.
    pub form: LogForm,
    /// Whether it holds what clients send and get.
    pub texts: bool,
}

/// Forms of the log.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum LogForm {
    /// A line of text for each request.
    #[default]
    Text,
    /// A JSON object for each request.
    Json,
    /// None.
    Off,
}

/// Why settings cannot be used.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ConfigError(pub String);

impl std::fmt::Display for ConfigError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for ConfigError {}

impl Config {
    /// Reads `gateway.toml`.
    ///
    /// # Errors
    ///
    /// If it is not TOML, or has a setting that is not known.
    pub fn parse(text: &str) -> Result<Self, ConfigError> {
        toml::from_str(text).map_err(|error| ConfigError(error.to_string()))
    }

    /// How an API is served.
    #[must_use]
    pub const fn route(&self, api: Api) -> &Route {
        match api {
            Api::Chat => &self.routes.chat,
            Api::Responses => &self.routes.responses,
            Api::Messages => &self.routes.messages,
        }
    }

    /// The dialect of an API.
    #[must_use]
    pub const fn dialect(&self, api: Api) -> Dialect {
        match self.route(api).dialect {
            DialectName::Vendor => Dialect::Vendor,
            DialectName::Deepseek => Dialect::Deepseek,
        }
    }

    /// How requests of an API are lowered.
    ///
    /// # Errors
    ///
    /// If an alias names no model.
    pub fn options(&self, api: Api) -> Result<Options, ConfigError> {
        let policy = match self.route(api).policy {
            PolicyName::Lenient => Policy::Lenient,
            PolicyName::Strict => Policy::Strict,
        };
        Ok(Options { models: self.models()?, max_body_bytes: self.limits.body_bytes, ..Options::new(policy) })
    }

    fn models(&self) -> Result<Models, ConfigError> {
        let mut models = Models::default();
        for (alias, model) in &self.aliases {
            let profile = Profile::by_name(model)
                .ok_or_else(|| ConfigError(format!("alias {alias}: no model is named {model}")))?;
            match alias.strip_suffix('*') {
                Some(prefix) => models.insert_prefix(prefix, profile),
                None => models.insert(alias, profile),
            }
        }
        Ok(models)
    }
}

/// Seconds as a duration. Numbers that are none, or negative, count as 0.
#[must_use]
pub fn seconds(seconds: f64) -> Duration {
    Duration::try_from_secs_f64(seconds).unwrap_or_default()
}

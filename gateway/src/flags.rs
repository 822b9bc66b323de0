//! Flags, which come before `gateway.toml`.

use std::path::{Path, PathBuf};

use clap::Parser;

use crate::config::{Config, ConfigError, DialectName, EngineKind, Key, LogForm, MaskMode, PolicyName};
use crate::engine::Engine;
use crate::engine::script::Script;
use crate::engine::upstream::{Kind, Upstream};

/// Serves OpenAI Chat Completions, OpenAI Responses and Anthropic Messages in front of an engine.
#[derive(Debug, Clone, Default, Parser)]
#[command(version, about)]
pub struct Flags {
    /// Settings; `gateway.toml` in the working folder if there is one
    #[arg(long, value_name = "FILE")]
    pub config: Option<PathBuf>,
    /// The address to listen at
    #[arg(long, value_name = "HOST:PORT")]
    pub listen: Option<String>,
    /// What generates: `candle`, `script FILE`, `sglang URL` or `vllm URL`
    #[arg(long, num_args = 1..=2, value_names = ["KIND", "FILE|URL"])]
    pub engine: Option<Vec<String>>,
    /// The model's name at the engine; of `candle`, a checkpoint: a folder or a GGUF file
    #[arg(long, value_name = "NAME|DIR")]
    pub model: Option<String>,
    /// A file of keys: a name and a key on each line
    #[arg(long, value_name = "FILE")]
    pub keys: Option<PathBuf>,
    /// A further name of a model; with `*` at its end, all names that begin so
    #[arg(long, value_name = "NAME=MODEL")]
    pub alias: Vec<String>,
    /// Whose habits answers follow, in all APIs: `vendor` or `deepseek`
    #[arg(long)]
    pub dialect: Option<String>,
    /// How much is accepted, in all APIs: `lenient` or `strict`
    #[arg(long)]
    pub policy: Option<String>,
    /// Whether answers are held to their schemas: `exact`, `relaxed` or `off`
    #[arg(long)]
    pub masks: Option<String>,
    /// Requests at once
    #[arg(long, value_name = "N")]
    pub max_requests: Option<usize>,
    /// Bytes of a body
    #[arg(long, value_name = "BYTES")]
    pub max_body: Option<usize>,
    /// The form of the log: `text`, `json` or `off`
    #[arg(long)]
    pub log: Option<String>,
}

fn read(file: &Path) -> Result<String, ConfigError> {
    std::fs::read_to_string(file).map_err(|error| ConfigError(format!("{}: {error}", file.display())))
}

/// The value of a flag that has to be one of some words.
fn word<T: Copy>(flag: &str, value: &str, words: &[(&str, T)]) -> Result<T, ConfigError> {
    words.iter().find(|(word, _)| *word == value).map(|(_, value)| *value).ok_or_else(|| {
        let words: Vec<&str> = words.iter().map(|(word, _)| *word).collect();
        ConfigError(format!("--{flag} {value}: it has to be one of {}", words.join(", ")))
    })
}

impl Flags {
    /// The settings that these flags and `gateway.toml` make.
    ///
    /// # Errors
    ///
    /// If a file cannot be read, or a setting is not known or leaves room for nothing.
    pub fn config(&self) -> Result<Config, ConfigError> {
        let default = Path::new("gateway.toml");
        let mut config = match &self.config {
            Some(file) => settings(file)?,
            None if default.exists() => settings(default)?,
            None => Config::default(),
        };
        if let Some(engine) = &self.engine {
            let kinds: Vec<_> = EngineKind::ALL.into_iter().map(|kind| (kind.as_str(), kind)).collect();
            config.engine.kind = word("engine", &engine[0], &kinds)?;
            match (config.engine.kind, engine.get(1)) {
                (EngineKind::Candle, Some(_)) => {
                    return Err(ConfigError(
                        "--engine candle takes nothing; a checkpoint is named by --model".to_owned(),
                    ));
                }
                (_, None) => {}
                (EngineKind::Script, Some(file)) => config.engine.script = Some(file.into()),
                (EngineKind::Sglang | EngineKind::Vllm, Some(url)) => config.engine.url = Some(url.clone()),
            }
        }
        if let Some(file) = &self.keys {
            config.keys = keys(&read(file)?)?;
        }
        for alias in &self.alias {
            let (name, model) =
                alias.split_once('=').ok_or_else(|| ConfigError(format!("--alias {alias}: no `=`")))?;
            config.aliases.insert(name.to_owned(), model.to_owned());
        }
        let routes = &mut config.routes;
        let routes = [&mut routes.chat, &mut routes.responses, &mut routes.messages];
        for route in routes {
            if let Some(dialect) = &self.dialect {
                let words = [("vendor", DialectName::Vendor), ("deepseek", DialectName::Deepseek)];
                route.dialect = word("dialect", dialect, &words)?;
            }
            if let Some(policy) = &self.policy {
                let words = [("lenient", PolicyName::Lenient), ("strict", PolicyName::Strict)];
                route.policy = word("policy", policy, &words)?;
            }
        }
        if let Some(masks) = &self.masks {
            let words = [("exact", MaskMode::Exact), ("relaxed", MaskMode::Relaxed), ("off", MaskMode::Off)];
            config.masks.mode = word("masks", masks, &words)?;
        }
        if let Some(log) = &self.log {
            let words = [("text", LogForm::Text), ("json", LogForm::Json), ("off", LogForm::Off)];
            config.log.form = word("log", log, &words)?;
        }
        config.listen = self.listen.clone().unwrap_or(config.listen);
        config.engine.model = self.model.clone().or(config.engine.model);
        config.limits.requests = self.max_requests.unwrap_or(config.limits.requests);
        config.limits.body_bytes = self.max_body.unwrap_or(config.limits.body_bytes);
        config.limits.check()?;
        Ok(config)
    }
}

/// The settings of a file.
fn settings(file: &Path) -> Result<Config, ConfigError> {
    Config::parse(&read(file)?).map_err(|error| ConfigError(format!("{}: {error}", file.display())))
}

fn keys(text: &str) -> Result<Vec<Key>, ConfigError> {
    let lines = text.lines().map(str::trim).filter(|line| !line.is_empty() && !line.starts_with('#'));
    let key = |line: &str| {
        let (name, key) = line
            .split_once(char::is_whitespace)
            .ok_or_else(|| ConfigError("keys: a line has no name in front of its key".to_owned()))?;
        Ok(Key { name: name.to_owned(), key: key.trim().to_owned() })
    };
    lines.map(key).collect()
}

/// The engine that the settings ask for.
///
/// # Errors
///
/// If its files cannot be read, or it lacks a setting.
pub fn engine(config: &Config) -> Result<Engine, ConfigError> {
    match config.engine.kind {
        EngineKind::Script => {
            let file = config.engine.script.as_deref();
            let file = file.ok_or_else(|| ConfigError("the engine `script` needs a file".to_owned()))?;
            Ok(Engine::Script(Script::parse(&read(file)?)?))
        }
        EngineKind::Candle => candle(config),
        EngineKind::Sglang => {
            Upstream::new(Kind::Sglang, &config.engine, config.log.texts).map(Engine::Upstream)
        }
        EngineKind::Vllm => Upstream::new(Kind::Vllm, &config.engine, config.log.texts).map(Engine::Upstream),
    }
}

/// A checkpoint, or a tiny model if none is named.
#[cfg(feature = "candle")]
fn candle(config: &Config) -> Result<Engine, ConfigError> {
    use crate::engine::candle::{checkpoint, tiny};

    match &config.engine.model {
        Some(path) => checkpoint(Path::new(path)),
        None => Ok(tiny()),
    }
}

#[cfg(not(feature = "candle"))]
fn candle(_: &Config) -> Result<Engine, ConfigError> {
    Err(ConfigError(
        "this program was built without the engine `candle`; choose another by --engine".to_owned(),
    ))
}

//! What all requests share.

use std::hash::{BuildHasher, RandomState};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, OnceLock};
use std::time::{SystemTime, UNIX_EPOCH};

use axum::http::HeaderMap;
use deepseek_codec::engine::MaskCache;
use deepseek_codec::grammar::{Compiler, Layout};
use deepseek_codec::model::{PROFILES, Profile};
use deepseek_codec::protocol::{Api, Failure, Options};
use deepseek_codec::tokenizer::Tokenizer;
use tokio::sync::{OwnedSemaphorePermit, Semaphore, TryAcquireError};

use crate::config::{Config, ConfigError, MaskMode};
use crate::engine::Engine;
use crate::keys;
use crate::metrics::Metrics;
use crate::refusal::Refusal;

/// What all requests share.
pub struct Gateway {
    /// The settings.
    pub config: Config,
    /// What generates.
    pub engine: Engine,
    /// Counts.
    pub metrics: Metrics,
    chat: Options,
    responses: Options,
    messages: Options,
    models: Vec<Model>,
    requests: Arc<Semaphore>,
    requests_of_keys: Vec<Arc<Semaphore>>,
    hasher: RandomState,
    numbers: AtomicU64,
}

/// What there is of a model.
struct Model {
    profile: &'static Profile,
    /// Its copies share their tables; making it anew does not.
    tokenizer: Tokenizer,
    /// Compiled masks, for which the vocabulary is arranged first ([`Gateway::arrange_masks`]).
    masks: OnceLock<MaskCache>,
}

/// The right to be answered, among the requests that are answered at once.
#[derive(Debug)]
pub struct Permit {
    _all: OwnedSemaphorePermit,
    _key: Option<OwnedSemaphorePermit>,
}

impl Gateway {
    /// A gateway with these settings in front of this engine.
    ///
    /// # Errors
    ///
    /// If an alias names no model, or one that the engine does not serve.
    pub fn new(mut config: Config, engine: Engine) -> Result<Self, ConfigError> {
        let models = PROFILES.iter().filter_map(|profile| Model::new(profile, &engine));
        let models: Vec<Model> = models.collect();
        let is_served = |profile: &Profile| models.iter().any(|model| model.profile == profile);
        for (alias, name) in &config.aliases {
            if Profile::by_name(name).is_some_and(|profile| !is_served(profile)) {
                return Err(ConfigError(format!("alias {alias}: the engine does not serve {name}")));
            }
        }
        let options = |api| {
            let mut options = config.options(api)?;
            options.models.retain(|_, profile| is_served(profile));
            Ok(options)
        };
        let (chat, responses, messages) =
            (options(Api::Chat)?, options(Api::Responses)?, options(Api::Messages)?);
        config.limits.context = config.limits.context.min(engine.context().unwrap_or(u32::MAX));
        let limits = &config.limits;
        let semaphore = |permits: usize| Arc::new(Semaphore::new(permits.min(Semaphore::MAX_PERMITS)));
        Ok(Self {
            chat,
            responses,
            messages,
            models,
            requests: semaphore(limits.requests),
            requests_of_keys: config.keys.iter().map(|_| semaphore(limits.requests_per_key)).collect(),
            metrics: Metrics::default(),
            hasher: RandomState::new(),
            numbers: AtomicU64::new(0),
            engine,
            config,
        })
    }

    /// How requests of an API are lowered.
    #[must_use]
    pub const fn options(&self, api: Api) -> &Options {
        match api {
            Api::Chat => &self.chat,
            Api::Responses => &self.responses,
            Api::Messages => &self.messages,
        }
    }

    /// The masks for a model's requests; nothing if there are none, or the engine makes them itself.
    #[must_use]
    pub fn masks(&self, profile: &Profile) -> Option<&MaskCache> {
        if self.config.masks.mode == MaskMode::Off || self.engine.constrains() {
            return None;
        }
        let model = self.model(profile);
        let relaxed = self.config.masks.mode == MaskMode::Relaxed;
        let cache = || {
            let compiler = Compiler::new(&model.tokenizer);
            self.metrics.arranged();
            MaskCache::new(compiler, Layout::default(), relaxed, self.config.masks.kept)
        };
        Some(model.masks.get_or_init(cache))
    }

    /// Arranges the vocabularies for masks, which takes a tenth of a second, so that no request has to wait for it.
    pub fn arrange_masks(&self) {
        std::thread::scope(|scope| {
            for model in &self.models {
                scope.spawn(|| self.masks(model.profile));
            }
        });
    }

    /// The tokenizer of a model.
    #[must_use]
    pub fn tokenizer(&self, profile: &Profile) -> &Tokenizer {
        &self.model(profile).tokenizer
    }

    /// The latest of the models that are served.
    #[must_use]
    pub fn latest(&self) -> &'static Profile {
        self.models.last().map_or(PROFILES[PROFILES.len() - 1], |model| model.profile)
    }

    fn model(&self, profile: &Profile) -> &Model {
        let at = self.models.iter().position(|model| model.profile == profile);
        // There are no others than those of the list.
        &self.models[at.unwrap_or(0)]
    }

    /// The place of the key that a request shows; nothing if none is asked for.
    ///
    /// # Errors
    ///
    /// If there is none, or it is not known.
    pub fn key(&self, headers: &HeaderMap) -> Result<Option<usize>, Refusal> {
        if self.config.keys.is_empty() {
            return Ok(None);
        }
        match keys::find(&self.config.keys, headers) {
            Some(key) => Ok(Some(key)),
            None => Err(Refusal::failure(
                Failure::Authentication,
                "The API key is missing or not known. Send it as `Authorization: Bearer` or as `x-api-key`.",
            )),
        }
    }

    /// The right to be answered. It is asked for before the body is read, so that what waits takes no memory.
    ///
    /// # Errors
    ///
    /// If there are too many requests already.
    pub fn admit(&self, key: Option<usize>) -> Result<Permit, Refusal> {
        let full =
            |failure, message: &'static str| move |_: TryAcquireError| Refusal::failure(failure, message);
        let of_key = key.map(|key| self.requests_of_keys[key].clone().try_acquire_owned()).transpose();
        let of_key = of_key.map_err(full(
            Failure::RateLimit,
            "This key has too many requests at once. Wait for one to end.",
        ))?;
        let all = self.requests.clone().try_acquire_owned();
        let all =
            all.map_err(full(Failure::Overloaded, "There are too many requests at once. Try again later."))?;
        Ok(Permit { _all: all, _key: of_key })
    }

    /// A number that nobody can foresee: for ids, and for choosing tokens.
    #[must_use]
    pub fn number(&self) -> u64 {
        self.hasher.hash_one(self.numbers.fetch_add(1, Ordering::Relaxed))
    }
}

impl Model {
    /// Nothing if the engine does not serve it.
    fn new(profile: &'static Profile, engine: &Engine) -> Option<Self> {
        engine.tokenizer(profile).map(|tokenizer| Self { profile, tokenizer, masks: OnceLock::new() })
    }
}

/// Seconds of Unix time.
#[must_use]
pub fn now() -> u64 {
    SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |since| since.as_secs())
}

//! What generates tokens.
//!
//! The engines behind a gateway wait for devices and networks, so a [`Sequence`] is asked for its next token without
//! blocking. A dropped sequence is cancelled.

#[cfg(feature = "candle")]
pub mod candle;
pub mod local;
pub mod script;
pub mod upstream;

use std::fmt;

use axum::http::HeaderValue;
use deepseek_codec::engine::{LogitMask, Session, Step};
use deepseek_codec::model::Profile;
use deepseek_codec::output::Finish;
use deepseek_codec::protocol::{Lowered, Sampling};
use deepseek_codec::tokenizer::Tokenizer;

/// An engine.
#[derive(Debug)]
pub enum Engine {
    /// What a file says is generated.
    Script(script::Script),
    /// An engine inside this program, and what there is to say of it.
    Local(local::Local, About),
    /// Another server.
    Upstream(upstream::Upstream),
}

/// What there is to say of an engine inside this program.
#[derive(Debug, Default)]
pub struct About {
    /// Its name.
    pub name: &'static str,
    /// What was loaded, if it was loaded from somewhere.
    pub loaded: Option<String>,
    /// What operators and clients should know about its answers, if they are not those of a language model.
    pub caveat: Option<&'static str>,
    /// How many tokens prompt and answer may have together, if there is a limit.
    pub context: Option<u32>,
    /// The models that it serves, with its own tokenizers; all models, by the vocabulary inside this program, if there are
    /// none.
    pub tokenizers: Vec<(&'static Profile, Tokenizer)>,
}

/// What is to be generated.
#[derive(Debug, Clone, Copy)]
pub struct Order<'o> {
    /// The request.
    pub lowered: &'o Lowered,
    /// The tokenizer of its model.
    pub tokenizer: &'o Tokenizer,
    /// What answers it.
    pub session: &'o Session,
    /// Which of its answers this is.
    pub index: usize,
    /// The hashes of the prompt's blocks.
    pub prefix: Option<&'o HeaderValue>,
}

impl Order<'_> {
    /// How tokens are chosen. Several answers by one seed are to differ.
    fn sampling(self) -> Sampling {
        let sampling = *self.session.sampling();
        Sampling { seed: sampling.seed.map(|seed| seed.wrapping_add(self.index as u64)), ..sampling }
    }
}

/// A sequence that is being generated. Dropping it ends the work on it.
#[derive(Debug)]
pub enum Sequence {
    /// By a script.
    Script(script::Sequence),
    /// By an engine inside this program.
    Local(local::Sequence),
    /// By another server.
    Upstream(Box<upstream::Sequence>),
}

/// What comes next.
#[derive(Debug, Clone, PartialEq)]
pub enum Next {
    /// A token.
    Token(Step),
    /// Not a token, but how many tokens of the prompt were in a cache.
    Cached(u64),
    /// The end, which no token says.
    End(Finish),
}

/// Why nothing more comes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct EngineError {
    /// What kind of failure it is.
    pub kind: EngineErrorKind,
    /// What happened, for the log: clients are told the kind only.
    pub detail: String,
}

/// Kinds of failures.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum EngineErrorKind {
    /// The engine has too much to do.
    Overloaded,
    /// The engine took too long.
    Timeout,
    /// Anything else.
    Failed,
}

impl EngineError {
    /// A failure of no special kind.
    pub fn failed(detail: impl Into<String>) -> Self {
        Self { kind: EngineErrorKind::Failed, detail: detail.into() }
    }

    /// What clients are told.
    #[must_use]
    pub const fn told(&self) -> &'static str {
        match self.kind {
            EngineErrorKind::Overloaded => "The engine has too much to do. Try again later.",
            EngineErrorKind::Timeout => "The engine took too long.",
            EngineErrorKind::Failed => "The engine failed.",
        }
    }
}

impl fmt::Display for EngineError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} ({})", self.told(), self.detail)
    }
}

impl std::error::Error for EngineError {}

impl Engine {
    /// Its name.
    #[must_use]
    pub const fn name(&self) -> &'static str {
        match self {
            Self::Script(_) => "script",
            Self::Local(_, about) => about.name,
            Self::Upstream(upstream) => match upstream.kind() {
                upstream::Kind::Sglang => "sglang",
                upstream::Kind::Vllm => "vllm",
            },
        }
    }

    /// What operators and clients should know about its answers, if they are not those of a language model.
    #[must_use]
    pub const fn caveat(&self) -> Option<&'static str> {
        match self {
            Self::Script(_) => Some("answers come from a script, not from a model"),
            Self::Local(_, about) => about.caveat,
            Self::Upstream(_) => None,
        }
    }

    /// What is known of it, if it is inside this program.
    const fn about(&self) -> Option<&About> {
        match self {
            Self::Local(_, about) => Some(about),
            Self::Script(_) | Self::Upstream(_) => None,
        }
    }

    /// What was loaded, if it was loaded from somewhere.
    #[must_use]
    pub fn loaded(&self) -> Option<&str> {
        self.about()?.loaded.as_deref()
    }

    /// How many tokens prompt and answer may have together, if it has a limit.
    #[must_use]
    pub fn context(&self) -> Option<u32> {
        self.about()?.context
    }

    /// The tokenizer of a model; nothing if the engine does not serve it.
    #[must_use]
    pub fn tokenizer(&self, profile: &'static Profile) -> Option<Tokenizer> {
        match self.about() {
            Some(about) if !about.tokenizers.is_empty() => {
                let own = about.tokenizers.iter().find(|(of, _)| *of == profile);
                own.map(|(_, tokenizer)| tokenizer.clone())
            }
            _ => Some(profile.tokenizer()),
        }
    }

    /// Whether it holds answers to their form itself, and takes no masks.
    #[must_use]
    pub const fn constrains(&self) -> bool {
        match self {
            Self::Script(_) | Self::Local(..) => false,
            Self::Upstream(_) => true,
        }
    }

    /// Whether it can be given images.
    #[must_use]
    pub const fn takes_images(&self) -> bool {
        match self {
            // These leave the placeholders in the prompt as they are.
            Self::Script(_) | Self::Local(..) => true,
            Self::Upstream(upstream) => matches!(upstream.kind(), upstream::Kind::Sglang),
        }
    }

    /// Begins an answer.
    ///
    /// # Errors
    ///
    /// If the engine cannot take it.
    pub async fn start(&self, order: Order<'_>) -> Result<Sequence, EngineError> {
        match self {
            Self::Script(script) => script.start(order).map(Sequence::Script),
            Self::Local(local, ..) => local.start(order).await.map(Sequence::Local),
            Self::Upstream(upstream) => upstream.start(order).await.map(Box::new).map(Sequence::Upstream),
        }
    }
}

impl Sequence {
    /// What comes next: a token that `mask` allows, where there is a mask.
    ///
    /// # Errors
    ///
    /// If the engine fails; nothing more comes then.
    pub async fn next(&mut self, mask: Option<LogitMask<'_>>) -> Result<Next, EngineError> {
        match self {
            // A script says what comes, allowed or not.
            Self::Script(sequence) => {
                let _ = mask;
                sequence.next().await
            }
            Self::Local(sequence) => sequence.next(mask).await,
            Self::Upstream(sequence) => sequence.next(mask).await,
        }
    }
}

//! What generates ids, and what drives it (feature `engine`).
//!
//! An [`Engine`] makes the next token of a sequence; it knows nothing of requests. A [`Session`] is one request on its
//! way: the prompt's ids, the mask of the next token, the events of what was generated. What lets the one drive the
//! other:
//!
//! | | |
//! | --- | --- |
//! | [`run`] | one session, a token after the other |
//! | [`run_with_drafts`] | one session, with a smaller engine that guesses ahead |
//! | [`Batcher`] | many sessions that come and go, a step for all at once; several answers to one prompt |
//!
//! An engine with a loop of its own needs none of them. For each session it takes [`Session::mask`], which
//! [`prepare`] makes for many sessions at once while the device computes, chooses a token, and gives it to
//! [`Session::push`], whose events go out.
//!
//! Nothing here reads a clock, starts a thread (but for [`prepare`] with the feature `parallel`) or waits.

mod batch;
mod cache;
#[cfg(feature = "candle")]
pub mod candle;
mod causal;
mod dice;
mod drafts;
mod sampler;
mod session;
#[cfg(all(test, feature = "vocab"))]
mod tests;

pub use batch::{Batch, Batcher, Ended};
pub use cache::{CachedMasks, MaskCache};
pub use causal::{Causal, CausalError, CausalModel, CausalSequence};
pub use drafts::{DraftReport, run_with_drafts};
pub use sampler::{LogitMask, Sampler};
pub use session::{Masks, Session, SessionError, SessionOptions, prepare};

use std::fmt;
use std::ops::ControlFlow;

use crate::protocol::{Chunk, Sampling, TokenLogprob};
use crate::token::TokenId;

/// Something that generates tokens.
///
/// Implementations choose the token themselves: those that have logits by a [`Sampler`], others by whatever their
/// runtime offers.
pub trait Engine {
    /// A sequence that is being generated: what the engine keeps for it.
    type Sequence;
    /// What can go wrong.
    type Error: std::error::Error;

    /// Begins a sequence that goes on from `prompt`.
    ///
    /// # Errors
    ///
    /// If the engine cannot take the sequence.
    fn start(&mut self, prompt: &[TokenId], sampling: &Sampling) -> Result<Self::Sequence, Self::Error>;

    /// Generates the next token: one that `mask` allows, where there is a mask.
    ///
    /// # Errors
    ///
    /// If the engine fails; the sequence is then of no use.
    fn step(
        &mut self,
        sequence: &mut Self::Sequence,
        mask: Option<LogitMask<'_>>,
    ) -> Result<Step, Self::Error>;

    /// Ends a sequence, complete or not, and frees what it holds.
    fn stop(&mut self, sequence: Self::Sequence);
}

/// An engine whose sequences can branch and go back: for drafts, and for several answers to one prompt.
pub trait Branch: Engine {
    /// A second sequence that goes on from the same tokens. Branches with different numbers draw different random
    /// numbers; branch 0 draws those of `sequence`.
    ///
    /// # Errors
    ///
    /// If there is no room for it.
    fn fork(&mut self, sequence: &Self::Sequence, branch: u32) -> Result<Self::Sequence, Self::Error>;

    /// Forgets all generated tokens but the first `generated`.
    ///
    /// # Errors
    ///
    /// If the engine cannot go back that far.
    fn truncate(&mut self, sequence: &mut Self::Sequence, generated: usize) -> Result<(), Self::Error>;

    /// Takes a token that was chosen elsewhere for the next one. Unless it is overridden, that is a step in which nothing
    /// else may come.
    ///
    /// # Errors
    ///
    /// As [`Engine::step`].
    fn push(&mut self, sequence: &mut Self::Sequence, id: TokenId) -> Result<(), Self::Error> {
        let mut only = vec![0; id.index() / 32 + 1];
        only[id.index() / 32] = 1 << (id.index() % 32);
        self.step(sequence, Some(LogitMask(&only))).map(|_| ())
    }

    /// Generates tokens along a draft: adds to `steps` what it chooses at each place, under the mask of that place, up to
    /// the first that is not the draft's. There are as many places as `masks`, of which the last comes after the draft or
    /// is that of its last token. The sequence then goes on from what was chosen.
    ///
    /// An engine that can look at several places in one pass overrides this; else it takes one step after the other.
    ///
    /// # Errors
    ///
    /// As [`Engine::step`].
    fn verify(
        &mut self,
        sequence: &mut Self::Sequence,
        draft: &[TokenId],
        masks: &[Option<LogitMask<'_>>],
        steps: &mut Vec<Step>,
    ) -> Result<(), Self::Error> {
        for (place, mask) in masks.iter().enumerate() {
            let step = self.step(sequence, *mask)?;
            let differs = draft.get(place) != Some(&step.id);
            steps.push(step);
            if differs {
                break;
            }
        }
        Ok(())
    }
}

/// A generated token.
#[derive(Debug, Clone, PartialEq)]
pub struct Step {
    /// The token.
    pub id: TokenId,
    /// Its log probability, if the request asks for it.
    pub logprob: Option<TokenLogprob>,
}

impl From<TokenId> for Step {
    fn from(id: TokenId) -> Self {
        Self { id, logprob: None }
    }
}

/// Why [`run`] did not come to the end of an answer.
#[derive(Debug, PartialEq)]
#[non_exhaustive]
pub enum RunError<E> {
    /// The engine failed. The client was told so, in the API's own form.
    Engine(E),
    /// The engine chose a token that the mask forbids. The client was told that the engine failed.
    Rejected(TokenId),
    /// No token may come: a mask leads to where its grammar has nothing left. The client was told that the engine failed.
    NoToken,
    /// The receiver of the events wants no more.
    Cancelled,
}

impl<E: fmt::Display> fmt::Display for RunError<E> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Engine(error) => error.fmt(f),
            Self::Rejected(id) => write!(f, "the engine chose token {id}, which the mask forbids"),
            Self::NoToken => f.write_str("no token may come next"),
            Self::Cancelled => f.write_str("nobody receives the events any more"),
        }
    }
}

impl<E: std::error::Error> std::error::Error for RunError<E> {}

/// Generates the answer of `session` with `engine`, one token after the other. Each event goes to `send`, which can
/// break off. The sequence is stopped in any case.
///
/// # Errors
///
/// [`RunError`]: the session is over then, and its response says so.
pub fn run<E: Engine>(
    engine: &mut E,
    session: &mut Session,
    mut send: impl FnMut(Chunk) -> ControlFlow<()>,
) -> Result<(), RunError<E::Error>> {
    let mut chunks = Vec::new();
    let result = generate(engine, session, &mut chunks, &mut send);
    conclude(result, session, &mut chunks, &mut send)
}

/// Tells the client of an error, if somebody receives it.
fn conclude<E: std::error::Error>(
    result: Result<(), RunError<E>>,
    session: &mut Session,
    chunks: &mut Vec<Chunk>,
    send: &mut impl FnMut(Chunk) -> ControlFlow<()>,
) -> Result<(), RunError<E>> {
    if let Err(error) = &result
        && !matches!(error, RunError::Cancelled)
    {
        session.fail(&error.to_string(), &mut *chunks);
        // The error is returned; whether it could be sent does not matter.
        let _ = pass_on(chunks, send);
    }
    result
}

fn generate<E: Engine>(
    engine: &mut E,
    session: &mut Session,
    chunks: &mut Vec<Chunk>,
    send: &mut impl FnMut(Chunk) -> ControlFlow<()>,
) -> Result<(), RunError<E::Error>> {
    let mut sequence = engine.start(session.prompt(), session.sampling()).map_err(RunError::Engine)?;
    session.start(&mut *chunks);
    let result = loop {
        if pass_on(chunks, send).is_break() {
            break Err(RunError::Cancelled);
        }
        if session.is_over() {
            break Ok(());
        }
        let mask = session.mask();
        if mask.is_some_and(LogitMask::is_empty) {
            break Err(RunError::NoToken);
        }
        match engine.step(&mut sequence, mask) {
            Ok(step) if session.push(&step, &mut *chunks).is_err() => break Err(RunError::Rejected(step.id)),
            Ok(_) => {}
            Err(error) => break Err(RunError::Engine(error)),
        }
    };
    engine.stop(sequence);
    result
}

fn pass_on(chunks: &mut Vec<Chunk>, send: &mut impl FnMut(Chunk) -> ControlFlow<()>) -> ControlFlow<()> {
    chunks.drain(..).try_for_each(send)
}

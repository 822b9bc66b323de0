//! Sessions of `deepseek-codec` on mistral.rs.
//!
//! mistral.rs has a loop of its own, batches, and answers with text. Ids go in as
//! [`RequestMessage::CompletionTokens`]; a processor of logits, which it calls once for each token, does the rest: it
//! makes the mask, chooses the token by the request's temperature, `top_p` and seed, gives it to the session, whose events
//! go out at once, and leaves mistral.rs a single token to choose. So nothing is taken from the text of its replies, and
//! its own constraints and stop sequences are not used.

use std::fmt;
use std::ops::ControlFlow;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use candle_core::{DType, Tensor};
use deepseek_codec::engine::{LogitMask, RunError, Sampler, Session};
use deepseek_codec::output::Finish;
use deepseek_codec::protocol::Chunk;
use deepseek_codec::token::TokenId;
use mistralrs_core::{
    CustomLogitsProcessor, MistralRs, NormalRequest, Request, RequestMessage, Response, SamplingParams,
    StopTokens,
};
use tokio::sync::mpsc;

/// A model that mistral.rs has loaded.
pub struct MistralEngine {
    runner: Arc<MistralRs>,
    end: TokenId,
    seed: AtomicU64,
}

/// Why mistral.rs gave no answer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MistralError(String);

impl fmt::Display for MistralError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for MistralError {}

impl MistralEngine {
    /// An engine over a loaded model. `end` is the vocabulary's token for the end of a turn, at which mistral.rs stops.
    /// Requests without a seed draw numbers that follow from `seed`, others each time.
    #[must_use]
    pub const fn new(runner: Arc<MistralRs>, end: TokenId, seed: u64) -> Self {
        Self { runner, end, seed: AtomicU64::new(seed) }
    }

    /// Generates the answer of a session. Each event goes to `send`, in the thread in which mistral.rs samples; it can break
    /// off. The session is given back with its response, and whether it came to its end.
    pub async fn answer(
        &self,
        mut session: Session,
        mut send: impl FnMut(Chunk) -> ControlFlow<()> + Send + 'static,
    ) -> (Session, Result<(), RunError<MistralError>>) {
        let mut chunks = Vec::new();
        session.start(&mut chunks);
        if chunks.drain(..).try_for_each(&mut send).is_break() {
            return (session, Err(RunError::Cancelled));
        }
        let prompt = session.prompt().iter().map(|id| id.0).collect();
        let sampler = Sampler::new(session.sampling(), self.seed.fetch_add(1, Ordering::Relaxed));
        let turn = Turn { session, sampler, chunks, send: Box::new(send), failure: None };
        let driver = Arc::new(Driver { end: self.end, turn: Mutex::new(Some(turn)) });
        let outcome = self.generate(prompt, driver.clone()).await;
        // mistral.rs may hold the driver a little longer, but does not call it any more.
        let Some(mut turn) = driver.turn().take() else {
            unreachable!("only this function takes it");
        };
        if turn.failure.is_none() && !turn.session.is_over() {
            match outcome {
                Err(error) => turn.fail(RunError::Engine(error)),
                // The model's context is full.
                Ok(()) => {
                    turn.session.finish(Finish::Length, &mut turn.chunks);
                    turn.pass_on();
                }
            }
        }
        let result = turn.failure.take().map_or(Ok(()), Err);
        (turn.session, result)
    }

    async fn generate(&self, prompt: Vec<u32>, driver: Arc<Driver>) -> Result<(), MistralError> {
        let failed = |error: &dyn fmt::Display| MistralError(error.to_string());
        let (response, mut replies) = mpsc::channel(1);
        let sampling = SamplingParams {
            stop_toks: Some(StopTokens::Ids(vec![self.end.0])),
            ..SamplingParams::neutral()
        };
        let message = RequestMessage::CompletionTokens(prompt);
        let id = self.runner.next_request_id();
        let mut request = NormalRequest::new_simple(message, sampling, response, id, None, None);
        request.logits_processors = Some(vec![driver]);
        let sender = self.runner.get_sender(None).map_err(|error| failed(&error))?;
        sender.send(Request::Normal(Box::new(request))).await.map_err(|error| failed(&error))?;
        loop {
            match replies.recv().await {
                Some(Response::CompletionDone(_)) => return Ok(()),
                Some(Response::CompletionModelError(message, _)) => return Err(MistralError(message)),
                Some(Response::InternalError(error) | Response::ValidationError(error)) => {
                    return Err(failed(&error));
                }
                Some(_) => {}
                None => return Err(MistralError("the engine is gone".to_owned())),
            }
        }
    }
}

/// What mistral.rs calls for each token of a sequence.
struct Driver {
    end: TokenId,
    /// Nothing once the answer is complete.
    turn: Mutex<Option<Turn>>,
}

impl Driver {
    fn turn(&self) -> MutexGuard<'_, Option<Turn>> {
        self.turn.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl CustomLogitsProcessor for Driver {
    fn apply(&self, logits: &Tensor, _context: &[u32]) -> candle_core::Result<Tensor> {
        let values: Vec<f32> = logits.to_dtype(DType::F32)?.flatten_all()?.to_vec1()?;
        // What is over ends by the token for it.
        let id = self.turn().as_mut().and_then(|turn| turn.next(&values)).unwrap_or(self.end);
        let mut only = vec![f32::NEG_INFINITY; values.len()];
        let Some(chosen) = only.get_mut(id.index()) else {
            candle_core::bail!("token {id} is not in the model's vocabulary");
        };
        *chosen = 0.0;
        Tensor::from_vec(only, logits.shape(), logits.device())?.to_dtype(logits.dtype())
    }
}

/// A session at work.
struct Turn {
    session: Session,
    sampler: Sampler,
    chunks: Vec<Chunk>,
    send: Box<dyn FnMut(Chunk) -> ControlFlow<()> + Send>,
    failure: Option<RunError<MistralError>>,
}

impl Turn {
    /// The next token; nothing if there is none.
    fn next(&mut self, logits: &[f32]) -> Option<TokenId> {
        if self.session.is_over() || self.failure.is_some() {
            return None;
        }
        let mask: Option<LogitMask<'_>> = self.session.mask();
        let Some(step) = self.sampler.sample(logits, mask) else {
            self.fail(RunError::NoToken);
            return None;
        };
        if self.session.push(&step, &mut self.chunks).is_err() {
            self.fail(RunError::Rejected(step.id));
            return None;
        }
        self.pass_on();
        (!self.session.is_over() && self.failure.is_none()).then_some(step.id)
    }

    fn fail(&mut self, error: RunError<MistralError>) {
        self.session.fail(&error.to_string(), &mut self.chunks);
        self.pass_on();
        self.failure = Some(error);
    }

    fn pass_on(&mut self) {
        if self.chunks.drain(..).try_for_each(&mut self.send).is_break() {
            self.failure = Some(RunError::Cancelled);
        }
    }
}

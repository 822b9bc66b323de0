//! One request on its way through an engine.

use std::fmt;

use crate::constraint::{Constraint, ConstraintError};
use crate::engine::{LogitMask, Step};
use crate::grammar::{Compiler, Layout, Matcher, Rejected};
use crate::output::{Finish, Plan};
use crate::protocol::{EventSink, Lowered, RequestError, Sampling, Stream, StreamOptions};
use crate::token::TokenId;
use crate::tokenizer::Tokenizer;

/// How a [`Session`] is set up.
#[derive(Debug, Clone)]
pub struct SessionOptions<'c> {
    /// What the response says about itself. The prompt's tokens are counted by the session.
    pub stream: StreamOptions,
    /// What compiles the masks; `None` for no masks.
    pub masks: Option<&'c Compiler>,
    /// How JSON is laid out under a mask.
    pub layout: Layout,
    /// How many tokens prompt and answer may have together.
    pub context_limit: u32,
}

impl<'c> SessionOptions<'c> {
    /// Masks by `compiler`, a context of 131,072 tokens, everything else by default.
    #[must_use]
    pub fn new(id: impl Into<String>, masks: Option<&'c Compiler>) -> Self {
        Self { stream: StreamOptions::new(id), masks, layout: Layout::default(), context_limit: 1 << 17 }
    }
}

/// Why there is no session for a request.
#[derive(Debug, Clone, PartialEq)]
pub enum SessionError {
    /// The prompt and the answer are too long.
    Request(RequestError),
    /// What the answer must look like cannot be enforced.
    Constraint(ConstraintError),
}

impl fmt::Display for SessionError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Request(error) => error.fmt(f),
            Self::Constraint(error) => error.fmt(f),
        }
    }
}

impl std::error::Error for SessionError {}

/// A request that is being answered: the prompt's ids, what may come next, and the events of what came.
#[derive(Debug, Clone)]
pub struct Session {
    prompt: Vec<TokenId>,
    sampling: Sampling,
    matcher: Option<Matcher>,
    /// The mask of the next token, if it is ready.
    mask: Vec<u32>,
    is_ready: bool,
    stream: Stream,
    /// How many tokens may still come.
    left: u32,
    is_over: bool,
}

impl Session {
    /// The session of a request, with the vocabulary of its model.
    ///
    /// # Errors
    ///
    /// If the prompt leaves no room for an answer, or a mask is wanted and what the answer must look like cannot be
    /// enforced.
    pub fn new(
        lowered: &Lowered,
        tokenizer: &Tokenizer,
        options: SessionOptions<'_>,
    ) -> Result<Self, SessionError> {
        let prompt = tokenizer.encode(&lowered.profile.render(&lowered.conversation));
        let length = u32::try_from(prompt.len()).unwrap_or(u32::MAX);
        let left = lowered.max_tokens(length, options.context_limit).map_err(SessionError::Request)?;
        let matcher = match (options.masks, Constraint::of(&lowered.conversation)) {
            (Some(compiler), Some(constraint)) => {
                let start = Plan::of(&lowered.conversation, &lowered.stops).start;
                let compiled = constraint.compile(start, lowered.profile, compiler, options.layout);
                Some(compiled.map_err(SessionError::Constraint)?.matcher())
            }
            _ => None,
        };
        let stream = StreamOptions { prompt_tokens: prompt.len() as u64, ..options.stream };
        Ok(Self {
            mask: vec![0; matcher.as_ref().map_or(0, Matcher::mask_words)],
            prompt,
            sampling: lowered.sampling,
            matcher,
            is_ready: false,
            stream: lowered.stream(tokenizer, stream),
            left,
            is_over: false,
        })
    }

    /// The ids that the engine goes on from.
    #[must_use]
    pub fn prompt(&self) -> &[TokenId] {
        &self.prompt
    }

    /// How tokens are chosen.
    #[must_use]
    pub const fn sampling(&self) -> &Sampling {
        &self.sampling
    }

    /// The response, its usage and its warnings so far.
    #[must_use]
    pub const fn stream(&self) -> &Stream {
        &self.stream
    }

    /// Whether nothing more is to be generated.
    #[must_use]
    pub const fn is_over(&self) -> bool {
        self.is_over
    }

    /// Makes the mask of the next token, if it is not ready: while the device is busy with something else.
    pub fn prepare(&mut self) {
        if let Some(matcher) = self.matcher.as_mut().filter(|_| !self.is_ready && !self.is_over) {
            matcher.fill_mask(&mut self.mask);
            self.is_ready = true;
        }
    }

    /// What may come next; nothing if anything may.
    pub fn mask(&mut self) -> Option<LogitMask<'_>> {
        self.prepare();
        self.matcher.is_some().then_some(LogitMask(&self.mask))
    }

    /// Looks at a draft of the next tokens: returns how many of them may come, and writes the masks of the places
    /// before each of these, and of the one after them, to `masks`; nothing if anything may come. The session stays
    /// where it is: what is accepted of the draft is [pushed](Self::push).
    pub fn draft(&mut self, draft: &[TokenId], masks: &mut Vec<u32>) -> usize {
        let draft = &draft[..draft.len().min(self.left as usize)];
        masks.clear();
        let Some(matcher) = &mut self.matcher else { return draft.len() };
        masks.resize(self.mask.len() * (draft.len() + 1), 0);
        let fits = matcher.fill_draft_masks(draft, masks);
        masks.truncate(self.mask.len() * (fits + 1));
        fits
    }

    /// Sends the events that open the response.
    pub fn start<'s>(&mut self, out: impl Into<EventSink<'s>>) {
        self.stream.start(out);
    }

    /// Takes the token that was chosen. With the last one the response ends.
    ///
    /// # Errors
    ///
    /// If the mask forbids it; nothing has happened then.
    pub fn push<'s>(&mut self, step: &Step, out: impl Into<EventSink<'s>>) -> Result<(), Rejected> {
        if self.is_over {
            return Ok(());
        }
        if let Some(matcher) = &mut self.matcher {
            matcher.accept(step.id)?;
            self.is_ready = false;
        }
        self.left -= 1;
        let mut out = out.into();
        let logprob = step.logprob.as_ref().filter(|_| self.sampling.logprobs);
        self.stream.push_id(step.id, logprob, out.reborrow());
        if self.stream.has_ended() {
            self.finish(Finish::Stop, out);
        } else if self.left == 0 {
            self.finish(Finish::Length, out);
        }
        Ok(())
    }

    /// Ends the response before the model does.
    pub fn finish<'s>(&mut self, finish: Finish, out: impl Into<EventSink<'s>>) {
        self.is_over = true;
        self.stream.finish(finish, out);
    }

    /// Ends the response with an error of the engine.
    pub fn fail<'s>(&mut self, message: &str, out: impl Into<EventSink<'s>>) {
        self.is_over = true;
        self.stream.fail(message, out);
    }
}

/// Makes the masks of many sessions; with the feature `parallel` by as many threads as rayon has.
pub fn prepare(sessions: &mut [Session]) {
    #[cfg(feature = "parallel")]
    {
        use rayon::prelude::*;

        // A mask that was made before costs less than handing it to a thread: several at a time.
        sessions.par_chunks_mut(4).for_each(|some| some.iter_mut().for_each(Session::prepare));
    }
    #[cfg(not(feature = "parallel"))]
    sessions.iter_mut().for_each(Session::prepare);
}

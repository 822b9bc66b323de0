//! One request on its way through an engine.

use std::fmt;
use std::sync::Arc;

use crate::constraint::{Constraint, ConstraintError, LeftOut};
use crate::engine::{LogitMask, Step};
use crate::grammar::{Compiled, Compiler, Layout, Matcher, Rejected};
use crate::output::{Finish, Plan};
use crate::protocol::{EventSink, Lowered, RequestError, Sampling, Stream, StreamOptions};
use crate::token::TokenId;
use crate::tokenizer::Tokenizer;

/// How a [`Session`] is set up.
#[derive(Debug, Clone)]
pub struct SessionOptions<'c> {
    /// What the response says about itself. The prompt's tokens are counted by the session.
    pub stream: StreamOptions,
    /// Where masks come from.
    pub masks: Masks<'c>,
    /// How JSON is laid out under a mask.
    pub layout: Layout,
    /// How many tokens prompt and answer may have together.
    pub context_limit: u32,
    /// How many more tokens the prompt has in the engine than it has ids: what images become.
    pub image_tokens: u32,
}

/// Where a session's masks come from.
#[derive(Debug, Clone)]
pub enum Masks<'c> {
    /// Nowhere: anything may come.
    None,
    /// The request's constraint is compiled; what cannot be enforced is an error.
    Exact(&'c Compiler),
    /// The request's constraint is compiled; what cannot be enforced is left out ([`Session::left_out`]).
    Relaxed(&'c Compiler),
    /// It was compiled before: for requests that come again, and for several answers to one
    /// ([`Session::compiled`]).
    Compiled(Arc<Compiled>),
}

impl<'c> SessionOptions<'c> {
    /// A context of 131,072 tokens, everything else by default.
    #[must_use]
    pub fn new(id: impl Into<String>, masks: Masks<'c>) -> Self {
        Self {
            stream: StreamOptions::new(id),
            masks,
            layout: Layout::default(),
            context_limit: 1 << 17,
            image_tokens: 0,
        }
    }
}

/// Why there is no session for a request.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
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
    left_out: Vec<LeftOut>,
    /// How many tokens may still come.
    left: u32,
    is_over: bool,
}

impl Session {
    /// The session of a request, with the vocabulary of its model.
    ///
    /// # Errors
    ///
    /// If the prompt and the answer that is asked for are longer than the context, or a mask is wanted and what the answer
    /// must look like cannot be enforced.
    pub fn new(
        lowered: &Lowered,
        tokenizer: &Tokenizer,
        options: SessionOptions<'_>,
    ) -> Result<Self, SessionError> {
        let prompt = tokenizer.encode(&lowered.profile.render(&lowered.conversation));
        let length = u32::try_from(prompt.len()).unwrap_or(u32::MAX).saturating_add(options.image_tokens);
        let left = lowered.max_tokens(length, options.context_limit).map_err(SessionError::Request)?;
        let (compiled, left_out) = masks(lowered, options.masks, options.layout)?;
        let matcher = compiled.map(|compiled| compiled.matcher());
        let stream = StreamOptions { prompt_tokens: length.into(), ..options.stream };
        Ok(Self {
            mask: vec![0; matcher.as_ref().map_or(0, Matcher::mask_words)],
            prompt,
            sampling: lowered.sampling,
            matcher,
            is_ready: false,
            stream: lowered.stream(tokenizer, stream),
            left_out,
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

    /// How many tokens may still come: what an engine that generates on its own is to be told.
    #[must_use]
    pub const fn tokens_left(&self) -> u32 {
        self.left
    }

    /// The response, its usage and its warnings so far.
    #[must_use]
    pub const fn stream(&self) -> &Stream {
        &self.stream
    }

    /// What was compiled for this request, to be used again ([`Masks::Compiled`]).
    #[must_use]
    pub fn compiled(&self) -> Option<&Arc<Compiled>> {
        self.matcher.as_ref().map(Matcher::compiled)
    }

    /// What of the request's schemas the masks do not enforce ([`Masks::Relaxed`]).
    #[must_use]
    pub fn left_out(&self) -> &[LeftOut] {
        &self.left_out
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
    /// where it is: what is accepted of the draft is [pushed](Self::push). Of a draft of more than 1,024 tokens the first
    /// are looked at.
    pub fn draft(&mut self, draft: &[TokenId], masks: &mut Vec<u32>) -> usize {
        // What was looked at is taken back.
        let draft = &draft[..draft.len().min(self.left as usize).min(Matcher::MAX_ROLLBACK)];
        masks.clear();
        let Some(matcher) = &mut self.matcher else { return draft.len() };
        masks.resize(self.mask.len() * (draft.len() + 1), 0);
        let fits = matcher.fill_draft_masks(draft, masks);
        masks.truncate(self.mask.len() * (fits + 1));
        fits
    }

    /// Follows tokens that may come to be taken back.
    pub(super) fn look_ahead(&mut self) -> LookAhead<'_> {
        // One token is left for the place after the draft.
        let room = (self.left.max(1) as usize - 1).min(Matcher::MAX_ROLLBACK);
        LookAhead { matcher: self.matcher.as_mut(), accepted: 0, room }
    }

    /// Says how many of the prompt's tokens a prefix cache had ([`Stream::set_cached_tokens`]).
    pub const fn set_cached_tokens(&mut self, tokens: u64) {
        self.stream.set_cached_tokens(tokens);
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

/// A session's matcher some tokens further; it goes back when this is dropped.
pub(super) struct LookAhead<'s> {
    matcher: Option<&'s mut Matcher>,
    accepted: usize,
    room: usize,
}

impl LookAhead<'_> {
    /// How many tokens it can follow.
    pub(super) const fn room(&self) -> usize {
        self.room
    }

    /// Adds the mask of the next place to `rows`, nothing if anything may come, and says whether a token may come.
    pub(super) fn add_mask(&mut self, rows: &mut Vec<u32>) -> bool {
        let Some(matcher) = &mut self.matcher else { return true };
        let from = rows.len();
        rows.resize(from + matcher.mask_words(), 0);
        matcher.fill_mask(&mut rows[from..]);
        !LogitMask(&rows[from..]).is_empty()
    }

    /// Takes a token, if it may come.
    pub(super) fn accept(&mut self, id: TokenId) -> bool {
        let accepts = self.matcher.as_mut().is_none_or(|matcher| matcher.accept(id).is_ok());
        self.accepted += usize::from(accepts);
        accepts
    }
}

impl Drop for LookAhead<'_> {
    fn drop(&mut self) {
        if let Some(matcher) = &mut self.matcher {
            matcher.rollback(self.accepted);
        }
    }
}

/// A request's constraint, compiled, if it has one, and what was left out of it.
fn masks(
    lowered: &Lowered,
    masks: Masks<'_>,
    layout: Layout,
) -> Result<(Option<Arc<Compiled>>, Vec<LeftOut>), SessionError> {
    let (compiler, relaxed) = match masks {
        Masks::None => return Ok((None, Vec::new())),
        Masks::Compiled(compiled) => return Ok((Some(compiled), Vec::new())),
        Masks::Exact(compiler) => (compiler, false),
        Masks::Relaxed(compiler) => (compiler, true),
    };
    let Some(constraint) = Constraint::of(&lowered.conversation) else { return Ok((None, Vec::new())) };
    let start = Plan::of(&lowered.conversation, &lowered.stops).start;
    let profile = lowered.profile;
    let compiled = if relaxed {
        constraint.compile_relaxed(start, profile, compiler, layout)
    } else {
        constraint.compile(start, profile, compiler, layout).map(|compiled| (compiled, Vec::new()))
    };
    compiled.map(|(compiled, left_out)| (Some(compiled), left_out)).map_err(SessionError::Constraint)
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

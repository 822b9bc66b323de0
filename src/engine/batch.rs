//! Many sessions, a step for all at once.

use std::ops::ControlFlow;
use std::sync::Arc;

use super::{Branch, Engine, LogitMask, RunError, Session, Step, conclude, pass_on, prepare};
use crate::protocol::Chunk;

/// An engine that makes the next tokens of many sequences together.
pub trait Batch: Engine {
    /// Sets out to compute what may come next in each sequence. It need not wait for it: masks are made meanwhile.
    ///
    /// # Errors
    ///
    /// If the engine fails; all sequences are then of no use.
    fn launch(&mut self, sequences: &mut [Self::Sequence]) -> Result<(), Self::Error>;

    /// Chooses the next token of each sequence, under its mask, by what was [launched](Self::launch): adds one to `steps`
    /// for each, nothing where no token is possible.
    ///
    /// # Errors
    ///
    /// If the engine fails; all sequences are then of no use.
    fn choose(
        &mut self,
        sequences: &mut [Self::Sequence],
        masks: &[Option<LogitMask<'_>>],
        steps: &mut Vec<Option<Step>>,
    ) -> Result<(), Self::Error>;
}

/// Sessions that an engine answers together. Each has a key, by which its events find their receiver.
///
/// Sessions come at any time and leave when they end. A step takes one token for each of them: the masks are made
/// (by several threads with the feature `parallel`) after the engine has set out to compute, and before it is asked to
/// choose.
pub struct Batcher<E: Engine, K> {
    engine: E,
    // Of the same length: one entry a session.
    sessions: Vec<Session>,
    sequences: Vec<E::Sequence>,
    keys: Vec<K>,
    // Kept for their memory.
    steps: Vec<Option<Step>>,
    chunks: Vec<Chunk>,
}

/// A session that left a [`Batcher`].
pub struct Ended<E, K> {
    /// Its key.
    pub key: K,
    /// The session: its response, its usage.
    pub session: Session,
    /// Whether it came to its end.
    pub result: Result<(), RunError<Arc<E>>>,
}

impl<E: Batch, K> Batcher<E, K> {
    /// Nothing to do yet.
    pub const fn new(engine: E) -> Self {
        Self {
            engine,
            sessions: Vec::new(),
            sequences: Vec::new(),
            keys: Vec::new(),
            steps: Vec::new(),
            chunks: Vec::new(),
        }
    }

    /// The engine.
    pub const fn engine(&self) -> &E {
        &self.engine
    }

    /// How many sessions are being answered.
    #[must_use]
    pub const fn len(&self) -> usize {
        self.sessions.len()
    }

    /// Whether there is nothing to do.
    #[must_use]
    pub const fn is_empty(&self) -> bool {
        self.sessions.is_empty()
    }

    /// Takes a session. If the engine cannot begin with it, it has ended already.
    pub fn admit(
        &mut self,
        key: K,
        session: Session,
        send: &mut impl FnMut(&K, Chunk) -> ControlFlow<()>,
    ) -> Option<Ended<E::Error, K>> {
        let sequence = self.engine.start(session.prompt(), session.sampling());
        self.enter(key, session, sequence, send)
    }

    /// Takes several answers to one request, whose prompt the engine reads once: the others branch off the first. Which
    /// of them could not begin is returned.
    pub fn admit_answers(
        &mut self,
        answers: impl IntoIterator<Item = (K, Session)>,
        send: &mut impl FnMut(&K, Chunk) -> ControlFlow<()>,
    ) -> Vec<Ended<E::Error, K>>
    where
        E: Branch,
    {
        let mut first: Option<usize> = None;
        let mut branch = 0;
        let mut ended = Vec::new();
        for (key, session) in answers {
            let sequence = match first.filter(|at| self.sessions[*at].prompt() == session.prompt()) {
                Some(at) => {
                    branch += 1;
                    self.engine.fork(&self.sequences[at], branch)
                }
                None => self.engine.start(session.prompt(), session.sampling()),
            };
            match self.enter(key, session, sequence, send) {
                Some(early) => ended.push(early),
                None => first = first.or(Some(self.sessions.len() - 1)),
            }
        }
        ended
    }

    fn enter(
        &mut self,
        key: K,
        mut session: Session,
        sequence: Result<E::Sequence, E::Error>,
        send: &mut impl FnMut(&K, Chunk) -> ControlFlow<()>,
    ) -> Option<Ended<E::Error, K>> {
        self.chunks.clear();
        let sequence = match sequence {
            Ok(sequence) => sequence,
            Err(error) => {
                let error = Err(RunError::Engine(Arc::new(error)));
                let result = conclude(error, &mut session, &mut self.chunks, &mut |chunk| send(&key, chunk));
                return Some(Ended { key, session, result });
            }
        };
        session.start(&mut self.chunks);
        let is_received = pass_on(&mut self.chunks, &mut |chunk| send(&key, chunk)).is_continue();
        if !is_received || session.is_over() {
            self.engine.stop(sequence);
            let result = if is_received { Ok(()) } else { Err(RunError::Cancelled) };
            return Some(Ended { key, session, result });
        }
        self.sessions.push(session);
        self.sequences.push(sequence);
        self.keys.push(key);
        None
    }

    /// Generates one token for each session. Each event goes to `send`, which can break off its session. Returns the
    /// sessions that left.
    pub fn step(&mut self, send: &mut impl FnMut(&K, Chunk) -> ControlFlow<()>) -> Vec<Ended<E::Error, K>> {
        let mut ended = Vec::new();
        if self.is_empty() {
            return ended;
        }
        self.steps.clear();
        if let Err(error) = self.choose() {
            let error = Arc::new(error);
            for at in (0..self.len()).rev() {
                ended.push(self.leave(at, Err(RunError::Engine(error.clone())), send));
            }
            return ended;
        }
        // From the back, because who leaves is replaced by the last one.
        for at in (0..self.len()).rev() {
            let session = &mut self.sessions[at];
            self.chunks.clear();
            let pushed = match self.steps.get(at).cloned().flatten() {
                None => Err(RunError::NoToken),
                Some(step) => session.push(&step, &mut self.chunks).map_err(|_| RunError::Rejected(step.id)),
            };
            let result = match pushed {
                Ok(()) if pass_on(&mut self.chunks, &mut |chunk| send(&self.keys[at], chunk)).is_break() => {
                    Err(RunError::Cancelled)
                }
                Ok(()) if !session.is_over() => continue,
                result => result,
            };
            ended.push(self.leave(at, result, send));
        }
        ended
    }

    fn choose(&mut self) -> Result<(), E::Error> {
        self.engine.launch(&mut self.sequences)?;
        prepare(&mut self.sessions);
        let masks: Vec<_> = self.sessions.iter_mut().map(Session::mask).collect();
        self.engine.choose(&mut self.sequences, &masks, &mut self.steps)
    }

    fn leave(
        &mut self,
        at: usize,
        result: Result<(), RunError<Arc<E::Error>>>,
        send: &mut impl FnMut(&K, Chunk) -> ControlFlow<()>,
    ) -> Ended<E::Error, K> {
        let (key, mut session) = (self.keys.swap_remove(at), self.sessions.swap_remove(at));
        self.engine.stop(self.sequences.swap_remove(at));
        let result = conclude(result, &mut session, &mut self.chunks, &mut |chunk| send(&key, chunk));
        Ended { key, session, result }
    }
}

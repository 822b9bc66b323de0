//! The thread of an engine.

use std::sync::mpsc::{Receiver, TryRecvError};

use deepseek_codec::engine::{Engine, LogitMask, Step};
use deepseek_codec::grammar::Matcher;
use deepseek_codec::protocol::Sampling;
use deepseek_codec::token::TokenId;
use dynamo_backend_common::LLMEngineOutput;
use tokio::sync::mpsc::UnboundedSender;

/// A request.
pub(crate) struct Job {
    pub(crate) prompt: Vec<TokenId>,
    pub(crate) sampling: Sampling,
    pub(crate) matcher: Option<Matcher>,
    /// The words of a mask.
    pub(crate) words: usize,
    /// The ids that end the answer, and whether they are part of it.
    pub(crate) ends: Vec<(TokenId, bool)>,
    /// How many more tokens must come before it may end.
    pub(crate) least: u32,
    /// How many more may come.
    pub(crate) left: u32,
    pub(crate) sender: UnboundedSender<Made>,
}

/// What comes of it.
pub(crate) enum Made {
    Token(Step),
    /// The last, without its usage.
    End(LLMEngineOutput),
    Failed(String),
}

/// Answers jobs until no more can come.
pub(crate) fn work<E: Engine>(mut engine: E, queue: &Receiver<Job>) {
    let mut running: Vec<(Job, E::Sequence)> = Vec::new();
    loop {
        if running.is_empty() {
            match queue.recv() {
                Ok(job) => begin(&mut engine, job, &mut running),
                Err(_) => return,
            }
        }
        loop {
            match queue.try_recv() {
                Ok(job) => begin(&mut engine, job, &mut running),
                Err(TryRecvError::Empty) => break,
                Err(TryRecvError::Disconnected) => {
                    running.into_iter().for_each(|(_, sequence)| engine.stop(sequence));
                    return;
                }
            }
        }
        // From the back, because who ends is replaced by the last one.
        for at in (0..running.len()).rev() {
            let (job, sequence) = &mut running[at];
            if !job.step(&mut engine, sequence) {
                engine.stop(running.swap_remove(at).1);
            }
        }
    }
}

fn begin<E: Engine>(engine: &mut E, job: Job, running: &mut Vec<(Job, E::Sequence)>) {
    match engine.start(&job.prompt, &job.sampling) {
        Ok(sequence) => running.push((job, sequence)),
        Err(error) => job.send(Made::Failed(error.to_string())),
    }
}

impl Job {
    /// Generates a token, and says whether more can come.
    fn step<E: Engine>(&mut self, engine: &mut E, sequence: &mut E::Sequence) -> bool {
        if self.left == 0 {
            self.send(Made::End(LLMEngineOutput::length()));
            return false;
        }
        let mask = self.mask();
        let mask = mask.as_deref().map(LogitMask);
        if mask.is_some_and(LogitMask::is_empty) {
            self.send(Made::Failed("no token may come next".to_owned()));
            return false;
        }
        let step = match engine.step(sequence, mask) {
            Ok(step) => step,
            Err(error) => {
                self.send(Made::Failed(error.to_string()));
                return false;
            }
        };
        let mut end = self.ends.iter().find(|end| end.0 == step.id).map(|end| end.1);
        if let Some(matcher) = &mut self.matcher {
            if matcher.accept(step.id).is_err() {
                self.send(Made::Failed(format!(
                    "the engine chose token {}, which the mask forbids",
                    step.id
                )));
                return false;
            }
            // What follows the grammar is its own end, whatever the request says.
            let is_stop = matcher.compiled().stops().contains(&step.id);
            end = if is_stop { end.or(Some(false)) } else { end };
        }
        self.left -= 1;
        self.least = self.least.saturating_sub(1);
        if end != Some(false) {
            self.send(Made::Token(step));
        }
        if end.is_some() {
            self.send(Made::End(LLMEngineOutput::stop()));
            return false;
        }
        // Nobody receives it any more, if the client has left.
        !self.sender.is_closed()
    }

    /// What may come next; nothing if anything may.
    fn mask(&mut self) -> Option<Vec<u32>> {
        let mut mask = vec![u32::MAX; self.words];
        match &mut self.matcher {
            Some(matcher) => matcher.fill_mask(&mut mask),
            None if self.least == 0 || self.ends.is_empty() => return None,
            None => {}
        }
        if self.least > 0 {
            let complete = mask.clone();
            for (id, _) in &self.ends {
                if let Some(word) = mask.get_mut(id.index() / 32) {
                    *word &= !(1 << (id.index() % 32));
                }
            }
            // A complete text ends, however short.
            if LogitMask(&mask).is_empty() {
                mask = complete;
            }
        }
        Some(mask)
    }

    fn send(&self, made: Made) {
        // If nobody receives it, the next step finds out.
        let _ = self.sender.send(made);
    }
}

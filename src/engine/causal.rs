//! Any model that maps ids to logits, as an engine.

use std::fmt;

use crate::engine::{Batch, Branch, Engine, LogitMask, Sampler, Step};
use crate::protocol::Sampling;
use crate::token::TokenId;

/// A language model that reads ids and says what may come next. [`Causal`] makes an engine of it.
pub trait CausalModel {
    /// What it keeps of the ids that one sequence has read.
    type State;
    /// What can go wrong.
    type Error: std::error::Error;

    /// A state that has read nothing.
    ///
    /// # Errors
    ///
    /// If there is no room for it.
    fn begin(&mut self) -> Result<Self::State, Self::Error>;

    /// Reads more ids, of which there is at least one, and writes the logits of what comes after the last of them, indexed
    /// by id. `logits` arrives empty.
    ///
    /// # Errors
    ///
    /// If the model fails; the state is then of no use.
    fn read(
        &mut self,
        state: &mut Self::State,
        ids: &[TokenId],
        logits: &mut Vec<f32>,
    ) -> Result<(), Self::Error>;

    /// A second state that has read the same; nothing if the model cannot copy what it keeps. Then the ids are read again.
    fn copy(&mut self, _state: &Self::State) -> Option<Self::State> {
        None
    }

    /// Goes back to where the first `length` ids were read, and says whether it did. If not, those ids are read again.
    fn truncate(&mut self, _state: &mut Self::State, _length: usize) -> bool {
        false
    }
}

/// The engine of a [`CausalModel`]: one sequence at a time, and a [`Sampler`] for each.
///
/// Its copies share what copies of the model share, so that each thread can have one. A copy draws the same random numbers
/// for requests without a seed: an engine of its own seed is made of [`model`](Self::model).
#[derive(Debug, Clone)]
pub struct Causal<M> {
    model: M,
    seed: u64,
    logits: Vec<f32>,
}

/// A sequence of [`Causal`]: what its model keeps, and all ids.
#[derive(Debug)]
pub struct CausalSequence<S> {
    state: S,
    /// All ids: the prompt's, and those that were generated.
    ids: Vec<TokenId>,
    /// How many of them the model has read: at least one is left.
    read: usize,
    prompt: usize,
    sampler: Sampler,
}

/// Why [`Causal`] made no token.
#[derive(Debug)]
#[non_exhaustive]
pub enum CausalError<E> {
    /// The model failed.
    Model(E),
    /// There is nothing to go on from.
    EmptyPrompt,
    /// No token is possible: the mask allows none, or the model's logits are no numbers.
    NoToken,
    /// So many tokens were not generated.
    NotGenerated(usize),
}

impl<E: fmt::Display> fmt::Display for CausalError<E> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Model(error) => error.fmt(f),
            Self::EmptyPrompt => f.write_str("the prompt is empty"),
            Self::NoToken => f.write_str("no token is possible"),
            Self::NotGenerated(count) => write!(f, "there are no {count} generated tokens"),
        }
    }
}

impl<E: std::error::Error + 'static> std::error::Error for CausalError<E> {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            Self::Model(error) => error.source(),
            _ => None,
        }
    }
}

impl<M: CausalModel> Causal<M> {
    /// An engine for a model. Requests without a seed draw numbers that follow from `seed`, others each time.
    pub fn new(model: M, seed: u64) -> Self {
        Self { model, seed, logits: Vec::new() }
    }

    /// The model.
    pub const fn model(&self) -> &M {
        &self.model
    }

    /// A state that has read `ids`.
    fn reread(&mut self, ids: &[TokenId]) -> Result<M::State, CausalError<M::Error>> {
        let mut state = self.model.begin().map_err(CausalError::Model)?;
        if !ids.is_empty() {
            self.read(&mut state, ids)?;
        }
        Ok(state)
    }

    fn read(&mut self, state: &mut M::State, ids: &[TokenId]) -> Result<(), CausalError<M::Error>> {
        self.logits.clear();
        self.model.read(state, ids, &mut self.logits).map_err(CausalError::Model)
    }
}

impl<M: CausalModel> Engine for Causal<M>
where
    M::Error: 'static,
{
    type Sequence = CausalSequence<M::State>;
    type Error = CausalError<M::Error>;

    /// Reads the prompt but for its last token, which the first step reads: so all branches share the work.
    fn start(&mut self, prompt: &[TokenId], sampling: &Sampling) -> Result<Self::Sequence, Self::Error> {
        let Some((_, first)) = prompt.split_last() else { return Err(CausalError::EmptyPrompt) };
        let state = self.reread(first)?;
        self.seed = self.seed.wrapping_add(1);
        Ok(CausalSequence {
            state,
            ids: prompt.to_vec(),
            read: first.len(),
            prompt: prompt.len(),
            sampler: Sampler::new(sampling, self.seed),
        })
    }

    fn step(
        &mut self,
        sequence: &mut Self::Sequence,
        mask: Option<LogitMask<'_>>,
    ) -> Result<Step, Self::Error> {
        self.read(&mut sequence.state, &sequence.ids[sequence.read..])?;
        sequence.read = sequence.ids.len();
        let step = sequence.sampler.sample(&self.logits, mask).ok_or(CausalError::NoToken)?;
        sequence.ids.push(step.id);
        Ok(step)
    }

    fn stop(&mut self, _: Self::Sequence) {}
}

impl<M: CausalModel> Branch for Causal<M>
where
    M::Error: 'static,
{
    fn fork(&mut self, sequence: &Self::Sequence, branch: u32) -> Result<Self::Sequence, Self::Error> {
        let state = match self.model.copy(&sequence.state) {
            Some(state) => state,
            None => self.reread(&sequence.ids[..sequence.read])?,
        };
        let sampler = sequence.sampler.branch(branch);
        Ok(CausalSequence { state, ids: sequence.ids.clone(), sampler, ..*sequence })
    }

    fn truncate(&mut self, sequence: &mut Self::Sequence, generated: usize) -> Result<(), Self::Error> {
        let length = sequence.prompt + generated;
        if length > sequence.ids.len() {
            return Err(CausalError::NotGenerated(generated));
        }
        sequence.ids.truncate(length);
        // The last one of them is read by the next step.
        if sequence.read >= length {
            if !self.model.truncate(&mut sequence.state, length - 1) {
                sequence.state = self.reread(&sequence.ids[..length - 1])?;
            }
            sequence.read = length - 1;
        }
        Ok(())
    }

    fn push(&mut self, sequence: &mut Self::Sequence, id: TokenId) -> Result<(), Self::Error> {
        sequence.ids.push(id);
        Ok(())
    }
}

impl<M: CausalModel> Batch for Causal<M>
where
    M::Error: 'static,
{
    /// Nothing computes beside the caller here.
    fn launch(&mut self, _: &mut [Self::Sequence]) -> Result<(), Self::Error> {
        Ok(())
    }

    fn choose(
        &mut self,
        sequences: &mut [Self::Sequence],
        masks: &[Option<LogitMask<'_>>],
        steps: &mut Vec<Option<Step>>,
    ) -> Result<(), Self::Error> {
        for (sequence, mask) in sequences.iter_mut().zip(masks) {
            match self.step(sequence, *mask) {
                Ok(step) => steps.push(Some(step)),
                Err(CausalError::NoToken) => steps.push(None),
                Err(error) => return Err(error),
            }
        }
        Ok(())
    }
}

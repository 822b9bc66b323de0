//! Drafts: a small engine proposes the next tokens, and the large one looks at them together.

use std::ops::ControlFlow;

use super::{Branch, LogitMask, RunError, Session, Step, conclude, pass_on};
use crate::protocol::{Chunk, Sampling};
use crate::token::TokenId;

/// What became of the drafts of an answer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DraftReport<D> {
    /// How many tokens the drafter proposed.
    pub proposed: u64,
    /// How many of them the engine chose too.
    pub accepted: u64,
    /// Why the drafter failed, if it did. The rest of the answer was generated without it.
    pub failure: Option<D>,
}

/// Generates the answer of `session` as [`run`](super::run) does, with drafts of up to `length` tokens by `drafter`, an
/// engine over the same vocabulary that is faster.
///
/// The answer is the same as without drafts, token for token: the engine chooses each of its tokens itself, with its
/// own random numbers, and a draft counts only as far as it is what the engine chooses. What is gained is that the
/// engine can look at all places of a draft at once, if its [`Branch::verify`] does so. Both are under the session's
/// masks, which are made once for each place.
///
/// # Errors
///
/// As `run`. A drafter that fails is no error ([`DraftReport::failure`]).
pub fn run_with_drafts<E: Branch, D: Branch>(
    engine: &mut E,
    drafter: &mut D,
    length: usize,
    session: &mut Session,
    mut send: impl FnMut(Chunk) -> ControlFlow<()>,
) -> Result<DraftReport<D::Error>, RunError<E::Error>> {
    // Its best guesses, whatever the request says.
    let guess =
        Sampling { temperature: 0.0, top_p: 1.0, logprobs: false, top_logprobs: None, ..*session.sampling() };
    let (ids, rows) = (Vec::new(), Vec::new());
    let mut drafts = Drafts { drafter, sequence: None, known: 0, tried: 0, length, ids, rows, places: 1 };
    let mut report = DraftReport { proposed: 0, accepted: 0, failure: None };
    match drafts.drafter.start(session.prompt(), &guess) {
        Ok(sequence) => drafts.sequence = Some(sequence),
        Err(failure) => report.failure = Some(failure),
    }
    let mut chunks = Vec::new();
    let result = generate(engine, &mut drafts, session, &mut report, &mut chunks, &mut send);
    drafts.stop();
    conclude(result, session, &mut chunks, &mut send).map(|()| report)
}

fn generate<E: Branch, D: Branch>(
    engine: &mut E,
    drafts: &mut Drafts<'_, D>,
    session: &mut Session,
    report: &mut DraftReport<D::Error>,
    chunks: &mut Vec<Chunk>,
    send: &mut impl FnMut(Chunk) -> ControlFlow<()>,
) -> Result<(), RunError<E::Error>> {
    let mut sequence = engine.start(session.prompt(), session.sampling()).map_err(RunError::Engine)?;
    session.start(&mut *chunks);
    let mut steps = Vec::new();
    let result = loop {
        if pass_on(chunks, send).is_break() {
            break Err(RunError::Cancelled);
        }
        if session.is_over() {
            break Ok(());
        }
        if session.mask().is_some_and(LogitMask::is_empty) {
            break Err(RunError::NoToken);
        }
        if let Err(failure) = drafts.propose(session) {
            report.failure = Some(failure);
        }
        steps.clear();
        if let Err(error) = engine.verify(&mut sequence, &drafts.ids, &drafts.masks(), &mut steps) {
            break Err(RunError::Engine(error));
        }
        report.proposed += drafts.ids.len() as u64;
        report.accepted += drafts.ids.iter().zip(&steps).filter(|(id, step)| **id == step.id).count() as u64;
        if let Some(rejected) = steps.iter().find(|step| session.push(step, &mut *chunks).is_err()) {
            break Err(RunError::Rejected(rejected.id));
        }
        if !session.is_over()
            && let Err(failure) = drafts.follow(&steps)
        {
            report.failure = Some(failure);
        }
    };
    engine.stop(sequence);
    result
}

/// The drafter at work on one answer.
struct Drafts<'d, D: Branch> {
    drafter: &'d mut D,
    /// Nothing once it has failed.
    sequence: Option<D::Sequence>,
    /// How many tokens of the answer are in its sequence for good.
    known: usize,
    /// How many more it generated for the draft.
    tried: usize,
    length: usize,
    /// The draft.
    ids: Vec<TokenId>,
    /// The masks of its places, one after the other; nothing if anything may come.
    rows: Vec<u32>,
    /// How many places there are: one after the draft, unless nothing can follow it.
    places: usize,
}

impl<D: Branch> Drafts<'_, D> {
    /// Makes a draft that goes on from where the session is.
    fn propose(&mut self, session: &mut Session) -> Result<(), D::Error> {
        let mut ahead = session.look_ahead();
        self.ids.clear();
        self.rows.clear();
        self.tried = 0;
        self.places = 1;
        ahead.add_mask(&mut self.rows);
        let words = self.rows.len();
        let Some(sequence) = &mut self.sequence else { return Ok(()) };
        while self.ids.len() < self.length.min(ahead.room()) {
            let mask = (words > 0).then(|| LogitMask(&self.rows[self.rows.len() - words..]));
            let id = match self.drafter.step(sequence, mask) {
                Ok(step) => step.id,
                Err(failure) => {
                    self.stop();
                    return Err(failure);
                }
            };
            self.tried += 1;
            if !ahead.accept(id) {
                break;
            }
            self.ids.push(id);
            if !ahead.add_mask(&mut self.rows) {
                self.rows.truncate(self.rows.len() - words);
                break;
            }
            self.places += 1;
        }
        Ok(())
    }

    /// The masks of all places.
    fn masks(&self) -> Vec<Option<LogitMask<'_>>> {
        if self.rows.is_empty() {
            return vec![None; self.places];
        }
        self.rows.chunks(self.rows.len() / self.places).map(|row| Some(LogitMask(row))).collect()
    }

    /// Goes on from what the engine chose instead.
    fn follow(&mut self, steps: &[Step]) -> Result<(), D::Error> {
        let (Some(sequence), Some((last, accepted))) = (&mut self.sequence, steps.split_last()) else {
            return Ok(());
        };
        let mut result = Ok(());
        if accepted.len() < self.tried {
            result = self.drafter.truncate(sequence, self.known + accepted.len());
        }
        result = result.and_then(|()| self.drafter.push(sequence, last.id));
        self.known += steps.len();
        if result.is_err() {
            self.stop();
        }
        result
    }

    fn stop(&mut self) {
        if let Some(sequence) = self.sequence.take() {
            self.drafter.stop(sequence);
        }
    }
}

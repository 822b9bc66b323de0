//! Encoding with several threads.
//!
//! The calling thread encodes from the front, straight into the list of ids; the others take jobs from the back, until all
//! meet. So only what others made is copied, and a pool that is busy elsewhere holds nobody up.

use std::ops::Range;
use std::sync::{Mutex, PoisonError};

use super::encode::Encoder;
use super::{Tokenizer, cut, room_for};
use crate::prompt::{Prompt, Segment};
use crate::token::TokenId;

/// The least bytes of a job.
const JOB: usize = 1 << 14;
/// Prompts with fewer bytes are not worth a thread.
const SHORTEST: usize = 1 << 16;

enum Step {
    Special(TokenId),
    /// A stretch of the prompt's text.
    Text(Range<usize>),
}

impl Step {
    fn len(&self) -> usize {
        match self {
            Self::Special(_) => 1,
            Self::Text(stretch) => stretch.len(),
        }
    }
}

/// The ids of a prompt, by the calling thread and those of the current pool.
pub(super) fn encode(tokenizer: &Tokenizer, prompt: &Prompt) -> Vec<TokenId> {
    let threads = rayon::current_num_threads();
    if threads < 2 || prompt.text().len() < SHORTEST {
        return tokenizer.encode(prompt);
    }
    // Several jobs for each thread, so that they end at about the same time.
    let job = (prompt.text().len() / (8 * threads)).max(JOB);
    let steps = steps(tokenizer, prompt, job);
    let jobs = group(&steps, job);
    let left = Mutex::new(0..jobs.len());
    let next = || left.lock().unwrap_or_else(PoisonError::into_inner).next();
    let next_back = || left.lock().unwrap_or_else(PoisonError::into_inner).next_back();
    let made = Mutex::new(Vec::new());
    let mut ids = room_for(prompt);
    rayon::in_place_scope(|scope| {
        for _ in 1..threads {
            scope.spawn(|_| {
                while let Some(job) = next_back() {
                    let bytes: usize = jobs[job].iter().map(Step::len).sum();
                    let mut ids = Vec::with_capacity(bytes / 3 + jobs[job].len());
                    encode_steps(tokenizer, prompt, jobs[job], &mut ids);
                    made.lock().unwrap_or_else(PoisonError::into_inner).push((job, ids));
                }
            });
        }
        while let Some(job) = next() {
            encode_steps(tokenizer, prompt, jobs[job], &mut ids);
        }
    });
    let mut made = made.into_inner().unwrap_or_else(PoisonError::into_inner);
    made.sort_unstable_by_key(|(job, _)| *job);
    made.iter().for_each(|(_, made)| ids.extend_from_slice(made));
    ids
}

/// The pieces of a prompt, long ones in parts.
fn steps(tokenizer: &Tokenizer, prompt: &Prompt, job: usize) -> Vec<Step> {
    let mut steps = Vec::new();
    let mut at = 0;
    let mut text = |len: usize| {
        at += len;
        Step::Text(at - len..at)
    };
    for segment in prompt.segments() {
        match segment {
            Segment::Special(role) => steps.push(Step::Special(tokenizer.bound(role))),
            Segment::Text(part) if tokenizer.can_cut() => {
                steps.extend(cut::parts(part, job).map(|part| text(part.len())));
            }
            Segment::Text(part) => steps.push(text(part.len())),
        }
    }
    steps
}

/// Neighbouring steps with about a job's bytes together.
fn group(steps: &[Step], job: usize) -> Vec<&[Step]> {
    let mut bytes = 0;
    let same_job = |a: &Step, _: &Step| {
        bytes += a.len();
        if bytes >= job {
            bytes = 0;
        }
        bytes != 0
    };
    steps.chunk_by(same_job).collect()
}

fn encode_steps(tokenizer: &Tokenizer, prompt: &Prompt, steps: &[Step], ids: &mut Vec<TokenId>) {
    let mut encoder = Encoder::new(tokenizer);
    for step in steps {
        match step {
            Step::Special(id) => encoder.special(*id, prompt.text(), ids),
            Step::Text(stretch) => encoder.take(prompt.text(), stretch.clone(), ids),
        }
    }
    encoder.flush(prompt.text(), ids);
    encoder.finish();
}

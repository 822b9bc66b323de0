//! Encoding with several threads.

use rayon::prelude::*;

use super::encode::Encoder;
use super::{Tokenizer, cut};
use crate::prompt::{Prompt, Segment};
use crate::token::TokenId;

/// A job below this many bytes is not worth a thread.
const JOB: usize = 1 << 15;

enum Step<'p> {
    Special(TokenId),
    Text(&'p str),
}

impl Step<'_> {
    fn len(&self) -> usize {
        match self {
            Self::Special(_) => 1,
            Self::Text(text) => text.len(),
        }
    }
}

/// The ids of a prompt, by the threads of the current pool.
pub(super) fn encode(tokenizer: &Tokenizer, prompt: &Prompt) -> Vec<TokenId> {
    let threads = rayon::current_num_threads();
    if threads < 2 || prompt.text().len() < 2 * JOB {
        return tokenizer.encode(prompt);
    }
    // Several jobs for each thread, so that they end at about the same time.
    let job = (prompt.text().len() / (4 * threads)).max(JOB);
    let mut steps = Vec::new();
    for segment in prompt.segments() {
        match segment {
            Segment::Special(role) => steps.push(Step::Special(tokenizer.bound(role))),
            Segment::Text(text) if tokenizer.can_cut() => steps.extend(cut::parts(text, job).map(Step::Text)),
            Segment::Text(text) => steps.push(Step::Text(text)),
        }
    }
    let parts: Vec<Vec<TokenId>> =
        group(&steps, job).into_par_iter().map(|steps| encode_steps(tokenizer, steps)).collect();
    parts.concat()
}

/// Neighbouring steps with about a job's bytes together.
fn group<'s, 'p>(steps: &'s [Step<'p>], job: usize) -> Vec<&'s [Step<'p>]> {
    let mut bytes = 0;
    let same_job = |a: &Step<'_>, _: &Step<'_>| {
        bytes += a.len();
        if bytes >= job {
            bytes = 0;
        }
        bytes != 0
    };
    steps.chunk_by(same_job).collect()
}

fn encode_steps(tokenizer: &Tokenizer, steps: &[Step<'_>]) -> Vec<TokenId> {
    let mut ids = Vec::with_capacity(steps.iter().map(Step::len).sum::<usize>() / 3 + steps.len());
    let mut encoder = Encoder::new(tokenizer);
    for step in steps {
        match step {
            Step::Special(id) => ids.push(*id),
            Step::Text(text) => encoder.encode(text, &mut ids),
        }
    }
    encoder.finish();
    ids
}

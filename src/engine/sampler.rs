//! From logits to a token, as a request wants it.

use xxhash_rust::xxh3::xxh3_64_with_seed;

use crate::engine::Step;
use crate::engine::dice::Dice;
use crate::grammar::is_allowed;
use crate::protocol::{Sampling, TokenLogprob};
use crate::token::TokenId;

/// Which tokens may come next: bit `id % 32` of word `id / 32`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct LogitMask<'m>(pub &'m [u32]);

impl LogitMask<'_> {
    /// Whether a token may come.
    #[must_use]
    pub fn allows(self, id: TokenId) -> bool {
        is_allowed(self.0, id)
    }

    /// Whether no token may come.
    #[must_use]
    pub fn is_empty(self) -> bool {
        self.0.iter().all(|word| *word == 0)
    }

    /// Sets the logits of all other tokens to minus infinity. Logits beyond the mask count as forbidden.
    pub fn apply(self, logits: &mut [f32]) {
        for (word, logits) in self.0.iter().zip(logits.chunks_mut(32)) {
            match *word {
                u32::MAX => {}
                0 => logits.fill(f32::NEG_INFINITY),
                word => {
                    for (bit, logit) in logits.iter_mut().enumerate() {
                        if word >> bit & 1 == 0 {
                            *logit = f32::NEG_INFINITY;
                        }
                    }
                }
            }
        }
        if let Some(beyond) = logits.get_mut(self.0.len() * 32..) {
            beyond.fill(f32::NEG_INFINITY);
        }
    }
}

/// Chooses tokens for one sequence, by the request's temperature, `top_p` and seed.
///
/// At temperature 0 it takes the most likely token, the first of several. Else it draws from the probabilities at that
/// temperature, among the most likely tokens that together have `top_p`. The same seed and logits give the same tokens.
/// Time is linear in the vocabulary, but for what of it must be sorted: of peaked distributions some hundred tokens.
#[derive(Debug, Clone)]
pub struct Sampler {
    temperature: f32,
    top_p: f32,
    /// How many alternatives are reported, if log probabilities are.
    report: Option<usize>,
    dice: Dice,
    candidates: Vec<(f32, u32)>,
}

/// Below this a temperature counts as 0.
const COLDEST: f32 = 1e-5;

impl Sampler {
    /// A sampler for a request. `seed` counts if the request has none.
    #[must_use]
    pub fn new(sampling: &Sampling, seed: u64) -> Self {
        Self {
            temperature: sampling.temperature,
            top_p: sampling.top_p,
            report: sampling.logprobs.then(|| sampling.top_logprobs.unwrap_or(0).into()),
            dice: Dice(sampling.seed.unwrap_or(seed)),
            candidates: Vec::new(),
        }
    }

    /// A sampler that goes on from here with other random numbers, different ones for each number; 0 is a plain copy.
    #[must_use]
    pub fn branch(&self, number: u32) -> Self {
        let mut other = self.clone();
        if number > 0 {
            let key = number.to_le_bytes();
            other.dice = Dice(xxh3_64_with_seed(&key, self.dice.0));
        }
        other
    }

    /// Chooses a token by `logits`, which are indexed by id. Log probabilities are those of the logits as they are:
    /// before the mask, the temperature and `top_p`.
    ///
    /// Returns nothing if no token is possible: the mask allows none, or their logits are minus infinity or no numbers.
    pub fn sample(&mut self, logits: &[f32], mask: Option<LogitMask<'_>>) -> Option<Step> {
        self.candidates.clear();
        let is_possible = |logit: f32| logit > f32::NEG_INFINITY;
        match mask {
            None => self
                .candidates
                .extend(logits.iter().copied().zip(0..).filter(|(logit, _)| is_possible(*logit))),
            Some(mask) => {
                for (word, mut bits) in (0..).zip(mask.0.iter().copied()) {
                    while bits != 0 {
                        let id = word * 32 + bits.trailing_zeros();
                        bits &= bits - 1;
                        let logit = logits.get(id as usize).copied().unwrap_or(f32::NEG_INFINITY);
                        if is_possible(logit) {
                            self.candidates.push((logit, id));
                        }
                    }
                }
            }
        }
        // Of equal ones the first.
        let best = *self.candidates.iter().reduce(|best, next| if next.0 > best.0 { next } else { best })?;
        let id =
            if self.temperature < COLDEST || best.0 == f32::INFINITY { best.1 } else { self.draw(best.0) };
        let logprob = self.report.map(|top| report(logits, id, top));
        Some(Step { id: TokenId(id), logprob })
    }

    /// Draws one of the candidates; `best` is the greatest logit.
    fn draw(&mut self, best: f32) -> u32 {
        for (weight, _) in &mut self.candidates {
            *weight = ((*weight - best) / self.temperature).exp();
        }
        let total = sum(&self.candidates);
        let mut kept = self.candidates.len();
        if self.top_p < 1.0 {
            kept = self.nucleus(f64::from(self.top_p) * total);
        }
        let drawn = self.dice.unit();
        let candidates = &self.candidates[..kept];
        let mut left = drawn * sum(candidates);
        for (weight, id) in candidates {
            left -= f64::from(*weight);
            if left < 0.0 {
                return *id;
            }
        }
        // Rounding may leave a rest.
        candidates.last().map_or(0, |candidate| candidate.1)
    }

    /// Puts the heaviest candidates first, and returns how many of them together weigh `wanted`.
    fn nucleus(&mut self, wanted: f64) -> usize {
        let heaviest_first = |a: &(f32, u32), b: &(f32, u32)| b.0.total_cmp(&a.0).then(a.1.cmp(&b.1));
        let all = self.candidates.len();
        let mut front = 64.min(all);
        loop {
            if front < all {
                self.candidates.select_nth_unstable_by(front, heaviest_first);
            }
            if front == all || sum(&self.candidates[..front]) >= wanted {
                break;
            }
            front = (front * 8).min(all);
        }
        self.candidates[..front].sort_unstable_by(heaviest_first);
        let mut weight = 0.0;
        let kept = self.candidates[..front].iter().position(|candidate| {
            weight += f64::from(candidate.0);
            weight >= wanted
        });
        kept.map_or(front, |at| at + 1)
    }
}

fn sum(candidates: &[(f32, u32)]) -> f64 {
    candidates.iter().map(|(weight, _)| f64::from(*weight)).sum()
}

/// The log probability of a token and of the `top` most likely ones.
fn report(logits: &[f32], id: u32, top: usize) -> TokenLogprob {
    let best = logits.iter().copied().fold(f32::NEG_INFINITY, f32::max);
    let total: f64 =
        logits.iter().filter(|logit| !logit.is_nan()).map(|logit| f64::from(logit - best).exp()).sum();
    let norm = f64::from(best) + total.ln();
    if !norm.is_finite() {
        // An endless logit leaves nothing to the others.
        return TokenLogprob { logprob: 0.0, top: Vec::new() };
    }
    let logprob = |id: u32| (f64::from(logits[id as usize]) - norm) as f32;
    let mut most: Vec<u32> = Vec::with_capacity(top + 1);
    for other in (0..logits.len() as u32).filter(|other| logits[*other as usize].is_finite()) {
        let value = logits[other as usize];
        let place = most.partition_point(|kept| logits[*kept as usize] >= value);
        if place < top {
            most.insert(place, other);
            most.truncate(top);
        }
    }
    TokenLogprob {
        logprob: logprob(id),
        top: most.into_iter().map(|other| (TokenId(other), logprob(other))).collect(),
    }
}

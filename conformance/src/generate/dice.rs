//! The generator's source of choices: everything about a case follows from the seed and the case's number.

use proptest::prelude::Rng;
use proptest::test_runner::{RngAlgorithm, TestRng};

/// A seeded stream of choices.
pub struct Dice {
    rng: TestRng,
    /// Which fault sites this case favours; `None` for a case that is meant to be accepted.
    salt: Option<u64>,
}

/// One in this many fault sites is likely to fire in a faulty case.
const SITE_CLASSES: u64 = 16;

impl Dice {
    /// The dice of one case.
    pub fn of_case(seed: u64, number: u64) -> Self {
        let mut bytes = [0; 32];
        bytes[..8].copy_from_slice(&seed.to_le_bytes());
        bytes[8..16].copy_from_slice(&number.to_le_bytes());
        let mut dice = Self { rng: TestRng::from_seed(RngAlgorithm::ChaCha, &bytes), salt: None };
        if dice.chance(0.5) {
            dice.salt = Some(dice.rng.next_u64());
        }
        dice
    }

    /// A number below `bound`, which must not be 0.
    pub fn below(&mut self, bound: usize) -> usize {
        (self.rng.next_u64() % bound as u64) as usize
    }

    /// A number between `low` and `high`, both included.
    pub fn between(&mut self, low: usize, high: usize) -> usize {
        low + self.below(high - low + 1)
    }

    pub fn bits(&mut self) -> u64 {
        self.rng.next_u64()
    }

    /// True with the given probability.
    pub fn chance(&mut self, probability: f64) -> bool {
        ((self.rng.next_u64() >> 11) as f64 / (1u64 << 53) as f64) < probability
    }

    /// One of the items, which must not be none.
    pub fn pick<T: Copy>(&mut self, items: &[T]) -> T {
        items[self.below(items.len())]
    }

    /// One of the items, which must not be none.
    pub fn choose<'a, T>(&mut self, items: &'a [T]) -> &'a T {
        &items[self.below(items.len())]
    }

    /// One of the items, by weight.
    pub fn weighted<T: Copy>(&mut self, items: &[(usize, T)]) -> T {
        let total = items.iter().map(|(weight, _)| weight).sum();
        let mut left = self.below(total);
        for &(weight, item) in items {
            if left < weight {
                return item;
            }
            left -= weight;
        }
        items[0].1
    }

    /// Whether to do something here that is likely to be refused. Each faulty case favours a few sites, so that
    /// one refusal does not always hide another.
    pub fn fault(&mut self, site: &str) -> bool {
        let Some(salt) = self.salt else { return false };
        let mut hash = 0xcbf2_9ce4_8422_2325 ^ salt;
        for byte in site.bytes() {
            hash = (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3);
        }
        let favoured = (hash >> 32) % SITE_CLASSES == 0;
        self.chance(if favoured { 0.6 } else { 0.0015 })
    }

    /// Whether faults are possible at all in this case.
    pub fn faulty(&self) -> bool {
        self.salt.is_some()
    }
}

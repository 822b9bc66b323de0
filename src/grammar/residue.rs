//! Numbers as residues, so that literals of equal value are known as such whatever their form.

use crate::grammar::number::NumberState;

/// A prime; residues of different values are equal once in 10^18.
const PRIME: u64 = (1 << 61) - 1;

/// The digits of a literal, as far as it is read: their residue and one more; 0 if nobody asks.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) struct Residue(u64);

impl Residue {
    /// No digits yet. `kept` tells whether somebody will ask.
    pub(super) const fn new(kept: bool) -> Self {
        Self(kept as u64)
    }

    /// One more byte of a literal that was in `state` before it.
    #[inline]
    pub(super) fn read(self, state: &NumberState, byte: u8) -> Self {
        if self.0 == 0 || !byte.is_ascii_digit() || state.is_in_exponent() {
            return self;
        }
        Self(within(multiply(self.0 - 1, 10) + u64::from(byte - b'0')) + 1)
    }

    /// A hash of the literal's value.
    pub(super) fn hash(self, state: &NumberState) -> u64 {
        if self.0 == 0 {
            return 0;
        }
        // A negative power of ten is a power of its inverse.
        let scale = state.scale();
        let base = if scale < 0 { power(10, PRIME - 2) } else { 10 };
        let value = multiply(self.0 - 1, power(base, scale.unsigned_abs().into()));
        let signed = if state.is_negative() && value != 0 { PRIME - value } else { value };
        signed ^ 0x6E75_6D62_6572
    }
}

/// A product of residues. Without a division: 2^61 leaves 1.
fn multiply(a: u64, b: u64) -> u64 {
    let product = u128::from(a) * u128::from(b);
    within((product as u64 & PRIME) + (product >> 61) as u64)
}

/// What is left of a number below twice the prime.
fn within(number: u64) -> u64 {
    if number >= PRIME { number - PRIME } else { number }
}

fn power(mut base: u64, mut exponent: u64) -> u64 {
    let mut result = 1;
    while exponent > 0 {
        if exponent & 1 == 1 {
            result = multiply(result, base);
        }
        base = multiply(base, base);
        exponent >>= 1;
    }
    result
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::{PRIME, multiply, within};

    proptest! {
        #[test]
        fn products_are_those_of_a_division(a in 0..PRIME, b in prop_oneof![0..PRIME, PRIME - 9..PRIME, 0..11u64]) {
            let rest = (u128::from(a) * u128::from(b) % u128::from(PRIME)) as u64;
            prop_assert_eq!(multiply(a, b), rest);
            prop_assert_eq!(multiply(PRIME - 1, b), if b == 0 { 0 } else { PRIME - b });
            prop_assert_eq!(within(rest + 9), (rest + 9) % PRIME);
        }
    }
}

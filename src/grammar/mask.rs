//! Sets of tokens as the bits that samplers take.

use std::sync::Arc;

/// How many 32-bit words a mask over `tokens` ids has.
#[must_use]
pub const fn mask_words(tokens: usize) -> usize {
    tokens.div_ceil(32)
}

/// Whether a mask allows a token: bit `id % 32` of word `id / 32`.
#[must_use]
pub fn is_allowed(mask: &[u32], id: crate::token::TokenId) -> bool {
    mask.get(id.index() / 32).is_some_and(|word| word >> (id.0 % 32) & 1 == 1)
}

#[inline]
pub(super) fn set(mask: &mut [u32], id: u32) {
    mask[id as usize / 32] |= 1 << (id % 32);
}

/// A set of tokens that does not change.
#[derive(Debug, Clone)]
pub(super) enum TokenSet {
    /// Few tokens.
    List(Arc<[u32]>),
    /// Many: all words of a mask.
    Bits(Arc<[u32]>),
}

impl TokenSet {
    /// Lists longer than this are kept as bits.
    const LONGEST_LIST: usize = 512;

    pub(super) fn new(tokens: &[u32], words: usize) -> Self {
        if tokens.len() <= Self::LONGEST_LIST {
            return Self::List(tokens.into());
        }
        let mut bits = vec![0; words];
        for token in tokens {
            set(&mut bits, *token);
        }
        Self::Bits(bits.into())
    }

    pub(super) fn from_bits(bits: Vec<u32>) -> Self {
        let set = Self::Bits(bits.into());
        let Self::Bits(bits) = &set else { return set };
        if bits.iter().map(|word| word.count_ones() as usize).sum::<usize>() > Self::LONGEST_LIST {
            return set;
        }
        let mut list = Vec::new();
        set.add_tokens(&mut list);
        Self::List(list.into())
    }

    /// Adds the tokens to `tokens`.
    pub(super) fn add_tokens(&self, tokens: &mut Vec<u32>) {
        match self {
            Self::List(list) => tokens.extend_from_slice(list),
            Self::Bits(bits) => {
                for (word, mut bits) in (0..).zip(bits.iter().copied()) {
                    while bits != 0 {
                        tokens.push(word * 32 + bits.trailing_zeros());
                        bits &= bits - 1;
                    }
                }
            }
        }
    }

    /// Adds the tokens to `mask`.
    pub(super) fn add_to(&self, mask: &mut [u32]) {
        match self {
            Self::List(tokens) => tokens.iter().for_each(|token| set(mask, *token)),
            Self::Bits(bits) => mask.iter_mut().zip(&bits[..]).for_each(|(word, bits)| *word |= bits),
        }
    }
}

/// The mask of one place: a few shared sets and single tokens.
#[derive(Debug, Clone, Default)]
pub(super) struct Allowed {
    pub(super) sets: Vec<TokenSet>,
    pub(super) tokens: Vec<u32>,
}

impl Allowed {
    /// Writes the whole mask.
    pub(super) fn write(&self, mask: &mut [u32]) {
        let mut sets = self.sets.iter();
        match sets.clone().next() {
            Some(TokenSet::Bits(bits)) => {
                mask.copy_from_slice(bits);
                sets.next();
            }
            _ => mask.fill(0),
        }
        sets.for_each(|tokens| tokens.add_to(mask));
        for token in &self.tokens {
            set(mask, *token);
        }
    }
}

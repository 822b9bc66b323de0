//! Places inside a pre-token that no merge can cross.
//!
//! # Why these cuts are safe
//! Every symbol with more than one byte is made by merges. A symbol with bytes on both sides of a border between
//! two characters contains that border, so one of the merges that made it joined two tokens there: one that
//! ends with the end of the left character (or all of it, and more), and one that starts with the start of the
//! right one. If no merge of the vocabulary joins such tokens, none crosses the border, whatever else the
//! pre-token holds. The merges of either side then never see the
//! other: the lowest rank of the whole is the lowest of one side, and taking it changes that side only. So the
//! tokens of the pre-token are those of its two parts, one after the other.
//!
//! What is stored may only err on the side of "linked": pairs of whole characters as bits under a hash, and the
//! rare merges with only a part of a character next to the border by the two bytes at the border.

use super::table::{self, BLOCK};
use super::tables::Merge;
use super::tokens::Tokens;
use super::utf8::Utf8;

const BITS: u32 = 20;
const PAIR_WORDS: usize = 1 << (BITS - 6);
const SEAM_WORDS: usize = 1 << (16 - 6);

/// Which characters stand side by side in some token.
#[derive(Debug)]
pub(super) struct Links {
    /// One bit for each hash of two characters.
    pairs: Box<[u64; PAIR_WORDS]>,
    /// One bit for each last byte of the left character and first byte of the right one.
    seams: Box<[u64; SEAM_WORDS]>,
}

impl Links {
    /// Learns of merges.
    pub(super) fn add(&mut self, tokens: &Tokens, merges: &[Merge]) {
        merges.chunks(BLOCK).for_each(|merges| self.add_block(tokens, merges));
    }

    #[inline(never)]
    fn add_block(&mut self, tokens: &Tokens, merges: &[Merge]) {
        // Which merges matter cannot be foretold, so they are chosen first, without a branch.
        let (mut chosen, mut count) = ([0; BLOCK], 0);
        for (at, merge) in merges.iter().enumerate() {
            // A border inside one of a merge's parts belongs to the merge that made the part.
            let [left, right] = tokens.bytes_at_border(merge);
            chosen[count % BLOCK] = at;
            count += usize::from((left | right >= 0x80) & (right & 0xC0 != 0x80));
        }
        for at in &chosen[..count] {
            // Merges of tokens that are not text never happen.
            let Some((left, right)) = tokens.at_border(&merges[*at]) else { continue };
            let (Some(left_byte), Some(right_byte)) = (left.last(), right.first()) else { continue };
            let ideograph = left.len().checked_sub(3).and_then(|at| Utf8::ideograph_at(left, at));
            match (ideograph.or_else(|| Utf8::last_of(left)), Utf8::first_of(right)) {
                (Some(left), Some(right)) => set(&mut self.pairs[..], pair_bit(left, right)),
                _ => set(&mut self.seams[..], seam_bit(*left_byte, *right_byte)),
            }
        }
    }

    /// Whether a token may contain the border between two characters. Two ASCII characters count as linked.
    #[inline]
    pub(super) fn linked(&self, left: Utf8, right: Utf8) -> bool {
        left.is_ascii() & right.is_ascii()
            | get(&self.pairs[..], pair_bit(left, right))
            | self.seam(left.last_byte(), right.first_byte())
    }

    /// As [`Links::linked`], of two characters of three bytes.
    #[inline]
    pub(super) fn linked_threes(&self, left: Utf8, right: Utf8) -> bool {
        get(&self.pairs[..], pair_bit(left, right))
            | self.seam(left.last_byte(), (right.number() >> 16) as u8)
    }

    /// Whether a token may contain this border with only a part of one of the characters.
    #[inline]
    pub(super) fn seam(&self, left_byte: u8, right_byte: u8) -> bool {
        get(&self.seams[..], seam_bit(left_byte, right_byte))
    }
}

/// Nothing is linked.
impl Default for Links {
    fn default() -> Self {
        Self { pairs: table::zeros(), seams: table::zeros() }
    }
}

fn pair_bit(left: Utf8, right: Utf8) -> usize {
    let pair = u64::from(left.number()) << 32 | u64::from(right.number());
    (pair.wrapping_mul(0x9E37_79B9_7F4A_7C15) >> (64 - BITS)) as usize
}

fn seam_bit(left: u8, right: u8) -> usize {
    usize::from(left) << 8 | usize::from(right)
}

fn set(bits: &mut [u64], at: usize) {
    bits[at / 64] |= 1 << (at % 64);
}

#[inline]
fn get(bits: &[u64], at: usize) -> bool {
    bits[at / 64] >> (at % 64) & 1 != 0
}

//! The merges of bytes with which merging an ASCII word can begin, all at once.
//!
//! # Why this changes nothing
//! Take two neighbouring bytes that merge, and let their merge rank before every merge of a token that ends with the byte
//! on their left with the first of them, and before every merge of the second of them with a token that starts with the
//! byte on their right. As long as both bytes are symbols of their own, nothing else can take one of them before this
//! merge has its turn, and so it happens, whatever the rest of the word is.
//!
//! Let the vocabulary also be proper, as for [`atoms`](super::atoms): then merging goes through the ranks in ascending
//! order, and a merge with the new symbol has its turn after the one that makes it, whenever that one was done.

use super::pairs::{PRIORITY_BITS, priority_of};
use super::table;
use super::tables::{Merge, Tables};
use super::tokens::Tokens;

/// For each two ASCII bytes a [`Pair`].
#[derive(Debug)]
pub(super) struct Opening(Box<[u64; 1 << 14]>);

/// What is to be known of two bytes: the priority of their merge, and the greatest ones of a token that ends with the first
/// byte and the second one, and of the first byte and a token that starts with the second one.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Pair(u64);

impl Pair {
    const PRIORITY: u32 = 0;
    const OF_ENDING: u32 = PRIORITY_BITS;
    const OF_STARTING: u32 = 2 * PRIORITY_BITS;

    #[inline]
    fn get(self, shift: u32) -> u32 {
        (self.0 >> shift) as u32 & ((1 << PRIORITY_BITS) - 1)
    }

    fn raise(&mut self, shift: u32, to: u32) {
        let least = self.get(shift);
        self.0 += u64::from(to.max(least) - least) << shift;
    }

    /// Whether this merge is sure to happen between the pairs before and after it.
    #[inline]
    fn is_certain(self, before: Self, after: Self) -> bool {
        let priority = self.get(Self::PRIORITY);
        (priority > before.get(Self::OF_ENDING)) & (priority > after.get(Self::OF_STARTING))
    }
}

impl Opening {
    /// Learns of a merge by its rank, if it is of a byte.
    #[inline]
    pub(super) fn add(&mut self, tokens: &Tokens, byte_ids: &[u32; 256], rank: u32, merge: &Merge) {
        let (left, right) = (tokens.get(merge.left), tokens.get(merge.right));
        let (Some(left_byte), Some(right_byte)) = (left.last(), right.first()) else { return };
        let is_left_byte = byte_ids[usize::from(*left_byte)] == merge.left;
        let is_right_byte = byte_ids[usize::from(*right_byte)] == merge.right;
        if (left_byte | right_byte < 0x80) & (is_left_byte | is_right_byte) {
            let mut pair = self.pair(*left_byte, *right_byte);
            let priority = priority_of(rank);
            pair.raise(Pair::PRIORITY, priority * u32::from(is_left_byte && is_right_byte));
            pair.raise(Pair::OF_ENDING, priority * u32::from(is_right_byte));
            pair.raise(Pair::OF_STARTING, priority * u32::from(is_left_byte));
            self.0[place(*left_byte, *right_byte)] = pair.0;
        }
    }

    /// Makes no merge certain.
    pub(super) fn close(&mut self) {
        self.0.iter_mut().for_each(|pair| *pair |= u64::MAX << Pair::OF_ENDING);
    }

    /// The symbols with which merging the first `len` of some bytes may begin, and how many they are. Those bytes must be
    /// ASCII, and one at least.
    #[inline]
    pub(super) fn symbols<const N: usize>(
        &self,
        tables: &Tables,
        bytes: &[u8; N],
        len: usize,
    ) -> ([u32; N], usize) {
        let mut pairs = [Pair::default(); N];
        for at in 0..N - 1 {
            pairs[at] = self.pair(bytes[at], bytes[at + 1]);
        }
        let mut certain = 0u64;
        let mut before = Pair::default();
        for at in 0..N - 1 {
            certain |= u64::from(pairs[at].is_certain(before, pairs[at + 1])) << at;
            before = pairs[at];
        }
        certain &= (1 << (len - 1)) - 1;
        let starts = !(certain << 1) & u64::MAX >> (64 - len);
        let (mut ids, mut count) = ([0; N], 0);
        for at in 0..N {
            // No branches: there is no foretelling what comes.
            let byte = tables.byte_ids[usize::from(bytes[at])];
            let merged = tables.pairs.result_of(pairs[at].get(Pair::PRIORITY));
            let is_merged = 0u32.wrapping_sub((certain >> at) as u32 & 1);
            ids[count % N] = byte ^ (byte ^ merged) & is_merged;
            count += (starts >> at) as usize & 1;
        }
        (ids, count)
    }

    /// What is known of two bytes.
    #[inline]
    fn pair(&self, left: u8, right: u8) -> Pair {
        Pair(self.0[place(left, right)])
    }
}

impl Default for Opening {
    fn default() -> Self {
        Self(table::zeros())
    }
}

#[inline]
fn place(left: u8, right: u8) -> usize {
    usize::from(left & 0x7F) << 7 | usize::from(right & 0x7F)
}

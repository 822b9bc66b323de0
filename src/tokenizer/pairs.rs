//! From a pair of tokens to the rank of its merge.

use super::tables::{ID_LIMIT, Merge};

/// Means: this pair does not merge. Greater than every rank.
pub(super) const NO_RANK: u32 = u32::MAX;

const BITS: u32 = ID_LIMIT.trailing_zeros();
const EMPTY: u64 = u64::MAX;

/// An open-addressing table, at most half full. An entry is left token, right token and rank in one word.
#[derive(Debug)]
pub(super) struct Pairs {
    entries: Box<[u64]>,
    shift: u32,
}

impl Pairs {
    pub(super) fn new(merges: &[Merge]) -> Self {
        let slots = (2 * merges.len()).next_power_of_two().max(2);
        let mut table =
            Self { entries: vec![EMPTY; slots].into_boxed_slice(), shift: 64 - slots.trailing_zeros() };
        for (rank, merge) in (0..).zip(merges) {
            table.insert(merge.left, merge.right, rank);
        }
        table
    }

    /// A pair that occurs twice keeps its last rank, as in the tokenizer files' own loader.
    fn insert(&mut self, left: u32, right: u32, rank: u32) {
        let key = key(left, right);
        let mut slot = self.slot(key);
        while self.entries[slot] != EMPTY && self.entries[slot] >> BITS != key {
            slot = (slot + 1) & (self.entries.len() - 1);
        }
        self.entries[slot] = key << BITS | u64::from(rank);
    }

    /// The rank of a pair's merge, or [`NO_RANK`].
    pub(super) fn rank(&self, left: u32, right: u32) -> u32 {
        let key = key(left, right);
        let mut slot = self.slot(key);
        loop {
            let entry = self.entries[slot];
            if entry >> BITS == key {
                return entry as u32 & (ID_LIMIT - 1);
            }
            if entry == EMPTY {
                return NO_RANK;
            }
            slot = (slot + 1) & (self.entries.len() - 1);
        }
    }

    /// Every pair with its rank, in no order.
    pub(super) fn iter(&self) -> impl Iterator<Item = (u32, u32, u32)> {
        let part = |entry: u64, place: u32| (entry >> (place * BITS)) as u32 & (ID_LIMIT - 1);
        let entries = self.entries.iter().filter(|entry| **entry != EMPTY);
        entries.map(move |entry| (part(*entry, 2), part(*entry, 1), part(*entry, 0)))
    }

    fn slot(&self, key: u64) -> usize {
        (key.wrapping_mul(0x9E37_79B9_7F4A_7C15) >> self.shift) as usize
    }
}

fn key(left: u32, right: u32) -> u64 {
    u64::from(left) << BITS | u64::from(right)
}

//! From a pair of tokens to the rank of its merge.

use super::table::{self, FARTHEST, Seed};
use super::tables::{ID_LIMIT, Merge};

/// Means: this pair does not merge. Greater than every rank.
pub(super) const NO_RANK: u32 = u32::MAX;

const ID_BITS: u32 = ID_LIMIT.trailing_zeros();
const RANK_BITS: u32 = 64 - 2 * ID_BITS;

/// The merges below this rank are the frequent ones; they have a table of their own, which stays in the cache.
const FREQUENT: usize = 1 << 14;
const FILTER_BITS: u32 = 20;

/// Hash tables, and a plain one for pairs of ASCII bytes, with which nearly all merging starts.
#[derive(Debug)]
pub(super) struct Pairs {
    seed: Seed,
    /// One bit for each hash of a pair that merges: most pairs do not, and need no more than this.
    filter: Box<[u64]>,
    frequent: PairTable,
    rare: PairTable,
    /// By left and right byte.
    ascii: Box<[u32; 1 << 14]>,
}

/// Left token, right token and one more than the rank in one word; zero is empty.
#[derive(Debug)]
struct PairTable {
    entries: Box<[u64]>,
}

impl Pairs {
    /// Tables of these merges, unless they collide too much.
    pub(super) fn new(merges: &[Merge], byte_ids: &[u32; 256], seed: Seed) -> Option<Self> {
        let mut filter = vec![0; 1 << (FILTER_BITS - 6)].into_boxed_slice();
        let entries: Vec<u64> = (1..)
            .zip(merges)
            .map(|(rank, merge): (u64, _)| key(merge.left, merge.right) << RANK_BITS | rank)
            .collect();
        for entry in &entries {
            let bit = seed.multiply(entry >> RANK_BITS) >> (64 - FILTER_BITS);
            filter[(bit / 64) as usize] |= 1 << (bit % 64);
        }
        let (frequent, rare) = entries.split_at(entries.len().min(FREQUENT));
        let mut pairs = Self {
            seed,
            filter,
            frequent: PairTable::new(frequent, seed)?,
            rare: PairTable::new(rare, seed)?,
            ascii: Box::new([NO_RANK; 1 << 14]),
        };
        for left in 0..0x80 {
            for right in 0..0x80 {
                pairs.ascii[left << 7 | right] = pairs.rank(byte_ids[left], byte_ids[right]);
            }
        }
        Some(pairs)
    }

    /// The rank of a pair's merge, or [`NO_RANK`].
    #[inline]
    pub(super) fn rank(&self, left: u32, right: u32) -> u32 {
        let key = key(left, right);
        let hash = self.seed.multiply(key);
        let bit = (hash >> (64 - FILTER_BITS)) as usize;
        if self.filter[bit / 64] >> (bit % 64) & 1 == 0 {
            return NO_RANK;
        }
        self.frequent.find(key, hash).or_else(|| self.rare.find(key, hash)).unwrap_or(NO_RANK)
    }

    /// Soon the rank of a pair will be asked for.
    #[inline]
    pub(super) fn prefetch(&self, left: u32, right: u32) {
        let hash = self.seed.multiply(key(left, right));
        table::prefetch(&self.filter[(hash >> (64 - FILTER_BITS)) as usize / 64]);
        for table in [&self.frequent, &self.rare] {
            table::prefetch(&table.entries[table::slot(hash, table.entries.len())]);
        }
    }

    /// The rank of the pair of two bytes' tokens.
    #[inline]
    pub(super) fn rank_of_bytes(&self, left: u8, right: u8, byte_ids: &[u32; 256]) -> u32 {
        if left | right < 0x80 {
            self.ascii[usize::from(left) << 7 | usize::from(right)]
        } else {
            self.rank(byte_ids[usize::from(left)], byte_ids[usize::from(right)])
        }
    }

    /// Every pair with its rank, in no order.
    pub(super) fn iter(&self) -> impl Iterator<Item = (u32, u32, u32)> {
        let id = |entry: u64, shift: u32| (entry >> shift) as u32 & (ID_LIMIT - 1);
        let entries = self.frequent.entries.iter().chain(&self.rare.entries).filter(|entry| **entry != 0);
        entries.map(move |entry| {
            let rank = (entry & ((1 << RANK_BITS) - 1)) as u32 - 1;
            (id(*entry, RANK_BITS + ID_BITS), id(*entry, RANK_BITS), rank)
        })
    }
}

impl PairTable {
    fn new(entries: &[u64], seed: Seed) -> Option<Self> {
        let hash = |entry: &u64| seed.multiply(entry >> RANK_BITS);
        table::build(entries, hash, |entry| *entry == 0).map(|entries| Self { entries })
    }

    #[inline]
    fn find(&self, key: u64, hash: u64) -> Option<u32> {
        let mut slot = table::slot(hash, self.entries.len());
        for _ in 0..=FARTHEST {
            let entry = self.entries[slot];
            if entry == 0 {
                return None;
            }
            if entry >> RANK_BITS == key {
                return Some((entry & ((1 << RANK_BITS) - 1)) as u32 - 1);
            }
            slot = table::next(slot, self.entries.len());
        }
        None
    }
}

fn key(left: u32, right: u32) -> u64 {
    u64::from(left) << ID_BITS | u64::from(right)
}

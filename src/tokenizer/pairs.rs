//! From a pair of tokens to the rank of its merge.

use wide::u32x8;

use super::table::{self, FARTHEST, Seed};
use super::tables::{ID_LIMIT, Merge};

/// Means: this pair does not merge. Greater than every rank.
pub(super) const NO_RANK: u32 = u32::MAX;

const ID_BITS: u32 = ID_LIMIT.trailing_zeros();
/// Pairs for each bucket. A fuller bucket is rare, because its pairs have to look into the next one as well.
const PAIRS: usize = 4;

/// A hash table of ranks, and a plain one for pairs of ASCII bytes, with which nearly all merging starts.
#[derive(Debug)]
pub(super) struct Pairs {
    seed: Seed,
    buckets: Box<[Bucket]>,
    /// By rank.
    merges: Box<[Merge]>,
    /// By left and right byte.
    ascii: Box<[u32; 1 << 14]>,
}

/// For each pair its priority, and above it the pair's [`print`]; no two prints are equal. Zero is empty. [`FULL`]
/// in the first one: the search goes on with the next bucket.
#[derive(Debug, Clone, Copy, Default)]
#[repr(align(32))]
struct Bucket([u32; 8]);

/// The bits of a priority: greater for lower ranks, and zero for pairs that do not merge.
const PRIORITY: u32 = ID_LIMIT - 1;
const FULL: u32 = ID_LIMIT;
const PRINT: u32 = !(PRIORITY | FULL);

/// A part of a pair's hash by which it is told from others in its bucket.
fn print(hash: u64) -> u32 {
    (hash >> 16) as u32 & PRINT
}

impl Bucket {
    /// The priority of the pair with a print, or zero.
    #[inline]
    fn find(&self, print: u32) -> u32 {
        self.0.iter().fold(0, |found, pair| found | if pair & PRINT == print { *pair } else { 0 }) & PRIORITY
    }

    fn is_full(&self) -> bool {
        self.0[0] & FULL != 0
    }

    /// Takes a pair, if there is room and none with its print.
    fn insert(&mut self, pair: u32) -> bool {
        let pairs = u32x8::new(self.0);
        let free = pairs.simd_eq(u32x8::splat(0)).to_bitmask();
        let twins =
            ((pairs ^ u32x8::splat(pair)) & u32x8::splat(PRINT)).simd_eq(u32x8::splat(0)).to_bitmask();
        let used = free.trailing_zeros() as usize;
        let fits = used < self.0.len() && twins & !free == 0;
        if fits {
            self.0[used % self.0.len()] = pair;
        } else {
            self.0[0] |= FULL;
        }
        fits
    }
}

impl Pairs {
    /// Tables of these merges, by the first seed by which they do not collide too much.
    pub(super) fn new(merges: Vec<Merge>, byte_ids: &[u32; 256]) -> Option<Self> {
        let build = |seed| Self::buckets(&merges, seed).map(|buckets| (seed, buckets));
        let (seed, buckets) = Seed::ALL.into_iter().find_map(build)?;
        let merges = merges.into_boxed_slice();
        let mut pairs = Self { seed, buckets, merges, ascii: Box::new([0; 1 << 14]) };
        for left in 0..0x80 {
            pairs.add_ascii(left, byte_ids);
        }
        Some(pairs)
    }

    /// Fills in the pairs with one byte on the left.
    #[inline(never)]
    fn add_ascii(&mut self, left: usize, byte_ids: &[u32; 256]) {
        for right in 0..0x80 {
            let rank = self.rank(byte_ids[left], byte_ids[right]);
            self.ascii[left << 7 | right] = if rank == NO_RANK { 0 } else { priority_of(rank) };
        }
    }

    fn buckets(merges: &[Merge], seed: Seed) -> Option<Box<[Bucket]>> {
        let len = merges.len() / PAIRS + 1;
        let mut buckets: Box<[Bucket]> = table::empty(len);
        let entries = (0..).zip(merges).map(|(rank, merge)| {
            let hash = seed.multiply(key(merge.left, merge.right));
            (table::slot(hash, len), print(hash) | priority_of(rank))
        });
        table::in_order(entries, &mut buckets, |buckets, mut slot, pair| {
            for _ in 0..=FARTHEST {
                if buckets[slot].insert(pair) {
                    return true;
                }
                slot = table::next(slot, len);
            }
            false
        })
        .then_some(buckets)
    }

    /// The merges in the order of their ranks.
    pub(super) fn merges(&self) -> &[Merge] {
        &self.merges
    }

    /// The token that the merge of a rank makes.
    #[inline]
    pub(super) fn result(&self, rank: u32) -> u32 {
        self.merges[rank as usize].result
    }

    /// The rank of a pair's merge, or [`NO_RANK`].
    #[inline]
    pub(super) fn rank(&self, left: u32, right: u32) -> u32 {
        let rank = rank_of(self.supposed_priority(left, right));
        if self.merges_at(rank, left, right) { rank } else { NO_RANK }
    }

    /// The priority of a pair's merge, if it has one; else one that may be any, and mostly is zero.
    #[inline]
    pub(super) fn supposed_priority(&self, left: u32, right: u32) -> u32 {
        let hash = self.seed.multiply(key(left, right));
        let bucket = &self.buckets[table::slot(hash, self.buckets.len())];
        if bucket.is_full() { self.search(left, right, hash) } else { bucket.find(print(hash)) }
    }

    /// Whether the merge of a rank is the one of this pair.
    #[inline]
    pub(super) fn merges_at(&self, rank: u32, left: u32, right: u32) -> bool {
        self.merges.get(rank as usize).is_some_and(|merge| merge.left == left && merge.right == right)
    }

    /// The priority of a pair's merge, or zero, by way of several buckets.
    #[cold]
    fn search(&self, left: u32, right: u32, hash: u64) -> u32 {
        let mut slot = table::slot(hash, self.buckets.len());
        for _ in 0..=FARTHEST {
            let priority = self.buckets[slot].find(print(hash));
            if self.merges_at(rank_of(priority), left, right) {
                return priority;
            }
            if !self.buckets[slot].is_full() {
                break;
            }
            slot = table::next(slot, self.buckets.len());
        }
        0
    }

    /// The priority of the merge of two ASCII bytes' tokens, or zero.
    #[inline]
    pub(super) fn priority_of_ascii(&self, left: u8, right: u8) -> u32 {
        self.ascii[usize::from(left & 0x7F) << 7 | usize::from(right & 0x7F)]
    }
}

/// Ranks and priorities are each other's, both ways. The rank of no priority is one that no merge has.
#[inline]
pub(super) fn rank_of(priority: u32) -> u32 {
    PRIORITY - priority
}

fn priority_of(rank: u32) -> u32 {
    PRIORITY - rank
}

fn key(left: u32, right: u32) -> u64 {
    u64::from(left) << ID_BITS | u64::from(right)
}

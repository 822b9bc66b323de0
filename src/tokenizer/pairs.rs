//! From a pair of tokens to the rank of its merge.
//!
//! Half of the pairs that merging asks for have no merge, and all of them lie far from each other in memory. So each
//! question reads one place: a pair's hash tells a group and the places that it may have, and a number for each group,
//! its pilot, says which of them it is. Pilots are chosen when the table is built, the largest groups first, so that no two
//! pairs have the same place. What is there is compared with the whole pair.

use super::table::{self, Seed};
use super::tables::{ID_LIMIT, Merge};

/// Means: this pair does not merge. Greater than every rank.
pub(super) const NO_RANK: u32 = u32::MAX;

const ID_BITS: u32 = ID_LIMIT.trailing_zeros();
/// Pairs for each group.
const GROUP: usize = 4;
/// So many places for so many pairs. Fewer places take longer to fill.
const PLACES: usize = 20;
const OF: usize = 17;
/// A larger group is not placed. Of random hashes no group is nearly as large.
const LARGEST: usize = 32;
/// So many pilots are tried for a group, and in all so many for each pair. Of random hashes a group takes a tenth of
/// them at most, and a pair six.
const PILOTS: usize = 1 << 13;
const PILOTS_A_PAIR: usize = 64;

/// A perfect hash table of ranks.
#[derive(Debug)]
pub(super) struct Pairs {
    seed: Seed,
    pilots: Box<[u16]>,
    /// A pair's [`key`], and below it its priority. All zeros: empty, which is nothing for the pair of zeros too.
    places: Box<[u64]>,
    results: Results,
}

/// The token that each merge makes.
#[derive(Debug)]
enum Results {
    /// Tokens in the order of the ranks, from this one on.
    From(u32),
    /// By rank.
    Listed(Box<[u32]>),
}

/// The bits of a priority: greater for lower ranks, and zero for pairs that do not merge.
const PRIORITY: u32 = ID_LIMIT - 1;
pub(super) const PRIORITY_BITS: u32 = ID_BITS;

/// A hash of a pair, and what follows from it. The same on every machine: the vocabulary's file brings pilots.
#[derive(Clone, Copy)]
struct Hash(u64);

impl Hash {
    #[inline]
    fn of(key: u64, seed: Seed) -> Self {
        let hash = key.wrapping_mul(seed.0 | 1);
        Self((hash ^ hash >> 32).wrapping_mul(seed.1 | 1))
    }

    #[inline]
    fn group(self, groups: usize) -> usize {
        (((self.0 >> 32) * groups as u64) >> 32) as usize
    }

    /// The place with a pilot, of so many.
    #[inline]
    fn place(self, pilot: u16, places: usize) -> usize {
        let step = (self.0 >> 16) as u32 | 1;
        let number = (self.0 as u32).wrapping_add(u32::from(pilot).wrapping_mul(step));
        ((u64::from(number) * places as u64) >> 32) as usize
    }
}

impl Pairs {
    /// The number of groups, and of pilots, of so many merges.
    pub(super) fn groups(merges: usize) -> usize {
        merges / GROUP + 1
    }

    /// An empty table for these merges, by the first seed with which all find places.
    pub(super) fn new(merges: &[Merge]) -> Option<Self> {
        let results = Results::Listed(merges.iter().map(|merge| merge.result).collect());
        let (seed, pilots) = Seed::ALL.into_iter().find_map(|seed| {
            let pilots = Groups::new(merges, seed)?.pilots(merges)?;
            Some((seed, pilots))
        })?;
        Some(Self { seed, pilots, places: table::empty(Self::places(merges.len())), results })
    }

    /// An empty table for so many merges, which make one token after the other from `first` on, with the pilots that
    /// [`Pairs::new`] finds by the first seed. Nothing if the number of pilots is another one.
    pub(super) fn with_pilots(count: usize, first: u32, pilots: Box<[u16]>) -> Option<Self> {
        let places = table::empty(Self::places(count));
        let seed = Seed::ALL[0];
        (pilots.len() == Self::groups(count)).then_some(Self {
            seed,
            pilots,
            places,
            results: Results::From(first),
        })
    }

    fn places(merges: usize) -> usize {
        merges / OF * PLACES + PLACES
    }

    /// Puts merges at their places. The first one has this rank.
    #[inline(never)]
    pub(super) fn add(&mut self, first: u32, merges: &[Merge]) {
        for (rank, merge) in (first..).zip(merges) {
            let key = key(merge.left, merge.right);
            let place = self.place(key);
            self.places[place] = key << ID_BITS | u64::from(priority_of(rank));
        }
    }

    #[inline]
    fn place(&self, key: u64) -> usize {
        let hash = Hash::of(key, self.seed);
        hash.place(self.pilots[hash.group(self.pilots.len())], self.places.len())
    }

    #[cfg(test)]
    pub(super) fn pilots(&self) -> &[u16] {
        &self.pilots
    }

    /// The merges with their ranks, in any order.
    pub(super) fn merges(&self) -> impl Iterator<Item = (u32, Merge)> {
        self.places.iter().filter(|place| **place != 0).map(|place| {
            let (left, right) = ((place >> (2 * ID_BITS)) as u32, (place >> ID_BITS) as u32 & PRIORITY);
            let rank = rank_of(*place as u32 & PRIORITY);
            (rank, Merge { left, right, result: self.result(rank) })
        })
    }

    /// The token that the merge of a rank makes.
    #[inline]
    pub(super) fn result(&self, rank: u32) -> u32 {
        match &self.results {
            Results::From(first) => first + rank,
            Results::Listed(results) => results[rank as usize],
        }
    }

    /// The token that the merge with a priority makes; any for no priority.
    #[inline]
    pub(super) fn result_of(&self, priority: u32) -> u32 {
        let rank = rank_of(priority);
        match &self.results {
            Results::From(first) => first.wrapping_add(rank),
            Results::Listed(results) => results.get(rank as usize).copied().unwrap_or_default(),
        }
    }

    /// The rank of a pair's merge, or [`NO_RANK`].
    #[inline]
    pub(super) fn rank(&self, left: u32, right: u32) -> u32 {
        match self.priority(left, right) {
            0 => NO_RANK,
            priority => rank_of(priority),
        }
    }

    /// The priority of a pair's merge, or zero.
    #[inline]
    pub(super) fn priority(&self, left: u32, right: u32) -> u32 {
        let key = key(left, right);
        let place = self.places[self.place(key)];
        if place >> ID_BITS == key { place as u32 & PRIORITY } else { 0 }
    }
}

/// Ranks and priorities are each other's, both ways.
#[inline]
pub(super) fn rank_of(priority: u32) -> u32 {
    PRIORITY - priority
}

#[inline]
pub(super) fn priority_of(rank: u32) -> u32 {
    PRIORITY - rank
}

#[inline]
fn key(left: u32, right: u32) -> u64 {
    u64::from(left) << ID_BITS | u64::from(right)
}

/// The merges by their groups.
struct Groups {
    seed: Seed,
    /// Where each group's ranks end.
    ends: Vec<u32>,
    ranks: Vec<u32>,
}

impl Groups {
    /// Nothing if a group is too large.
    fn new(merges: &[Merge], seed: Seed) -> Option<Self> {
        let mut ends = vec![0; Pairs::groups(merges.len())];
        let group =
            |merge: &Merge| Hash::of(key(merge.left, merge.right), seed).group(Pairs::groups(merges.len()));
        merges.iter().for_each(|merge| ends[group(merge)] += 1);
        let mut end = 0;
        for count in &mut ends {
            if *count as usize > LARGEST {
                return None;
            }
            (end, *count) = (end + *count, end);
        }
        // Now these are starts, and become ends while the ranks come.
        let mut ranks = vec![0; merges.len()];
        for (rank, merge) in (0..).zip(merges) {
            let end = &mut ends[group(merge)];
            ranks[*end as usize] = rank;
            *end += 1;
        }
        Some(Self { seed, ends, ranks })
    }

    fn ranks(&self, group: usize) -> &[u32] {
        let start = group.checked_sub(1).map_or(0, |before| self.ends[before]);
        &self.ranks[start as usize..self.ends[group] as usize]
    }

    /// The pilots; nothing if a group finds none.
    fn pilots(&self, merges: &[Merge]) -> Option<Box<[u16]>> {
        let places = Pairs::places(merges.len());
        let mut used = vec![false; places];
        let mut pilots = vec![0; self.ends.len()].into_boxed_slice();
        let mut left = merges.len() * PILOTS_A_PAIR + PILOTS;
        let mut largest_first: Vec<usize> = (0..self.ends.len()).collect();
        largest_first.sort_by_key(|group| std::cmp::Reverse(self.ranks(*group).len()));
        let (mut hashes, mut found) = (Vec::with_capacity(LARGEST), Vec::with_capacity(LARGEST));
        for group in largest_first {
            hashes.clear();
            hashes.extend(self.ranks(group).iter().map(|rank| {
                let merge = &merges[*rank as usize];
                Hash::of(key(merge.left, merge.right), self.seed)
            }));
            let pilot = (0..PILOTS.min(left) as u16).find(|pilot| {
                found.clear();
                hashes.iter().all(|hash| {
                    let place = hash.place(*pilot, places);
                    let is_free = !used[place] && !found.contains(&place);
                    found.push(place);
                    is_free
                })
            })?;
            pilots[group] = pilot;
            left -= usize::from(pilot);
            found.iter().for_each(|place| used[*place] = true);
        }
        Some(pilots)
    }
}

/// Whether a merge is in the first of so many groups by every seed.
#[cfg(test)]
pub(super) fn is_in_first_group(merge: &Merge, groups: usize) -> bool {
    Seed::ALL.iter().all(|seed| Hash::of(key(merge.left, merge.right), *seed).group(groups) == 0)
}

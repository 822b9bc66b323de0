//! Positions that a set of positions can do without.
//!
//! A counted repeat is written out: a copy of its inner expression for each time, one behind the other. From a place in
//! a copy that may be left out, the rest of the copy may follow and up to so many copies more; from the same place in
//! the copy before, the same and up to one copy more. So where a set has both, the place in the earlier copy is enough.
//! The other way round for a repeat without an upper bound: there the copies at the front are those that have to come, and
//! the last one is enough.
//!
//! Else a search would have a state for each set of counts that may be at work at once.

/// The copies of a repeat: `copies` times `width` positions, from `start` on.
#[derive(Debug, Clone, Copy)]
pub(super) struct Ladder {
    pub(super) start: usize,
    pub(super) width: usize,
    pub(super) copies: usize,
    /// Whether what follows a copy is part of what follows the one after it, by position; else the other way round.
    pub(super) last_is_enough: bool,
}

/// The ladders of an automaton. A position is on one for each counted repeat around it.
pub(super) struct Ladders {
    /// Where in `rungs` those of each position begin; one more entry than there are positions.
    starts: Vec<u32>,
    rungs: Vec<Rung>,
    /// For each rail the best rank in the set at hand; the largest number for others.
    best: Vec<u32>,
    /// The rails of the set at hand.
    touched: Vec<u32>,
}

/// A position on a ladder.
#[derive(Debug, Clone, Copy, Default)]
struct Rung {
    /// The same for the same place in all copies of a repeat.
    rail: u32,
    /// Of two positions on a rail the one with the lower rank is enough.
    rank: u32,
}

impl Ladders {
    pub(super) fn new(positions: usize, ladders: &[Ladder]) -> Self {
        let mut starts = vec![0_u32; positions + 1];
        for ladder in ladders {
            for count in &mut starts[ladder.start + 1..][..ladder.width * ladder.copies] {
                *count += 1;
            }
        }
        for position in 0..positions {
            starts[position + 1] += starts[position];
        }
        let mut next = starts.clone();
        let mut rungs = vec![Rung::default(); starts[positions] as usize];
        let mut rails = 0;
        for ladder in ladders {
            for at in 0..ladder.width * ladder.copies {
                let copy = at / ladder.width;
                let rank = if ladder.last_is_enough { ladder.copies - 1 - copy } else { copy };
                let place = &mut next[ladder.start + at];
                rungs[*place as usize] = Rung { rail: (rails + at % ladder.width) as u32, rank: rank as u32 };
                *place += 1;
            }
            rails += ladder.width;
        }
        Self { starts, rungs, best: vec![u32::MAX; rails], touched: Vec::new() }
    }

    /// Takes out of a set, one bit a position, what it can do without.
    ///
    /// Of several repeats around a place, each rung leads to a position that differs in the copy of one repeat only, and
    /// is better there. So there is no circle, and of what makes a position superfluous something stays.
    pub(super) fn prune(&mut self, set: &mut [u64]) {
        if self.rungs.is_empty() {
            return;
        }
        for position in positions(set) {
            for rung in &self.rungs[self.starts[position] as usize..self.starts[position + 1] as usize] {
                let best = &mut self.best[rung.rail as usize];
                if *best == u32::MAX {
                    self.touched.push(rung.rail);
                }
                *best = rung.rank.min(*best);
            }
        }
        for (index, word) in set.iter_mut().enumerate() {
            for position in positions(&[*word]) {
                let at = index * 64 + position;
                let rungs = &self.rungs[self.starts[at] as usize..self.starts[at + 1] as usize];
                if rungs.iter().any(|rung| rung.rank > self.best[rung.rail as usize]) {
                    *word &= !(1 << position);
                }
            }
        }
        self.touched.drain(..).for_each(|rail| self.best[rail as usize] = u32::MAX);
    }
}

/// The positions in a set.
fn positions(set: &[u64]) -> impl Iterator<Item = usize> {
    set.iter().enumerate().flat_map(|(index, &word)| {
        let mut bits = word;
        std::iter::from_fn(move || {
            let bit = (bits != 0).then(|| bits.trailing_zeros() as usize)?;
            bits &= bits - 1;
            Some(index * 64 + bit)
        })
    })
}

//! Merging of short parts, several at a time.
//!
//! Each merge waits for what the one before it found in memory. Parts do not depend on each other, so they take turns,
//! one merge each, and while one waits the others go on. A step has no branch that is hard to foretell.

use wide::f32x4;

use super::bpe;
use super::pairs::rank_of;
use super::tables::Tables;
use crate::token::TokenId;

/// The parts that are merged at the same time.
const LANES: usize = 4;
/// The most symbols of a part.
const SYMBOLS: usize = 16;
/// Symbols, and a place for what must not be written to one.
const PLACES: usize = 2 * SYMBOLS;
const NOWHERE: usize = SYMBOLS;

/// A part in the state between two merges.
struct Lane<N> {
    name: Option<N>,
    ids: [u32; PLACES],
    /// For each symbol a [`turn`]: that of the merge with the symbol after it. The greatest one comes next.
    turns: [f32; PLACES],
    /// The places where a symbol is.
    live: u32,
    len: usize,
}

/// The order of merges in one number: by priority, and of the same from left to right. Turns are compared as
/// floating-point numbers, for which every processor has an instruction: above [`NEVER`] the order of their bits is the
/// order of the numbers.
#[inline]
fn turn(priority: u32, place: usize) -> f32 {
    f32::from_bits(NEVER | priority << PLACE_BITS | (SYMBOLS - 1 - place % SYMBOLS) as u32)
}

const PLACE_BITS: u32 = SYMBOLS.trailing_zeros();
/// The turn of what does not merge, but for its place.
const NEVER: u32 = 1 << 30;

/// The tokens of a part.
pub(super) enum Merged<'m> {
    /// The first of these.
    Few(&'m [TokenId; SYMBOLS], usize),
    Many(&'m [TokenId]),
}

/// Gives the tokens of each part to `give` with the part's name, in any order.
pub(super) fn merge<'p, N>(
    tables: &Tables,
    mut parts: impl Iterator<Item = (N, &'p [u8])>,
    mut give: impl FnMut(N, Merged<'_>),
) {
    let mut lanes = [const { Lane::IDLE }; LANES];
    let mut busy = 0;
    while busy < LANES && lanes[busy].load_next(tables, &mut parts, &mut give) {
        busy += 1;
    }
    while busy > 0 {
        let mut at = 0;
        while at < busy {
            let lane = &mut lanes[at % LANES];
            if !lane.step(tables) {
                lane.finish(&mut give);
                if !lane.load_next(tables, &mut parts, &mut give) {
                    busy -= 1;
                    lanes.swap(at % LANES, busy % LANES);
                    continue;
                }
            }
            at += 1;
        }
    }
}

impl<N> Lane<N> {
    const IDLE: Self = Self { name: None, ids: [0; PLACES], turns: [0.0; PLACES], live: 0, len: 0 };

    /// Takes the next part that is short enough. Those that are not are merged on the way.
    fn load_next<'p>(
        &mut self,
        tables: &Tables,
        parts: &mut impl Iterator<Item = (N, &'p [u8])>,
        give: &mut impl FnMut(N, Merged<'_>),
    ) -> bool {
        for (name, part) in parts {
            if self.load(tables, part) {
                self.name = Some(name);
                return true;
            }
            let mut tokens = Vec::new();
            bpe::merge(tables, part, &mut tokens);
            give(name, Merged::Many(&tokens));
        }
        false
    }

    /// Takes a part. Returns false if it has too many symbols.
    fn load(&mut self, tables: &Tables, part: &[u8]) -> bool {
        if let Some(turns) = self.turns.first_chunk_mut() {
            *turns = [f32::from_bits(NEVER); SYMBOLS];
        }
        self.len = 0;
        if part.is_ascii() {
            if part.len() > SYMBOLS {
                return false;
            }
            for (id, byte) in self.ids.iter_mut().zip(part) {
                *id = tables.byte_ids[usize::from(*byte)];
            }
            for (place, (slot, pair)) in self.turns[..SYMBOLS].iter_mut().zip(part.windows(2)).enumerate() {
                *slot = turn(tables.pairs.priority_of_ascii(pair[0], pair[1]), place);
            }
            self.len = part.len();
        } else {
            if !tables.atoms.start(tables, part, |id| self.push(id)) {
                self.len = 0;
                part.iter().for_each(|byte| self.push(tables.byte_ids[usize::from(*byte)]));
            }
            if self.len > SYMBOLS {
                return false;
            }
            let ids = &self.ids[..self.len];
            for (place, (slot, pair)) in self.turns[..SYMBOLS].iter_mut().zip(ids.windows(2)).enumerate() {
                *slot = turn(tables.pairs.supposed_priority(pair[0], pair[1]), place);
            }
        }
        self.live = u32::MAX >> (PLACES - self.len);
        true
    }

    fn push(&mut self, id: u32) {
        self.ids[self.len % PLACES] = id;
        self.len += 1;
    }

    /// Merges once. Returns false if nothing merges.
    #[inline]
    fn step(&mut self, tables: &Tables) -> bool {
        let next = self.next();
        let priority = (next ^ NEVER) >> PLACE_BITS;
        if priority == 0 {
            return false;
        }
        let rank = rank_of(priority);
        let at = SYMBOLS - 1 - next as usize % SYMBOLS;
        let above = self.live & (u32::MAX - 1) << at;
        let gone = above.trailing_zeros() as usize % PLACES;
        if !tables.pairs.merges_at(rank, self.ids[at], self.ids[gone]) {
            self.turns[at] = f32::from_bits(NEVER);
            return true;
        }
        // The symbol after this one goes, and its neighbour on the right moves up. The first symbol never goes.
        let id = tables.result(rank);
        let above = above & above.wrapping_sub(1);
        let right = above.trailing_zeros() as usize % PLACES;
        let left = (self.live & ((1 << at) - 1) | 1).ilog2() as usize % PLACES;
        self.live &= !(1 << gone);
        self.ids[at] = id;
        let with_left = tables.pairs.supposed_priority(self.ids[left], id);
        let with_right = tables.pairs.supposed_priority(id, self.ids[right]);
        self.turns[gone] = f32::from_bits(NEVER);
        self.turns[at] = turn(if above == 0 { 0 } else { with_right }, at);
        self.turns[if at == 0 { NOWHERE } else { left }] = turn(with_left, left);
        true
    }

    /// The greatest turn.
    #[inline]
    fn next(&self) -> u32 {
        let (chunks, _) = self.turns[..SYMBOLS].as_chunks::<4>();
        let mut greatest = f32x4::ZERO;
        for chunk in chunks {
            greatest = greatest.fast_max(f32x4::new(*chunk));
        }
        let [a, b, c, d] = greatest.to_array();
        let (a, b) = (if a > b { a } else { b }, if c > d { c } else { d });
        (if a > b { a } else { b }).to_bits()
    }

    /// Gives the part's tokens.
    fn finish(&mut self, give: &mut impl FnMut(N, Merged<'_>)) {
        let Some(name) = self.name.take() else { return };
        let mut tokens = [TokenId(0); SYMBOLS];
        let mut count = 0;
        while self.live != 0 {
            tokens[count % SYMBOLS] = TokenId(self.ids[self.live.trailing_zeros() as usize % PLACES]);
            self.live &= self.live - 1;
            count += 1;
        }
        give(name, Merged::Few(&tokens, count));
    }
}

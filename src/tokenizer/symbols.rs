//! The symbols of a short part, while they merge.

use wide::f32x4;

use super::pairs::rank_of;
use super::tables::Tables;
use crate::token::TokenId;

/// At most `S` symbols, a power of two of at most 64, each at the place that it, or the first of what became it, had when merging began.
pub(super) struct Symbols<const S: usize> {
    ids: [u32; S],
    /// For each symbol the [`turn`] of the merge with the symbol after it.
    turns: [f32; S],
    /// The places where a symbol is.
    live: u64,
    len: usize,
}

/// A part at the front of a text.
#[derive(Clone, Copy)]
pub(super) struct Word<'t> {
    pub(super) text: &'t [u8],
    pub(super) len: usize,
}

impl<'t> Word<'t> {
    pub(super) fn bytes(self) -> &'t [u8] {
        &self.text[..self.len]
    }

    /// The part with what follows it, if it is ASCII and no longer than this.
    #[inline]
    fn ascii<const N: usize>(self) -> Option<[u8; N]> {
        let bytes = match self.text.first_chunk() {
            Some(bytes) => *bytes,
            None => {
                let mut bytes = [0; N];
                bytes[..self.text.len()].copy_from_slice(self.text);
                bytes
            }
        };
        let is_ascii = if let Some(front) = bytes.first_chunk()
            && N == 16
        {
            let beyond = u128::MAX.checked_shl(8 * self.len as u32).unwrap_or(0);
            u128::from_le_bytes(*front) & !beyond & u128::from_le_bytes([0x80; 16]) == 0
        } else {
            self.bytes().is_ascii()
        };
        is_ascii.then_some(bytes)
    }
}

/// The order of merges in one number, the greatest first: by priority, and of the same from left to right. Turns are
/// compared as floating-point numbers, for which every processor has an instruction: the order of these numbers is that
/// of their bits.
#[inline]
fn turn<const S: usize>(priority: u32, place: usize) -> f32 {
    f32::from_bits(NEVER | priority << S.trailing_zeros() | (S - 1 - place % S) as u32)
}

/// The turn of what does not merge, but for its place.
const NEVER: u32 = 1 << 30;

impl<const S: usize> Symbols<S> {
    pub(super) const NONE: Self = Self { ids: [0; S], turns: [f32::from_bits(NEVER); S], live: 0, len: 0 };

    /// Takes a part in place of another one. Returns false if it has no symbols or too many.
    #[inline]
    pub(super) fn take(&mut self, tables: &Tables, part: Word<'_>) -> bool {
        let is_opened = match part.len {
            0 => return false,
            1..=8 => part.ascii::<16>().is_some_and(|word| self.open::<8>(tables, &word, part.len)),
            9..=16 => part.ascii::<16>().is_some_and(|word| self.open::<16>(tables, &word, part.len)),
            17..=32 => part.ascii::<32>().is_some_and(|word| self.open::<32>(tables, &word, part.len)),
            33..=64 => part.ascii::<64>().is_some_and(|word| self.open::<64>(tables, &word, part.len)),
            // Characters have at most three bytes where they are one symbol.
            _ => return false,
        };
        if !is_opened {
            self.len = 0;
            let part = part.bytes();
            if !tables.atoms.start(tables, part, |id| self.push(id)) {
                self.len = 0;
                part.iter().for_each(|byte| self.push(tables.byte_ids[usize::from(*byte)]));
            }
        }
        let Some(ids) = self.ids.get(..self.len) else { return false };
        self.turns = [f32::from_bits(NEVER); S];
        for (place, (slot, pair)) in self.turns.iter_mut().zip(ids.windows(2)).enumerate() {
            *slot = turn::<S>(tables.pairs.priority(pair[0], pair[1]), place);
        }
        self.live = u64::MAX.checked_shr(64 - self.len as u32).unwrap_or(0);
        self.len > 0
    }

    /// Takes the symbols with which merging a word of ASCII may begin.
    #[inline]
    fn open<const N: usize>(&mut self, tables: &Tables, word: &[u8], len: usize) -> bool {
        let Some(word) = word.first_chunk::<N>() else { return false };
        let (ids, count) = tables.opening.symbols(tables, word, len);
        for (id, symbol) in self.ids.iter_mut().zip(ids) {
            *id = symbol;
        }
        self.len = count;
        true
    }

    fn push(&mut self, id: u32) {
        self.ids[self.len % S] = id;
        self.len += 1;
    }

    /// Merges once. Returns false if nothing merges. Without branches that are hard to foretell.
    #[inline]
    pub(super) fn merge(&mut self, tables: &Tables) -> bool {
        let next = self.next();
        let priority = (next ^ NEVER) >> S.trailing_zeros();
        if priority == 0 {
            return false;
        }
        let rank = rank_of(priority);
        let at = S - 1 - next as usize % S;
        let above = self.live & (u64::MAX - 1) << at;
        let gone = above.trailing_zeros() as usize % S;
        // The symbol after this one goes, and its neighbour on the right moves up. The first symbol never goes.
        let id = tables.pairs.result(rank);
        let above = above & above.wrapping_sub(1);
        let right = above.trailing_zeros() as usize % S;
        let left = (self.live & ((1 << at) - 1) | 1).ilog2() as usize % S;
        self.live &= !(1 << gone);
        self.ids[at] = id;
        let with_left = tables.pairs.priority(self.ids[left], id);
        let with_right = tables.pairs.priority(id, self.ids[right]);
        self.turns[gone] = f32::from_bits(NEVER);
        // Where no symbol is on the left, this place is that of the symbol itself.
        self.turns[left] = turn::<S>(with_left, left);
        self.turns[at] = turn::<S>(if above == 0 { 0 } else { with_right }, at);
        true
    }

    /// The greatest turn.
    #[inline]
    fn next(&self) -> u32 {
        let used = if S > 16 { self.len.next_multiple_of(16).min(S) } else { S };
        let (chunks, _) = self.turns[..used].as_chunks::<4>();
        let mut greatest = f32x4::ZERO;
        for chunk in chunks {
            greatest = greatest.fast_max(f32x4::new(*chunk));
        }
        let [a, b, c, d] = greatest.to_array().map(f32::to_bits);
        a.max(b).max(c.max(d))
    }

    /// The first tokens, and how many there are in all.
    #[inline]
    pub(super) fn front(&self) -> ([TokenId; 4], usize) {
        let mut live = self.live;
        let tokens = [(); 4].map(|()| {
            let id = self.ids[live.trailing_zeros() as usize % S];
            live &= live.wrapping_sub(1);
            TokenId(id)
        });
        (tokens, self.live.count_ones() as usize)
    }

    /// The tokens from the left; the first `count` are meant.
    #[inline]
    pub(super) fn tokens(&self) -> ([TokenId; S], usize) {
        let mut tokens = [TokenId(0); S];
        let (mut live, mut count) = (self.live, 0);
        while live != 0 {
            tokens[count % S] = TokenId(self.ids[live.trailing_zeros() as usize % S]);
            live &= live - 1;
            count += 1;
        }
        (tokens, count)
    }
}

//! Parts of text on their way through the word table.
//!
//! Whether a part stands at its first place in the table is decided without a branch, so that the processor
//! reads the table for many parts at once. What does not stand there is looked at when the batch is full.

use std::ops::Range;

use super::tables::Tables;
use super::words::Key;
use crate::token::TokenId;

/// A power of two, at most 256.
const PARTS: usize = 128;

/// Neighbouring parts, each of bytes that are encoded alone.
pub(super) struct Batch {
    len: usize,
    missed_len: usize,
    /// Where each part starts; the one after the last is where that ends.
    starts: [usize; PARTS + 1],
    /// The token of each part that is not missed.
    ids: [TokenId; PARTS],
    /// The places of the parts that were not found.
    missed: [u8; PARTS],
}

impl Batch {
    pub(super) fn new() -> Self {
        Self { len: 0, missed_len: 0, starts: [0; PARTS + 1], ids: [TokenId(0); PARTS], missed: [0; PARTS] }
    }

    /// How many parts can still be taken.
    #[inline]
    pub(super) fn room(&self) -> usize {
        PARTS - self.len
    }

    /// Takes a part of `len` bytes that `front` begins with.
    #[inline]
    pub(super) fn push(&mut self, tables: &Tables, front: &[u8; 16], start: usize, len: usize) {
        if len > Key::LONGEST {
            return self.add(0, false, start, len);
        }
        let (id, found) = tables.words.look(Key::of_front(front, len));
        self.add(id, found, start, len);
    }

    /// Takes a part whose token is known.
    #[inline]
    pub(super) fn push_known(&mut self, id: u32, start: usize, len: usize) {
        self.add(id, true, start, len);
    }

    #[inline]
    fn add(&mut self, id: u32, found: bool, start: usize, len: usize) {
        let at = self.len & (PARTS - 1);
        self.starts[at] = start;
        self.starts[at + 1] = start + len;
        self.ids[at] = TokenId(id);
        self.missed[self.missed_len & (PARTS - 1)] = at as u8;
        self.missed_len += usize::from(!found);
        self.len += 1;
    }

    /// The places of the parts that were not found, with their bytes' places.
    pub(super) fn missed(&self) -> impl Iterator<Item = (usize, Range<usize>)> {
        let missed = self.missed[..self.missed_len].iter().map(|at| usize::from(*at));
        missed.map(|at| (at, self.starts[at]..self.starts[at + 1]))
    }

    /// The tokens of all parts; meaningless for those that were missed.
    pub(super) fn ids(&self) -> &[TokenId] {
        &self.ids[..self.len]
    }

    pub(super) fn clear(&mut self) {
        self.len = 0;
        self.missed_len = 0;
    }
}

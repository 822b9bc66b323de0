//! Parts of text on their way through the word table.
//!
//! A part's entry of the table is read when the part is taken and looked at when the batch is resolved: the
//! processor waits for many such reads at once, and no branch waits for any.

use super::memo::{self, Memo};
use super::tables::Tables;
use super::words::{Entry, Key};
use crate::token::TokenId;

const PARTS: usize = 128;

/// Bytes that are encoded alone.
#[derive(Debug, Clone, Copy)]
pub(super) struct Part {
    /// Of no word if the part is longer than [`Key::LONGEST`].
    pub(super) key: Key,
    pub(super) hash: u64,
    pub(super) start: usize,
    pub(super) len: usize,
    entry: Entry,
}

const NO_PART: Part = Part { key: Key::EMPTY, hash: 0, start: 0, len: 0, entry: Entry::NONE };

/// Parts that wait for their ids, and what was found for them.
pub(super) struct Batch {
    parts: [Part; PARTS],
    len: usize,
    /// The token of each part that is a word.
    ids: [TokenId; PARTS],
    /// The places of the other parts.
    missed: [u8; PARTS],
    missed_len: usize,
    /// What is remembered where the missed parts would be, in their order.
    remembered: [memo::Entry; PARTS],
}

impl Batch {
    pub(super) fn new() -> Self {
        Self {
            parts: [NO_PART; PARTS],
            len: 0,
            ids: [TokenId(0); PARTS],
            missed: [0; PARTS],
            missed_len: 0,
            remembered: [memo::EMPTY; PARTS],
        }
    }

    /// How many parts can still be taken.
    #[inline]
    pub(super) fn room(&self) -> usize {
        PARTS - self.len
    }

    /// Takes a part of `len` bytes; `front` are the bytes from its start on.
    #[inline]
    pub(super) fn push(&mut self, tables: &Tables, front: &[u8; 16], start: usize, len: usize) {
        let part = if len <= Key::LONGEST {
            let key = Key::of_front(front, len);
            let hash = key.hash();
            Part { key, hash, start, len, entry: tables.words.first_entry(hash) }
        } else {
            Part { start, len, ..NO_PART }
        };
        self.parts[self.len & (PARTS - 1)] = part;
        self.len += 1;
    }

    /// Takes a part whose token is known.
    #[inline]
    pub(super) fn push_known(&mut self, id: u32) {
        self.parts[self.len & (PARTS - 1)] = Part { entry: Entry::new(Key::EMPTY, id), ..NO_PART };
        self.len += 1;
    }

    /// Looks at what was read for each part, and reads on for those that are not at their first place.
    pub(super) fn resolve(&mut self, memo: &Memo) {
        let mut missed_len = 0;
        for (at, part) in self.parts[..self.len].iter().enumerate() {
            self.ids[at] = TokenId(part.entry.id());
            self.missed[missed_len & (PARTS - 1)] = at as u8;
            missed_len += usize::from(!part.entry.is_of(part.key));
        }
        for (entry, at) in self.remembered.iter_mut().zip(&self.missed[..missed_len]) {
            *entry = memo.entry(self.parts[usize::from(*at)].hash);
        }
        self.missed_len = missed_len;
    }

    pub(super) fn missed(&self) -> impl Iterator<Item = (usize, &Part, &memo::Entry)> {
        let missed = self.missed[..self.missed_len].iter().zip(&self.remembered);
        missed.map(|(at, entry)| (usize::from(*at), &self.parts[usize::from(*at)], entry))
    }

    pub(super) fn ids(&self) -> &[TokenId] {
        &self.ids[..self.len]
    }

    pub(super) fn clear(&mut self) {
        self.len = 0;
    }
}

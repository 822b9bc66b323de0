//! Parts of a text on their way to their ids.
//!
//! What a part needs is read from memory for a whole batch at once, step by step, instead of waiting for one part
//! after the other: each step asks the processor for what the next one will read.

use super::memo::{Few, Memo};
use super::table::Seed;
use super::tables::Tables;
use super::words::{self, Key};
use crate::token::TokenId;

/// The most parts of a batch.
const PARTS: usize = 256;

/// Neighbouring parts of a text.
pub(super) struct Batch {
    len: usize,
    parts: [Part; PARTS],
    ids: [TokenId; Few::SIZE * PARTS],
    ids_len: usize,
    gaps: [Gap; PARTS],
    gaps_len: usize,
}

/// A part that is encoded on its own.
#[derive(Debug, Clone, Copy)]
pub(super) struct Part {
    /// Meaningless for parts that are too long for one.
    pub(super) key: Key,
    /// Of the key; when long parts are looked up, it becomes that of their bytes.
    pub(super) hash: u64,
    /// Where it starts in the text.
    start: usize,
    len: usize,
}

impl Part {
    const EMPTY: Self = Self { key: Key::EMPTY, hash: 0, start: 0, len: 0 };

    /// A part of `len` bytes that `front` begins with.
    #[inline]
    pub(super) fn new(front: &[u8; 16], start: usize, len: usize, seed: Seed) -> Self {
        let key = Key::of_front(front, len);
        Self { key, hash: key.hash(seed), start, len }
    }

    #[inline]
    pub(super) fn has_key(&self) -> bool {
        self.len <= Key::LONGEST
    }

    pub(super) fn bytes<'t>(&self, text: &'t [u8]) -> &'t [u8] {
        &text[self.start..self.start + self.len]
    }
}

/// A part whose ids are missing.
#[derive(Debug, Clone, Copy)]
pub(super) struct Gap {
    /// Which part it is, and how many of the ids come before it.
    part: u16,
    before: u16,
    /// Its tokens if they have been found, and whether the memory had them.
    tokens: Few,
    remembered: bool,
}

impl Batch {
    pub(super) fn new() -> Self {
        Self {
            len: 0,
            parts: [Part::EMPTY; PARTS],
            ids: [TokenId(0); Few::SIZE * PARTS],
            ids_len: 0,
            gaps: [Gap { part: 0, before: 0, tokens: Few::NONE, remembered: false }; PARTS],
            gaps_len: 0,
        }
    }

    /// Whether the batch is unable to take this many more parts.
    #[inline]
    pub(super) fn is_full(&self, parts: usize) -> bool {
        self.len + parts > PARTS
    }

    /// Takes a part, for which there must be room.
    #[inline]
    pub(super) fn push(&mut self, memo: &Memo, part: Part) {
        memo.prefetch(part.hash);
        self.parts[self.len % PARTS] = part;
        self.len += 1;
    }

    /// Finds the tokens of all parts that are words known or remembered; the others become gaps without tokens.
    pub(super) fn look_up(&mut self, tables: &Tables, memo: &mut Memo, text: &[u8]) {
        self.recall(memo);
        for gap in &mut self.gaps[..self.gaps_len] {
            let part = &mut self.parts[usize::from(gap.part) % PARTS];
            if !part.has_key() {
                part.hash = words::hash(part.bytes(text), tables.seed);
                memo.prefetch_long(part.hash);
                continue;
            }
            match memo.recall(part.key, part.hash) {
                Some(tokens) => (gap.tokens, gap.remembered) = (tokens, true),
                None => tables.words.prefetch(part.hash),
            }
        }
        for gap in &mut self.gaps[..self.gaps_len] {
            let part = &self.parts[usize::from(gap.part) % PARTS];
            if !gap.remembered && part.len <= Key::SHORT {
                let (id, is_known) = tables.words.look(part.key, part.hash);
                gap.tokens = Few::one(id, is_known);
            } else if !gap.remembered {
                gap.tokens = Few::NONE;
            }
        }
    }

    /// Takes the tokens of the parts that are at the first place of the memory; the others become gaps. This has
    /// no branches, because there is no foretelling which parts those are.
    fn recall(&mut self, memo: &Memo) {
        let (mut ids_len, mut gaps_len) = (0, 0);
        for (at, part) in self.parts[..self.len].iter().enumerate() {
            let (ids, count, is_known) = memo.first(part.key, part.hash);
            let is_known = is_known & part.has_key();
            let gap = &mut self.gaps[gaps_len % PARTS];
            (gap.part, gap.before, gap.remembered) = (at as u16, ids_len as u16, false);
            if let Some(place) = self.ids[ids_len..].first_chunk_mut() {
                *place = *ids;
            }
            ids_len += if is_known { count } else { 0 };
            gaps_len += usize::from(!is_known);
        }
        (self.ids_len, self.gaps_len) = (ids_len, gaps_len);
    }

    /// The gaps in order: the ids before each, the part, what was found for it, and whether that is new to the
    /// memory.
    pub(super) fn gaps(&self) -> impl Iterator<Item = (&[TokenId], &Part, &Few, bool)> {
        let mut from = 0;
        self.gaps[..self.gaps_len].iter().map(move |gap| {
            let to = usize::from(gap.before);
            let before = &self.ids[std::mem::replace(&mut from, to)..to];
            (before, &self.parts[usize::from(gap.part) % PARTS], &gap.tokens, !gap.remembered)
        })
    }

    /// The ids behind the last gap.
    pub(super) fn rest(&self) -> &[TokenId] {
        let from = self.gaps[..self.gaps_len].last().map_or(0, |gap| usize::from(gap.before));
        &self.ids[from..self.ids_len]
    }

    pub(super) fn clear(&mut self) {
        (self.len, self.ids_len, self.gaps_len) = (0, 0, 0);
    }
}

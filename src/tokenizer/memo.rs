//! The tokens of words that had to be merged, remembered by each thread.
//!
//! Words that are no token come again and again: names, identifiers, emoji. The memory is a table of fixed size
//! in which a newer word takes the place of an older one. Keys are whole words, so that a wrong entry cannot be.

use std::cell::Cell;

use super::words::Key;
use crate::token::TokenId;

/// The most tokens of a word that is remembered.
const TOKENS: usize = 4;
const SLOTS: usize = 1 << 14;
const NONE: TokenId = TokenId(u32::MAX);

/// A table of words and their tokens, for one vocabulary.
pub(super) struct Memo {
    /// The vocabulary's number: ids of another one would be wrong.
    owner: u64,
    entries: Box<[[Entry; 2]]>,
    long: Box<[LongEntry]>,
}

#[derive(Clone, Copy)]
struct Entry {
    key: Key,
    /// Filled up with [`NONE`].
    ids: [TokenId; TOKENS],
}

/// A word too long for a key, as far as it fits.
#[derive(Clone, Copy)]
struct LongEntry {
    /// The word's bytes, then zeros, then its length.
    word: [u8; LONGEST + 1],
    ids: [TokenId; LONG_TOKENS],
}

/// The longest word that is remembered, and the most tokens of one.
const LONGEST: usize = 31;
const LONG_TOKENS: usize = 8;
const LONG_SLOTS: usize = 1 << 13;
const LONG_EMPTY: LongEntry = LongEntry { word: [0; LONGEST + 1], ids: [NONE; LONG_TOKENS] };

impl LongEntry {
    /// A word with its length, unless it is too long.
    fn word(bytes: &[u8]) -> Option<[u8; LONGEST + 1]> {
        let mut word = [0; LONGEST + 1];
        word[..LONGEST].get_mut(..bytes.len())?.copy_from_slice(bytes);
        word[LONGEST] = bytes.len() as u8;
        Some(word)
    }
}

const EMPTY: Entry = Entry { key: Key::EMPTY, ids: [NONE; TOKENS] };

thread_local! {
    static LAST: Cell<Option<Memo>> = const { Cell::new(None) };
}

impl Memo {
    /// This thread's memory, empty if it belongs to another vocabulary. Give it back with [`Memo::keep`].
    pub(super) fn take(owner: u64) -> Self {
        match LAST.take() {
            Some(memo) if memo.owner == owner => memo,
            Some(mut memo) => {
                memo.owner = owner;
                memo.entries.fill([EMPTY; 2]);
                memo.long.fill(LONG_EMPTY);
                memo
            }
            None => Self {
                owner,
                entries: vec![[EMPTY; 2]; SLOTS].into_boxed_slice(),
                long: vec![LONG_EMPTY; LONG_SLOTS].into_boxed_slice(),
            },
        }
    }

    pub(super) fn keep(self) {
        LAST.set(Some(self));
    }

    /// The tokens of a word, if they are remembered.
    #[inline]
    pub(super) fn recall(&self, key: Key, hash: u64) -> Option<&[TokenId]> {
        let entries = &self.entries[Self::slot(hash)];
        let entry = entries.iter().find(|entry| entry.key == key)?;
        let len = entry.ids.iter().take_while(|id| **id != NONE).count();
        Some(&entry.ids[..len])
    }

    /// Remembers the tokens of a word, unless they are too many.
    pub(super) fn store(&mut self, key: Key, hash: u64, tokens: &[TokenId]) {
        if tokens.len() > TOKENS {
            return;
        }
        let [newer, older] = &mut self.entries[Self::slot(hash)];
        *older = *newer;
        *newer = Entry { key, ..EMPTY };
        for (id, token) in newer.ids.iter_mut().zip(tokens) {
            *id = *token;
        }
    }

    /// The tokens of a word that is too long for a key, if they are remembered.
    pub(super) fn recall_long(&self, word: &[u8], hash: u64) -> Option<&[TokenId]> {
        let entry = &self.long[hash as usize % LONG_SLOTS];
        if LongEntry::word(word)? != entry.word {
            return None;
        }
        let len = entry.ids.iter().take_while(|id| **id != NONE).count();
        Some(&entry.ids[..len])
    }

    /// Remembers the tokens of a word that is too long for a key, if both fit.
    pub(super) fn store_long(&mut self, word: &[u8], hash: u64, tokens: &[TokenId]) {
        let Some(word) = LongEntry::word(word).filter(|_| tokens.len() <= LONG_TOKENS) else { return };
        let entry = &mut self.long[hash as usize % LONG_SLOTS];
        *entry = LongEntry { word, ..LONG_EMPTY };
        for (id, token) in entry.ids.iter_mut().zip(tokens) {
            *id = *token;
        }
    }

    fn slot(hash: u64) -> usize {
        (hash as usize) & (SLOTS - 1)
    }
}

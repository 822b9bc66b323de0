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
}

#[derive(Clone, Copy)]
struct Entry {
    key: Key,
    /// Filled up with [`NONE`].
    ids: [TokenId; TOKENS],
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
                memo
            }
            None => Self { owner, entries: vec![[EMPTY; 2]; SLOTS].into_boxed_slice() },
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

    fn slot(hash: u64) -> usize {
        (hash as usize) & (SLOTS - 1)
    }
}

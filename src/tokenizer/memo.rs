//! The tokens of recent words, remembered by each thread.
//!
//! Text says the same words again and again, also where it was never seen before. The memory is small enough to
//! stay in the processor's second-level cache, where the tables of a whole vocabulary do not fit; a newer word
//! takes the place of an older one, but not of one that came again. Keys are whole words, so that a wrong entry cannot be.

use std::cell::Cell;

use super::batch::Part;
use super::table::prefetch;
use super::words::Key;
use crate::token::TokenId;

const BUCKETS: usize = 1 << 15;

/// A table of words and their tokens, for one vocabulary.
pub(super) struct Memo {
    /// The vocabulary's number: ids of another one would be wrong.
    owner: u64,
    buckets: Box<[Bucket; BUCKETS]>,
    long: Box<[LongEntry]>,
}

/// Two words with the same place; one line of the processor's cache. The first one came first or more than once: words
/// that come only once do not drive it out.
#[derive(Clone, Copy)]
#[repr(align(64))]
struct Bucket([Entry; 2]);

#[derive(Clone, Copy)]
struct Entry {
    /// The word, and the number of its tokens in the key's spare bits.
    key: Key,
    ids: [TokenId; Few::SIZE],
}

impl Entry {
    fn tokens(&self) -> Few {
        Few { ids: self.ids, len: self.key.spare() }
    }
}

/// A few tokens, copied as a whole, without a branch.
#[derive(Debug, Clone, Copy)]
pub(super) struct Few {
    pub(super) ids: [TokenId; Self::SIZE],
    len: u32,
}

impl Few {
    /// The most tokens.
    pub(super) const SIZE: usize = 4;
    pub(super) const NONE: Self = Self { ids: [TokenId(0); Self::SIZE], len: 0 };

    /// One token.
    pub(super) fn one(id: u32) -> Self {
        Self { ids: [TokenId(id), TokenId(0), TokenId(0), TokenId(0)], len: 1 }
    }

    /// So many of these tokens.
    #[inline]
    pub(super) fn of(tokens: [TokenId; Self::SIZE], count: usize) -> Self {
        Self { ids: tokens, len: count as u32 }
    }

    /// These tokens; more than a few go to a list of their own.
    pub(super) fn new(tokens: &[TokenId], many: &mut Vec<TokenId>) -> Self {
        let mut few = Self { len: tokens.len() as u32, ..Self::NONE };
        match few.ids.get_mut(..tokens.len()) {
            Some(ids) => ids.copy_from_slice(tokens),
            None => {
                few.ids[0] = TokenId(many.len() as u32);
                many.extend_from_slice(tokens);
            }
        }
        few
    }

    #[inline]
    pub(super) fn len(&self) -> usize {
        self.len as usize
    }

    /// The tokens, with the list that was given for them.
    #[inline]
    pub(super) fn as_slice<'f>(&'f self, many: &'f [TokenId]) -> &'f [TokenId] {
        match self.ids.get(..self.len()) {
            Some(ids) => ids,
            None => &many[self.ids[0].0 as usize..][..self.len()],
        }
    }
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
const NONE: TokenId = TokenId(u32::MAX);
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

const EMPTY: Bucket = Bucket([Entry { key: Key::EMPTY, ids: [TokenId(0); Few::SIZE] }; 2]);

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
                memo.buckets.fill(EMPTY);
                memo.long.fill(LONG_EMPTY);
                memo
            }
            None => Self { owner, buckets: buckets(), long: vec![LONG_EMPTY; LONG_SLOTS].into_boxed_slice() },
        }
    }

    pub(super) fn keep(self) {
        LAST.set(Some(self));
    }

    /// Soon the bucket of this hash will be read.
    #[inline]
    pub(super) fn prefetch(&self, hash: u64) {
        prefetch(&self.buckets[hash as usize % BUCKETS]);
    }

    /// Copies what is at the first place for a hash, where words nearly always are; says whether it is of this key, and
    /// leaves no tokens if not. Without branches.
    #[inline]
    pub(super) fn first(&self, key: Key, hash: u64, tokens: &mut Few) -> bool {
        let Bucket([first, _]) = &self.buckets[hash as usize % BUCKETS];
        let is_known = first.key.is_but_for_spare(key);
        tokens.ids = first.ids;
        tokens.len = if is_known { first.key.spare() } else { 0 };
        is_known
    }

    /// The tokens of a word, if it is in one of its two places; then it comes to the first one.
    pub(super) fn recall(&mut self, key: Key, hash: u64) -> Option<Few> {
        let Bucket([first, second]) = &mut self.buckets[hash as usize % BUCKETS];
        if second.key.is_but_for_spare(key) {
            std::mem::swap(first, second);
        }
        first.key.is_but_for_spare(key).then(|| first.tokens())
    }

    /// Remembers the tokens of a part of a text, unless there are too many.
    #[inline]
    pub(super) fn store(&mut self, part: &Part, text: &[u8], tokens: &Few, many: &[TokenId]) {
        if !part.has_key() {
            return self.store_long(part.bytes(text), part.hash, tokens.as_slice(many));
        }
        if tokens.len() <= Few::SIZE {
            let Bucket(entries) = &mut self.buckets[part.hash as usize % BUCKETS];
            let place = usize::from(entries[0].key != Key::EMPTY);
            entries[place] = Entry { key: part.key.with_spare(tokens.len), ids: tokens.ids };
        }
    }

    /// Soon the entry of a long word with this hash will be read.
    pub(super) fn prefetch_long(&self, hash: u64) {
        prefetch(&self.long[hash as usize % LONG_SLOTS]);
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

    /// Remembers the tokens of a word that is too long for a key, unless it does not fit here.
    fn store_long(&mut self, word: &[u8], hash: u64, tokens: &[TokenId]) {
        let Some(word) = LongEntry::word(word).filter(|_| tokens.len() <= LONG_TOKENS) else { return };
        let entry = &mut self.long[hash as usize % LONG_SLOTS];
        *entry = LongEntry { word, ..LONG_EMPTY };
        for (id, token) in entry.ids.iter_mut().zip(tokens) {
            *id = *token;
        }
    }
}

/// Empty buckets, made in place.
fn buckets() -> Box<[Bucket; BUCKETS]> {
    match vec![EMPTY; BUCKETS].into_boxed_slice().try_into() {
        Ok(buckets) => buckets,
        Err(_) => unreachable!("the list has this length"),
    }
}

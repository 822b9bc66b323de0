//! Parts of a text on their way to their ids.
//!
//! What a part needs is read from memory for a whole batch at once, step by step, instead of waiting for one part
//! after the other: each step asks the processor for what the next one will read.

use super::lanes::{self, Merged, Work};
use super::memo::{Few, Memo};
use super::symbols::Word;
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
    /// The tokens of each part, as far as they have been found.
    tokens: [Few; PARTS],
    /// The tokens of parts that have more than a few.
    many: Vec<TokenId>,
    /// Which parts are without tokens.
    gaps: [u16; PARTS],
    gaps_len: usize,
}

/// A part that is encoded on its own.
#[derive(Debug, Clone, Copy)]
pub(super) struct Part {
    /// Meaningless for parts that are too long for one.
    pub(super) key: Key,
    /// Of the key; when long parts are looked up, it becomes that of their bytes.
    pub(super) hash: u64,
    /// Where it starts in the text; of parts without bytes it is their token.
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

    /// A part that is a token already.
    pub(super) fn special(id: TokenId) -> Self {
        Self { key: Key::NONE, hash: 0, start: id.0 as usize, len: 0 }
    }

    #[inline]
    pub(super) fn has_key(&self) -> bool {
        self.len <= Key::LONGEST
    }

    pub(super) fn bytes<'t>(&self, text: &'t [u8]) -> &'t [u8] {
        &text[self.start..self.start + self.len]
    }
}

impl Batch {
    pub(super) fn new() -> Self {
        Self {
            len: 0,
            parts: [Part::EMPTY; PARTS],
            tokens: [Few::NONE; PARTS],
            many: Vec::new(),
            gaps: [0; PARTS],
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

    /// Finds the tokens of all parts.
    pub(super) fn encode(&mut self, tables: &Tables, memo: &mut Memo, text: &[u8]) {
        self.recall(memo);
        self.recall_again(tables, memo, text);
        self.look_up(tables, memo, text);
        if self.gaps_len > 0 {
            lanes::merge(tables, &mut Gaps { batch: self, next: 0, memo, text });
        }
    }

    /// The tokens of the parts, after [`Batch::encode`], and those of parts that have more than a few.
    pub(super) fn tokens(&self) -> (&[Few], &[TokenId]) {
        (&self.tokens[..self.len], &self.many)
    }

    /// Finds the parts that are at the first place of the memory; the others become gaps. This has no branches, because
    /// there is no foretelling which parts those are.
    fn recall(&mut self, memo: &Memo) {
        let mut gaps_len = 0;
        for (at, (part, tokens)) in self.parts[..self.len].iter().zip(&mut self.tokens).enumerate() {
            let is_known = memo.first(part.key, part.hash, tokens);
            self.gaps[gaps_len % PARTS] = at as u16;
            gaps_len += usize::from(!is_known);
        }
        self.gaps_len = gaps_len;
    }

    /// Finds the gaps that are at another place of the memory, and asks for what it takes to look up the others.
    fn recall_again(&mut self, tables: &Tables, memo: &mut Memo, text: &[u8]) {
        self.retain_gaps(|_, part, tokens| {
            if part.len == 0 {
                *tokens = Few::one(part.start as u32);
                return false;
            }
            if !part.has_key() {
                part.hash = words::hash(part.bytes(text), tables.seed);
                memo.prefetch_long(part.hash);
                return true;
            }
            match memo.recall(part.key, part.hash) {
                Some(found) => *tokens = found,
                None => tables.words.prefetch(part.hash),
            }
            tokens.len() == 0
        });
    }

    /// Finds the gaps that the vocabulary knows.
    fn look_up(&mut self, tables: &Tables, memo: &mut Memo, text: &[u8]) {
        self.retain_gaps(|many, part, tokens| {
            let known = if part.len <= Key::SHORT {
                tables.words.find_short(part.key, part.hash)
            } else {
                let word = part.bytes(text);
                let hash = if part.has_key() { words::hash(word, tables.seed) } else { part.hash };
                if !part.has_key()
                    && let Some(found) = memo.recall_long(word, hash)
                {
                    *tokens = Few::new(found, many);
                    return false;
                }
                tables.words.find_long(tables, word, hash)
            };
            if let Some(id) = known {
                *tokens = Few::one(id);
                memo.store(part, text, tokens, &[]);
            }
            known.is_none()
        });
    }

    /// Keeps the gaps for which this is true.
    fn retain_gaps(&mut self, mut is_gap: impl FnMut(&mut Vec<TokenId>, &mut Part, &mut Few) -> bool) {
        let mut len = 0;
        for gap in 0..self.gaps_len {
            let at = self.gaps[gap % PARTS];
            let place = usize::from(at) % PARTS;
            let stays = is_gap(&mut self.many, &mut self.parts[place], &mut self.tokens[place]);
            self.gaps[len % PARTS] = at;
            len += usize::from(stays);
        }
        self.gaps_len = len;
    }

    pub(super) fn clear(&mut self) {
        (self.len, self.gaps_len) = (0, 0);
        self.many.clear();
    }
}

/// The gaps of a batch, to be merged.
struct Gaps<'b> {
    batch: &'b mut Batch,
    next: usize,
    memo: &'b mut Memo,
    text: &'b [u8],
}

impl Work for Gaps<'_> {
    type Name = usize;

    fn next(&mut self) -> Option<(usize, Word<'_>)> {
        while self.next < self.batch.gaps_len {
            let at = usize::from(self.batch.gaps[self.next % PARTS]) % PARTS;
            self.next += 1;
            let part = &self.batch.parts[at];
            // A word that is new often comes more than once.
            let known = if part.has_key() {
                self.memo.recall(part.key, part.hash)
            } else {
                let found = self.memo.recall_long(part.bytes(self.text), part.hash);
                found.map(|tokens| Few::new(tokens, &mut self.batch.many))
            };
            match known {
                Some(tokens) => self.batch.tokens[at] = tokens,
                None => return Some((at, Word { text: &self.text[part.start..], len: part.len })),
            }
        }
        None
    }

    fn give(&mut self, at: usize, merged: Merged<'_>) {
        let Batch { parts, tokens, many, .. } = &mut *self.batch;
        let found = match merged {
            Merged::Few(tokens, count) => Few::of(tokens, count),
            Merged::Many(tokens) => Few::new(tokens, many),
        };
        self.memo.store(&parts[at % PARTS], self.text, &found, many);
        tokens[at % PARTS] = found;
    }
}

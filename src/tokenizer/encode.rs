//! The way from text to ids.
//!
//! Text is cut into parts that encode alone: pre-tokens, and their pieces where [`links`](super::links) allows.
//! Nearly all parts were seen shortly before by the same thread, which remembers their tokens; of the others the
//! vocabulary knows most as words, and the rest is merged.

use super::Tokenizer;
use super::batch::{Batch, Part};
use super::bpe;
use super::memo::{Few, Memo};
use super::pretokenize::first_len;
use super::scan::{self, READ, WINDOW};
use super::tables::Tables;
use super::utf8::Utf8;
use super::words::{self, Key};
use crate::token::TokenId;

/// Takes the ids of a text in order.
pub(super) trait Sink {
    fn extend(&mut self, ids: &[TokenId]);

    /// Whether enough ids came; the rest of the text is then not encoded.
    fn is_full(&self) -> bool {
        false
    }
}

impl Sink for Vec<TokenId> {
    #[inline]
    fn extend(&mut self, ids: &[TokenId]) {
        self.extend_from_slice(ids);
    }
}

/// Counts ids up to a limit.
pub(super) struct Counter {
    pub(super) count: usize,
    pub(super) limit: usize,
}

impl Sink for Counter {
    #[inline]
    fn extend(&mut self, ids: &[TokenId]) {
        self.count += ids.len();
    }

    fn is_full(&self) -> bool {
        self.count > self.limit
    }
}

/// One thread's encoder.
pub(super) struct Encoder<'t> {
    tables: &'t Tables,
    memo: Memo,
    batch: Batch,
    merged: Vec<TokenId>,
    #[cfg(feature = "hf")]
    wrapped: Option<&'t super::hf::Wrapped>,
}

impl<'t> Encoder<'t> {
    pub(super) fn new(tokenizer: &'t Tokenizer) -> Self {
        let tables = &*tokenizer.tables;
        Self {
            tables,
            memo: Memo::take(tables.number),
            batch: Batch::new(),
            merged: Vec::new(),
            #[cfg(feature = "hf")]
            wrapped: tokenizer.wrapped.as_deref(),
        }
    }

    /// Keeps what was learned for this thread's next encoder.
    pub(super) fn finish(self) {
        self.memo.keep();
    }

    /// Gives the ids of a text to a sink.
    pub(super) fn encode(&mut self, text: &str, sink: &mut impl Sink) {
        #[cfg(feature = "hf")]
        if let Some(wrapped) = self.wrapped {
            return wrapped.encode(text, sink);
        }
        let mut at = 0;
        while at < text.len() && !sink.is_full() {
            if self.batch.is_full(WINDOW) {
                self.flush(text, sink);
            }
            let advanced = self.window(text.as_bytes(), at);
            at += advanced;
            if advanced == 0 {
                let len = first_len(&text[at..]);
                self.piece(text, at, at + len, sink);
                at += len;
            }
        }
        self.flush(text, sink);
    }

    /// Takes the parts from a place on whose ends are certain; gives their length.
    fn window(&mut self, text: &[u8], at: usize) -> usize {
        if !self.tables.unmerged.is_empty() {
            return 0;
        }
        let rest = &text[at..];
        let mut padded = [0; READ];
        let window: &[u8; READ] = match rest.first_chunk() {
            Some(window) => window,
            None => {
                padded[..rest.len()].copy_from_slice(rest);
                &padded
            }
        };
        // The first place is the start of the window itself.
        let mut starts = scan::starts(window, rest.len().min(WINDOW), &self.tables.links) & !1;
        let mut from = 0;
        while starts != 0 {
            let to = starts.trailing_zeros() as usize;
            starts &= starts - 1;
            let front = window[from % WINDOW..].first_chunk().unwrap_or(&[0; 16]);
            let part = Part::new(front, at + from, to - from, self.tables.seed);
            self.batch.push(&self.memo, part);
            from = to;
        }
        from
    }

    /// Takes one pre-token.
    fn piece(&mut self, text: &str, from: usize, to: usize, sink: &mut impl Sink) {
        let bytes = text.as_bytes();
        if !self.tables.unmerged.is_empty()
            && let Some(id) = self.tables.unmerged.get(&bytes[from..to])
        {
            self.flush(text, sink);
            return sink.extend(&[TokenId(*id)]);
        }
        let mut start = from;
        let mut left: Option<Utf8> = None;
        for (at, right) in text[from..to].char_indices() {
            let (at, right) = (from + at, Utf8::from(right));
            if left.is_some_and(|left| !self.tables.links.linked(left, right)) {
                self.part(text, start, at, sink);
                start = at;
            }
            left = Some(right);
        }
        self.part(text, start, to, sink);
    }

    /// Takes a part of a pre-token that no merge leaves.
    fn part(&mut self, text: &str, from: usize, to: usize, sink: &mut impl Sink) {
        if self.batch.is_full(1) {
            self.flush(text, sink);
        }
        let part = match text.as_bytes()[from..].first_chunk() {
            Some(front) => Part::new(front, from, to - from, self.tables.seed),
            None => {
                let mut front = [0; 16];
                front[..text.len() - from].copy_from_slice(&text.as_bytes()[from..]);
                Part::new(&front, from, to - from, self.tables.seed)
            }
        };
        self.batch.push(&self.memo, part);
    }

    /// Gives the ids of the parts that were taken.
    fn flush(&mut self, text: &str, sink: &mut impl Sink) {
        let Self { tables, memo, batch, merged, .. } = self;
        batch.look_up(tables, memo, text.as_bytes());
        for (before, part, tokens, is_new) in batch.gaps() {
            sink.extend(before);
            if tokens.len() > 0 {
                sink.extend(tokens.as_slice());
                if is_new {
                    memo.insert(part.key, part.hash, *tokens);
                }
                continue;
            }
            merged.clear();
            let word = part.bytes(text.as_bytes());
            if part.has_key() {
                encode_short(tables, memo, part, word, merged);
            } else {
                encode_long(tables, memo, part.hash, word, merged);
            }
            sink.extend(merged);
        }
        sink.extend(batch.rest());
        batch.clear();
    }
}

/// Encodes a part that, when the batch was complete, was neither at its first place in the vocabulary nor in a
/// bucket of the memory.
#[inline(never)]
fn encode_short(tables: &Tables, memo: &mut Memo, part: &Part, word: &[u8], out: &mut Vec<TokenId>) {
    // It may have come earlier in the batch.
    if let Some(tokens) = memo.recall(part.key, part.hash) {
        return out.extend_from_slice(tokens.as_slice());
    }
    let known = if word.len() <= Key::SHORT {
        tables.words.find_short(part.key, part.hash)
    } else {
        tables.words.find_long(tables, word, words::hash(word, tables.seed))
    };
    match known {
        Some(id) => out.push(TokenId(id)),
        None => bpe::merge(tables, word, out),
    }
    if let Some(tokens) = Few::new(out) {
        memo.insert(part.key, part.hash, tokens);
    }
}

/// Encodes a part that is too long for a key.
#[inline(never)]
fn encode_long(tables: &Tables, memo: &mut Memo, hash: u64, word: &[u8], out: &mut Vec<TokenId>) {
    if let Some(ids) = memo.recall_long(word, hash) {
        return out.extend_from_slice(ids);
    }
    match tables.words.find_long(tables, word, hash) {
        Some(id) => out.push(TokenId(id)),
        None => bpe::merge(tables, word, out),
    }
    memo.store_long(word, hash, out);
}

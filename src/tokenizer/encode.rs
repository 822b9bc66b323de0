//! The way from text to ids.
//!
//! Text is cut into parts that encode alone: pre-tokens, and their pieces where [`links`](super::links) allows.
//! Nearly all parts were seen shortly before by the same thread, which remembers their tokens; of the others the
//! vocabulary knows most as words, and the rest is merged.

use std::ops::Range;

use super::Tokenizer;
use super::batch::{Batch, Part};
use super::memo::{Few, Memo};
use super::pretokenize::first_len;
use super::scan::{self, READ, WINDOW};
use super::tables::Tables;
use super::utf8::Utf8;
use crate::token::TokenId;

/// Takes the ids of a text in order.
pub(super) trait Sink {
    fn push(&mut self, id: TokenId);

    /// Takes the tokens of some parts, with the list of those that are more than a few.
    fn extend_few(&mut self, parts: &[Few], many: &[TokenId]);

    /// Whether enough ids came; the rest of the text is then not encoded.
    fn is_full(&self) -> bool {
        false
    }
}

impl Sink for Vec<TokenId> {
    fn push(&mut self, id: TokenId) {
        self.push(id);
    }

    /// Each time all ids are copied that a part may have, and the next part writes over those that it has not: there is
    /// no foretelling how many they are.
    fn extend_few(&mut self, parts: &[Few], many: &[TokenId]) {
        // Few at a time: what is written twice is in the nearest cache then.
        for parts in parts.chunks(32) {
            let mut len = self.len();
            self.resize(len + parts.len() * Few::SIZE, TokenId(0));
            for (at, few) in parts.iter().enumerate() {
                if few.len() > Few::SIZE {
                    self.truncate(len);
                    self.extend_from_slice(few.as_slice(many));
                    self.resize(len + few.len() + (parts.len() - at) * Few::SIZE, TokenId(0));
                } else if let Some(place) = self[len..].first_chunk_mut() {
                    *place = few.ids;
                }
                len += few.len();
            }
            self.truncate(len);
        }
    }
}

/// Counts ids up to a limit.
pub(super) struct Counter {
    pub(super) count: usize,
    pub(super) limit: usize,
}

impl Sink for Counter {
    fn push(&mut self, _: TokenId) {
        self.count += 1;
    }

    fn extend_few(&mut self, parts: &[Few], _: &[TokenId]) {
        self.count += parts.iter().map(Few::len).sum::<usize>();
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
        self.take(text, 0..text.len(), sink);
        self.flush(text, sink);
    }

    /// Takes a stretch of a text that is encoded on its own. What is taken goes to the sink by and by, the last of it with
    /// [`Encoder::flush`]; until then it must be of the same text.
    pub(super) fn take(&mut self, text: &str, stretch: Range<usize>, sink: &mut impl Sink) {
        #[cfg(feature = "hf")]
        if let Some(wrapped) = self.wrapped {
            return wrapped.encode(&text[stretch], sink);
        }
        let mut at = stretch.start;
        while at < stretch.end && !sink.is_full() {
            if self.batch.is_full(WINDOW) {
                self.flush(text, sink);
            }
            let advanced = self.window(text.as_bytes(), at, stretch.end);
            at += advanced;
            if advanced == 0 {
                let len = first_len(&text[at..stretch.end]);
                self.piece(text, at, at + len, sink);
                at += len;
            }
        }
    }

    /// Takes a token between two stretches of a text.
    pub(super) fn special(&mut self, id: TokenId, text: &str, sink: &mut impl Sink) {
        #[cfg(feature = "hf")]
        if self.wrapped.is_some() {
            return sink.push(id);
        }
        if self.batch.is_full(1) {
            self.flush(text, sink);
        }
        self.batch.push(&self.memo, Part::special(id));
    }

    /// Takes the parts from a place on whose ends are certain, in a stretch with this end; gives their length.
    fn window(&mut self, text: &[u8], at: usize, end: usize) -> usize {
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
        let len = (end - at).min(WINDOW);
        let (starts, is_whole) = scan::starts(window, len, &self.tables.links);
        // The first place is the start of the window itself.
        let mut starts = starts & !1;
        let mut from = 0;
        let mut take = |to| {
            let front = window[from % WINDOW..].first_chunk().unwrap_or(&[0; 16]);
            let part = Part::new(front, at + from, to - from, self.tables.seed);
            self.batch.push(&self.memo, part);
            from = to;
        };
        while starts != 0 {
            take(starts.trailing_zeros() as usize);
            starts &= starts - 1;
        }
        if is_whole && at + len == end {
            take(len);
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
            return sink.push(TokenId(*id));
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
    pub(super) fn flush(&mut self, text: &str, sink: &mut impl Sink) {
        self.batch.encode(self.tables, &mut self.memo, text.as_bytes());
        let (tokens, many) = self.batch.tokens();
        sink.extend_few(tokens, many);
        self.batch.clear();
    }
}

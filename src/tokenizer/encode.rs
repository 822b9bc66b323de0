//! The way from text to ids.
//!
//! Text is cut into parts that encode alone: pre-tokens, and their pieces where [`links`](super::links) allows.
//! Nearly all parts are words, whose token a table knows; the rest is remembered or merged. Parts go through in
//! batches, so that the table is read for many of them at once instead of waiting for each.

use std::ops::Range;

use super::batch::Batch;
use super::bpe;
use super::classes::{CJK, LETTER, class_of};
use super::memo::Memo;
use super::pretokenize::first_len;
use super::scan::{self, WINDOW};
use super::tables::Tables;
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
        // Mostly a handful: a call to copy memory would take longer.
        ids.iter().for_each(|id| self.push(*id));
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

/// A window, and what a key of its last byte reads behind it.
const READ: usize = WINDOW + 16;

/// One thread's encoder.
pub(super) struct Encoder<'t> {
    tables: &'t Tables,
    memo: Memo,
    batch: Batch,
    merged: Vec<TokenId>,
}

impl<'t> Encoder<'t> {
    pub(super) fn new(tables: &'t Tables) -> Self {
        Self { tables, memo: Memo::take(tables.number), batch: Batch::new(), merged: Vec::new() }
    }

    /// Keeps what was learned for this thread's next encoder.
    pub(super) fn finish(self) {
        self.memo.keep();
    }

    /// Gives the ids of a text to a sink.
    pub(super) fn encode(&mut self, text: &str, sink: &mut impl Sink) {
        let mut at = 0;
        while at < text.len() && !sink.is_full() {
            if self.batch.room() < WINDOW {
                self.flush(text, sink);
            }
            let first = text.as_bytes()[at];
            let advanced = match first {
                0..0x80 => self.window(text.as_bytes(), at),
                0xE3..=0xE9 => self.cjk(text, at, sink),
                _ => 0,
            };
            at += advanced;
            if advanced == 0 {
                let len = first_len(&text[at..]);
                self.piece(text, at, at + len, sink);
                at += len;
            }
        }
        self.flush(text, sink);
    }

    /// Takes the ASCII pre-tokens from a place on whose ends are certain; gives their length.
    fn window(&mut self, text: &[u8], at: usize) -> usize {
        let rest = &text[at..];
        let mut padded = [0; READ];
        let window: &[u8; READ] = match rest.first_chunk() {
            Some(window) => window,
            None => {
                padded[..rest.len()].copy_from_slice(rest);
                &padded
            }
        };
        let Some(front) = window.first_chunk::<WINDOW>() else { return 0 };
        if window[..8].iter().any(|byte| *byte >= 0x80) || !self.tables.unmerged.is_empty() {
            return 0;
        }
        let masks = scan::masks(front);
        let known = masks.ascii_len().min(rest.len().min(WINDOW) as u32);
        // The first place is the start of the window itself.
        let mut starts = masks.starts(known) & !1;
        let mut from = 0;
        while starts != 0 {
            let to = starts.trailing_zeros() as usize;
            starts &= starts - 1;
            let front = window[from % WINDOW..].first_chunk().unwrap_or(&[0; 16]);
            self.batch.push(self.tables, front, at + from, to - from);
            from = to;
        }
        from
    }

    /// Takes a pre-token of CJK letters; gives its length, or zero if there is none.
    fn cjk(&mut self, text: &str, from: usize, sink: &mut impl Sink) -> usize {
        let (tables, bytes) = (self.tables, text.as_bytes());
        if !tables.unmerged.is_empty() {
            return 0;
        }
        let Some(mut left) = cjk_letter(bytes, from) else { return 0 };
        let (mut start, mut at) = (from, from + CJK_LEN);
        while let Some(right) = cjk_letter(bytes, at) {
            if !tables.links.linked(left, right, bytes[at - 1], bytes[at]) {
                self.cjk_part(text, start, at, left, sink);
                start = at;
            }
            left = right;
            at += CJK_LEN;
        }
        self.cjk_part(text, start, at, left, sink);
        at - from
    }

    /// Takes a part of CJK letters, of which `last` is the last.
    #[inline]
    fn cjk_part(&mut self, text: &str, from: usize, to: usize, last: char, sink: &mut impl Sink) {
        if to - from == CJK_LEN
            && let Some(id) = self.tables.atoms.get(last)
        {
            if self.batch.room() == 0 {
                self.flush(text, sink);
            }
            return self.batch.push_known(id, from, CJK_LEN);
        }
        self.part(text, from, to, sink);
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
        let mut left: Option<char> = None;
        for (at, right) in text[from..to].char_indices() {
            let at = from + at;
            if let Some(left) = left
                && !self.tables.links.linked(left, right, bytes[at - 1], bytes[at])
            {
                self.part(text, start, at, sink);
                start = at;
            }
            left = Some(right);
        }
        self.part(text, start, to, sink);
    }

    /// Takes a part of a pre-token that no merge leaves.
    fn part(&mut self, text: &str, from: usize, to: usize, sink: &mut impl Sink) {
        if self.batch.room() == 0 {
            self.flush(text, sink);
        }
        let bytes = text.as_bytes();
        match bytes[from..].first_chunk() {
            Some(front) => self.batch.push(self.tables, front, from, to - from),
            None => {
                let mut front = [0; 16];
                front[..bytes.len() - from].copy_from_slice(&bytes[from..]);
                self.batch.push(self.tables, &front, from, to - from);
            }
        }
    }

    /// Gives the ids of the parts that were taken.
    fn flush(&mut self, text: &str, sink: &mut impl Sink) {
        let Self { tables, memo, batch, merged } = self;
        let mut from = 0;
        for (at, span) in batch.missed() {
            sink.extend(&batch.ids()[from..at]);
            from = at + 1;
            let word = &text.as_bytes()[span.clone()];
            if word.len() > Key::LONGEST {
                let hash = words::hash(word);
                match memo.recall_long(word, hash) {
                    Some(ids) => sink.extend(ids),
                    None => {
                        merged.clear();
                        encode_long(tables, word, hash, merged);
                        memo.store_long(word, hash, merged);
                        sink.extend(merged);
                    }
                }
                continue;
            }
            let key = key_at(text.as_bytes(), span);
            let hash = key.hash();
            match memo.recall(key, hash) {
                Some(ids) => sink.extend(ids),
                None => {
                    merged.clear();
                    encode_rare(tables, key, hash, word, merged);
                    memo.store(key, hash, merged);
                    sink.extend(merged);
                }
            }
        }
        sink.extend(&batch.ids()[from..]);
        batch.clear();
    }
}

/// The key of a word at a place of a text.
fn key_at(text: &[u8], span: Range<usize>) -> Key {
    match text[span.start..].first_chunk() {
        Some(front) => Key::of_front(front, span.len()),
        None => {
            let mut front = [0; 16];
            front[..span.len()].copy_from_slice(&text[span.clone()]);
            Key::of_front(&front, span.len())
        }
    }
}

/// Encodes a part that is neither at its first place in the table nor remembered.
#[inline(never)]
fn encode_rare(tables: &Tables, key: Key, hash: u64, word: &[u8], out: &mut Vec<TokenId>) {
    if word.len() > Key::SHORT {
        return encode_long(tables, word, words::hash(word), out);
    }
    match tables.words.find_short(key, hash) {
        Some(id) => out.push(TokenId(id)),
        None => bpe::merge(tables, word, out),
    }
}

#[inline(never)]
fn encode_long(tables: &Tables, word: &[u8], hash: u64, out: &mut Vec<TokenId>) {
    match tables.words.find_long(tables, word, hash) {
        Some(id) => out.push(TokenId(id)),
        None => bpe::merge(tables, word, out),
    }
}

/// The bytes of a character of the CJK class; the first one is 0xE3 to 0xE9.
const CJK_LEN: usize = 3;

/// The CJK letter at a place.
#[inline]
fn cjk_letter(text: &[u8], at: usize) -> Option<char> {
    let &[a @ 0xE3..=0xE9, b, c] = text.get(at..)?.first_chunk::<CJK_LEN>()? else { return None };
    let code = u32::from(a & 0x0F) << 12 | u32::from(b & 0x3F) << 6 | u32::from(c & 0x3F);
    let char = char::from_u32(code)?;
    // The ideographs are all letters.
    (matches!(char, '一'..='龥') || class_of(char) == CJK | LETTER).then_some(char)
}

//! The way from text to ids: pre-tokens by windows of ASCII or by character, whole words by table, the rest by
//! merging.

use super::bpe;
use super::memo::Memo;
use super::pretokenize::first_len;
use super::scan::{self, WINDOW};
use super::tables::Tables;
use super::words::Key;
use crate::token::TokenId;

/// Takes the ids of a text in order.
pub(super) trait Sink {
    fn push(&mut self, id: u32);

    /// Whether enough ids came; the rest of the text is then not encoded.
    fn is_full(&self) -> bool {
        false
    }
}

impl Sink for Vec<TokenId> {
    #[inline]
    fn push(&mut self, id: u32) {
        self.push(TokenId(id));
    }
}

/// Counts ids up to a limit.
pub(super) struct Counter {
    pub(super) count: usize,
    pub(super) limit: usize,
}

impl Sink for Counter {
    #[inline]
    fn push(&mut self, _: u32) {
        self.count += 1;
    }

    fn is_full(&self) -> bool {
        self.count > self.limit
    }
}

/// A window and what a key of its last byte reads behind it.
const READ: usize = WINDOW + 16;

/// One thread's encoder.
pub(super) struct Encoder<'t> {
    tables: &'t Tables,
    memo: Memo,
    merged: Vec<TokenId>,
}

impl<'t> Encoder<'t> {
    pub(super) fn new(tables: &'t Tables) -> Self {
        Self { tables, memo: Memo::take(tables.number), merged: Vec::new() }
    }

    /// Keeps what was learned for this thread's next encoder.
    pub(super) fn finish(self) {
        self.memo.keep();
    }

    /// Gives the ids of a text to a sink.
    pub(super) fn encode(&mut self, text: &str, sink: &mut impl Sink) {
        let bytes = text.as_bytes();
        let mut at = 0;
        while at < bytes.len() && !sink.is_full() {
            let advanced = self.window(&bytes[at..], sink);
            at += advanced;
            if advanced == 0 {
                let piece = &text[at..at + first_len(&text[at..])];
                self.piece(piece, sink);
                at += piece.len();
            }
        }
    }

    /// Encodes the ASCII pre-tokens at the front of a text whose ends are certain; gives their length.
    fn window(&mut self, text: &[u8], sink: &mut impl Sink) -> usize {
        let mut padded = [0; READ];
        let window: &[u8; READ] = match text.first_chunk() {
            Some(window) => window,
            None => {
                padded[..text.len()].copy_from_slice(text);
                &padded
            }
        };
        let Some(front) = window.first_chunk::<WINDOW>() else { return 0 };
        if window[..8].iter().any(|byte| *byte >= 0x80) || !self.tables.unmerged.is_empty() {
            return 0;
        }
        let masks = scan::masks(front);
        let known = masks.ascii_len().min(text.len().min(WINDOW) as u32);
        // The first place is the start of the window itself.
        let mut starts = masks.starts(known) & !1;
        let mut from = 0;
        while starts != 0 {
            let to = starts.trailing_zeros() as usize;
            starts &= starts - 1;
            let len = to - from;
            if len <= Key::LONGEST {
                let front = window[from..].first_chunk().unwrap_or(&[0; 16]);
                let key = Key::of_front(front, len);
                self.word(key, &window[from..to], sink);
            } else {
                self.long_word(&window[from..to], sink);
            }
            from = to;
        }
        from
    }

    /// Encodes one pre-token.
    fn piece(&mut self, piece: &str, sink: &mut impl Sink) {
        if !self.tables.unmerged.is_empty()
            && let Some(id) = self.tables.unmerged.get(piece.as_bytes())
        {
            return sink.push(*id);
        }
        if piece.is_ascii() {
            return self.part(piece.as_bytes(), sink);
        }
        let bytes = piece.as_bytes();
        let mut from = 0;
        let mut left: Option<char> = None;
        for (at, right) in piece.char_indices() {
            if let Some(left) = left
                && !self.tables.links.linked(left, right, bytes[at - 1], bytes[at])
            {
                self.part(&bytes[from..at], sink);
                from = at;
            }
            left = Some(right);
        }
        self.part(&bytes[from..], sink);
    }

    /// Encodes a part of a pre-token that no merge leaves.
    fn part(&mut self, part: &[u8], sink: &mut impl Sink) {
        match Key::of(part) {
            Some(key) => self.word(key, part, sink),
            None => self.long_word(part, sink),
        }
    }

    #[inline]
    fn word(&mut self, key: Key, word: &[u8], sink: &mut impl Sink) {
        let hash = key.hash();
        match self.tables.words.find_short(key, hash) {
            Some(id) => sink.push(id),
            None => self.rare_word(key, hash, word, sink),
        }
    }

    fn rare_word(&mut self, key: Key, hash: u64, word: &[u8], sink: &mut impl Sink) {
        if let Some(ids) = self.memo.recall(key, hash) {
            return ids.iter().for_each(|id| sink.push(*id));
        }
        if word.len() > Key::SHORT
            && let Some(id) = self.tables.words.find_long(self.tables, word)
        {
            return sink.push(id);
        }
        self.merge(word, sink);
        self.memo.store(key, hash, &self.merged);
    }

    fn long_word(&mut self, word: &[u8], sink: &mut impl Sink) {
        match self.tables.words.find_long(self.tables, word) {
            Some(id) => sink.push(id),
            None => self.merge(word, sink),
        }
    }

    fn merge(&mut self, word: &[u8], sink: &mut impl Sink) {
        self.merged.clear();
        bpe::merge(self.tables, word, &mut self.merged);
        self.merged.iter().for_each(|id| sink.push(id.0));
    }
}

//! Merging of long parts in linear time.
//!
//! A long part is merged window by window. What makes that exact is a property of byte-pair merging with a
//! vocabulary in which every token merges to itself and every merge ranks behind those of its parts: a sequence
//! of tokens is the encoding of its bytes if and only if each two neighbours are the encoding of theirs. (Were
//! there a merge across several tokens, its first step would cross a border between two of them, and happen in
//! those two alone as well.) The tokens of one window satisfy it among themselves, so only the borders between
//! windows have to be checked, and the last token of a window, whose end may lie further on, is left to the
//! next window.

use super::bpe;
use super::tables::{Tables, Words};
use crate::token::TokenId;

/// Most windows; tokens are much shorter.
const WINDOW: usize = bpe::SHORT;
/// For runs whose tokens are long themselves: several of the longest fit.
const WIDE_WINDOW: usize = 512;

/// Appends the tokens of a long part.
pub(super) fn merge(tables: &Tables, part: &[u8], out: &mut Vec<TokenId>) {
    let start = out.len();
    if tables.word_rule != Words::Known || by_windows(tables, part, out).is_none() {
        out.truncate(start);
        bpe::merge_by_heap(tables, part, out);
    }
}

/// Merges window by window; gives nothing if the windows do not fit together soon.
fn by_windows(tables: &Tables, part: &[u8], out: &mut Vec<TokenId>) -> Option<()> {
    let start = out.len();
    let mut windows = Windows { tables, part, from: 0, to: 0, tokens: Vec::new() };
    let mut last_pair = None;
    let mut steps = part.len() / 4;
    let mut at = 0;
    while at < part.len() {
        steps = steps.checked_sub(1)?;
        let tokens = windows.at(at);
        let pair = out[start..].last().zip(tokens.first()).map(|(left, right)| (*left, *right));
        if let Some((left, right)) = pair.filter(|pair| last_pair != Some(*pair)) {
            if !are_neighbours(tables, left, right) {
                at -= tables.token(left.0).len();
                out.pop();
                continue;
            }
            last_pair = pair;
        }
        let ends_here = windows.to == part.len();
        let sure = if ends_here { windows.tokens.len() } else { windows.tokens.len() - 1 };
        out.extend_from_slice(&windows.tokens[..sure]);
        at += windows.tokens[..sure].iter().map(|id| tables.token(id.0).len()).sum::<usize>();
    }
    Some(())
}

/// Whether two tokens are the encoding of their bytes.
fn are_neighbours(tables: &Tables, left: TokenId, right: TokenId) -> bool {
    let both = [tables.token(left.0), tables.token(right.0)].concat();
    let mut tokens = Vec::with_capacity(both.len());
    bpe::merge(tables, &both, &mut tokens);
    tokens == [left, right]
}

/// The window that was merged last. Runs of one character merge the same bytes again and again.
struct Windows<'p> {
    tables: &'p Tables,
    part: &'p [u8],
    from: usize,
    to: usize,
    tokens: Vec<TokenId>,
}

impl Windows<'_> {
    /// The tokens of the window at a place: at least two, unless the part ends with the window.
    fn at(&mut self, at: usize) -> &[TokenId] {
        let len = self.to - self.from;
        if len > 0 && self.part.get(at..at + len).is_some_and(|bytes| *bytes == self.part[self.from..self.to])
        {
            (self.from, self.to) = (at, at + len);
            return &self.tokens;
        }
        for len in [WINDOW, WIDE_WINDOW] {
            (self.from, self.to) = (at, self.part.len().min(at + len));
            self.tokens.clear();
            bpe::merge_by_size(self.tables, &self.part[self.from..self.to], &mut self.tokens);
            if self.tokens.len() > 3 || self.to == self.part.len() {
                break;
            }
        }
        &self.tokens
    }
}

//! Characters that merging may start with, instead of their bytes.
//!
//! # Why this changes nothing
//! Take a character of several bytes with a token of its own, and let no token contain a border of the
//! character together with only a part of the characters at that border ([`Links::seam`](super::links::Links)).
//! Then no merge that crosses a border can happen before the character is one symbol, so its own bytes merge
//! as they would alone: to its token.
//!
//! Let the vocabulary also be proper: every merge ranks behind the merges that make its two parts. Each merge
//! then makes possible only merges of higher rank, so merging goes through the ranks in ascending order. A
//! merge that crosses the character's border ranks behind all merges inside the character. So whenever such a
//! merge has its turn, the character is complete, whether merging started with its bytes or with its token.

use super::table::BLOCK;
use super::tables::{Merge, Tables};
use super::tokens::{Span, Tokens};
use super::utf8::Utf8;

/// The tokens of single characters.
#[derive(Debug, Default)]
pub(super) struct Atoms {
    /// For each character of the basic plane one more than its token, or zero. ASCII is left out.
    ids: Box<[u32]>,
}

impl Atoms {
    /// From words that merge to themselves, in a proper vocabulary.
    pub(super) fn new(tokens: &Tokens, mut words: impl Iterator<Item = Span>) -> Self {
        let mut atoms = Self { ids: vec![0; 1 << 16].into_boxed_slice() };
        while atoms.add(tokens, &mut words) {}
        atoms
    }

    /// Takes a block of words. Returns false if there are no more.
    #[inline(never)]
    fn add(&mut self, tokens: &Tokens, words: &mut impl Iterator<Item = Span>) -> bool {
        for _ in 0..BLOCK {
            let Some(span) = words.next() else { return false };
            let len = span.len as usize;
            if matches!(len, 2 | 3)
                && let Some(char) = Utf8::first_of(tokens.get(span.id)).filter(|char| char.len() == len)
            {
                self.ids[char.code() as usize] = span.id + 1;
            }
        }
        true
    }

    /// The token of a code point, if there is one and it is not ASCII.
    fn get(&self, code: u32) -> Option<u32> {
        self.ids.get(code as usize)?.checked_sub(1)
    }

    /// Gives the symbols with which merging a part may start. Returns false if only bytes will do; what was given
    /// is meaningless then.
    pub(super) fn start(&self, tables: &Tables, part: &[u8], mut give: impl FnMut(u32)) -> bool {
        if self.ids.is_empty() {
            return false;
        }
        let (mut at, mut open_left) = (0, false);
        while at < part.len() {
            let char = match Utf8::ideograph_at(part, at) {
                Some(char) => char,
                None => match Utf8::first_of(&part[at..]) {
                    Some(char) => char,
                    None => return false,
                },
            };
            let end = at + char.len();
            let open_right = end < part.len() && tables.links.seam(part[end - 1], part[end]);
            match self.get(char.code()).filter(|_| !open_left && !open_right) {
                Some(id) => give(id),
                None => part[at..end].iter().for_each(|byte| give(tables.byte_ids[usize::from(*byte)])),
            }
            (at, open_left) = (end, open_right);
        }
        true
    }
}

/// Whether every merge ranks behind all merges that make one of its parts.
pub(super) fn is_proper(merges: &[Merge], ids: usize) -> bool {
    let mut last_made: Vec<Option<u32>> = vec![None; ids];
    for (rank, merge) in (0..).zip(merges) {
        if let Some(made) = last_made.get_mut(merge.result as usize) {
            *made = Some(rank);
        }
    }
    (0..).zip(merges).all(|(rank, merge)| {
        let before =
            |part: u32| last_made.get(part as usize).is_none_or(|made| made.is_none_or(|made| made < rank));
        before(merge.left) && before(merge.right)
    })
}

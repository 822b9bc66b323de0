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

use super::tables::{Merge, Tables};

/// The tokens of single characters.
#[derive(Debug, Default)]
pub(super) struct Atoms {
    /// For each character of the basic plane one more than its token, or zero. ASCII is left out.
    ids: Box<[u32]>,
}

impl Atoms {
    /// From words that merge to themselves, in a proper vocabulary.
    pub(super) fn new(tables: &Tables, words: &[u32]) -> Self {
        let mut ids = vec![0; 1 << 16].into_boxed_slice();
        for id in words {
            if let token @ ([0xC0..=0xDF, _] | [0xE0..=0xEF, _, _]) = tables.token(*id)
                && let Some(char) = std::str::from_utf8(token).ok().and_then(|text| text.chars().next())
            {
                ids[char as usize] = id + 1;
            }
        }
        Self { ids }
    }

    /// The token of a character, if there is one and it is not ASCII.
    pub(super) fn get(&self, char: char) -> Option<u32> {
        self.ids.get(char as usize)?.checked_sub(1)
    }

    /// Gives the symbols with which merging a part may start. Returns false, and gives nothing, if only bytes
    /// will do.
    pub(super) fn start(&self, tables: &Tables, part: &[u8], mut give: impl FnMut(u32)) -> bool {
        let Some(text) = std::str::from_utf8(part).ok().filter(|_| !self.ids.is_empty()) else {
            return false;
        };
        for (at, char) in text.char_indices() {
            let end = at + char.len_utf8();
            let open = at > 0 && tables.links.seam(part[at - 1], part[at])
                || end < part.len() && tables.links.seam(part[end - 1], part[end]);
            match self.get(char).filter(|_| !open) {
                Some(id) => give(id),
                None => part[at..end].iter().for_each(|byte| give(tables.byte_ids[usize::from(*byte)])),
            }
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

//! Which tokens hold which characters: sets of tokens that are made of a class of characters without a walk.

use crate::grammar::mask::{TokenSet, mask_words, set};
use crate::grammar::trie::{ROOT, TokenTrie};
use crate::token::TokenId;

/// A class of characters: ASCII ones, and others by their first byte, from 0xC0 on.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) struct Chars {
    pub(super) ascii: u128,
    pub(super) leads: u64,
}

impl Chars {
    pub(super) const NONE: Self = Self { ascii: 0, leads: 0 };
    pub(super) const ALL: Self = Self { ascii: u128::MAX, leads: u64::MAX };

    /// Whether a character of the class begins with `byte`, or it is a later byte of a character.
    #[inline]
    pub(super) fn has(self, byte: u8) -> bool {
        match byte {
            0..0x80 => self.ascii >> byte & 1 == 1,
            0x80..0xC0 => true,
            _ => self.leads >> (byte - 0xC0) & 1 == 1,
        }
    }

    pub(super) fn add(&mut self, byte: u8) {
        match byte {
            0..0x80 => self.ascii |= 1 << byte,
            0x80..0xC0 => {}
            _ => self.leads |= 1 << (byte - 0xC0),
        }
    }

    pub(super) fn and(self, other: Self) -> Self {
        Self { ascii: self.ascii & other.ascii, leads: self.leads & other.leads }
    }
}

/// The tokens that begin with a character of `first` and go on with those of `rest`, of which `first` is a part.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) struct Class {
    pub(super) first: Chars,
    pub(super) rest: Chars,
}

/// Characters that classes often lack together; larger groups first.
const GROUPS: [Chars; 9] = [
    range(0, 0x1F),
    range(b'0', b'9'),
    range(b'A', b'Z'),
    range(b'G', b'Z'),
    range(b'a', b'z'),
    range(b'g', b'z'),
    // What hardly any name is written with.
    Chars { ascii: !ALPHANUMERIC & !range(0, 0x1F).ascii & !(1 << b'-' | 1 << b'.' | 1 << b'_'), leads: 0 },
    Chars { ascii: 1 << b'"' | 1 << b'\\', leads: 0 },
    Chars { ascii: 0, leads: u64::MAX },
];

const ALPHANUMERIC: u128 = range(b'0', b'9').ascii | range(b'A', b'Z').ascii | range(b'a', b'z').ascii;

const fn range(low: u8, high: u8) -> Chars {
    Chars { ascii: (1 << (high + 1)) - (1 << low), leads: 0 }
}

/// For each character, and each group, the tokens that hold it: a row of bits each.
#[derive(Debug)]
pub(super) struct Contents {
    words: usize,
    /// The ASCII characters, the first bytes of others, and [`GROUPS`].
    rows: Vec<u32>,
}

/// Words that are worked on at once: few enough to stay near.
const BLOCK: usize = 512;

impl Contents {
    pub(super) fn new(trie: &TokenTrie) -> Self {
        let words = mask_words(trie.len());
        let mut rows = vec![0; (128 + 64 + GROUPS.len()) * words];
        for id in 0..trie.len() as u32 {
            for &byte in trie.token_bytes(TokenId(id)) {
                if let Some(row) = row(byte) {
                    set(&mut rows[row * words..], id);
                }
            }
        }
        for (number, group) in GROUPS.into_iter().enumerate() {
            let (single, groups) = rows.split_at_mut(192 * words);
            let into = &mut groups[number * words..][..words];
            for row in (0..=255).filter(|byte| !is_later(*byte) && group.has(*byte)).filter_map(row) {
                into.iter_mut().zip(&single[row * words..]).for_each(|(into, from)| *into |= from);
            }
        }
        Self { words, rows }
    }

    /// The tokens of `among`, all of them text, that `class` makes.
    pub(super) fn made_of(&self, class: Class, among: &TokenSet, trie: &TokenTrie) -> TokenSet {
        let mut bits = vec![0; self.words];
        among.add_to(&mut bits);
        let lacking = self.lacking(class.rest);
        for start in (0..self.words).step_by(BLOCK) {
            let end = (start + BLOCK).min(self.words);
            for row in &lacking {
                let held = &self.rows[row * self.words + start..row * self.words + end];
                bits[start..end].iter_mut().zip(held).for_each(|(bits, held)| *bits &= !held);
            }
        }
        for byte in
            (0..=255).filter(|byte| !is_later(*byte) && class.rest.has(*byte) && !class.first.has(*byte))
        {
            let node = trie.tokens.root_child(byte);
            if node != ROOT {
                for token in trie.tokens.entries_below(node) {
                    bits[*token as usize / 32] &= !(1 << (token % 32));
                }
            }
        }
        TokenSet::from_bits(bits)
    }

    /// The rows of all characters that are not in `chars`: few of them.
    fn lacking(&self, chars: Chars) -> Vec<usize> {
        let mut left = Chars { ascii: !chars.ascii, leads: !chars.leads };
        let mut rows = Vec::new();
        for (number, group) in GROUPS.into_iter().enumerate() {
            if left.and(group) == group {
                rows.push(192 + number);
                left = Chars { ascii: left.ascii & !group.ascii, leads: left.leads & !group.leads };
            }
        }
        rows.extend((0..=255).filter(|byte| !is_later(*byte) && left.has(*byte)).filter_map(row));
        rows
    }
}

/// Whether a byte is a later one of a character.
pub(super) const fn is_later(byte: u8) -> bool {
    matches!(byte, 0x80..0xC0)
}

fn row(byte: u8) -> Option<usize> {
    match byte {
        0..0x80 => Some(byte.into()),
        0x80..0xC0 => None,
        _ => Some(128 + usize::from(byte - 0xC0)),
    }
}

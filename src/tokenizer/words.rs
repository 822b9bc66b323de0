//! From the bytes of a whole pre-token to its token.

use super::tables::Tables;

const EMPTY: u32 = u32::MAX;

/// An open-addressing table of ids, at most half full; the bytes are compared with the token's own.
#[derive(Debug, Default)]
pub(super) struct WordTable {
    ids: Box<[u32]>,
    shift: u32,
}

impl WordTable {
    /// A table of the text tokens that `admit` lets in.
    pub(super) fn new(tables: &Tables, admit: impl Fn(&Tables, u32, &[u8]) -> bool) -> Self {
        let slots = (2 * tables.len()).next_power_of_two().max(2);
        let mut words =
            Self { ids: vec![EMPTY; slots].into_boxed_slice(), shift: 64 - slots.trailing_zeros() };
        for id in 0..tables.len() as u32 {
            let token = tables.token(id);
            if !token.is_empty() && admit(tables, id, token) {
                let mut slot = words.slot(token);
                while words.ids[slot] != EMPTY {
                    slot = (slot + 1) & (slots - 1);
                }
                words.ids[slot] = id;
            }
        }
        words
    }

    /// The token with exactly these bytes.
    pub(super) fn find(&self, tables: &Tables, word: &[u8]) -> Option<u32> {
        let mut slot = self.slot(word);
        loop {
            let id = self.ids[slot];
            if id == EMPTY {
                return None;
            }
            if tables.token(id) == word {
                return Some(id);
            }
            slot = (slot + 1) & (self.ids.len() - 1);
        }
    }

    fn slot(&self, word: &[u8]) -> usize {
        (hash(word) >> self.shift) as usize
    }
}

fn hash(word: &[u8]) -> u64 {
    let mut hash = word.len() as u64;
    let (chunks, rest) = word.as_chunks::<8>();
    for chunk in chunks {
        hash = mix(hash ^ u64::from_le_bytes(*chunk));
    }
    mix(hash ^ rest.iter().fold(0, |word, byte| word << 8 | u64::from(*byte)))
}

fn mix(value: u64) -> u64 {
    let product = u128::from(value ^ 0x2545_F491_4F6C_DD1D) * 0x9E37_79B9_7F4A_7C15_u128;
    (product >> 64) as u64 ^ product as u64
}

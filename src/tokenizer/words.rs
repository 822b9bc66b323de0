//! From the bytes of a whole pre-token, or of a part that is encoded on its own, to its token.

use super::table::{self, FARTHEST, Seed};
use super::tables::Tables;
use super::tokens::{Span, Tokens};

/// The first bytes of a word and its length as two numbers: equal for equal words only.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) struct Key {
    low: u64,
    /// The bytes from the ninth on, and above them the length.
    high: u64,
}

impl Key {
    /// The longest word that a key can hold.
    pub(super) const LONGEST: usize = 15;
    /// The longest word whose key leaves the upper [`ID_BITS`](WordTable) bits free.
    pub(super) const SHORT: usize = 13;
    /// The key of no word.
    pub(super) const EMPTY: Self = Self { low: 0, high: 0 };

    /// The key of those that are too long, which no word in a table has.
    pub(super) const NONE: Self = Self { low: 0, high: 1 << 56 };

    /// What a key keeps of two words of text, by length: two masks, and the length in its place.
    const PARTS: [(u64, u64, u64); 17] = {
        let mut parts = [(0, 0, Self::NONE.high); 17];
        let mut len = 1;
        while len <= Self::LONGEST {
            let low = if len >= 8 { u64::MAX } else { (1 << (8 * len)) - 1 };
            let high = if len > 8 { (1 << (8 * (len - 8))) - 1 } else { 0 };
            let place = if len <= Self::SHORT { 40 } else { 56 };
            parts[len] = (low, high, (len as u64) << place);
            len += 1;
        }
        parts
    };

    /// The key of the first `len` bytes, of which there must be one at least; the same one for all that are longer than
    /// [`Key::LONGEST`].
    pub(super) fn of_front(bytes: &[u8; 16], len: usize) -> Self {
        let text = u128::from_le_bytes(*bytes);
        let (low, high, len) = Self::PARTS[len.min(16)];
        Self { low: text as u64 & low, high: ((text >> 64) as u64 & high) | len }
    }

    #[inline]
    pub(super) fn hash(self, seed: Seed) -> u64 {
        seed.mix(self.low, self.high)
    }

    /// The key with a number below 16 in bits that no word needs.
    pub(super) fn with_spare(self, number: u32) -> Self {
        Self { high: self.high | u64::from(number) << SPARE_SHIFT, ..self }
    }

    #[inline]
    pub(super) fn spare(self) -> u32 {
        (self.high >> SPARE_SHIFT) as u32
    }

    /// Whether two keys are equal but for their spare bits, without a branch.
    #[inline]
    pub(super) fn is_but_for_spare(self, other: Self) -> bool {
        (self.low ^ other.low) | ((self.high ^ other.high) << (64 - SPARE_SHIFT)) == 0
    }
}

const SPARE_SHIFT: u32 = 60;

/// The tokens that a word becomes without merging: those whose bytes merge to the token itself.
#[derive(Debug, Default)]
pub(super) struct WordTable {
    /// Words of at most [`Key::SHORT`] bytes. Tokens with low ids, which are the frequent ones, come first to
    /// their places.
    short: Box<[Bucket]>,
    /// One more than the ids of longer words; the bytes are compared with the token's own.
    long: Box<[u32]>,
}

/// Two entries that are read together; the first one fills first.
#[derive(Debug, Clone, Copy, Default)]
#[repr(align(32))]
struct Bucket([Entry; 2]);

/// A key, and the id in the upper bits of its high part, which short words leave free. All zeros: empty.
#[derive(Debug, Clone, Copy, Default)]
struct Entry {
    low: u64,
    high: u64,
}

impl Entry {
    fn new(key: Key, id: u32) -> Self {
        Self { low: key.low, high: key.high | u64::from(id) << ID_SHIFT }
    }

    #[inline]
    fn is_of(&self, key: Key) -> bool {
        (self.low ^ key.low) | ((self.high ^ key.high) & KEY_MASK) == 0
    }

    #[inline]
    fn id(&self) -> u32 {
        (self.high >> ID_SHIFT) as u32
    }
}

const ID_SHIFT: u32 = 44;
const KEY_MASK: u64 = (1 << ID_SHIFT) - 1;

impl WordTable {
    /// A table of these tokens, ascending by id, unless they collide too much.
    pub(super) fn new(
        tokens: &Tokens,
        words: impl Iterator<Item = Span> + Clone,
        seed: Seed,
    ) -> Option<Self> {
        let is_short = |span: &Span| span.len as usize <= Key::SHORT;
        let (mut long, mut short_count) = (Vec::new(), 0);
        let mut all = words.clone();
        while Self::count(&mut all, &mut long, &mut short_count) {}
        let long_hash = |entry: &u32| hash(tokens.get(entry - 1), seed);
        let long = table::build(&long, long_hash, |entry| *entry == 0)?;

        let len = short_count * 5 / 6 + 1;
        let mut short: Box<[Bucket]> = table::empty(len);
        let entries = words.filter(is_short).map(|span| {
            let key = Key::of_front(tokens.front_of(span), span.len as usize);
            (table::slot(key.hash(seed), len), Entry::new(key, span.id))
        });
        table::in_order(entries, &mut short, |short, mut slot, entry| {
            for _ in 0..=FARTHEST {
                let Bucket(entries) = &mut short[slot];
                // Whether the first one is free cannot be foretold.
                let second = usize::from(entries[0].high != 0);
                if entries[second].high == 0 {
                    entries[second] = entry;
                    return true;
                }
                slot = table::next(slot, len);
            }
            false
        })
        .then_some(Self { short, long })
    }

    /// Of a block of words adds one more than the ids of those that are not short, and how many are. Returns false if
    /// there are no more.
    #[inline(never)]
    fn count(words: &mut impl Iterator<Item = Span>, long: &mut Vec<u32>, short: &mut usize) -> bool {
        for _ in 0..table::BLOCK {
            match words.next() {
                Some(span) if span.len as usize <= Key::SHORT => *short += 1,
                Some(span) => long.push(span.id + 1),
                None => return false,
            }
        }
        true
    }

    /// Soon the first place for this hash of a key will be read.
    pub(super) fn prefetch(&self, hash: u64) {
        table::prefetch(&self.short[table::slot(hash, self.short.len())]);
    }

    /// The token of a word with this key and this hash of the key.
    pub(super) fn find_short(&self, key: Key, hash: u64) -> Option<u32> {
        let mut slot = table::slot(hash, self.short.len());
        for _ in 0..=FARTHEST {
            let Bucket(entries) = &self.short[slot];
            if let Some(entry) = entries.iter().find(|entry| entry.is_of(key)) {
                return Some(entry.id());
            }
            if entries[1].high == 0 {
                return None;
            }
            slot = table::next(slot, self.short.len());
        }
        None
    }

    /// The token of a word of more than [`Key::SHORT`] bytes with this [`hash`].
    pub(super) fn find_long(&self, tables: &Tables, word: &[u8], hash: u64) -> Option<u32> {
        let mut slot = table::slot(hash, self.long.len());
        for _ in 0..=FARTHEST {
            let id = self.long[slot].checked_sub(1)?;
            if tables.token(id) == word {
                return Some(id);
            }
            slot = table::next(slot, self.long.len());
        }
        None
    }
}

/// The hash by which long words are looked up.
pub(super) fn hash(word: &[u8], seed: Seed) -> u64 {
    let mut hash = word.len() as u64;
    let (chunks, rest) = word.as_chunks::<8>();
    for chunk in chunks {
        hash = seed.mix(hash, u64::from_le_bytes(*chunk));
    }
    seed.mix(hash, rest.iter().fold(0, |word, byte| word << 8 | u64::from(*byte)))
}

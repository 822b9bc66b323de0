//! Encoding a conversation again: what was encoded before is looked up.

use std::collections::{HashMap, VecDeque};
use std::hash::{BuildHasherDefault, Hasher};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use super::cut;
use crate::token::TokenId;

/// Long text is remembered in parts of about this many bytes.
const PART: usize = 4096;
/// Shorter text is encoded faster than looked up.
const SHORTEST: usize = 64;
const SHARDS: usize = 16;
/// What an entry costs besides its text and ids.
const OVERHEAD: usize = 160;

/// Remembers the ids of text, so that a conversation that grows costs about its new part.
///
/// Prompts are remembered in parts: the text between two special tokens, longer text cut at places that no
/// pre-token crosses, every four kibibytes. A part is found by a hash of its bytes **and then compared byte by
/// byte**, so that a result from the cache is never a wrong one.
///
/// Memory is bounded: beyond the limit the part that entered first goes, unless it was used since it was last
/// looked at (second chance). A cache can be shared by threads and by tokenizers of different vocabularies.
#[derive(Debug)]
pub struct EncodeCache {
    shards: [Mutex<Shard>; SHARDS],
    shard_limit: usize,
}

#[derive(Debug, Default)]
struct Shard {
    entries: HashMap<u64, Slot, BuildHasherDefault<Identity>>,
    /// The keys in order of entry.
    order: VecDeque<u64>,
    bytes: usize,
}

#[derive(Debug)]
struct Slot {
    entry: Arc<Entry>,
    used: bool,
}

#[derive(Debug)]
struct Entry {
    vocabulary: u64,
    text: Box<str>,
    ids: Box<[TokenId]>,
}

impl Entry {
    fn cost(&self) -> usize {
        self.text.len() + size_of_val(&*self.ids) + OVERHEAD
    }
}

impl EncodeCache {
    /// A cache that holds at most about this many bytes.
    #[must_use]
    pub fn new(max_bytes: usize) -> Self {
        Self { shards: Default::default(), shard_limit: max_bytes / SHARDS }
    }

    /// The bytes that the cache holds.
    #[must_use]
    pub fn bytes(&self) -> usize {
        self.shards.iter().map(|shard| lock(shard).bytes).sum()
    }

    /// Appends the ids of a text, by look-up or by `encode`.
    pub(super) fn encode(
        &self,
        vocabulary: u64,
        text: &str,
        ids: &mut Vec<TokenId>,
        mut encode: impl FnMut(&str, &mut Vec<TokenId>),
    ) {
        for part in cut::parts(text, PART) {
            if part.len() < SHORTEST {
                encode(part, ids);
                continue;
            }
            let hash = hash(vocabulary, part.as_bytes());
            if let Some(entry) =
                self.find(hash).filter(|entry| entry.vocabulary == vocabulary && *entry.text == *part)
            {
                ids.extend_from_slice(&entry.ids);
                continue;
            }
            let start = ids.len();
            encode(part, ids);
            self.insert(hash, Entry { vocabulary, text: part.into(), ids: ids[start..].into() });
        }
    }

    fn find(&self, hash: u64) -> Option<Arc<Entry>> {
        let mut shard = lock(self.shard(hash));
        let slot = shard.entries.get_mut(&hash)?;
        slot.used = true;
        Some(Arc::clone(&slot.entry))
    }

    fn insert(&self, hash: u64, entry: Entry) {
        let cost = entry.cost();
        if cost > self.shard_limit {
            return;
        }
        let mut shard = lock(self.shard(hash));
        let slot = Slot { entry: Arc::new(entry), used: false };
        match shard.entries.insert(hash, slot) {
            // Another text with the same hash: the newer one stays.
            Some(old) => shard.bytes -= old.entry.cost(),
            None => shard.order.push_back(hash),
        }
        shard.bytes += cost;
        while shard.bytes > self.shard_limit {
            shard.evict();
        }
    }

    fn shard(&self, hash: u64) -> &Mutex<Shard> {
        &self.shards[(hash >> 60) as usize % SHARDS]
    }
}

impl Shard {
    /// Looks at the entry that came first: removes it, or gives it another turn.
    fn evict(&mut self) {
        let Some(hash) = self.order.pop_front() else { return };
        match self.entries.get_mut(&hash) {
            Some(slot) if slot.used => {
                slot.used = false;
                self.order.push_back(hash);
            }
            Some(_) => {
                if let Some(slot) = self.entries.remove(&hash) {
                    self.bytes -= slot.entry.cost();
                }
            }
            None => {}
        }
    }
}

/// Every change to a shard is complete before its lock is given back, so a panic elsewhere does no harm.
fn lock(shard: &Mutex<Shard>) -> MutexGuard<'_, Shard> {
    shard.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Keys are hashes already.
#[derive(Debug, Default)]
struct Identity(u64);

impl Hasher for Identity {
    fn finish(&self) -> u64 {
        self.0
    }

    fn write(&mut self, bytes: &[u8]) {
        for byte in bytes {
            self.0 = self.0 << 8 | u64::from(*byte);
        }
    }

    fn write_u64(&mut self, value: u64) {
        self.0 = value;
    }
}

/// A hash of all bytes, four words at a time.
fn hash(seed: u64, bytes: &[u8]) -> u64 {
    const KEYS: [u64; 4] =
        [0x9E37_79B9_7F4A_7C15, 0xD1B5_4A32_D192_ED03, 0xA24B_AED4_963E_E407, 0x8EBC_6AF0_9C88_C6E3];
    let fold = |a: u64, b: u64| {
        let product = u128::from(a) * u128::from(b);
        (product >> 64) as u64 ^ product as u64
    };
    let word = |bytes: &[u8; 8]| u64::from_le_bytes(*bytes);
    let mut lanes = KEYS;
    lanes[0] ^= seed.wrapping_mul(KEYS[2]);
    lanes[1] ^= bytes.len() as u64;
    let (blocks, rest) = bytes.as_chunks::<32>();
    for block in blocks {
        let (words, _) = block.as_chunks::<8>();
        for ((lane, bytes), key) in lanes.iter_mut().zip(words).zip(KEYS) {
            *lane = fold(*lane ^ word(bytes), key);
        }
    }
    let (words, tail) = rest.as_chunks::<8>();
    for bytes in words {
        lanes[0] = fold(lanes[0] ^ word(bytes), KEYS[0]);
    }
    let tail = tail.iter().fold(0, |word, byte| word << 8 | u64::from(*byte));
    lanes[0] = fold(lanes[0] ^ tail, KEYS[1]);
    lanes.iter().fold(0, |hash, lane| fold(hash ^ lane ^ KEYS[3], KEYS[0]))
}

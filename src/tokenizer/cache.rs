//! Encoding a conversation again: what was encoded before is looked up.

use std::collections::{HashMap, VecDeque};
use std::hash::{BuildHasherDefault, Hasher};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use xxhash_rust::xxh3::xxh3_64_with_seed;

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
/// pre-token crosses, every four kibibytes. A part is found by a hash of its bytes, or because it followed the
/// part before it last time, **and then compared byte by byte**, so that a result from the cache is never a wrong
/// one.
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
pub(super) struct Entry {
    vocabulary: u64,
    text: Box<str>,
    ids: Box<[TokenId]>,
    /// The hash of the part that followed last time: a guess that saves hashing it.
    next: AtomicU64,
}

/// The way through the texts of one prompt.
#[derive(Debug)]
pub(super) struct Trail {
    vocabulary: u64,
    /// Whether texts may be cut.
    in_parts: bool,
    /// The part that was found or stored last.
    last: Option<Arc<Entry>>,
}

impl Trail {
    pub(super) fn new(vocabulary: u64, in_parts: bool) -> Self {
        Self { vocabulary, in_parts, last: None }
    }
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
        text: &str,
        trail: &mut Trail,
        ids: &mut Vec<TokenId>,
        mut encode: impl FnMut(&str, &mut Vec<TokenId>),
    ) {
        let Trail { vocabulary, in_parts, .. } = *trail;
        let mut rest = text;
        while !rest.is_empty() {
            if in_parts
                && rest.len() >= SHORTEST
                && let Some(entry) = self.follow(rest, trail)
            {
                ids.extend_from_slice(&entry.ids);
                rest = &rest[entry.text.len()..];
                trail.last = Some(entry);
                continue;
            }
            let len = if in_parts { cut::next_cut(rest, PART) } else { rest.len() };
            let (part, after) = rest.split_at(len);
            rest = after;
            if part.len() < SHORTEST {
                encode(part, ids);
                continue;
            }
            let hash = xxh3_64_with_seed(part.as_bytes(), vocabulary);
            if let Some(before) = &trail.last {
                before.next.store(hash, Ordering::Relaxed);
            }
            if let Some(entry) =
                self.find(hash).filter(|entry| entry.vocabulary == vocabulary && *entry.text == *part)
            {
                ids.extend_from_slice(&entry.ids);
                trail.last = Some(entry);
                continue;
            }
            let start = ids.len();
            encode(part, ids);
            let entry =
                Entry { vocabulary, text: part.into(), ids: ids[start..].into(), next: AtomicU64::new(0) };
            trail.last = Some(self.insert(hash, entry));
        }
    }

    /// The part that followed last time, if the text begins with it and can be cut behind it.
    fn follow(&self, text: &str, trail: &Trail) -> Option<Arc<Entry>> {
        let entry = self.find(trail.last.as_ref()?.next.load(Ordering::Relaxed))?;
        let follows = entry.vocabulary == trail.vocabulary
            && text.as_bytes().starts_with(entry.text.as_bytes())
            && cut::can_cut(text, entry.text.len());
        follows.then_some(entry)
    }

    fn find(&self, hash: u64) -> Option<Arc<Entry>> {
        let mut shard = lock(self.shard(hash));
        let slot = shard.entries.get_mut(&hash)?;
        slot.used = true;
        Some(Arc::clone(&slot.entry))
    }

    fn insert(&self, hash: u64, entry: Entry) -> Arc<Entry> {
        let cost = entry.cost();
        let entry = Arc::new(entry);
        if cost > self.shard_limit {
            return entry;
        }
        let mut shard = lock(self.shard(hash));
        let slot = Slot { entry: Arc::clone(&entry), used: false };
        match shard.entries.insert(hash, slot) {
            // Another text with the same hash: the newer one stays.
            Some(old) => shard.bytes -= old.entry.cost(),
            None => shard.order.push_back(hash),
        }
        shard.bytes += cost;
        while shard.bytes > self.shard_limit {
            shard.evict();
        }
        entry
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

//! The flat tables of one vocabulary: token bytes, merges, whole words.

use std::collections::HashMap;
use std::sync::atomic::{AtomicU64, Ordering};

use super::atoms::{Atoms, is_proper};
use super::bpe;
use super::links::Links;
use super::pairs::Pairs;
use super::table::Seed;
use super::words::WordTable;

/// Ids and ranks are below this, so that a pair and its rank fit one 64-bit word.
pub(super) const ID_LIMIT: u32 = 1 << 20;

/// One merge: two tokens that become a third.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Merge {
    pub(super) left: u32,
    pub(super) right: u32,
    pub(super) result: u32,
}

/// Which tokens a whole pre-token may become without merging.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Words {
    /// Every token, because the vocabulary says so.
    Every,
    /// Every token, because the vocabulary is known to merge each token's bytes to that token. It is known to be
    /// [proper](super::atoms) too.
    Known,
    /// Those whose bytes merge to the token itself.
    Merged,
    /// None, because another library encodes. A byte may then have no token.
    None,
}

/// The bytes that can be read from the start of any token.
const FRONT: usize = 16;

static NEXT_NUMBER: AtomicU64 = AtomicU64::new(0);

/// Everything that turns ordinary text into ids and back.
#[derive(Debug)]
pub(super) struct Tables {
    /// The bytes of all tokens, one after the other, and [`FRONT`] more.
    bytes: Box<[u8]>,
    /// Where each token's bytes start; one more entry than there are ids. No bytes: not a text token.
    starts: Box<[u32]>,
    pub(super) byte_ids: [u32; 256],
    pub(super) pairs: Pairs,
    pub(super) words: WordTable,
    /// Of the hashes of words.
    pub(super) seed: Seed,
    pub(super) links: Links,
    pub(super) atoms: Atoms,
    /// Words that the vocabulary wants as one token though their bytes merge to others. Hardly any vocabulary
    /// has one.
    pub(super) unmerged: HashMap<Box<[u8]>, u32>,
    pub(super) word_rule: Words,
    /// Differs between any two vocabularies of a process.
    pub(super) number: u64,
}

/// Why a vocabulary has no tables.
#[derive(Debug)]
pub(super) enum NoTables {
    /// There is no token for this byte.
    MissingByte(u8),
    /// Its tokens or merges collide, whatever the seed.
    Collisions,
}

impl Tables {
    /// Builds the tables from the bytes of all ids, one after the other (none for ids that are not text), the
    /// places where each id's bytes end, and the merges in order of rank.
    pub(super) fn new(
        mut bytes: Vec<u8>,
        ends: Vec<u32>,
        merges: Vec<Merge>,
        word_rule: Words,
    ) -> Result<Self, NoTables> {
        let mut starts = ends;
        starts.insert(0, 0);
        let byte_ids = byte_ids(&bytes, &starts);
        let missing = (0..=255).find(|byte| byte_ids[usize::from(*byte)] == u32::MAX);
        if let Some(byte) = missing.filter(|_| word_rule != Words::None) {
            return Err(NoTables::MissingByte(byte));
        }
        bytes.resize(bytes.len() + FRONT, 0);
        let mut tables = Self {
            bytes: bytes.into_boxed_slice(),
            starts: starts.into_boxed_slice(),
            byte_ids,
            pairs: Pairs::new(merges, &byte_ids).ok_or(NoTables::Collisions)?,
            seed: Seed::ALL[0],
            words: WordTable::default(),
            atoms: Atoms::default(),
            links: Links::default(),
            unmerged: HashMap::new(),
            word_rule,
            number: NEXT_NUMBER.fetch_add(1, Ordering::Relaxed),
        };
        let text = (0..tables.len() as u32).filter(|id| tables.token_len(*id) > 0);
        let unmerged: Vec<u32> = match word_rule {
            Words::Known | Words::None => Vec::new(),
            _ => text.filter(|id| !bpe::merges_to(&tables, tables.token(*id), *id)).collect(),
        };
        if word_rule == Words::Every {
            tables.unmerged = unmerged.iter().map(|id| (Box::from(tables.token(*id)), *id)).collect();
        }
        let is_word = |tables: &Self, id: u32| {
            word_rule != Words::None
                && tables.token_len(id) > 0
                && (unmerged.is_empty() || unmerged.binary_search(&id).is_err())
        };
        let ids = 0..tables.len() as u32;
        let word_table = Seed::ALL.into_iter().find_map(|seed| {
            tables.seed = seed;
            WordTable::new(&tables, ids.clone().filter(|id| is_word(&tables, *id)))
        });
        tables.words = word_table.ok_or(NoTables::Collisions)?;
        tables.links = Links::new(&tables);
        if word_rule == Words::Known || is_proper(tables.pairs.merges(), tables.len()) {
            tables.atoms = Atoms::new(&tables, ids.filter(|id| is_word(&tables, *id)));
        }
        Ok(tables)
    }

    /// The number of ids that may have bytes.
    pub(super) fn len(&self) -> usize {
        self.starts.len() - 1
    }

    /// The bytes of a text token; empty for every other id.
    pub(super) fn token(&self, id: u32) -> &[u8] {
        match self.starts.get(id as usize..id as usize + 2) {
            Some(&[start, end]) => &self.bytes[start as usize..end as usize],
            _ => &[],
        }
    }

    /// The number of bytes of a token; zero if it is not text.
    #[inline]
    pub(super) fn token_len(&self, id: u32) -> usize {
        (self.starts[id as usize + 1] - self.starts[id as usize]) as usize
    }

    /// A text token's bytes with what follows them in memory.
    #[inline]
    pub(super) fn token_front(&self, id: u32) -> &[u8; FRONT] {
        self.bytes[self.starts[id as usize] as usize..].first_chunk().unwrap_or(&[0; FRONT])
    }
}

/// The tokens of the single bytes; [`u32::MAX`] where there is none.
#[inline(never)]
fn byte_ids(bytes: &[u8], starts: &[u32]) -> [u32; 256] {
    let mut ids = [u32::MAX; 256];
    for (id, span) in (0..).zip(starts.windows(2)) {
        if span[1] - span[0] == 1 {
            ids[usize::from(bytes[span[0] as usize])] = id;
        }
    }
    ids
}

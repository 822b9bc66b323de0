//! The flat tables of one vocabulary: token bytes, merges, whole words.

use std::collections::HashMap;
use std::sync::atomic::{AtomicU64, Ordering};

use super::atoms::Atoms;
use super::bpe;
use super::links::Links;
use super::opening::Opening;
use super::pairs::Pairs;
use super::table::Seed;
use super::tokens::{Span, Tokens};
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

static NEXT_NUMBER: AtomicU64 = AtomicU64::new(0);

/// Everything that turns ordinary text into ids and back.
#[derive(Debug)]
pub(super) struct Tables {
    tokens: Tokens,
    pub(super) byte_ids: [u32; 256],
    pub(super) pairs: Pairs,
    pub(super) opening: Opening,
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
    /// Builds the tables from the tokens, and from what [`Merging`] was told of all merges.
    pub(super) fn new(tokens: Tokens, merging: Merging, word_rule: Words) -> Result<Self, NoTables> {
        let Merging { byte_ids, pairs, mut opening, links, is_proper, .. } = merging;
        let missing = (0..=255).find(|byte| byte_ids[usize::from(*byte)] == u32::MAX);
        if let Some(byte) = missing.filter(|_| word_rule != Words::None) {
            return Err(NoTables::MissingByte(byte));
        }
        if !is_proper {
            opening.close();
        }
        let mut tables = Self {
            tokens,
            byte_ids,
            pairs,
            opening,
            seed: Seed::ALL[0],
            words: WordTable::default(),
            atoms: Atoms::default(),
            links,
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
        let unmerged = unmerged.as_slice();
        let is_word = move |span: &Span| unmerged.is_empty() || unmerged.binary_search(&span.id).is_err();
        let no_tokens = Tokens::with_capacity(0);
        let tokens = if word_rule == Words::None { &no_tokens } else { &tables.tokens };
        let words = || tokens.spans().filter(is_word);
        let found =
            Seed::ALL.into_iter().find_map(|seed| Some((seed, WordTable::new(tokens, words(), seed)?)));
        let (seed, word_table) = found.ok_or(NoTables::Collisions)?;
        let atoms = if is_proper { Atoms::new(tokens, words()) } else { Atoms::default() };
        (tables.seed, tables.words, tables.atoms) = (seed, word_table, atoms);
        Ok(tables)
    }

    /// The number of ids that may have bytes.
    pub(super) fn len(&self) -> usize {
        self.tokens.count()
    }

    /// The bytes of a text token; empty for every other id.
    pub(super) fn token(&self, id: u32) -> &[u8] {
        self.tokens.get(id)
    }

    /// The number of bytes of a token; zero if it is not text.
    #[inline]
    pub(super) fn token_len(&self, id: u32) -> usize {
        self.tokens.token_len(id)
    }
}

/// What follows from the merges. They come in blocks, in the order of their ranks, so that the embedded vocabulary never
/// has to be in memory as a list.
#[derive(Debug)]
pub(super) struct Merging {
    byte_ids: [u32; 256],
    /// No byte has a greater id.
    greatest_byte: u32,
    pairs: Pairs,
    opening: Opening,
    links: Links,
    is_proper: bool,
    count: u32,
}

impl Merging {
    /// Nothing yet, with an empty table of the pairs that will come. `tokens` must have the bytes.
    pub(super) fn new(tokens: &Tokens, pairs: Pairs, is_proper: bool) -> Self {
        let byte_ids = tokens.byte_ids();
        let greatest_byte = byte_ids.iter().fold(0, |greatest, id| greatest.max(*id));
        let (opening, links) = Default::default();
        Self { byte_ids, greatest_byte, pairs, opening, links, is_proper, count: 0 }
    }

    /// Learns the next merges, whose tokens must be there.
    #[inline(never)]
    pub(super) fn add(&mut self, tokens: &Tokens, merges: &[Merge]) {
        self.pairs.add(self.count, merges);
        self.links.add(tokens, merges);
        let is_opening = |merge: &Merge| merge.left.min(merge.right) <= self.greatest_byte;
        for (rank, merge) in (self.count..).zip(merges).filter(|(_, merge)| is_opening(merge)) {
            self.opening.add(tokens, &self.byte_ids, rank, merge);
        }
        self.count += merges.len() as u32;
    }
}

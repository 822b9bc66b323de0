//! Merging of short parts, several at a time.
//!
//! Each merge waits for what the one before it found in memory. Parts do not depend on each other, so they take turns,
//! one merge each, and while one waits the others go on.

use super::bpe;
use super::symbols::{Symbols, Word};
use super::tables::Tables;
use crate::token::TokenId;

/// The parts that are merged at the same time.
const LANES: usize = 4;
/// The most symbols of a part.
const SYMBOLS: usize = 16;

/// The tokens of a part.
pub(super) enum Merged<'m> {
    /// So many of these.
    Few([TokenId; 4], usize),
    Many(&'m [TokenId]),
}

/// Where parts come from and their tokens go.
pub(super) trait Work {
    /// What the tokens of a part are given back with.
    type Name;

    /// The next part.
    fn next(&mut self) -> Option<(Self::Name, Word<'_>)>;

    /// Takes the tokens of a part. They come in any order.
    fn give(&mut self, name: Self::Name, tokens: Merged<'_>);
}

struct Lane<N> {
    name: Option<N>,
    symbols: Symbols<SYMBOLS>,
}

/// Merges all parts.
pub(super) fn merge<W: Work>(tables: &Tables, work: &mut W) {
    let mut lanes = [const { Lane { name: None, symbols: Symbols::NONE } }; LANES];
    for lane in &mut lanes {
        lane.take_next(tables, work);
    }
    while lanes.iter().any(|lane| lane.name.is_some()) {
        for lane in &mut lanes {
            if !lane.symbols.merge(tables)
                && let Some(name) = lane.name.take()
            {
                let (tokens, count) = lane.symbols.front();
                if count <= tokens.len() {
                    work.give(name, Merged::Few(tokens, count));
                } else {
                    let (tokens, count) = lane.symbols.tokens();
                    work.give(name, Merged::Many(&tokens[..count]));
                }
                lane.take_next(tables, work);
            }
        }
    }
}

impl<N> Lane<N> {
    /// Takes the next part that is short enough. Those that are not are merged on the way.
    fn take_next(&mut self, tables: &Tables, work: &mut impl Work<Name = N>) {
        while let Some((name, part)) = work.next() {
            if self.symbols.take(tables, part) {
                self.name = Some(name);
                return;
            }
            let mut tokens = Vec::new();
            bpe::merge(tables, part.bytes(), &mut tokens);
            work.give(name, Merged::Many(&tokens));
        }
    }
}

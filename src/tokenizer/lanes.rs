//! Merging of short parts, several at a time.
//!
//! Each merge waits for what the one before it found in memory. Parts do not depend on each other, so they take turns,
//! one merge each, and while one waits the others go on.

use super::bpe;
use super::symbols::Symbols;
use super::tables::Tables;
use crate::token::TokenId;

/// The parts that are merged at the same time.
const LANES: usize = 4;
/// The most symbols of a part.
const SYMBOLS: usize = 16;

/// The tokens of a part.
pub(super) enum Merged<'m> {
    /// The first of these.
    Few(&'m [TokenId; SYMBOLS], usize),
    Many(&'m [TokenId]),
}

struct Lane<N> {
    name: Option<N>,
    symbols: Symbols<SYMBOLS>,
}

/// Gives the tokens of each part to `give` with the part's name, in any order.
pub(super) fn merge<'p, N>(
    tables: &Tables,
    mut parts: impl Iterator<Item = (N, &'p [u8])>,
    mut give: impl FnMut(N, Merged<'_>),
) {
    let mut lanes = [const { Lane { name: None, symbols: Symbols::NONE } }; LANES];
    let mut busy = 0;
    while busy < LANES && lanes[busy].take_next(tables, &mut parts, &mut give) {
        busy += 1;
    }
    while busy > 0 {
        let mut at = 0;
        while at < busy {
            let lane = &mut lanes[at % LANES];
            if !lane.symbols.merge(tables) {
                if let Some(name) = lane.name.take() {
                    let (tokens, count) = lane.symbols.tokens();
                    give(name, Merged::Few(&tokens, count));
                }
                if !lane.take_next(tables, &mut parts, &mut give) {
                    busy -= 1;
                    lanes.swap(at % LANES, busy % LANES);
                    continue;
                }
            }
            at += 1;
        }
    }
}

impl<N> Lane<N> {
    /// Takes the next part that is short enough. Those that are not are merged on the way.
    fn take_next<'p>(
        &mut self,
        tables: &Tables,
        parts: &mut impl Iterator<Item = (N, &'p [u8])>,
        give: &mut impl FnMut(N, Merged<'_>),
    ) -> bool {
        for (name, part) in parts {
            if self.symbols.take(tables, part) {
                self.name = Some(name);
                return true;
            }
            let mut tokens = Vec::new();
            bpe::merge(tables, part, &mut tokens);
            give(name, Merged::Many(&tokens));
        }
        false
    }
}

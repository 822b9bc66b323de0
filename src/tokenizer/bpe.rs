//! Byte-pair merging of one pre-token.
//!
//! The definition: start with one token a byte; merge the pair with the lowest rank, the leftmost of several,
//! until no pair merges. `slow` states it as plainly; here short pieces are [`Symbols`], and long ones a linked list
//! with a heap, which is near-linear whatever the text.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use super::long;
use super::pairs::NO_RANK;
use super::symbols::{Symbols, Word};
use super::tables::Tables;
use crate::token::TokenId;

/// Up to this many bytes [`Symbols`] beat a heap.
pub(super) const SHORT: usize = 64;

/// Appends the tokens of a pre-token, or of a part that no merge leaves.
pub(super) fn merge(tables: &Tables, part: &[u8], out: &mut Vec<TokenId>) {
    if part.len() > SHORT { long::merge(tables, part, out) } else { merge_short(tables, part, out) }
}

/// As [`merge`], and never by windows.
pub(super) fn merge_by_size(tables: &Tables, part: &[u8], out: &mut Vec<TokenId>) {
    if part.len() > SHORT { merge_by_heap(tables, part, out) } else { merge_short(tables, part, out) }
}

fn merge_short(tables: &Tables, part: &[u8], out: &mut Vec<TokenId>) {
    let mut symbols = Symbols::<SHORT>::NONE;
    if symbols.take(tables, Word { text: part, len: part.len() }) {
        while symbols.merge(tables) {}
        let (tokens, count) = symbols.tokens();
        out.extend_from_slice(&tokens[..count]);
    }
}

/// Whether merging the bytes of a token gives the token back.
pub(super) fn merges_to(tables: &Tables, token: &[u8], id: u32) -> bool {
    let mut out = Vec::with_capacity(token.len());
    merge(tables, token, &mut out);
    out == [TokenId(id)]
}

#[derive(Clone, Copy)]
struct Node {
    id: u32,
    /// The rank with the next node; what the heap holds for this place counts only while it is the same.
    rank: u32,
    previous: u32,
    next: u32,
}

const END: u32 = u32::MAX;

/// With a linked list and a heap: near-linear for any vocabulary.
pub(super) fn merge_by_heap(tables: &Tables, piece: &[u8], out: &mut Vec<TokenId>) {
    let count = piece.len() as u32;
    let mut nodes: Vec<Node> = (0..count)
        .zip(piece)
        .map(|(at, byte)| Node {
            id: tables.byte_ids[usize::from(*byte)],
            rank: NO_RANK,
            previous: at.wrapping_sub(1),
            next: if at + 1 < count { at + 1 } else { END },
        })
        .collect();
    let mut heap = BinaryHeap::with_capacity(piece.len());
    for at in 0..nodes.len() - 1 {
        let rank = tables.pairs.rank(nodes[at].id, nodes[at + 1].id);
        nodes[at].rank = rank;
        if rank != NO_RANK {
            heap.push(Reverse((rank, at as u32)));
        }
    }
    while let Some(Reverse((rank, at))) = heap.pop() {
        let left = nodes[at as usize];
        if left.rank != rank {
            continue;
        }
        let right = nodes[left.next as usize];
        nodes[left.next as usize].rank = NO_RANK;
        nodes[at as usize].id = tables.pairs.result(rank);
        nodes[at as usize].next = right.next;
        if right.next != END {
            nodes[right.next as usize].previous = at;
        }
        for place in [left.previous, at] {
            if place == END {
                continue;
            }
            let next = nodes[place as usize].next;
            let rank = if next == END {
                NO_RANK
            } else {
                tables.pairs.rank(nodes[place as usize].id, nodes[next as usize].id)
            };
            nodes[place as usize].rank = rank;
            if rank != NO_RANK {
                heap.push(Reverse((rank, place)));
            }
        }
    }
    let mut at = 0;
    while at != END {
        out.push(TokenId(nodes[at as usize].id));
        at = nodes[at as usize].next;
    }
}

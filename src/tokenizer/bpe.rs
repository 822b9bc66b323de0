//! Byte-pair merging of one pre-token.
//!
//! The definition: start with one token a byte; merge the pair with the lowest rank, the leftmost of several,
//! until no pair merges. `slow` states it as plainly; here short pieces are arrays that shift, and long ones a
//! linked list with a heap, which is near-linear whatever the text.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use super::pairs::NO_RANK;
use super::tables::Tables;
use crate::token::TokenId;

/// Up to this many bytes shifting an array beats a heap.
const SHORT: usize = 64;

/// Appends the tokens of a pre-token, or of a part that no merge leaves.
pub(super) fn merge(tables: &Tables, part: &[u8], out: &mut Vec<TokenId>) {
    if part.len() > SHORT {
        return merge_long(tables, part, out);
    }
    let mut symbols = Symbols::new();
    if part.is_ascii() || !tables.atoms.start(tables, part, |id| symbols.push(tables, id)) {
        symbols.set_bytes(tables, part);
    }
    symbols.merge(tables, out);
}

/// Whether merging the bytes of a token gives the token back.
pub(super) fn merges_to(tables: &Tables, token: &[u8], id: u32) -> bool {
    let mut out = Vec::with_capacity(token.len());
    merge(tables, token, &mut out);
    out == [TokenId(id)]
}

/// The symbols of a short piece.
struct Symbols {
    ids: [u32; SHORT],
    /// The rank of each symbol with the one after it; [`NO_RANK`] for the last.
    ranks: [u32; SHORT],
    len: usize,
}

impl Symbols {
    fn new() -> Self {
        Self { ids: [0; SHORT], ranks: [NO_RANK; SHORT], len: 0 }
    }

    fn push(&mut self, tables: &Tables, id: u32) {
        self.ids[self.len] = id;
        if self.len > 0 {
            self.ranks[self.len - 1] = tables.pairs.rank(self.ids[self.len - 1], id);
        }
        self.len += 1;
    }

    fn set_bytes(&mut self, tables: &Tables, piece: &[u8]) {
        self.len = piece.len();
        for (id, byte) in self.ids.iter_mut().zip(piece) {
            *id = tables.byte_ids[usize::from(*byte)];
        }
        for (rank, pair) in self.ranks.iter_mut().zip(piece.windows(2)) {
            *rank = tables.pairs.rank_of_bytes(pair[0], pair[1], &tables.byte_ids);
        }
    }

    fn merge(&mut self, tables: &Tables, out: &mut Vec<TokenId>) {
        let Self { ids, ranks, len } = self;
        loop {
            let mut at = 0;
            let mut best = NO_RANK;
            for (place, rank) in ranks[..*len].iter().enumerate() {
                if *rank < best {
                    (at, best) = (place, *rank);
                }
            }
            if best == NO_RANK {
                break;
            }
            ids.copy_within(at + 2..*len, at + 1);
            ranks.copy_within(at + 1..*len, at);
            *len -= 1;
            ids[at] = tables.result(best);
            if at > 0 {
                ranks[at - 1] = tables.pairs.rank(ids[at - 1], ids[at]);
            }
            if at + 1 < *len {
                ranks[at] = tables.pairs.rank(ids[at], ids[at + 1]);
            }
        }
        out.extend(ids[..*len].iter().map(|id| TokenId(*id)));
    }
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

fn merge_long(tables: &Tables, piece: &[u8], out: &mut Vec<TokenId>) {
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
        nodes[at as usize].id = tables.result(rank);
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

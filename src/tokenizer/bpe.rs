//! Byte-pair merging of one pre-token.
//!
//! The definition: start with one token a byte; merge the pair with the lowest rank, the leftmost of several,
//! until no pair merges. `slow` states it as plainly; here short pieces are arrays that shift, and long ones a
//! linked list with a heap, which is near-linear whatever the text.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use super::long;
use super::pairs::NO_RANK;
use super::tables::Tables;
use crate::token::TokenId;

/// Up to this many bytes shifting an array beats a heap.
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
    let mut symbols = Symbols::new();
    if !part.is_ascii() && tables.atoms.start(tables, part, |id| symbols.push(id)) {
        symbols.set_turns(tables);
    } else {
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

/// The symbols of a short piece, each at the place of its first byte or character.
struct Symbols {
    ids: [u32; SHORT],
    /// For each symbol the rank with the one after it, above its own place; [`NEVER`] if they do not merge and
    /// where no symbol is.
    turns: [u32; SHORT],
    /// The places where a symbol is.
    live: u64,
    len: usize,
}

/// Greater than every rank with a place below it.
const NEVER: u32 = u32::MAX >> 1;
const PLACE_BITS: u32 = SHORT.trailing_zeros();

impl Symbols {
    fn new() -> Self {
        Self { ids: [0; SHORT], turns: [NEVER; SHORT], live: 0, len: 0 }
    }

    fn push(&mut self, id: u32) {
        self.ids[self.len] = id;
        self.len += 1;
    }

    /// Finds the ranks of the symbols that were pushed.
    fn set_turns(&mut self, tables: &Tables) {
        let ids = &self.ids[..self.len];
        ids.windows(2).for_each(|pair| tables.pairs.prefetch(pair[0], pair[1]));
        for (place, (slot, pair)) in self.turns.iter_mut().zip(ids.windows(2)).enumerate() {
            *slot = turn(tables.pairs.rank(pair[0], pair[1]), place);
        }
    }

    fn set_bytes(&mut self, tables: &Tables, piece: &[u8]) {
        self.len = piece.len();
        for (id, byte) in self.ids.iter_mut().zip(piece) {
            *id = tables.byte_ids[usize::from(*byte)];
        }
        for (place, (slot, pair)) in self.turns.iter_mut().zip(piece.windows(2)).enumerate() {
            *slot = turn(tables.pairs.rank_of_bytes(pair[0], pair[1], &tables.byte_ids), place);
        }
    }

    fn merge(&mut self, tables: &Tables, out: &mut Vec<TokenId>) {
        self.live = u64::MAX >> (SHORT - self.len);
        loop {
            let next = self.next_turn();
            if next == NEVER {
                break;
            }
            let at = next as usize % SHORT;
            // The symbol after this one goes, and its neighbour on the right moves up.
            let above = self.live & (u64::MAX - 1) << at;
            let gone = above.trailing_zeros() as usize % SHORT;
            let above = above & above.wrapping_sub(1);
            self.live &= !(1 << gone);
            self.turns[gone] = NEVER;
            let id = tables.result(next >> PLACE_BITS);
            self.ids[at] = id;
            let below = self.live & ((1 << at) - 1);
            if below != 0 {
                tables.pairs.prefetch(self.ids[below.ilog2() as usize], id);
            }
            self.turns[at] = match above.trailing_zeros() as usize {
                right if right < SHORT => turn(tables.pairs.rank(id, self.ids[right]), at),
                _ => NEVER,
            };
            if below != 0 {
                let left = below.ilog2() as usize;
                self.turns[left] = turn(tables.pairs.rank(self.ids[left], id), left);
            }
        }
        let mut live = self.live;
        while live != 0 {
            out.push(TokenId(self.ids[live.trailing_zeros() as usize % SHORT]));
            live &= live - 1;
        }
    }

    /// The lowest rank, and of several the leftmost.
    fn next_turn(&self) -> u32 {
        let (chunks, _) = self.turns[..self.len.next_multiple_of(8)].as_chunks::<8>();
        let mut lowest = [NEVER as i32; 8];
        for chunk in chunks {
            for (low, turn) in lowest.iter_mut().zip(chunk) {
                *low = (*low).min(*turn as i32);
            }
        }
        lowest.into_iter().min().unwrap_or(NEVER as i32) as u32
    }
}

/// The order of merges in one number: by rank, then by place.
fn turn(rank: u32, place: usize) -> u32 {
    if rank == NO_RANK { NEVER } else { rank << PLACE_BITS | place as u32 }
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

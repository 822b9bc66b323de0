//! Frames: what is open around a place in a text.

use crate::grammar::number::NumberState;
use crate::grammar::residue::Residue;
use crate::grammar::value::ValueId;

/// The frame around the outermost value.
pub(super) const ROOT_FRAME: u32 = 0;

/// An open object or array.
#[derive(Debug, Clone, Copy)]
pub(super) struct Frame {
    pub(super) parent: u32,
    pub(super) kind: Kind,
    /// Whether somebody outside compares the value by its hash.
    pub(super) hashed: bool,
    /// The hash of what is complete inside.
    pub(super) hash: u64,
}

#[derive(Debug, Clone, Copy)]
pub(super) enum Kind {
    Root,
    /// A part of a rule, and what follows it.
    Part(Then),
    Object {
        object: u32,
        count: u32,
        /// Where in [`Arena::bits`] the sets of keys stand: those seen, then those that must still come.
        bits: u32,
        /// The set of the keys that are not known by name: a place in [`Arena::hashes`].
        others: u32,
        witnessed: bool,
        /// One more than the place in the schema's order of the last known key.
        last: u32,
        /// The hash of the last key.
        key: u64,
        /// One more than the [`MembersCode`] as whose markup the object is written; 0 for JSON.
        members: u32,
    },
    Array {
        array: u32,
        /// How many items have begun.
        count: u32,
        /// How many of them count for `contains`.
        counted: u32,
        /// The set of the items, if they must differ: a place in [`Arena::hashes`].
        items: u32,
    },
}

/// What follows a part of a rule.
#[derive(Debug, Clone, Copy)]
pub(super) enum Then {
    /// A state of a rule.
    State(u32),
    /// A key of the object around.
    Key,
    /// The value of the last key: a string, as it is. As below, the number is that of the [`MembersCode`] whose
    /// markup it is.
    Text(u32, ValueId),
    /// The value of the last key: anything else, as JSON.
    Json(u32, ValueId),
    /// The markup after a value.
    Close(u32),
    /// The next member, or the end of the object.
    Next(u32),
}

/// The frames of one matcher.
#[derive(Debug, Clone)]
pub(super) struct Arena {
    pub(super) frames: Vec<Frame>,
    pub(super) bits: Vec<u64>,
    /// The nodes of sets of hashes, search trees that share what they have in common; the first is the empty set.
    pub(super) hashes: Vec<HashNode>,
    numbers: Vec<Numeral>,
}

/// A number that is being read.
#[derive(Debug, Clone, Copy)]
pub(super) struct Numeral {
    pub(super) state: NumberState,
    pub(super) residue: Residue,
}

/// How much of an [`Arena`] there is.
#[derive(Debug, Clone, Copy)]
pub(super) struct ArenaMark(usize, usize, usize, usize);

impl Arena {
    pub(super) fn new() -> Self {
        let root = Frame { parent: ROOT_FRAME, kind: Kind::Root, hashed: false, hash: 0 };
        Self {
            frames: vec![root],
            bits: Vec::new(),
            hashes: vec![HashNode { hash: 0, less: 0, more: 0 }],
            numbers: Vec::new(),
        }
    }

    pub(super) fn mark(&self) -> ArenaMark {
        ArenaMark(self.frames.len(), self.bits.len(), self.hashes.len(), self.numbers.len())
    }

    /// Drops what neither `frames` nor `numbers` leads to, and tells how both are called now. The order stays, so that
    /// a mark of before is the mark of what is left of it ([`Compaction::mark`]).
    pub(super) fn compact(
        &mut self,
        frames: &[u32],
        numbers: &[u32],
        words: impl Fn(u32) -> usize,
    ) -> Compaction {
        let mut live = Live {
            frames: vec![false; self.frames.len()],
            bits: vec![false; self.bits.len()],
            hashes: vec![false; self.hashes.len()],
            numbers: vec![false; self.numbers.len()],
        };
        live.frames[ROOT_FRAME as usize] = true;
        live.hashes[0] = true;
        for &number in numbers {
            live.numbers[number as usize] = true;
        }
        for &frame in frames {
            let mut next = frame;
            while !live.frames[next as usize] {
                live.frames[next as usize] = true;
                let frame = self.frames[next as usize];
                let set = match frame.kind {
                    Kind::Object { object, bits, others, .. } => {
                        live.bits[bits as usize..bits as usize + 2 * words(object)].fill(true);
                        others
                    }
                    Kind::Array { items, .. } => items,
                    Kind::Root | Kind::Part(_) => 0,
                };
                let mut open = vec![set];
                while let Some(node) = open.pop() {
                    if !std::mem::replace(&mut live.hashes[node as usize], true) {
                        let node = self.hashes[node as usize];
                        open.extend([node.less, node.more]);
                    }
                }
                next = frame.parent;
            }
        }
        let moved = Compaction {
            frames: keep(&mut self.frames, &live.frames),
            bits: keep(&mut self.bits, &live.bits),
            hashes: keep(&mut self.hashes, &live.hashes),
            numbers: keep(&mut self.numbers, &live.numbers),
        };
        for frame in &mut self.frames {
            frame.parent = moved.frames[frame.parent as usize];
            match &mut frame.kind {
                Kind::Object { bits, others, .. } => {
                    *bits = moved.bits[*bits as usize];
                    *others = moved.hashes[*others as usize];
                }
                Kind::Array { items, .. } => *items = moved.hashes[*items as usize],
                Kind::Root | Kind::Part(_) => {}
            }
        }
        for node in &mut self.hashes {
            node.less = moved.hashes[node.less as usize];
            node.more = moved.hashes[node.more as usize];
        }
        moved
    }

    /// How much there is in all.
    pub(super) fn size(&self) -> usize {
        self.frames.len() + self.bits.len() + self.hashes.len() + self.numbers.len()
    }

    /// How many frames there are.
    pub(super) fn frames(&self) -> u32 {
        self.frames.len() as u32
    }

    /// Forgets what was added since `mark`.
    pub(super) fn reset(&mut self, mark: ArenaMark) {
        self.frames.truncate(mark.0);
        self.bits.truncate(mark.1);
        self.hashes.truncate(mark.2);
        self.numbers.truncate(mark.3);
    }

    pub(super) fn push(&mut self, frame: Frame) -> u32 {
        self.frames.push(frame);
        (self.frames.len() - 1) as u32
    }

    pub(super) fn frame(&self, at: u32) -> &Frame {
        &self.frames[at as usize]
    }

    /// The sets of keys of an object: those seen, then those that must still come.
    pub(super) fn sets(&self, bits: u32, words: usize) -> &[u64] {
        &self.bits[bits as usize..bits as usize + 2 * words]
    }

    /// Keeps a number that is being read.
    pub(super) fn push_number(&mut self, number: Numeral) -> u32 {
        self.numbers.push(number);
        (self.numbers.len() - 1) as u32
    }

    pub(super) fn number(&self, at: u32) -> &Numeral {
        &self.numbers[at as usize]
    }

    /// The set `root` with one more hash. Takes as many new nodes as the tree is deep: hashes come in no order, so it
    /// is about twice as deep as one that is balanced.
    pub(super) fn insert_hash(&mut self, hash: u64, root: u32) -> u32 {
        let mut path = Vec::new();
        let mut next = root;
        while next != 0 {
            let node = self.hashes[next as usize];
            path.push(node);
            next = if spread(hash) < spread(node.hash) { node.less } else { node.more };
        }
        let mut new = self.push_node(HashNode { hash, less: 0, more: 0 });
        for node in path.into_iter().rev() {
            new = self.push_node(if spread(hash) < spread(node.hash) {
                HashNode { less: new, ..node }
            } else {
                HashNode { more: new, ..node }
            });
        }
        new
    }

    fn push_node(&mut self, node: HashNode) -> u32 {
        self.hashes.push(node);
        (self.hashes.len() - 1) as u32
    }

    pub(super) fn has_hash(&self, hash: u64, root: u32) -> bool {
        let mut next = root;
        while next != 0 {
            let node = self.hashes[next as usize];
            if node.hash == hash {
                return true;
            }
            next = if spread(hash) < spread(node.hash) { node.less } else { node.more };
        }
        false
    }
}

/// A node of a set of hashes: those below `less` come before it, those below `more` after it.
#[derive(Debug, Clone, Copy)]
pub(super) struct HashNode {
    pub(super) hash: u64,
    pub(super) less: u32,
    pub(super) more: u32,
}

/// What hashes are sorted by: hashes of like texts are alike, and would make a list of the tree.
const fn spread(hash: u64) -> u64 {
    (hash ^ hash >> 32).wrapping_mul(0x9E37_79B9_7F4A_7C15).swap_bytes()
}

/// What is still needed of an [`Arena`].
struct Live {
    frames: Vec<bool>,
    bits: Vec<bool>,
    hashes: Vec<bool>,
    numbers: Vec<bool>,
}

/// Where the things of an [`Arena`] went: for each place of before, and for the end, how many are kept of those in
/// front of it.
pub(super) struct Compaction {
    frames: Vec<u32>,
    bits: Vec<u32>,
    hashes: Vec<u32>,
    numbers: Vec<u32>,
}

impl Compaction {
    pub(super) fn frame(&self, frame: u32) -> u32 {
        self.frames[frame as usize]
    }

    pub(super) fn number(&self, number: u32) -> u32 {
        self.numbers[number as usize]
    }

    pub(super) fn mark(&self, mark: ArenaMark) -> ArenaMark {
        ArenaMark(
            self.frames[mark.0] as usize,
            self.bits[mark.1] as usize,
            self.hashes[mark.2] as usize,
            self.numbers[mark.3] as usize,
        )
    }
}

/// Keeps the live things; returns how many are kept in front of each place.
fn keep<T: Copy>(things: &mut Vec<T>, live: &[bool]) -> Vec<u32> {
    let mut moved = Vec::with_capacity(live.len() + 1);
    let mut kept = 0;
    for (at, live) in live.iter().enumerate() {
        moved.push(kept as u32);
        if *live {
            things[kept] = things[at];
            kept += 1;
        }
    }
    moved.push(kept as u32);
    things.truncate(kept);
    moved
}

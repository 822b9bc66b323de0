//! From automata over classes of characters to automata over the bytes of UTF-8.

use super::algebra::limit;
use super::chars::Classes;
use super::dfa::Dfa;
use super::hash::Map;
use super::table::{DEAD, Table, narrow};
use super::{LanguageError, Limits};

/// The automaton over bytes of a trimmed, smallest automaton over `classes`. It is smallest too.
///
/// # Errors
/// [`LanguageError::TooLarge`]
pub(super) fn over_bytes(table: &Table, classes: &Classes, limits: &Limits) -> Result<Dfa, LanguageError> {
    if table.start == DEAD {
        return Ok(Dfa::new(&Table::never(1), &[0; 256]));
    }
    let tree = Tree::new(classes);
    let (bytes, ascii, letters) = tree.letters(classes);
    let mut expansion = Expansion {
        table,
        tree: &tree,
        bytes: &bytes,
        ascii,
        result: Table {
            letters,
            next: vec![DEAD; letters * table.states()],
            labels: table.labels.clone(),
            start: table.start,
        },
        simple: Map::default(),
        mixed: Map::default(),
        rows: Map::default(),
    };
    for state in 1..narrow(table.states()) {
        expansion.state(state);
        limit(expansion.result.states(), letters, limits)?;
    }
    Ok(Dfa::new(&expansion.result, &bytes))
}

/// What stands after some first bytes of a character: where each next byte leads.
#[derive(PartialEq, Eq, Hash, Clone)]
struct Node {
    /// Stretches of bytes. What they lead to is a node, or for a last byte a class.
    edges: Vec<(u8, u8, u32)>,
    is_last: bool,
}

/// The characters beyond ASCII by their bytes, with their classes at the leaves.
struct Tree {
    nodes: Vec<Node>,
    /// The classes below each node.
    below: Vec<Vec<u16>>,
    root: Vec<(u8, u8, u32)>,
}

impl Tree {
    fn new(classes: &Classes) -> Self {
        let mut builder = Builder {
            classes,
            tree: Self { nodes: Vec::new(), below: Vec::new(), root: Vec::new() },
            known: Map::default(),
            uniform: Vec::new(),
        };
        for lead in 0xC2..=0xF4u8 {
            let (level, base) = match lead {
                ..0xE0 => (1, u32::from(lead & 0x1F) << 6),
                0xE0..0xF0 => (2, u32::from(lead & 0x0F) << 12),
                _ => (3, u32::from(lead & 0x07) << 18),
            };
            let node = builder.node(base, level);
            join(&mut builder.tree.root, lead, node);
        }
        builder.tree
    }

    /// The letter of each byte, the class of each letter of ASCII, and how many letters there are: bytes that are
    /// alike everywhere share one.
    fn letters(&self, classes: &Classes) -> ([u8; 256], Vec<u16>, usize) {
        let mut bytes = [0; 256];
        let mut ascii: Vec<u16> = Vec::new();
        let mut stretch = 0;
        for byte in 0..128u8 {
            while classes.starts.get(stretch + 1).is_some_and(|&start| start <= byte.into()) {
                stretch += 1;
            }
            let class = classes.class[stretch];
            let letter = ascii.iter().position(|&known| known == class).unwrap_or_else(|| {
                ascii.push(class);
                ascii.len() - 1
            });
            bytes[byte as usize] = u8::try_from(letter).unwrap_or(u8::MAX);
        }
        let mut letters = u8::try_from(ascii.len()).unwrap_or(u8::MAX);
        let mut border = [false; 257];
        border[0x80] = true;
        for (low, high, _) in self.nodes.iter().flat_map(|node| &node.edges).chain(&self.root) {
            border[*low as usize] = true;
            border[*high as usize + 1] = true;
        }
        for byte in 128..256 {
            letters += u8::from(border[byte]);
            bytes[byte] = letters - 1;
        }
        (bytes, ascii, letters.into())
    }
}

/// Adds one more byte to edges.
fn join(edges: &mut Vec<(u8, u8, u32)>, byte: u8, target: u32) {
    match edges.last_mut() {
        Some(last) if last.2 == target && last.1 + 1 == byte => last.1 = byte,
        _ => edges.push((byte, byte, target)),
    }
}

/// A class, a level and the next bytes: what decides a node all of whose characters are alike.
type Uniform = (u16, u32, (u8, u8));

struct Builder<'a> {
    classes: &'a Classes,
    tree: Tree,
    known: Map<Node, u32>,
    /// Nodes all of whose characters are alike.
    uniform: Vec<(Uniform, u32)>,
}

impl Builder<'_> {
    /// The node for the characters from `base` on that have `level` more bytes.
    fn node(&mut self, base: u32, level: u32) -> u32 {
        let step = 1 << (6 * (level - 1));
        // Some next bytes would make the character too long, a surrogate or too large.
        let (low, high) = match (level, base) {
            (2, 0) => (0x20, 0x3F),
            (2, 0xD000) => (0, 0x1F),
            (3, 0) => (0x10, 0x3F),
            (3, 0x10_0000) => (0, 0x0F),
            _ => (0, 0x3F),
        };
        let first = base + u32::from(low) * step;
        let mut stretch = self.classes.starts.partition_point(|&start| start <= first).saturating_sub(1);
        let ends_after =
            |stretch: usize, end: u32| self.classes.starts.get(stretch + 1).is_none_or(|&start| start >= end);
        if ends_after(stretch, base + (u32::from(high) + 1) * step) {
            return self.uniform(self.classes.class[stretch], level, (low, high));
        }
        let mut edges = Vec::new();
        for index in low..=high {
            let from = base + u32::from(index) * step;
            while self.classes.starts.get(stretch + 1).is_some_and(|&start| start <= from) {
                stretch += 1;
            }
            let class = self.classes.class[stretch];
            let target = if level == 1 { class.into() } else { self.node(from, level - 1) };
            join(&mut edges, 0x80 + index, target);
        }
        self.intern(edges, level == 1)
    }

    /// The node below which all characters are of one class.
    fn uniform(&mut self, class: u16, level: u32, bytes: (u8, u8)) -> u32 {
        let key = (class, level, bytes);
        if let Some(known) = self.uniform.iter().find(|known| known.0 == key) {
            return known.1;
        }
        let target = if level == 1 { class.into() } else { self.uniform(class, level - 1, (0, 0x3F)) };
        let node = self.intern(vec![(0x80 + bytes.0, 0x80 + bytes.1, target)], level == 1);
        self.uniform.push((key, node));
        node
    }

    fn intern(&mut self, edges: Vec<(u8, u8, u32)>, is_last: bool) -> u32 {
        let node = Node { edges, is_last };
        if let Some(&known) = self.known.get(&node) {
            return known;
        }
        let number = narrow(self.tree.nodes.len());
        let mut below: Vec<u16> = Vec::new();
        for &(_, _, target) in &node.edges {
            if is_last {
                below.push(u16::try_from(target).unwrap_or(u16::MAX));
            } else {
                below.extend(&self.tree.below[target as usize]);
            }
        }
        below.sort_unstable();
        below.dedup();
        self.tree.nodes.push(node.clone());
        self.tree.below.push(below);
        self.known.insert(node, number);
        number
    }
}

struct Expansion<'a> {
    table: &'a Table,
    tree: &'a Tree,
    bytes: &'a [u8; 256],
    /// The class of each letter of ASCII.
    ascii: Vec<u16>,
    result: Table,
    /// States inside characters, by node and the one state that all characters below it lead to.
    simple: Map<(u32, u32), u32>,
    /// The same for several states, one for each class below the node.
    mixed: Map<(u32, Box<[u32]>), u32>,
    /// States inside characters, by their row.
    rows: Map<Box<[u32]>, u32>,
}

impl Expansion<'_> {
    /// Fills the row of a state between characters.
    fn state(&mut self, state: u32) {
        for (letter, &class) in self.ascii.iter().enumerate() {
            let target = self.table.row(state)[class as usize];
            self.result.set(state, letter, target);
        }
        for &(low, high, node) in &self.tree.root {
            let target = self.inside(state, node);
            for letter in self.bytes[low as usize]..=self.bytes[high as usize] {
                self.result.set(state, letter.into(), target);
            }
        }
    }

    /// The state after the bytes that lead from `state` to `node`.
    fn inside(&mut self, state: u32, node: u32) -> u32 {
        let below = &self.tree.below[node as usize];
        let row = self.table.row(state);
        let first = below.first().map_or(DEAD, |&class| row[class as usize]);
        if below.iter().all(|&class| row[class as usize] == first) {
            if first == DEAD {
                return DEAD;
            }
            if let Some(&known) = self.simple.get(&(node, first)) {
                return known;
            }
            let new = self.new_state(state, node);
            self.simple.insert((node, first), new);
            return new;
        }
        let key = (node, below.iter().map(|&class| row[class as usize]).collect());
        if let Some(&known) = self.mixed.get(&key) {
            return known;
        }
        let new = self.new_state(state, node);
        self.mixed.insert(key, new);
        new
    }

    fn new_state(&mut self, state: u32, node: u32) -> u32 {
        let tree = self.tree;
        let node = &tree.nodes[node as usize];
        let mut row = vec![DEAD; self.result.letters];
        for &(low, high, target) in &node.edges {
            let target = if node.is_last {
                self.table.row(state)[target as usize]
            } else {
                self.inside(state, target)
            };
            row[self.bytes[low as usize] as usize..=self.bytes[high as usize] as usize].fill(target);
        }
        if let Some(&known) = self.rows.get(row.as_slice()) {
            return known;
        }
        let new = self.result.add(0);
        let at = new as usize * row.len();
        self.result.next[at..].copy_from_slice(&row);
        self.rows.insert(row.into_boxed_slice(), new);
        new
    }
}

//! The automaton that runs: a dense table over classes of bytes, in one form for each language.

use std::collections::VecDeque;
use std::hash::{Hash, Hasher};

use super::hash::{Map, Mix};
use super::table::{DEAD, Groups, Table, narrow};

/// How many characters it takes to the end of a word from a state that has none.
const NEVER: u32 = u32::MAX;

/// A smallest automaton over bytes. Equal languages have equal automata: states are numbered in the order in which a
/// search from the start meets them.
#[derive(Debug, PartialEq, Eq)]
pub(in crate::grammar) struct Dfa {
    /// The class of each byte.
    pub(in crate::grammar) classes: [u8; 256],
    pub(super) class_count: usize,
    /// A row has `1 << shift` cells.
    pub(super) shift: u32,
    pub(super) next: Box<[u32]>,
    pub(super) labels: Box<[u32]>,
    /// The fewest characters to the end of a word.
    pub(super) distance: Box<[u32]>,
    pub(in crate::grammar) start: u32,
    hash: u64,
}

impl Hash for Dfa {
    fn hash<H: Hasher>(&self, state: &mut H) {
        state.write_u64(self.hash);
    }
}

impl Dfa {
    /// Gives a smallest `table` its one form; `letters` are the letters of the bytes.
    pub(super) fn new(table: &Table, letters: &[u8; 256]) -> Self {
        let (classes, columns) = merge_letters(table, letters);
        let class_count = columns.len();
        let shift = class_count.next_power_of_two().trailing_zeros();
        let mut number = vec![u32::MAX; table.states()];
        let mut order = vec![DEAD];
        number[DEAD as usize] = DEAD;
        let mut at = 0;
        let mut next = vec![DEAD; 1 << shift];
        if table.start != DEAD {
            number[table.start as usize] = 1;
            order.push(table.start);
        }
        while at + 1 < order.len() {
            at += 1;
            let row = table.row(order[at]);
            let from = next.len();
            for &letter in &columns {
                let target = row[letter as usize] as usize;
                if number[target] == u32::MAX {
                    number[target] = narrow(order.len());
                    order.push(narrow(target));
                }
                next.push(number[target]);
            }
            next.resize(from + (1 << shift), DEAD);
        }
        let labels: Box<[u32]> = order.iter().map(|&state| table.labels[state as usize]).collect();
        let mut dfa = Self {
            classes,
            class_count,
            shift,
            next: next.into_boxed_slice(),
            labels,
            distance: Box::default(),
            start: u32::from(table.start != DEAD),
            hash: 0,
        };
        dfa.distance = dfa.distances();
        dfa.hash = dfa.content_hash();
        dfa
    }

    pub(in crate::grammar) fn states(&self) -> usize {
        self.labels.len()
    }

    pub(in crate::grammar) fn next(&self, state: u32, byte: u8) -> u32 {
        self.next[((state as usize) << self.shift) + self.classes[byte as usize] as usize]
    }

    pub(in crate::grammar) fn is_accepting(&self, state: u32) -> bool {
        self.labels[state as usize] != 0
    }

    /// The cells of a state, one for each class.
    pub(super) fn row(&self, state: u32) -> &[u32] {
        let at = (state as usize) << self.shift;
        &self.next[at..at + self.class_count]
    }

    /// For each class whether its bytes continue a character. A class with such bytes and others leads nowhere.
    pub(super) fn continues(&self) -> [bool; 256] {
        let mut continues = [false; 256];
        for byte in 0x80..0xC0 {
            continues[self.classes[byte] as usize] = true;
        }
        continues
    }

    /// For each number of characters up to `chars`, and each state, how many words go on from it with no more
    /// characters, up to `u32::MAX`.
    pub(super) fn words_within(&self, chars: u32) -> Vec<Box<[u32]>> {
        let mut widths = vec![0_u32; self.class_count];
        self.classes.iter().for_each(|class| widths[*class as usize] += 1);
        let continues = self.continues();
        let mut within: Vec<Box<[u32]>> = Vec::new();
        for chars in 0..=chars as usize {
            let fewer = chars.checked_sub(1).map(|fewer| &within[fewer]);
            let mut now: Box<[u32]> = vec![0; self.states()].into_boxed_slice();
            // A character goes on at most three times.
            for _ in 0..4 {
                let before = now.clone();
                for state in 1..narrow(self.states()) {
                    let ends = u32::from(self.is_accepting(state));
                    let edges = self.row(state).iter().zip(&widths).zip(&continues);
                    now[state as usize] = edges.fold(ends, |sum, ((target, width), continues)| {
                        let counts = if *continues { Some(&before) } else { fewer };
                        let words = counts.map_or(0, |counts| counts[*target as usize]);
                        sum.saturating_add(words.saturating_mul(*width))
                    });
                }
            }
            within.push(now);
        }
        within
    }

    /// For each state, how many words go on from it, up to `u32::MAX`; nothing if these are always as many as one
    /// likes.
    pub(super) fn words_left(&self) -> Option<Box<[u32]>> {
        let mut widths = vec![0_u32; self.class_count];
        self.classes.iter().for_each(|class| widths[*class as usize] += 1);
        // A state is settled when all that follow it are: those that never are lead into a loop.
        let mut open = vec![0_u32; self.states()];
        let mut edges = Vec::new();
        for state in 1..narrow(self.states()) {
            for &target in self.row(state).iter().filter(|target| **target != DEAD) {
                open[state as usize] += 1;
                edges.push((target, state));
            }
        }
        let incoming = Groups::new(self.states(), &edges);
        let mut left = vec![u32::MAX; self.states()];
        left[DEAD as usize] = 0;
        let mut settled: Vec<u32> =
            (1..narrow(self.states())).filter(|state| open[*state as usize] == 0).collect();
        let mut next = 0;
        while let Some(&state) = settled.get(next) {
            next += 1;
            let ways = self.row(state).iter().zip(&widths);
            left[state as usize] = ways.fold(u32::from(self.is_accepting(state)), |sum, (target, width)| {
                sum.saturating_add(left[*target as usize].saturating_mul(*width))
            });
            for &from in incoming.of(state) {
                open[from as usize] -= 1;
                if open[from as usize] == 0 {
                    settled.push(from);
                }
            }
        }
        (next > 0).then(|| left.into_boxed_slice())
    }

    fn distances(&self) -> Box<[u32]> {
        let continues = self.continues();
        let mut edges = Vec::new();
        for state in 1..narrow(self.states()) {
            let mut last = DEAD;
            for (class, &target) in self.row(state).iter().enumerate() {
                if target == DEAD || target == last {
                    continue;
                }
                last = target;
                edges.push((target, state << 1 | u32::from(!continues[class])));
            }
        }
        let incoming = Groups::new(self.states(), &edges);
        let mut distance = vec![NEVER; self.states()];
        let mut queue = VecDeque::new();
        for (state, &label) in self.labels.iter().enumerate() {
            if label != 0 {
                distance[state] = 0;
                queue.push_back((0, narrow(state)));
            }
        }
        while let Some((known, state)) = queue.pop_front() {
            if known > distance[state as usize] {
                continue;
            }
            for &edge in incoming.of(state) {
                let (source, cost) = (edge >> 1, edge & 1);
                if known + cost < distance[source as usize] {
                    distance[source as usize] = known + cost;
                    if cost == 0 {
                        queue.push_front((known, source));
                    } else {
                        queue.push_back((known + 1, source));
                    }
                }
            }
        }
        distance.into_boxed_slice()
    }

    fn content_hash(&self) -> u64 {
        let mut hash = Mix::default();
        hash.write(&self.classes);
        self.next.iter().for_each(|&state| hash.write_u32(state));
        self.labels.iter().for_each(|&label| hash.write_u32(label));
        hash.finish()
    }
}

/// The class of each byte and a letter for each class: letters with equal columns are one class. Classes are
/// numbered in the order of their first bytes.
fn merge_letters(table: &Table, letters: &[u8; 256]) -> ([u8; 256], Vec<u8>) {
    let mut hashes = vec![Mix::default(); table.letters];
    for row in table.next.chunks_exact(table.letters) {
        for (hash, &target) in hashes.iter_mut().zip(row) {
            hash.write_u32(target);
        }
    }
    let equal =
        |a: u8, b: u8| table.next.chunks_exact(table.letters).all(|row| row[a as usize] == row[b as usize]);
    let mut class_of = vec![None; table.letters];
    let mut known: Map<u64, Vec<u8>> = Map::default();
    let mut columns: Vec<u8> = Vec::new();
    let mut classes = [0; 256];
    for (class, &letter) in classes.iter_mut().zip(letters) {
        *class = *class_of[letter as usize].get_or_insert_with(|| {
            let same = known.entry(hashes[letter as usize].finish()).or_default();
            if let Some(&class) = same.iter().find(|&&class| equal(columns[class as usize], letter)) {
                return class;
            }
            let class = u8::try_from(columns.len()).unwrap_or(u8::MAX);
            columns.push(letter);
            same.push(class);
            class
        });
    }
    (classes, columns)
}

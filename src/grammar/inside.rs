//! Which tokens go on inside a text that is a word of a language, or a key that is told by a classifier.

use crate::grammar::language::{Classifier, Language};
use crate::grammar::string::{Body, Escape, Form, Place};
use crate::grammar::trie::{Node, PLAIN_ASCII, ROOT, TokenTrie, Utf8};

/// An automaton over bytes; its state 0 is dead.
pub(super) trait Automaton {
    fn next(&self, state: u32, byte: u8) -> u32;
    fn states(&self) -> usize;
    fn is_accepting(&self, state: u32) -> bool;
}

impl Automaton for Language {
    fn next(&self, state: u32, byte: u8) -> u32 {
        self.next(state, byte)
    }

    fn states(&self) -> usize {
        self.states()
    }

    fn is_accepting(&self, state: u32) -> bool {
        self.is_accepting(state)
    }
}

impl Automaton for Classifier {
    fn next(&self, state: u32, byte: u8) -> u32 {
        self.next(state, byte)
    }

    fn states(&self) -> usize {
        self.states()
    }

    fn is_accepting(&self, state: u32) -> bool {
        self.label(state).is_some()
    }
}

/// A place in a text of which the automaton's state decides all.
#[derive(Debug, Clone, Copy)]
pub(super) struct State(pub(super) u32);

impl<A: Automaton> Place<A> for State {
    fn next(self, automaton: &A, byte: u8) -> Option<Self> {
        let state = automaton.next(self.0, byte);
        (state != 0).then_some(Self(state))
    }

    fn is_complete(self, automaton: &A) -> bool {
        automaton.is_accepting(self.0)
    }
}

/// The characters that leave a state as it is, so that tokens made of them need no look.
#[derive(Debug, Clone, Copy)]
pub(super) struct Loop {
    /// The ASCII characters.
    ascii: u128,
    /// The others, by their first byte from 0xC0 on: those all of whose characters loop.
    leads: u64,
}

impl Loop {
    const NONE: Self = Self { ascii: 0, leads: 0 };

    pub(super) fn at(automaton: &impl Automaton, state: u32) -> Self {
        let ascii = (0..0x80_u8)
            .filter(|byte| automaton.next(state, *byte) == state)
            .fold(0, |set, byte| set | 1 << byte);
        // Where no ASCII character loops, others hardly do, and asking costs more.
        if ascii == 0 {
            return Self::NONE;
        }
        let mut known = Vec::new();
        let leads = (0xC0..=0xFF_u8)
            .filter(|lead| match Utf8::Whole.next(*lead) {
                Some(place) => returns(automaton, state, automaton.next(state, *lead), place, &mut known),
                // No text has it.
                None => true,
            })
            .fold(0, |set, lead| set | 1 << (lead - 0xC0));
        Self { ascii, leads }
    }

    /// Whether every character loops.
    pub(super) fn is_all(self) -> bool {
        self.ascii == u128::MAX && self.leads == u64::MAX
    }
}

/// The states of a language from which every text goes on, whatever it is: those of a search that may still succeed.
///
/// Indexed by state; only states between characters are told.
pub(super) fn endless_states(language: &Language) -> Vec<bool> {
    let states = language.states() as u32;
    // Where in UTF-8 each state is: a state of a smallest automaton has one place, for no two places have the same
    // continuations.
    let mut places: Vec<Option<Utf8>> = vec![None; states as usize];
    let mut open = vec![language.start()];
    places[language.start() as usize] = Some(Utf8::Whole);
    let bytes = one_byte_each(language);
    while let Some(from) = open.pop() {
        let Some(place) = places[from as usize] else { continue };
        for &byte in &bytes {
            let to = language.next(from, byte);
            if to != Language::DEAD
                && places[to as usize].is_none()
                && let Some(next) = place.next(byte)
            {
                places[to as usize] = Some(next);
                open.push(to);
            }
        }
    }
    let mut endless: Vec<bool> = places.iter().map(Option::is_some).collect();
    loop {
        let mut changed = false;
        for from in 1..states {
            let Some(place) = places[from as usize].filter(|_| endless[from as usize]) else { continue };
            let goes_on = bytes
                .iter()
                .all(|byte| place.next(*byte).is_none() || endless[language.next(from, *byte) as usize]);
            if !goes_on {
                endless[from as usize] = false;
                changed = true;
            }
        }
        if !changed {
            break;
        }
    }
    for (state, place) in places.iter().enumerate() {
        endless[state] &= *place == Some(Utf8::Whole);
    }
    endless
}

/// One byte of each class that the automaton tells apart, for each place in UTF-8 that tells bytes apart.
fn one_byte_each(language: &Language) -> Vec<u8> {
    const PARTS: &[u8] =
        &[0x00, 0x80, 0x90, 0xA0, 0xC0, 0xC2, 0xE0, 0xE1, 0xED, 0xEE, 0xF0, 0xF1, 0xF4, 0xF5];
    let classes = language.classes();
    let part = |byte: u8| PARTS.partition_point(|first| *first <= byte);
    let mut seen: Vec<(u8, usize)> = Vec::new();
    (0..=255_u8)
        .filter(|byte| {
            let key = (classes[*byte as usize], part(*byte));
            let new = !seen.contains(&key);
            if new {
                seen.push(key);
            }
            new
        })
        .collect()
}

/// Whether every way to end the character that is at `place` in state `from` leads to `state`.
fn returns(
    automaton: &impl Automaton,
    state: u32,
    from: u32,
    place: Utf8,
    known: &mut Vec<((u32, Utf8), bool)>,
) -> bool {
    if place == Utf8::Whole {
        return from == state;
    }
    if from == 0 {
        return false;
    }
    if let Some((_, answer)) = known.iter().find(|(asked, _)| *asked == (from, place)) {
        return *answer;
    }
    let answer = (0x80..=0xBF_u8).all(|byte| match place.next(byte) {
        Some(next) => returns(automaton, state, automaton.next(from, byte), next, known),
        None => true,
    });
    known.push(((from, place), answer));
    answer
}

/// Subtrees smaller than this are walked without asking for loops.
const WORTH_ASKING: u32 = 48;

/// Tokens that go on inside a text.
#[derive(Debug)]
pub(super) struct Inside {
    /// All tokens that are made of these characters,
    pub(super) class: Option<Class>,
    /// and these.
    pub(super) tokens: Vec<u32>,
}

/// A class of characters.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) struct Class {
    ascii: u128,
    leads: u64,
}

impl Class {
    fn has(self, byte: u8) -> bool {
        match byte {
            0..0x80 => self.ascii >> byte & 1 == 1,
            0x80..0xC0 => true,
            _ => self.leads >> (byte - 0xC0) & 1 == 1,
        }
    }

    /// The tokens that are made of the class's characters; the last may be cut.
    pub(super) fn tokens(self, trie: &TokenTrie) -> Vec<u32> {
        let tokens = &trie.tokens;
        let mut found = Vec::new();
        let mut path: Vec<(Node, Utf8)> = vec![(tokens.end(ROOT), Utf8::Whole)];
        let mut node = ROOT + 1;
        while node < tokens.end(ROOT) {
            while path.last().is_some_and(|(end, _)| *end <= node) {
                path.pop();
            }
            let place = path.last().map_or(Utf8::Whole, |(_, place)| *place);
            let (byte, end) = (tokens.byte(node), tokens.end(node));
            let Some(place) = place.next(byte).filter(|_| self.has(byte)) else {
                node = end;
                continue;
            };
            if place == Utf8::Whole && tokens.is_text_below(node, self.ascii, self.leads) {
                found.extend_from_slice(tokens.entries_below(node));
                node = end;
                continue;
            }
            found.extend_from_slice(tokens.entries(node));
            path.push((end, place));
            node += 1;
        }
        found
    }
}

/// The tokens that go on inside a text from `place` on.
pub(super) fn inside<A: Automaton>(of: &A, place: State, form: Form, trie: &TokenTrie) -> Inside {
    let tokens = &trie.tokens;
    let mut found = Vec::new();
    let mut loops: Vec<Option<Loop>> = vec![None; of.states()];
    let plain = if form == Form::String { PLAIN_ASCII } else { u128::MAX };
    // What only loops where the text is now is a set of its own.
    let at = *loops[place.0 as usize].get_or_insert_with(|| Loop::at(of, place.0));
    let class = Class { ascii: at.ascii & plain, leads: at.leads };
    let class = (class.ascii != 0).then_some(class);
    let start = Step { end: tokens.end(ROOT), place, escape: Escape::None, in_class: class.is_some() };
    let mut path = vec![start];
    let mut node = ROOT + 1;
    while node < tokens.end(ROOT) {
        while path.last().is_some_and(|step| step.end <= node) {
            path.pop();
        }
        let Some(&step) = path.last() else { break };
        let (byte, end) = (tokens.byte(node), tokens.end(node));
        let in_class = step.in_class && class.is_some_and(|class| class.has(byte));
        if in_class && class.is_some_and(|class| tokens.is_text_below(node, class.ascii, class.leads)) {
            node = end;
            continue;
        }
        let next = form.step(of, step.place, step.escape, byte);
        let Body::On(place, escape) = next else {
            node = end;
            continue;
        };
        if !in_class {
            if escape == Escape::None && end - node > WORTH_ASKING {
                let state = place.0;
                let at = *loops[state as usize].get_or_insert_with(|| Loop::at(of, state));
                if at.ascii != 0 && tokens.is_text_below(node, at.ascii & plain, at.leads) {
                    found.extend_from_slice(tokens.entries_below(node));
                    node = end;
                    continue;
                }
            }
            found.extend_from_slice(tokens.entries(node));
        }
        if end > node + 1 {
            path.push(Step { end, place, escape, in_class });
        }
        node += 1;
    }
    Inside { class, tokens: found }
}

/// A node on the way down.
#[derive(Debug, Clone, Copy)]
struct Step {
    end: Node,
    place: State,
    escape: Escape,
    /// Whether all on the way is made of the class's characters.
    in_class: bool,
}

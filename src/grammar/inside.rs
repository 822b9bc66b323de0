//! Which tokens go on inside a text that is a word of a language, or a key that is told by a classifier.

use crate::grammar::contents::{Chars, Class, is_later};
use crate::grammar::language::Dfa;
use crate::grammar::string::{Body, Escape, Form, Place};
use crate::grammar::trie::{Node, PLAIN_ASCII, ROOT, TokenTrie, Trie, Utf8};

/// A place in a text of which the automaton's state decides all.
#[derive(Debug, Clone, Copy)]
pub(super) struct State(pub(super) u32);

impl Place<Dfa> for State {
    fn next(self, automaton: &Dfa, byte: u8) -> Option<Self> {
        let state = automaton.next(self.0, byte);
        (state != 0).then_some(Self(state))
    }

    fn is_complete(self, automaton: &Dfa) -> bool {
        automaton.is_accepting(self.0)
    }
}

/// The characters all of which lead from state `from` to state `to`.
fn leading(automaton: &Dfa, from: u32, to: u32) -> Chars {
    let ascii =
        (0..0x80_u8).filter(|byte| automaton.next(from, *byte) == to).fold(0, |set, byte| set | 1 << byte);
    // Where no ASCII character leads there, others hardly do, and asking costs more.
    if ascii == 0 {
        return Chars::NONE;
    }
    let mut known = Vec::new();
    let leads = (0xC0..=0xFF_u8)
        .filter(|lead| match Utf8::Whole.next(*lead) {
            Some(place) => arrives(automaton, to, automaton.next(from, *lead), place, &mut known),
            // No text has it.
            None => true,
        })
        .fold(0, |set, lead| set | 1 << (lead - 0xC0));
    Chars { ascii, leads }
}

/// Whether every character leaves a state as it is.
pub(super) fn is_loop(automaton: &Dfa, state: u32) -> bool {
    leading(automaton, state, state) == Chars::ALL
}

/// The states from which every text goes on, whatever it is: those of a search that may still succeed, and of keys that
/// always belong to some class.
///
/// Indexed by state; only states between characters are told.
pub(super) fn endless_states(language: &Dfa) -> Vec<bool> {
    let states = language.states() as u32;
    // Where in UTF-8 each state is: a state of a smallest automaton has one place, for no two places have the same
    // continuations.
    let mut places: Vec<Option<Utf8>> = vec![None; states as usize];
    let mut open = vec![language.start];
    places[language.start as usize] = Some(Utf8::Whole);
    let bytes = one_byte_each(language);
    while let Some(from) = open.pop() {
        let Some(place) = places[from as usize] else { continue };
        for &byte in &bytes {
            let to = language.next(from, byte);
            if to != 0
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
        // Later states are mostly those that earlier ones lead to.
        for from in (1..states).rev() {
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
fn one_byte_each(language: &Dfa) -> Vec<u8> {
    const PARTS: &[u8] =
        &[0x00, 0x80, 0x90, 0xA0, 0xC0, 0xC2, 0xE0, 0xE1, 0xED, 0xEE, 0xF0, 0xF1, 0xF4, 0xF5];
    let classes = &language.classes;
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
fn arrives(
    automaton: &Dfa,
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
        Some(next) => arrives(automaton, state, automaton.next(from, byte), next, known),
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
    /// All tokens that a hub's class makes,
    pub(super) hub: Option<Hub>,
    /// and these.
    pub(super) tokens: Vec<u32>,
}

/// The states that most characters lead to: a state that they do not leave, or, where characters are counted, one after
/// the other.
#[derive(Debug, Clone, Copy)]
pub(super) struct Hub {
    /// The tokens that lead there and stay there.
    pub(super) class: Class,
    /// How many characters such a token may have at most.
    pub(super) limit: u32,
    /// Whether longer tokens of the class may go on all the same.
    pub(super) is_open: bool,
    /// The other characters that go on from one of the states.
    exits: Chars,
}

impl Hub {
    /// So many states are looked at where characters are counted: few tokens are longer.
    const MOST: u32 = 24;
    /// With fewer, too many tokens would be longer.
    const LEAST: u32 = 12;

    /// The hub of a text that is in state `from`, if there is one.
    fn of(of: &Dfa, from: u32, form: Form) -> Option<Self> {
        let plain = Chars { ascii: plain_ascii(form), leads: u64::MAX };
        let mut state = Self::busiest(of, from, plain)?;
        let mut next = Self::busiest(of, state, plain)?;
        let rest = leading(of, state, next).and(plain);
        let first = if state == from { rest } else { leading(of, from, state).and(rest) };
        if first.ascii == 0 {
            return None;
        }
        let mut hub = Self { class: Class { first, rest }, limit: 1, is_open: false, exits: Chars::NONE };
        hub.add_exits(of, state, form);
        while next != state {
            // A text of any form has no index of tokens by length.
            if form == Form::Word {
                return None;
            }
            state = next;
            hub.limit += 1;
            hub.add_exits(of, state, form);
            match Self::target(of, state, rest).filter(|_| hub.limit < Self::MOST) {
                Some(0) => return Some(hub),
                Some(to) => next = to,
                None => {
                    hub.is_open = true;
                    return (hub.limit >= Self::LEAST).then_some(hub);
                }
            }
        }
        hub.limit = u32::MAX;
        Some(hub)
    }

    /// The state that most ASCII characters lead to; of several, the one that they come from.
    fn busiest(of: &Dfa, from: u32, plain: Chars) -> Option<u32> {
        let mut arrivals: Vec<(u32, u32)> = Vec::new();
        for byte in (0..0x80_u8).filter(|byte| plain.has(*byte)) {
            let to = of.next(from, byte);
            match arrivals.iter_mut().find(|(state, _)| *state == to) {
                Some((_, count)) => *count += 1,
                None if to != 0 => arrivals.push((to, 1)),
                None => {}
            }
        }
        arrivals
            .into_iter()
            .max_by_key(|(state, count)| (*count, *state == from, *state))
            .map(|(state, _)| state)
    }

    /// The one state that all of `chars` lead to; 0 if none of them goes on.
    fn target(of: &Dfa, from: u32, chars: Chars) -> Option<u32> {
        let mut ascii = (0..0x80_u8).filter(|byte| chars.has(*byte));
        let to = of.next(from, ascii.next()?);
        let mut known = Vec::new();
        let mut leads = (0xC0..=0xFF_u8).filter(|byte| chars.has(*byte));
        let is_one = ascii.all(|byte| of.next(from, byte) == to)
            && leads.all(|lead| match Utf8::Whole.next(lead) {
                Some(_) if to == 0 => of.next(from, lead) == 0,
                Some(place) => arrives(of, to, of.next(from, lead), place, &mut known),
                None => true,
            });
        is_one.then_some(to)
    }

    fn add_exits(&mut self, of: &Dfa, state: u32, form: Form) {
        for byte in (0..=0xFF_u8).filter(|byte| !self.class.rest.has(*byte)) {
            if matches!(form.step(of, State(state), Escape::None, byte), Body::On(..)) {
                self.exits.add(byte);
            }
        }
    }

    /// Whether a token with `byte` after `step` is one of the class up to there.
    fn has(&self, step: &Step, byte: u8) -> bool {
        match step.way {
            Way::Start => !is_later(byte) && self.class.first.has(byte),
            Way::Hub(chars) => is_later(byte) || chars < self.limit && self.class.rest.has(byte),
            Way::Other => false,
        }
    }
}

/// The ASCII characters that stand for themselves.
const fn plain_ascii(form: Form) -> u128 {
    match form {
        Form::String => PLAIN_ASCII,
        Form::Word => u128::MAX,
    }
}

/// The tokens that go on inside a text from `place` on.
pub(super) fn inside(of: &Dfa, place: State, form: Form, trie: &TokenTrie) -> Inside {
    let tokens = &trie.tokens;
    let mut found = Vec::new();
    let mut loops: Vec<Option<Chars>> = vec![None; of.states()];
    let plain = plain_ascii(form);
    let hub = Hub::of(of, place.0, form);
    let mut path = vec![Step { end: tokens.end(ROOT), place, escape: Escape::None, way: Way::Start }];
    let mut node = ROOT + 1;
    while node < tokens.end(ROOT) {
        while path.last().is_some_and(|step| step.end <= node) {
            path.pop();
        }
        let Some(&step) = path.last() else { break };
        let (byte, end) = (tokens.byte(node), tokens.end(node));
        let way = match &hub {
            Some(hub) if hub.has(&step, byte) => {
                // What the class makes is a set of its own, and most tokens have nothing that leaves it.
                if !tokens.has_below(node, hub.exits) {
                    node = end;
                    continue;
                }
                step.way.on(byte)
            }
            _ => Way::Other,
        };
        let next = form.step(of, step.place, step.escape, byte);
        let Body::On(place, escape) = next else {
            node = end;
            continue;
        };
        if way == Way::Other {
            if escape == Escape::None && end - node > WORTH_ASKING {
                let state = place.0;
                let at = *loops[state as usize].get_or_insert_with(|| leading(of, state, state));
                if at.ascii != 0 && tokens.is_text_below(node, at.ascii & plain, at.leads) {
                    found.extend_from_slice(tokens.entries_below(node));
                    node = end;
                    continue;
                }
            }
            found.extend_from_slice(tokens.entries(node));
        }
        if end > node + 1 {
            path.push(Step { end, place, escape, way });
        }
        node += 1;
    }
    Inside { hub, tokens: found }
}

/// Adds what stands below `node` and goes on inside the body of a JSON string from `place` on.
pub(super) fn below(of: &Dfa, place: State, trie: &Trie, node: Node, found: &mut Vec<u32>) {
    let mut path = vec![(trie.end(node), place, Escape::None)];
    let (mut at, end) = (node + 1, trie.end(node));
    while at < end {
        while path.last().is_some_and(|(end, _, _)| *end <= at) {
            path.pop();
        }
        let Some(&(_, place, escape)) = path.last() else { break };
        match Form::String.step(of, place, escape, trie.byte(at)) {
            Body::On(place, escape) => {
                found.extend_from_slice(trie.entries(at));
                path.push((trie.end(at), place, escape));
                at += 1;
            }
            Body::End | Body::Dead => at = trie.end(at),
        }
    }
}

/// A node on the way down.
#[derive(Debug, Clone, Copy)]
struct Step {
    end: Node,
    place: State,
    escape: Escape,
    way: Way,
}

/// What a token is made of on the way to a node.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Way {
    /// Nothing yet.
    Start,
    /// Of so many characters of the hub's class.
    Hub(u32),
    Other,
}

impl Way {
    /// One more byte of the class.
    fn on(self, byte: u8) -> Self {
        match self {
            Self::Hub(chars) => Self::Hub(chars + u32::from(!is_later(byte))),
            Self::Start | Self::Other => Self::Hub(1),
        }
    }
}

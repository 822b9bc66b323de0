//! Finite sets of words.

use std::hash::Hasher;

use super::algebra::limit;
use super::dfa::Dfa;
use super::hash::{Map, Mix};
use super::table::{DEAD, Table};
use super::{LanguageError, Limits};

/// The smallest automaton of `words`.
///
/// Words come in order, so what is behind a word's beginning is complete when a word comes that does not share it; then
/// its states are joined with equal ones (Daciuk, Mihov, Watson and Watson: *Incremental construction of minimal acyclic
/// finite-state automata*, 2000). At no time there is more than the result and one word.
pub(super) fn automaton<'a>(
    words: impl Iterator<Item = &'a str>,
    limits: &Limits,
) -> Result<Dfa, LanguageError> {
    let mut words: Vec<&[u8]> = words.map(str::as_bytes).collect();
    words.sort_unstable();
    words.dedup();
    // Each byte that occurs is a letter; letter 0 is for the others.
    let mut letters = [0u8; 256];
    for &byte in words.iter().flat_map(|word| *word) {
        letters[byte as usize] = 1;
    }
    let mut count = 0;
    for letter in letters.iter_mut().filter(|letter| **letter == 1) {
        count += 1;
        *letter = count;
    }
    let mut builder = Builder { table: Table::never(count as usize + 1), known: Map::default(), limits };
    let mut path = vec![State::default()];
    let mut last: &[u8] = &[];
    for word in &words {
        let shared = word.iter().zip(last).take_while(|(a, b)| a == b).count();
        builder.close(&mut path, shared)?;
        for &byte in &word[shared..] {
            if let Some(state) = path.last_mut() {
                state.edges.push((letters[byte as usize], DEAD));
            }
            path.push(State::default());
        }
        if let Some(state) = path.last_mut() {
            state.ends = true;
        }
        last = word;
    }
    builder.close(&mut path, 0)?;
    if !words.is_empty() {
        builder.table.start = builder.state(&path[0])?;
    }
    Ok(Dfa::new(&builder.table, &letters))
}

/// A state that words are still added to.
#[derive(Default)]
struct State {
    ends: bool,
    /// Letters with their states; that of the last one is not known while words go on behind it.
    edges: Vec<(u8, u32)>,
}

struct Builder<'l> {
    table: Table,
    /// The states with each hash.
    known: Map<u64, Vec<u32>>,
    limits: &'l Limits,
}

impl Builder<'_> {
    /// Gives numbers to the states of a path but for its first ones.
    fn close(&mut self, path: &mut Vec<State>, kept: usize) -> Result<(), LanguageError> {
        while path.len() > kept + 1 {
            let Some(state) = path.pop() else { break };
            let number = self.state(&state)?;
            if let Some((_, target)) = path.last_mut().and_then(|state| state.edges.last_mut()) {
                *target = number;
            }
        }
        Ok(())
    }

    /// The number of a state, or of an equal one.
    fn state(&mut self, state: &State) -> Result<u32, LanguageError> {
        let mut hash = Mix::default();
        hash.write_u32(state.ends.into());
        for &(letter, target) in &state.edges {
            hash.write_u64(u64::from(letter) << 32 | u64::from(target));
        }
        let same = self.known.entry(hash.finish()).or_default();
        // Edges are in the order of their letters, as in a row.
        let is_equal = |number: &&u32| {
            let row = (0..).zip(self.table.row(**number)).filter(|(_, target)| **target != DEAD);
            self.table.labels[**number as usize] == u32::from(state.ends)
                && row.map(|(letter, target)| (letter, *target)).eq(state.edges.iter().copied())
        };
        if let Some(number) = same.iter().find(is_equal) {
            return Ok(*number);
        }
        limit(self.table.states(), self.table.letters, self.limits)?;
        let new = self.table.add(state.ends.into());
        for &(letter, target) in &state.edges {
            self.table.set(new, letter.into(), target);
        }
        same.push(new);
        Ok(new)
    }
}

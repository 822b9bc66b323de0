//! Several languages in one run.

use super::algebra::{joint_letters, limit};
use super::dfa::Dfa;
use super::hash::Map;
use super::table::{DEAD, Table};
use super::{Language, LanguageError, Limits};

/// Languages that share no text, run as one automaton that tells which of them a text is in.
#[derive(Debug, Clone)]
pub struct Classifier {
    dfa: std::sync::Arc<Dfa>,
}

impl Classifier {
    /// The state from which no text of any of the languages can be completed. It leads only to itself.
    pub const DEAD: u32 = DEAD;

    /// A classifier of `languages`. Of a text in several of them the first counts. None of them may count
    /// characters ([`Language::counts`]); those that do are written out.
    ///
    /// # Errors
    /// [`LanguageError::TooLarge`]
    pub fn new(languages: &[Language], limits: &Limits) -> Result<Self, LanguageError> {
        let expanded: Vec<Language> =
            languages.iter().map(|l| l.expanded(limits)).collect::<Result<_, _>>()?;
        // The automaton of one language labels its words as a classifier does.
        if let [only] = &expanded[..] {
            return Ok(Self { dfa: only.dfa.clone() });
        }
        let automata: Vec<&Dfa> = expanded.iter().map(|language| &*language.dfa).collect();
        let (letters, bytes) = joint_letters(&automata);
        let label = |states: &[u32]| {
            let first = states.iter().zip(&automata).position(|(&state, dfa)| dfa.is_accepting(state));
            first.map_or(0, |index| super::table::narrow(index + 1))
        };
        let mut table = Table::never(letters.len());
        let mut known: Map<Box<[u32]>, u32> = Map::default();
        let mut tuples: Vec<Box<[u32]>> = vec![Box::default()];
        let mut state = |tuple: Box<[u32]>, table: &mut Table, tuples: &mut Vec<Box<[u32]>>| {
            if tuple.iter().all(|&state| state == DEAD) {
                return Ok(DEAD);
            }
            if let Some(&known) = known.get(&tuple) {
                return Ok(known);
            }
            limit(table.states(), table.letters, limits)?;
            let new = table.add(label(&tuple));
            known.insert(tuple.clone(), new);
            tuples.push(tuple);
            Ok(new)
        };
        table.start = state(automata.iter().map(|dfa| dfa.start).collect(), &mut table, &mut tuples)?;
        let mut at = 1;
        while at < tuples.len() {
            let tuple = tuples[at].clone();
            for (letter, classes) in letters.iter().enumerate() {
                let target = tuple.iter().zip(&automata).zip(classes);
                let target = target.map(|((&from, dfa), &class)| dfa.row(from)[class as usize]).collect();
                let target = state(target, &mut table, &mut tuples)?;
                table.set(super::table::narrow(at), letter, target);
            }
            at += 1;
        }
        Ok(Self { dfa: std::sync::Arc::new(Dfa::new(&table.smallest(), &bytes)) })
    }

    /// The state before the first byte.
    #[must_use]
    pub fn start(&self) -> u32 {
        self.dfa.start
    }

    /// The state after one more byte.
    #[must_use]
    pub fn next(&self, state: u32, byte: u8) -> u32 {
        self.dfa.next(state, byte)
    }

    /// The index of the language that the bytes read so far are in.
    #[must_use]
    pub fn label(&self, state: u32) -> Option<usize> {
        (self.dfa.labels[state as usize] as usize).checked_sub(1)
    }

    /// The automaton; it accepts what is in one of the languages.
    pub(in crate::grammar) fn dfa(&self) -> &Dfa {
        &self.dfa
    }

    /// As [`Language::words_left`], of all languages together.
    pub(crate) fn words_left(&self) -> Option<Box<[u32]>> {
        self.dfa.words_left()
    }

    /// The number of states, [`Classifier::DEAD`] included.
    #[must_use]
    pub fn states(&self) -> usize {
        self.dfa.states()
    }
}

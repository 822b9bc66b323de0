//! Finite sets of words.

use super::dfa::Dfa;
use super::table::{DEAD, Table, narrow};
use super::{LanguageError, Limits};

/// The smallest automaton of `words`.
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
    let mut tree = Table::never(count as usize + 1);
    // The states along the last word.
    let mut path = vec![tree.add(0)];
    if !words.is_empty() {
        tree.start = path[0];
    }
    let mut last: &[u8] = &[];
    for word in words {
        let shared = word.iter().zip(last).take_while(|(a, b)| a == b).count();
        path.truncate(shared + 1);
        if tree.states() + word.len() - shared > limits.max_cells / tree.letters {
            return Err(LanguageError::TooLarge);
        }
        for &byte in &word[shared..] {
            let new = tree.add(0);
            let from = path.last().copied().unwrap_or(DEAD);
            tree.set(from, letters[byte as usize].into(), new);
            path.push(new);
        }
        if let Some(&end) = path.last() {
            tree.labels[end as usize] = 1;
        }
        last = word;
    }
    let smallest = tree.smallest();
    debug_assert!(narrow(smallest.states()) <= narrow(tree.states()));
    Ok(Dfa::new(&smallest, &letters))
}

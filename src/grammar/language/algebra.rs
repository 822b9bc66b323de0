//! Intersection, union and complement, and what follows from them.

use std::sync::Arc;

use super::dfa::Dfa;
use super::hash::Map;
use super::table::{DEAD, Table, narrow};
use super::{Language, LanguageError, Limits};

impl Language {
    /// The texts in both.
    ///
    /// # Errors
    /// [`LanguageError::TooLarge`]
    pub fn and(&self, other: &Self, limits: &Limits) -> Result<Self, LanguageError> {
        let min = self.min_chars.max(other.min_chars);
        let max = match (self.max_chars, other.max_chars) {
            (Some(a), Some(b)) => Some(a.min(b)),
            (a, b) => a.or(b),
        };
        let both = if Arc::ptr_eq(&self.dfa, &other.dfa) || other.is_all_counted() {
            self.automaton()
        } else if self.is_all_counted() {
            other.automaton()
        } else {
            product(&self.dfa, &other.dfa, |a, b| a && b, limits)?
        };
        both.bounded(min, max, limits)
    }

    /// The texts in one of them or both.
    ///
    /// # Errors
    /// [`LanguageError::TooLarge`]
    pub fn or(&self, other: &Self, limits: &Limits) -> Result<Self, LanguageError> {
        if self == other || other.is_empty() {
            return Ok(self.clone());
        }
        if self.is_empty() {
            return Ok(other.clone());
        }
        if self.dfa == other.dfa {
            // Two ranges of lengths that touch are one.
            let (low, high) = if self.min_chars <= other.min_chars { (self, other) } else { (other, self) };
            if low.max_chars.is_none_or(|max| max.saturating_add(1) >= high.min_chars) {
                let max = low.max_chars.zip(high.max_chars).map(|(a, b)| a.max(b));
                return Ok(low.automaton().counted(low.min_chars, max));
            }
        }
        let (one, two) = (self.expanded(limits)?, other.expanded(limits)?);
        product(&one.dfa, &two.dfa, |a, b| a || b, limits)
    }

    /// The texts that are not in it.
    ///
    /// # Errors
    /// [`LanguageError::TooLarge`]
    pub fn not(&self, limits: &Limits) -> Result<Self, LanguageError> {
        if self.counts() && self.is_all_counted() {
            let shorter = match self.min_chars {
                0 => Self::never(),
                min => Self::length(0, Some(min - 1)),
            };
            let longer = match self.max_chars {
                None | Some(u32::MAX) => Self::never(),
                Some(max) => Self::length(max + 1, None),
            };
            return shorter.or(&longer, limits);
        }
        Self::any().without(self, limits)
    }

    /// The texts that are in it and not in `other`.
    ///
    /// # Errors
    /// [`LanguageError::TooLarge`]
    pub fn without(&self, other: &Self, limits: &Limits) -> Result<Self, LanguageError> {
        if other.counts() && other.is_all_counted() {
            return self.and(&other.not(limits)?, limits);
        }
        let other = other.expanded(limits)?;
        product(&self.dfa, &other.dfa, |a, b| a && !b, limits)?.bounded(
            self.min_chars,
            self.max_chars,
            limits,
        )
    }

    /// Whether no text is in both.
    ///
    /// # Errors
    /// [`LanguageError::TooLarge`]
    pub fn is_disjoint(&self, other: &Self, limits: &Limits) -> Result<bool, LanguageError> {
        Ok(self.and(other, limits)?.is_empty())
    }

    /// Whether every text in it is in `other`.
    ///
    /// # Errors
    /// [`LanguageError::TooLarge`]
    pub fn is_subset(&self, other: &Self, limits: &Limits) -> Result<bool, LanguageError> {
        if self == other || other.is_any() {
            return Ok(true);
        }
        Ok(self.without(other, limits)?.is_empty())
    }

    /// The same language without counted characters.
    ///
    /// # Errors
    /// [`LanguageError::TooLarge`]
    pub fn expanded(&self, limits: &Limits) -> Result<Self, LanguageError> {
        if !self.counts() {
            return Ok(self.clone());
        }
        let most = self.max_chars.unwrap_or(self.min_chars);
        let dfa = &*self.dfa;
        let continues = dfa.continues();
        let mut pairs = Pairs::new(dfa.class_count, limits);
        pairs.table.start =
            pairs.state((dfa.start, 0), dfa.is_accepting(dfa.start) && self.min_chars == 0)?;
        while let Some((state, (from, chars))) = pairs.next() {
            for (class, &target) in dfa.row(from).iter().enumerate() {
                let mut count = chars + u32::from(!continues[class]);
                if self.max_chars.is_none() {
                    count = count.min(most);
                }
                let distance = dfa.distance[target as usize];
                if target == DEAD || self.max_chars.is_some_and(|max| count.saturating_add(distance) > max) {
                    continue;
                }
                let target =
                    pairs.state((target, count), dfa.is_accepting(target) && count >= self.min_chars)?;
                pairs.table.set(state, class, target);
            }
        }
        Ok(Self::of(Dfa::new(&pairs.table.smallest(), &dfa.classes)))
    }

    /// One of its shortest texts, if there is any and it has no more than 10,000 characters. Letters and digits are
    /// preferred.
    #[must_use]
    pub fn example(&self) -> Option<String> {
        let mut left = self.min_chars.max(self.distance(self.start()));
        if self.is_empty() || left > 10_000 {
            return None;
        }
        let letters = (b'a'..=b'z').chain(b'0'..=b'9').chain(b'A'..=b'Z').chain(b' '..=b'~');
        let preferred: Vec<u8> = letters.chain(0..=255).collect();
        let mut bytes = Vec::new();
        let mut state = self.start();
        while left > 0 || !self.is_accepting(state) {
            let fits = |byte: u8| {
                let cost = u32::from(byte & 0xC0 != 0x80);
                let target = self.next(state, byte);
                target != DEAD && self.distance(target) + cost <= left
            };
            let byte = *preferred.iter().find(|&&byte| fits(byte))?;
            left -= u32::from(byte & 0xC0 != 0x80);
            state = self.next(state, byte);
            bytes.push(byte);
        }
        String::from_utf8(bytes).ok()
    }

    /// The number of texts of a language with a longest one, or a number beyond `limit`; nothing if it takes long to
    /// find out.
    fn count_by_length(&self, limit: u64) -> Option<u64> {
        const WORK: usize = 1 << 18;
        let longest = self.max_chars?;
        let dfa = &*self.dfa;
        let continues = dfa.continues();
        let mut widths = [0u64; 256];
        dfa.classes.iter().for_each(|&class| widths[class as usize] += 1);
        // How many ways lead to each state over the bytes that begin characters, or over those that continue them.
        let after = |ways: &[u64], is_later: bool| {
            let mut next = vec![0u64; dfa.states()];
            for (state, ways) in (0..).zip(ways).filter(|(_, ways)| **ways > 0) {
                for (class, &target) in dfa.row(state).iter().enumerate() {
                    if target != DEAD && continues[class] == is_later {
                        let cell = &mut next[target as usize];
                        *cell = cell.saturating_add(ways.saturating_mul(widths[class]));
                    }
                }
            }
            next
        };
        let mut ways = vec![0u64; dfa.states()];
        ways[dfa.start as usize] = 1;
        let mut count = 0u64;
        for chars in 0..=longest {
            if chars >= self.min_chars {
                let ends = (0..).zip(&ways).filter(|(state, _)| dfa.is_accepting(*state));
                count = ends.fold(count, |count, (_, ways)| count.saturating_add(*ways));
            }
            if count > limit || ways.iter().all(|ways| *ways == 0) {
                return Some(count);
            }
            if chars as usize * self.cells() > WORK {
                return None;
            }
            ways = after(&ways, false);
            let mut inside = ways.clone();
            for _ in 0..3 {
                inside = after(&inside, true);
                ways.iter_mut().zip(&inside).for_each(|(ways, more)| *ways = ways.saturating_add(*more));
            }
        }
        Some(count)
    }

    /// The number of its texts if that is at most `limit`.
    #[must_use]
    pub fn count(&self, limit: u64) -> Option<u64> {
        if self.is_empty() {
            return Some(0);
        }
        if let Some(count) = self.count_by_length(limit) {
            return (count <= limit).then_some(count);
        }
        let plain = self.expanded(&Limits::default()).ok()?;
        let dfa = &*plain.dfa;
        let mut byte_count = [0u64; 256];
        dfa.classes.iter().for_each(|&class| byte_count[class as usize] += 1);
        // Words from each state, once all that follow it are known; a state met again before that is on a cycle.
        let mut words: Vec<Option<u64>> = vec![None; dfa.states()];
        let mut is_open = vec![false; dfa.states()];
        words[DEAD as usize] = Some(0);
        let mut stack = vec![dfa.start];
        while let Some(&state) = stack.last() {
            if words[state as usize].is_some() {
                stack.pop();
                continue;
            }
            let was_open = std::mem::replace(&mut is_open[state as usize], true);
            let mut total = u64::from(dfa.is_accepting(state));
            let before = stack.len();
            for (class, &target) in dfa.row(state).iter().enumerate() {
                match words[target as usize] {
                    Some(more) => total = total.saturating_add(more.saturating_mul(byte_count[class])),
                    None if is_open[target as usize] => return None,
                    None => stack.push(target),
                }
            }
            if stack.len() == before {
                if total > limit {
                    return None;
                }
                words[state as usize] = Some(total);
                stack.pop();
            } else if was_open {
                return None;
            }
        }
        words[dfa.start as usize]
    }

    /// Its automaton without the bounds on characters.
    fn automaton(&self) -> Self {
        Self { dfa: Arc::clone(&self.dfa), min_chars: 0, max_chars: None }
    }

    /// Whether its automaton accepts every text.
    fn is_all_counted(&self) -> bool {
        self.dfa == Self::any().dfa
    }

    /// Its texts with `min` to `max` characters: as counted characters if that leads into no dead end, else written
    /// out. It must not count yet.
    pub(super) fn bounded(&self, min: u32, max: Option<u32>, limits: &Limits) -> Result<Self, LanguageError> {
        let bounded = self.counted(min, max);
        if bounded.may_count() { Ok(bounded) } else { bounded.expanded(limits) }
    }

    /// Whether its characters may be counted beside the automaton. If there is a fewest number of them, there must
    /// be words of every larger length from every state that has one. That is so if from every accepting state one
    /// more character can lead to an accepting state.
    pub(super) fn may_count(&self) -> bool {
        let dfa = &*self.dfa;
        let goes_on = |state: u32| dfa.row(state).iter().any(|&target| dfa.distance[target as usize] == 0);
        self.min_chars == 0
            || (1..narrow(dfa.states())).all(|state| !dfa.is_accepting(state) || goes_on(state))
    }

    /// The same automaton with bounds on characters, as few as are needed.
    pub(super) fn counted(&self, min: u32, max: Option<u32>) -> Self {
        let shortest = self.distance(self.start());
        if max.is_some_and(|max| max < min.max(shortest)) {
            return Self::never();
        }
        let min = if min <= shortest { 0 } else { min };
        Self { dfa: Arc::clone(&self.dfa), min_chars: min, max_chars: max }
    }
}

/// Pairs of states that become states.
struct Pairs<'a> {
    known: Map<(u32, u32), u32>,
    pairs: Vec<(u32, u32)>,
    at: usize,
    table: Table,
    limits: &'a Limits,
}

impl<'a> Pairs<'a> {
    fn new(letters: usize, limits: &'a Limits) -> Self {
        Self { known: Map::default(), pairs: Vec::new(), at: 0, table: Table::never(letters), limits }
    }

    fn state(&mut self, pair: (u32, u32), accepting: bool) -> Result<u32, LanguageError> {
        if let Some(&known) = self.known.get(&pair) {
            return Ok(known);
        }
        limit(self.table.states(), self.table.letters, self.limits)?;
        let state = self.table.add(accepting.into());
        self.known.insert(pair, state);
        self.pairs.push(pair);
        Ok(state)
    }

    fn next(&mut self) -> Option<(u32, (u32, u32))> {
        let pair = *self.pairs.get(self.at)?;
        self.at += 1;
        Some((narrow(self.at), pair))
    }
}

/// Whether another state may be added to so many.
pub(super) fn limit(states: usize, letters: usize, limits: &Limits) -> Result<(), LanguageError> {
    let is_too_large = states > limits.max_states || states * letters > limits.max_cells;
    if is_too_large { Err(LanguageError::TooLarge) } else { Ok(()) }
}

/// Letters that refine the classes of several automata: for each the classes, and the letter of each byte.
pub(super) fn joint_letters(automata: &[&Dfa]) -> (Vec<Vec<u8>>, [u8; 256]) {
    let mut letters = [0; 256];
    let mut known: Map<Vec<u8>, u8> = Map::default();
    let mut classes = Vec::new();
    for (byte, letter) in letters.iter_mut().enumerate() {
        let key: Vec<u8> = automata.iter().map(|dfa| dfa.classes[byte]).collect();
        *letter = *known.entry(key).or_insert_with_key(|key| {
            classes.push(key.clone());
            u8::try_from(classes.len() - 1).unwrap_or(u8::MAX)
        });
    }
    (classes, letters)
}

/// The automaton of the texts on whose membership in both `accepts` agrees. Texts in neither are not accepted.
fn product(
    one: &Dfa,
    two: &Dfa,
    accepts: fn(bool, bool) -> bool,
    limits: &Limits,
) -> Result<Language, LanguageError> {
    let (letters, bytes) = joint_letters(&[one, two]);
    let (alone_one, alone_two) = (accepts(true, false), accepts(false, true));
    let mut pairs = Pairs::new(letters.len(), limits);
    let accepting = |(a, b): (u32, u32)| accepts(one.is_accepting(a), two.is_accepting(b));
    // Where one automaton is at its end, the other may still accept, or nothing can.
    let is_dead =
        |(a, b): (u32, u32)| (a == DEAD && !alone_two || b == DEAD && !alone_one) || a == DEAD && b == DEAD;
    let start = (one.start, two.start);
    if !is_dead(start) {
        pairs.table.start = pairs.state(start, accepting(start))?;
    }
    while let Some((state, (a, b))) = pairs.next() {
        let (row_one, row_two) = (one.row(a), two.row(b));
        for (letter, classes) in letters.iter().enumerate() {
            let pair = (row_one[classes[0] as usize], row_two[classes[1] as usize]);
            if !is_dead(pair) {
                let target = pairs.state(pair, accepting(pair))?;
                pairs.table.set(state, letter, target);
            }
        }
    }
    Ok(Language::of(Dfa::new(&pairs.table.smallest(), &bytes)))
}

//! Languages as programs use them: each once for a vocabulary, with what is worked out about it.

use std::sync::OnceLock;
use std::sync::atomic::{AtomicU32, Ordering};

use crate::grammar::inside::{endless_states, is_loop};
use crate::grammar::language::Language;
use crate::grammar::string::Cursor;

/// A language, and what is known about its states.
#[derive(Debug)]
pub(super) struct Words {
    pub(super) language: Language,
    /// Unlike that of all others in the process.
    pub(super) id: u32,
    /// The state from which any text may come, if there is one; else the dead state.
    free_state: u32,
    /// The most characters that are needed from anywhere to the end of a word.
    pub(super) farthest: u32,
    /// Its [`endless_states`], once somebody asks.
    endless: OnceLock<Vec<bool>>,
    /// How many words each of its states has left, once somebody asks.
    left: OnceLock<Option<Box<[u32]>>>,
    /// How many of them have at most so many more characters, up to [`Words::COUNTED`].
    within: OnceLock<Vec<Box<[u32]>>>,
}

impl Words {
    /// Words with more characters than this are not counted.
    pub(super) const COUNTED: u32 = 8;
    /// So many words are as many as one likes: no text has room for them.
    const PLENTY: u32 = 1 << 20;

    pub(super) fn new(language: &Language) -> Self {
        static NEXT: AtomicU32 = AtomicU32::new(0);
        Self {
            language: language.clone(),
            id: NEXT.fetch_add(1, Ordering::Relaxed),
            free_state: free_state(language),
            farthest: farthest(language),
            endless: OnceLock::new(),
            left: OnceLock::new(),
            within: OnceLock::new(),
        }
    }

    /// Whether any text may come from here.
    pub(super) fn is_free(&self, cursor: Cursor) -> bool {
        self.is_any_text(cursor) && !self.language.counts()
    }

    /// Whether any text may come from here that has the right number of characters.
    pub(super) fn is_any_text(&self, cursor: Cursor) -> bool {
        cursor.state != Language::DEAD && self.free_state == cursor.state
    }

    /// Whether any text goes on from here, though not every one is complete.
    pub(super) fn is_endless(&self, cursor: Cursor) -> bool {
        self.language.max_chars().is_none()
            && self.endless.get_or_init(|| endless_states(self.language.dfa()))[cursor.state as usize]
    }

    /// How many characters there is still room for.
    pub(super) fn room(&self, cursor: Cursor) -> u32 {
        self.language.max_chars().map_or(u32::MAX, |max| max - cursor.chars)
    }

    /// How many words go on from here, or fewer; `u32::MAX` for as many as one likes.
    pub(super) fn ways(&self, cursor: Cursor) -> u32 {
        let ways = match self.language.max_chars() {
            Some(_) => self.ways_within(cursor),
            None => {
                let left = self.left().map_or(u32::MAX, |left| left[cursor.state as usize]);
                if left < u32::MAX && self.language.counts() { 0 } else { left }
            }
        };
        if ways < Self::PLENTY { ways } else { u32::MAX }
    }

    /// The same for words of at most some length.
    fn ways_within(&self, cursor: Cursor) -> u32 {
        let within = self.within.get_or_init(|| self.language.words_within(Self::COUNTED));
        let count = |chars: u32| within[chars.min(Self::COUNTED) as usize][cursor.state as usize];
        let least = self.language.min_chars().saturating_sub(cursor.chars);
        match least.checked_sub(1) {
            None => count(self.room(cursor)),
            // Those that are too short are no words.
            Some(short) if least <= Self::COUNTED => {
                let all = count(self.room(cursor));
                if all == u32::MAX { all } else { all - count(short) }
            }
            Some(_) => 0,
        }
    }

    /// Whether some text goes on with few words only.
    pub(super) fn has_few(&self) -> bool {
        self.language.max_chars().is_some() || self.left().is_some()
    }

    fn left(&self) -> Option<&[u32]> {
        self.left.get_or_init(|| self.language.words_left()).as_deref()
    }
}

/// The state of `language` from which any text may come; its dead state if there is none. There is at most one:
/// languages are held by smallest automata.
fn free_state(language: &Language) -> u32 {
    (1..language.states() as u32)
        .find(|state| language.is_accepting(*state) && is_loop(language.dfa(), *state))
        .unwrap_or(Language::DEAD)
}

fn farthest(language: &Language) -> u32 {
    let states = 1..language.states() as u32;
    if language.counts() { states.map(|state| language.distance(state)).max().unwrap_or(0) } else { 0 }
}

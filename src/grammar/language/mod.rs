//! Regular languages: the texts that a JSON string, a key or a free answer may have.
//!
//! A [`Language`] is a set of texts, held as the smallest automaton over the bytes of UTF-8. It is made by a
//! constructor or by the algebra, never changes, and is cheap to clone. Running it takes one table look-up a byte:
//!
//! ```
//! use deepseek_codec::grammar::language::{Language, Limits};
//!
//! let limits = Limits::default();
//! let code = Language::pattern("^[A-Z]{2}-[0-9]+$", &limits)?;
//! let short = code.and(&Language::length(0, Some(5)), &limits)?;
//! assert!(short.contains("AB-12") && !short.contains("AB-123"));
//!
//! let state = "AB-".bytes().fold(code.start(), |state, byte| code.next(state, byte));
//! assert_eq!(code.distance(state), 1); // one more character makes a word
//! assert_eq!(code.next(state, b'x'), Language::DEAD);
//! # Ok::<(), deepseek_codec::grammar::language::LanguageError>(())
//! ```
//!
//! # Counted characters
//!
//! Lengths such as `{0,5000}` would need as many states. So a language may be an automaton *and* bounds on the number
//! of characters ([`Language::counts`]); then a run has to count the characters too. A character is counted when its
//! first byte is read. This form is only used where it leads into no dead end: a run is alive exactly as long as
//! `characters + distance(state) <= max_chars`. Where a fewest number matters ([`Language::min_chars`] is not 0),
//! there are words with [`distance`](Language::distance) more characters from every state, and with every larger
//! number of them.

use std::fmt;
use std::sync::{Arc, OnceLock};

mod algebra;
mod chars;
mod classifier;
mod dfa;
mod expr;
mod format;
mod hash;
mod ladder;
mod look;
mod nfa;
mod parse;
mod table;
#[cfg(test)]
mod tests;
mod utf8;
mod words;

pub use classifier::Classifier;
pub(in crate::grammar) use dfa::Dfa;

/// How much work building a language may take.
#[derive(Debug, Clone)]
pub struct Limits {
    /// States of an automaton, also of one on the way to a smaller one.
    pub max_states: usize,
    /// Cells of an automaton's table: states times classes of bytes. Four bytes each.
    pub max_cells: usize,
    /// Characters and sets of characters in a pattern after counted repeats are written out.
    pub max_positions: usize,
    /// How deep the groups of a pattern may nest.
    pub max_depth: usize,
}

impl Default for Limits {
    fn default() -> Self {
        Self { max_states: 40_000, max_cells: 1 << 20, max_positions: 5_000, max_depth: 100 }
    }
}

/// Why there is no language.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum LanguageError {
    /// It would exceed a limit of [`Limits`].
    TooLarge,
    /// The pattern is not a regular expression.
    Syntax {
        /// Where, in characters.
        at: usize,
    },
    /// The pattern has something that is not regular or not supported.
    Unsupported {
        /// Where, in characters.
        at: usize,
        /// What it is.
        what: &'static str,
    },
}

impl fmt::Display for LanguageError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::TooLarge => f.write_str("the automaton would be too large"),
            Self::Syntax { at } => write!(f, "not a regular expression: character {at}"),
            Self::Unsupported { at, what } => write!(f, "{what} at character {at} are not supported"),
        }
    }
}

impl std::error::Error for LanguageError {}

/// A set of texts.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Language {
    dfa: Arc<Dfa>,
    min_chars: u32,
    max_chars: Option<u32>,
}

impl Language {
    /// The state from which no word can be completed. It leads only to itself.
    pub const DEAD: u32 = table::DEAD;

    /// Every text.
    #[must_use]
    pub fn any() -> Self {
        static ANY: OnceLock<Language> = OnceLock::new();
        ANY.get_or_init(|| {
            let classes = chars::Classes::new(&[]);
            let mut table = table::Table::never(classes.count);
            table.start = table.add(1);
            table.next.fill(table.start);
            table.next[..classes.count].fill(table::DEAD);
            utf8::over_bytes(&table, &classes, &Limits::default()).map_or_else(|_| Self::never(), Self::of)
        })
        .clone()
    }

    /// No text.
    #[must_use]
    pub fn never() -> Self {
        static NEVER: OnceLock<Language> = OnceLock::new();
        NEVER.get_or_init(|| Self::of(Dfa::new(&table::Table::never(1), &[0; 256]))).clone()
    }

    /// Exactly these texts.
    ///
    /// # Errors
    /// [`LanguageError::TooLarge`]
    pub fn words<'a>(
        words: impl IntoIterator<Item = &'a str>,
        limits: &Limits,
    ) -> Result<Self, LanguageError> {
        words::automaton(words.into_iter(), limits).map(Self::of)
    }

    /// Texts with `min` to `max` characters (Unicode scalar values).
    #[must_use]
    pub fn length(min: u32, max: Option<u32>) -> Self {
        Self::any().counted(min, max)
    }

    /// What the keyword `pattern` of JSON Schema accepts: texts with a match of a regular expression anywhere. The
    /// expression is read as crate `jsonschema` reads it, which is ECMA-262 with a few additions.
    ///
    /// # Errors
    /// All of [`LanguageError`].
    pub fn pattern(pattern: &str, limits: &Limits) -> Result<Self, LanguageError> {
        Self::pattern_with_effort(pattern, limits, &mut 0)
    }

    /// The same. Adds to `effort` how many steps of about 200 ns look-around took.
    pub(crate) fn pattern_with_effort(
        pattern: &str,
        limits: &Limits,
        effort: &mut usize,
    ) -> Result<Self, LanguageError> {
        let parsed = parse::parse(pattern, parse::Dialect::Pattern, limits)?;
        nfa::language(parsed, nfa::Match::Anywhere, limits, effort)
    }

    /// Texts that a regular expression matches from start to end. The expression has the syntax of crate `regex`,
    /// where `\d`, `\w`, `\s` and `\b` are those of Unicode; look-around is read too.
    ///
    /// # Errors
    /// All of [`LanguageError`].
    pub fn whole(pattern: &str, limits: &Limits) -> Result<Self, LanguageError> {
        let parsed = parse::parse(pattern, parse::Dialect::Whole, limits)?;
        nfa::language(parsed, nfa::Match::Whole, limits, &mut 0)
    }

    fn of(dfa: Dfa) -> Self {
        Self { dfa: Arc::new(dfa), min_chars: 0, max_chars: None }
    }

    /// Whether no text is in it.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.dfa.start == Self::DEAD
    }

    /// Whether every text is in it.
    #[must_use]
    pub fn is_any(&self) -> bool {
        *self == Self::any()
    }

    /// Whether `text` is in it.
    #[must_use]
    pub fn contains(&self, text: &str) -> bool {
        let state = text.bytes().fold(self.start(), |state, byte| self.next(state, byte));
        let chars = || text.chars().count();
        self.is_accepting(state)
            && (!self.counts()
                || chars() >= self.min_chars as usize
                    && self.max_chars.is_none_or(|max| chars() <= max as usize))
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

    /// Whether the bytes read so far are a word, if the number of characters is right.
    #[must_use]
    pub fn is_accepting(&self, state: u32) -> bool {
        self.dfa.is_accepting(state)
    }

    /// The fewest characters from `state` to the end of a word, not counting one that has begun; `u32::MAX` for
    /// [`Language::DEAD`].
    #[must_use]
    pub fn distance(&self, state: u32) -> u32 {
        self.dfa.distance[state as usize]
    }

    /// For each state, how many words go on from it, up to `u32::MAX`; nothing if these are always as many as one
    /// likes. Does not look at the number of characters.
    pub(crate) fn words_left(&self) -> Option<Box<[u32]>> {
        self.dfa.words_left()
    }

    /// For each number of characters up to `chars`, and each state, how many words go on from it with no more
    /// characters, up to `u32::MAX`.
    pub(crate) fn words_within(&self, chars: u32) -> Vec<Box<[u32]>> {
        self.dfa.words_within(chars)
    }

    /// The number of states, [`Language::DEAD`] included. States are `0..states()`.
    #[must_use]
    pub fn states(&self) -> usize {
        self.dfa.states()
    }

    /// The cells of the automaton's table.
    pub(crate) fn cells(&self) -> usize {
        self.dfa.states() * self.dfa.class_count
    }

    /// Whether the number of characters matters beside the state.
    #[must_use]
    pub const fn counts(&self) -> bool {
        self.min_chars > 0 || self.max_chars.is_some()
    }

    /// The fewest characters of a word; 0 if the automaton alone decides.
    #[must_use]
    pub const fn min_chars(&self) -> u32 {
        self.min_chars
    }

    /// The most characters of a word; `None` if the automaton alone decides.
    #[must_use]
    pub const fn max_chars(&self) -> Option<u32> {
        self.max_chars
    }

    /// The automaton, which does not know of numbers of characters.
    pub(in crate::grammar) fn dfa(&self) -> &Dfa {
        &self.dfa
    }
}

//! Special tokens in text without token borders: found by their spelling, which may be cut anywhere.

use crate::token::Special;

/// A stretch of text without special tokens, or a special token.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Unit<'a> {
    Text(&'a str),
    Special(Special),
}

/// Finds spellings in a text that arrives in pieces.
#[derive(Debug, Clone, Default)]
pub(super) struct SpellingLexer {
    /// The beginning of what may be a spelling.
    held: String,
}

/// The characters that spellings begin with.
const OPENINGS: [char; 2] = ['<', '｜'];

impl SpellingLexer {
    pub(super) fn push(&mut self, text: &str, sink: &mut dyn FnMut(Unit<'_>)) {
        if self.held.is_empty() {
            let rest = lex(text, sink);
            self.held.push_str(rest);
            return;
        }
        self.held.push_str(text);
        let joined = std::mem::take(&mut self.held);
        let rest = lex(&joined, sink);
        self.held.push_str(rest);
    }

    /// Passes on what is held: no spelling goes on behind it.
    pub(super) fn flush(&mut self, sink: &mut dyn FnMut(Unit<'_>)) {
        if !self.held.is_empty() {
            sink(Unit::Text(&self.held));
            self.held.clear();
        }
    }
}

/// Passes on units and returns the end of `text` that may be the beginning of a spelling.
fn lex<'t>(text: &'t str, sink: &mut dyn FnMut(Unit<'_>)) -> &'t str {
    let mut from = 0;
    let mut search = 0;
    while let Some(found) = text[search..].find(OPENINGS) {
        let at = search + found;
        let rest = &text[at..];
        if let Some(&special) = Special::ALL.iter().find(|special| rest.starts_with(special.spelling())) {
            if from < at {
                sink(Unit::Text(&text[from..at]));
            }
            sink(Unit::Special(special));
            from = at + special.spelling().len();
            search = from;
        } else if Special::ALL.iter().any(|special| special.spelling().starts_with(rest)) {
            if from < at {
                sink(Unit::Text(&text[from..at]));
            }
            return rest;
        } else {
            search = at + rest.chars().next().map_or(1, char::len_utf8);
        }
    }
    if from < text.len() {
        sink(Unit::Text(&text[from..]));
    }
    ""
}

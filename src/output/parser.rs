//! What callers feed: text, tokens, or text that spells them.

use crate::token::{Special, TokenId};
use crate::tokenizer::{Detokenizer, Piece, Tokenizer};

use super::machine::{Machine, Mode, Passed};
use super::spelling::{SpellingLexer, Unit};
use super::{Event, Finish, Plan};

/// Reads the output of a model. See the [module](super) for what it makes of faults.
///
/// A parser is a small value: clone it before drafts that may be rejected.
#[derive(Debug, Clone)]
pub struct Parser {
    machine: Machine,
    spelling: SpellingLexer,
}

impl Parser {
    /// A parser of an output that follows `plan`.
    #[must_use]
    pub fn new(plan: Plan) -> Self {
        Self { machine: Machine::new(plan), spelling: SpellingLexer::default() }
    }

    /// Takes plain text, such as that of an ordinary token. Spellings of special tokens in it are text.
    #[inline]
    pub fn text(&mut self, text: &str, sink: &mut dyn FnMut(Event<'_>)) {
        self.machine.text(text, sink);
    }

    /// Takes a special token.
    pub fn special(&mut self, special: Special, sink: &mut dyn FnMut(Event<'_>)) {
        self.machine.unit(Unit::Special(special), sink);
    }

    /// Takes plain text that is passed on at once and as it stands: an event less for what happens most. Does nothing
    /// with other text.
    #[inline]
    pub(crate) fn pass(&mut self, text: &str) -> Option<Passed> {
        self.machine.pass(text)
    }

    /// Takes what a token of `tokenizer` adds, and returns how many bytes of text that is.
    #[inline]
    pub fn piece(
        &mut self,
        piece: Piece<'_>,
        tokenizer: &Tokenizer,
        sink: &mut dyn FnMut(Event<'_>),
    ) -> usize {
        match piece {
            Piece::Text(text) => {
                self.text(text, sink);
                text.len()
            }
            Piece::Special(special) => {
                self.special(special, sink);
                special.spelling().len()
            }
            Piece::Added(id) => {
                let spelling = tokenizer.added_spelling(id).unwrap_or_default();
                self.foreign(spelling, sink);
                spelling.len()
            }
        }
    }

    /// Takes an id of `tokenizer` by way of `detokenizer`, and returns how many bytes of text it adds. One that ends
    /// the output is left out, unless the plan keeps it.
    pub(crate) fn id(
        &mut self,
        id: TokenId,
        detokenizer: &mut Detokenizer,
        tokenizer: &Tokenizer,
        sink: &mut dyn FnMut(Event<'_>),
    ) -> u64 {
        let ends = self.is_stop(id);
        let mut length = 0;
        let mut take = |parser: &mut Self, piece: Piece<'_>| {
            length += parser.piece(piece, tokenizer, &mut *sink) as u64;
        };
        if !ends || self.machine.plan.keep_stop {
            detokenizer.push(id, |piece| take(self, piece));
        }
        if ends {
            detokenizer.finish(|piece| take(self, piece));
            self.special(Special::Eos, sink);
        }
        length
    }

    /// Whether this id ends the output by the plan.
    #[inline]
    pub(crate) fn is_stop(&self, id: TokenId) -> bool {
        self.machine.plan.stop_ids.contains(&id)
    }

    /// Whether what ends the output stays in it.
    pub(crate) fn keeps_stop(&self) -> bool {
        self.machine.plan.keep_stop
    }

    /// Takes the spelling of a special token that has no role here: it is left out.
    pub fn foreign(&mut self, spelling: &str, sink: &mut dyn FnMut(Event<'_>)) {
        self.machine.foreign(spelling.len(), sink);
    }

    /// Takes text without token borders, in which special tokens are spelled.
    pub fn spelled(&mut self, text: &str, sink: &mut dyn FnMut(Event<'_>)) {
        let machine = &mut self.machine;
        self.spelling.push(text, &mut |unit| machine.spelled(unit, sink));
    }

    /// Ends the output. Does nothing if it has ended.
    pub fn finish(&mut self, finish: Finish, sink: &mut dyn FnMut(Event<'_>)) {
        let machine = &mut self.machine;
        self.spelling.flush(&mut |unit| machine.spelled(unit, sink));
        machine.finish(finish, sink);
    }

    /// Whether the output has ended: by a stop sequence, the end of the model's turn, or [`Parser::finish`]. An
    /// engine can stop generating then; further input is left out.
    #[must_use]
    pub const fn has_ended(&self) -> bool {
        matches!(self.machine.mode, Mode::Ended)
    }

    /// Whether what comes next is reasoning.
    #[must_use]
    pub const fn is_reasoning(&self) -> bool {
        matches!(self.machine.mode, Mode::Reasoning { .. })
    }

    /// Bytes of text that are held back until more of them have come: what a clone costs beside its fixed size.
    #[must_use]
    pub fn held_bytes(&self) -> usize {
        self.machine.held_bytes()
    }

    /// What a finish would add, without finishing: the events, in order, to a sink.
    pub fn peek(&self, finish: Finish, sink: &mut dyn FnMut(Event<'_>)) {
        self.clone().finish(finish, sink);
    }
}

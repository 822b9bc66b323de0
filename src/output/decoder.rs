//! Ids to events, with the last ids taken back.

use crate::token::TokenId;
use crate::tokenizer::{Detokenizer, Tokenizer};

use super::{Event, Finish, Parser, Plan};

/// Reads the ids of an output, and can take the last ones back, as speculative decoding needs.
///
/// Events that were made cannot be taken back: whoever rolls back drops what the ids gave. The events after a rollback
/// are those of a decoder that never saw the ids.
///
/// # Cost
///
/// A decoder made with [`Decoder::keeping`] holds two earlier states and the ids since the first: at least the last
/// `ids`, at most four times as many (more while a long value is held back, in proportion to it). Each id costs constant
/// time on the average; a rollback reads the kept ids again. Without, nothing is kept and ids cost nothing more.
///
/// ```
/// # #[cfg(feature = "vocab")] {
/// use deepseek_codec::output::{Decoder, Event, Finish, Plan};
///
/// let tokenizer = deepseek_codec::model::PROFILES[0].tokenizer();
/// let mut decoder = Decoder::new(Plan::default(), &tokenizer).keeping(8);
/// let mut text = String::new();
/// let ids = tokenizer.encode_text("It is sunny.");
/// for &id in &ids {
///     decoder.push(id, &mut |_| ()); // a draft
/// }
/// assert!(decoder.rollback(ids.len()));
/// for id in tokenizer.encode_text("It rains.") {
///     decoder.push(id, &mut |event| {
///         if let Event::Content { text: more, .. } = event {
///             text.push_str(more);
///         }
///     });
/// }
/// decoder.finish(Finish::Stop, &mut |_| ());
/// assert_eq!(text, "It rains.");
/// # }
/// ```
#[derive(Debug, Clone)]
pub struct Decoder {
    tokenizer: Tokenizer,
    now: State,
    /// How many ids can be taken back at most; 0 for none.
    limit: usize,
    /// How many can be taken back now.
    available: usize,
    /// The state before the first of `ids`, and before the one at `newer_at`; `None` if none are kept.
    past: Option<Box<Past>>,
}

#[derive(Debug, Clone)]
struct State {
    detokenizer: Detokenizer,
    parser: Parser,
}

#[derive(Debug, Clone)]
struct Past {
    older: State,
    newer: State,
    /// The ids since `older`.
    ids: Vec<TokenId>,
    /// How many of them stand before `newer`.
    newer_at: usize,
}

impl State {
    fn push(&mut self, id: TokenId, tokenizer: &Tokenizer, sink: &mut dyn FnMut(Event<'_>)) {
        self.parser.id(id, &mut self.detokenizer, tokenizer, sink);
    }
}

impl Decoder {
    /// A decoder of an output that follows `plan`, in ids of `tokenizer`.
    #[must_use]
    pub fn new(plan: Plan, tokenizer: &Tokenizer) -> Self {
        let now = State { detokenizer: tokenizer.detokenizer(), parser: Parser::new(plan) };
        Self { tokenizer: tokenizer.clone(), now, limit: 0, available: 0, past: None }
    }

    /// The same decoder, which from now on keeps what it takes to roll back the last `ids` ids.
    #[must_use]
    pub fn keeping(mut self, ids: usize) -> Self {
        (self.limit, self.available) = (ids, 0);
        self.past = (ids > 0).then(|| {
            let (older, newer) = (self.now.clone(), self.now.clone());
            Box::new(Past { older, newer, ids: Vec::new(), newer_at: 0 })
        });
        self
    }

    /// Takes an id.
    pub fn push(&mut self, id: TokenId, sink: &mut dyn FnMut(Event<'_>)) {
        if let Some(past) = &mut self.past {
            // A long value that is held back is copied more rarely, so that the time stays linear.
            let interval = self.limit.max(16).max(self.now.parser.held_bytes() / 64);
            if past.ids.len() - past.newer_at >= interval {
                past.ids.drain(..past.newer_at);
                past.newer_at = past.ids.len();
                past.older = std::mem::replace(&mut past.newer, self.now.clone());
            }
            past.ids.push(id);
            self.available = self.limit.min(self.available + 1);
        }
        self.now.push(id, &self.tokenizer, sink);
    }

    /// Takes the last ids back; the events that they gave are the caller's to drop.
    ///
    /// Returns false, and does nothing, when these are more ids than were pushed, or more than are kept. Ids that were
    /// taken back count as kept until as many others are pushed.
    #[must_use]
    pub fn rollback(&mut self, ids: usize) -> bool {
        let Some(past) = self.past.as_mut().filter(|_| 0 < ids && ids <= self.available) else {
            return ids == 0;
        };
        self.available -= ids;
        let left = past.ids.len() - ids;
        past.ids.truncate(left);
        if left < past.newer_at {
            past.newer = past.older.clone();
            past.newer_at = 0;
        }
        self.now = past.newer.clone();
        for &id in &past.ids[past.newer_at..] {
            self.now.push(id, &self.tokenizer, &mut |_| ());
        }
        true
    }

    /// Ends the output. Nothing can be taken back after that.
    pub fn finish(&mut self, finish: Finish, sink: &mut dyn FnMut(Event<'_>)) {
        (self.past, self.available) = (None, 0);
        let State { detokenizer, parser } = &mut self.now;
        detokenizer.finish(|piece| {
            parser.piece(piece, &self.tokenizer, sink);
        });
        parser.finish(finish, sink);
    }

    /// What a finish would add, without finishing: the events, in order, to a sink.
    pub fn peek(&self, finish: Finish, sink: &mut dyn FnMut(Event<'_>)) {
        let (tokenizer, now) = (self.tokenizer.clone(), self.now.clone());
        Self { tokenizer, now, limit: 0, available: 0, past: None }.finish(finish, sink);
    }

    /// The parser, to ask for its state.
    #[must_use]
    pub const fn parser(&self) -> &Parser {
        &self.now.parser
    }
}

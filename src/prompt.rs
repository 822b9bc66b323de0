//! A rendered prompt: text, and the places of special tokens in it.
//!
//! The text of a [`Prompt`] lies in one `String` without any special token; each [`Special`] is a cut at a byte
//! offset. Text on both sides of a cut is never joined, and text between two cuts is one piece whatever parts
//! it was written in: the tokenizer merges across the border between template and user text, as the model's
//! own tokenizer does.
//!
//! Only this crate can write to a prompt. Text from a request goes through `push_text`, which cannot create a
//! special token; special tokens go through `push_special`, which takes a role and not a string.

use std::fmt;

use crate::token::Special;

/// One piece of a prompt.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Segment<'p> {
    /// A special token.
    Special(Special),
    /// Plain text, never empty. Spellings of special tokens in it are text.
    Text(&'p str),
}

/// What a stretch of a prompt comes from.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Source {
    /// The start of every prompt, with the wording of the reasoning effort.
    Start,
    /// The message with this index in the conversation, with the tokens that frame it.
    Message(usize),
    /// How to call tools, and their schemas.
    Tools,
    /// What answers must look like.
    ResponseFormat,
    /// The start of the model's turn.
    Turn,
}

/// A place in a prompt: after so many bytes of text and so many special tokens.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Position {
    /// Bytes of text before the place.
    pub text: usize,
    /// Special tokens before the place.
    pub specials: usize,
}

/// A prompt as the model sees it, before it is turned into ids.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Prompt {
    text: String,
    /// Ascending by offset; several cuts may share one offset, in prompt order.
    cuts: Vec<(usize, Special)>,
    /// Where each stretch begins, ascending.
    sources: Vec<(Position, Source)>,
}

impl Prompt {
    /// An empty prompt with room for `text_bytes` bytes of text.
    pub(crate) fn with_capacity(text_bytes: usize) -> Self {
        Self { text: String::with_capacity(text_bytes), ..Self::default() }
    }

    pub(crate) fn push_text(&mut self, text: &str) {
        self.text.push_str(text);
    }

    pub(crate) fn push_special(&mut self, special: Special) {
        self.cuts.push((self.text.len(), special));
    }

    /// Says where what follows comes from.
    pub(crate) fn begin(&mut self, source: Source) {
        self.sources.push((self.end(), source));
    }

    /// The buffer behind the text, for writers that produce text piece by piece.
    pub(crate) fn text_mut(&mut self) -> TextWriter<'_> {
        TextWriter(&mut self.text)
    }

    /// A prompt of one piece of plain text, without any special token.
    ///
    /// ```
    /// use deepseek_codec::prompt::{Prompt, Segment};
    /// let prompt = Prompt::plain("<｜User｜>");
    /// assert_eq!(prompt.segments().collect::<Vec<_>>(), [Segment::Text("<｜User｜>")]);
    /// ```
    #[must_use]
    pub fn plain(text: impl Into<String>) -> Self {
        Self { text: text.into(), ..Self::default() }
    }

    /// The prompt's pieces in order.
    pub fn segments(&self) -> impl Iterator<Item = Segment<'_>> + '_ {
        let mut from = 0;
        let mut cuts = self.cuts.iter().copied();
        let mut pending = None;
        let mut ended = false;
        std::iter::from_fn(move || {
            loop {
                if let Some(special) = pending.take() {
                    return Some(Segment::Special(special));
                }
                if ended {
                    return None;
                }
                let to = match cuts.next() {
                    Some((at, special)) => {
                        pending = Some(special);
                        at
                    }
                    None => {
                        ended = true;
                        self.text.len()
                    }
                };
                let text = &self.text[from..to];
                from = to;
                if !text.is_empty() {
                    return Some(Segment::Text(text));
                }
            }
        })
    }

    /// The special tokens in order, with the byte offset of each in the plain text.
    pub fn specials(&self) -> impl ExactSizeIterator<Item = (usize, Special)> + '_ {
        self.cuts.iter().copied()
    }

    /// Where each stretch of the prompt begins and what it comes from, in order. A stretch ends where the next
    /// begins; some are empty.
    pub fn sources(&self) -> impl ExactSizeIterator<Item = (Position, Source)> + '_ {
        self.sources.iter().copied()
    }

    /// The place after everything.
    #[must_use]
    pub fn end(&self) -> Position {
        Position { text: self.text.len(), specials: self.cuts.len() }
    }

    /// All text without the special tokens.
    #[must_use]
    pub fn text(&self) -> &str {
        &self.text
    }

    /// Whether the prompt has neither text nor special tokens.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.text.is_empty() && self.cuts.is_empty()
    }

    /// The number of bytes of [`Display`](fmt::Display) output.
    #[must_use]
    pub fn display_len(&self) -> usize {
        self.text.len() + self.cuts.iter().map(|(_, special)| special.spelling().len()).sum::<usize>()
    }

    /// Where each special token stands in the displayed text: start and end in bytes, and its role.
    pub fn display_specials(&self) -> impl Iterator<Item = (usize, usize, Special)> + '_ {
        let mut shift = 0;
        self.cuts.iter().map(move |&(at, special)| {
            let start = at + shift;
            shift += special.spelling().len();
            (start, at + shift, special)
        })
    }
}

/// Writes the prompt with special tokens spelled out. This is for people: spelled tokens and text that spells
/// them look alike.
impl fmt::Display for Prompt {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for segment in self.segments() {
            match segment {
                Segment::Special(special) => f.write_str(special.spelling())?,
                Segment::Text(text) => f.write_str(text)?,
            }
        }
        Ok(())
    }
}

/// Appends to a prompt's text. It can only append, so the cuts before it stay valid.
pub(crate) struct TextWriter<'p>(&'p mut String);

impl fmt::Write for TextWriter<'_> {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        self.0.push_str(text);
        Ok(())
    }
}

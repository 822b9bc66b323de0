//! Ids to text, one id at a time.

use super::Tokenizer;
use crate::token::{Special, TokenId};

/// What an id adds to the output.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Piece<'d> {
    /// Text, never empty.
    Text(&'d str),
    /// A special token with a role.
    Special(Special),
    /// An added token without a role.
    Added(TokenId),
}

/// The bytes of a character whose end has not come yet.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
struct Pending {
    /// At most three, in front.
    bytes: [u8; 3],
    len: u8,
}

impl Pending {
    fn bytes(&self) -> &[u8] {
        &self.bytes[..usize::from(self.len)]
    }

    fn of(bytes: &[u8]) -> Self {
        let mut pending = Self::default();
        for (place, byte) in pending.bytes.iter_mut().zip(bytes) {
            *place = *byte;
            pending.len += 1;
        }
        pending
    }
}

/// Turns ids into text as they come.
///
/// All text pieces together are what [`Tokenizer::decode`] gives for the text between added tokens, however the
/// ids are grouped: bytes of a character are held back until it is complete, and bytes that are not UTF-8 become
/// U+FFFD as soon as that is certain, in the same places as in Python's `bytes.decode(errors="replace")`.
///
/// Each id costs time in proportion to its own bytes. A clone is independent, and the last ids can be taken
/// back, as speculative decoding needs.
///
/// ```
/// # #[cfg(feature = "vocab")] {
/// use deepseek_codec::tokenizer::{Piece, Tokenizer, Vocabulary};
/// static BARE: Vocabulary = Vocabulary { specials: &[], renamed: &[] };
///
/// let tokenizer = Tokenizer::embedded(&BARE);
/// let mut detokenizer = tokenizer.detokenizer();
/// let mut text = String::new();
/// for id in tokenizer.encode_text("Zwölf 🦩!") {
///     detokenizer.push(id, |piece| match piece {
///         Piece::Text(part) => text.push_str(part),
///         Piece::Special(_) | Piece::Added(_) => unreachable!("there is only text"),
///     });
/// }
/// assert_eq!(text, "Zwölf 🦩!");
/// # }
/// ```
#[derive(Debug, Clone)]
pub struct Detokenizer {
    tokenizer: Tokenizer,
    pending: Pending,
    /// `pending` as it was before each of the last ids; a ring that `pushed` counts through.
    before: [Pending; Detokenizer::MAX_ROLLBACK],
    pushed: usize,
    /// How many of the last ids can be taken back.
    kept: usize,
    /// Room for what is pending with a token's bytes, and for their text.
    joined: Vec<u8>,
    text: String,
}

impl Detokenizer {
    /// How many ids [`Detokenizer::rollback`] can take back.
    pub const MAX_ROLLBACK: usize = 64;

    pub(super) fn new(tokenizer: Tokenizer) -> Self {
        let before = [Pending::default(); Self::MAX_ROLLBACK];
        let (joined, text) = (Vec::new(), String::new());
        Self { tokenizer, pending: Pending::default(), before, pushed: 0, kept: 0, joined, text }
    }

    /// What an id adds if that is text and certain without looking at other ids: no character is pending, and the
    /// id's are whole. Nothing changes.
    #[inline]
    pub(crate) fn whole(&self, id: TokenId) -> Option<&str> {
        let bytes = self.tokenizer.tables.token(id.0);
        if self.pending.len > 0 || bytes.is_empty() {
            return None;
        }
        std::str::from_utf8(bytes).ok()
    }

    /// Takes an id and gives what it adds: nothing, or text, or (for an added token) U+FFFD for a character that
    /// it interrupts and then the token. An id that the vocabulary does not have adds nothing.
    pub fn push(&mut self, id: TokenId, mut sink: impl FnMut(Piece<'_>)) {
        self.before[self.pushed % Self::MAX_ROLLBACK] = self.pending;
        self.pushed = self.pushed.wrapping_add(1);
        self.kept = (self.kept + 1).min(Self::MAX_ROLLBACK);

        let bytes = self.tokenizer.tables.token(id.0);
        if bytes.is_empty() {
            if self.tokenizer.added_spelling(id).is_some() {
                self.finish(&mut sink);
                sink(self.tokenizer.special_role(id).map_or(Piece::Added(id), Piece::Special));
            }
            return;
        }
        if self.pending.len == 0
            && let Ok(text) = std::str::from_utf8(bytes)
        {
            return sink(Piece::Text(text));
        }
        self.joined.clear();
        self.joined.extend_from_slice(self.pending.bytes());
        self.joined.extend_from_slice(bytes);
        self.text.clear();
        self.pending = append_text(&self.joined, &mut self.text);
        if !self.text.is_empty() {
            sink(Piece::Text(&self.text));
        }
    }

    /// Gives what is left when no id follows: U+FFFD for a character without its end.
    pub fn finish(&mut self, mut sink: impl FnMut(Piece<'_>)) {
        if std::mem::take(&mut self.pending).len > 0 {
            sink(Piece::Text("\u{FFFD}"));
        }
    }

    /// The bytes that are held back, at most three.
    #[must_use]
    pub fn pending(&self) -> &[u8] {
        self.pending.bytes()
    }

    /// Takes the last ids back; the text that they gave is the caller's to remove.
    ///
    /// Returns false, and does nothing, when these are more ids than were pushed or more than
    /// [`Detokenizer::MAX_ROLLBACK`].
    #[must_use]
    pub fn rollback(&mut self, ids: usize) -> bool {
        if ids > self.kept {
            return false;
        }
        if ids > 0 {
            self.kept -= ids;
            self.pushed = self.pushed.wrapping_sub(ids);
            self.pending = self.before[self.pushed % Self::MAX_ROLLBACK];
        }
        true
    }
}

/// Appends the text of bytes; gives the bytes at their end that begin a character.
fn append_text(mut bytes: &[u8], text: &mut String) -> Pending {
    loop {
        let error = match std::str::from_utf8(bytes) {
            Ok(rest) => {
                text.push_str(rest);
                return Pending::default();
            }
            Err(error) => error,
        };
        let (valid, rest) = bytes.split_at(error.valid_up_to());
        text.push_str(&String::from_utf8_lossy(valid));
        match error.error_len() {
            Some(len) => {
                text.push('\u{FFFD}');
                bytes = &rest[len..];
            }
            None => return Pending::of(rest),
        }
    }
}

//! Places where a text can be cut, and its parts encoded on their own, whatever stands on either side.
//!
//! A place is safe when it is always a border between pre-tokens, when the pre-tokens on its left do not change
//! if the text ends there, and those on its right not if it begins there. (The expressions are quoted in
//! [`pretokenize`](super::pretokenize); "zone" is explained there.)
//!
//! - **Where membership in the class of numbers, or in the CJK class, changes.** The first two expressions cut
//!   there, and match the pieces on either side alone: a zone's end is already the end of a text for the third.
//!   Runs of numbers are counted in threes from their own start, which lies on the right of the place.
//! - **After an ASCII letter, before a space that an ASCII letter follows.** No alternative matches white space
//!   behind a letter, so the letter's match ends here; the two alternatives that match letters look no further
//!   than the letters, so it ends in the same way when the text does. The space begins a match; the second
//!   alternative takes it with the letters behind it, and does not depend on what is left of it.
//! - **After `\n` or `\r`, before a character that is not white space.** Line ends are matched as the end of the
//!   third or fourth alternative only (the second excludes them, and the last two are not reached by a run of
//!   white space with a line end in it). Both take all line ends up to here, also when the text ends here, and
//!   nothing behind a line end but white space. What follows begins a match.

use super::classes::{CJK, NUMBER, SPACE, class_of};

/// The first safe place at a byte offset or behind it, but not at the text's start; or the text's end.
pub(super) fn next_cut(text: &str, from: usize) -> usize {
    let mut at = from.max(1);
    while at < text.len() && !text.is_char_boundary(at) {
        at += 1;
    }
    let Some((before, after)) = text.split_at_checked(at) else { return text.len() };
    let Some(mut left) = before.chars().next_back() else { return text.len() };
    for right in after.chars() {
        if is_cut(left, right, text.as_bytes().get(at + 1).copied()) {
            return at;
        }
        at += right.len_utf8();
        left = right;
    }
    text.len()
}

/// Whether a text can be cut at a character's border, or ends there.
pub(super) fn can_cut(text: &str, at: usize) -> bool {
    let (before, after) = text.split_at(at);
    match (before.chars().next_back(), after.chars().next()) {
        (Some(left), Some(right)) => is_cut(left, right, after.as_bytes().get(1).copied()),
        _ => true,
    }
}

/// Whether the place between two characters is safe; `after` is the byte behind a right character of one byte.
fn is_cut(left: char, right: char, after: Option<u8>) -> bool {
    if left.is_ascii_alphabetic() && right == ' ' && after.is_some_and(|byte| byte.is_ascii_alphabetic()) {
        return true;
    }
    let (left_class, right_class) = (class_of(left), class_of(right));
    (left_class ^ right_class) & CJK != 0
        || (left_class == NUMBER) != (right_class == NUMBER)
        || matches!(left, '\r' | '\n') && right_class != SPACE
}

/// The parts of a text, cut at the first safe place after every `size` bytes. A longer text with the same start
/// has the same parts but for the last.
#[cfg(any(test, feature = "parallel"))]
pub(super) fn parts(text: &str, size: usize) -> impl Iterator<Item = &str> {
    let mut rest = text;
    std::iter::from_fn(move || {
        if rest.is_empty() {
            return None;
        }
        let (part, after) = rest.split_at(next_cut(rest, size));
        rest = after;
        Some(part)
    })
}

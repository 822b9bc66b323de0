//! Cuts text into pre-tokens, inside which merges happen.
//!
//! The definition is three regular expressions, each applied to the pieces that the one before left:
//!
//! 1. `\p{N}{1,3}`
//! 2. `[一-龥぀-ゟ゠-ヿ]+`
//! 3. ``[!"#$%&'()*+,\-./:;<=>?@\[\\\]^_`{|}~][A-Za-z]+|[^\r\n\p{L}\p{P}\p{S}]?[\p{L}\p{M}]+|
//!    ?[\p{P}\p{S}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+`` (one line; the third alternative starts with a space)
//!
//! What no expression matches is a piece as well. The first two expressions cut the text into zones: a run of
//! numbers, a run of CJK characters, or the rest. The third one sees a zone's end as the end of the text,
//! because each piece is matched alone.

use super::classes::{CJK, LETTER, NUMBER, OTHER, PUNCTUATION, SPACE, class_of};

/// The pre-tokens of a text, in order; together they are the text.
pub fn pretokens(text: &str) -> impl Iterator<Item = &str> {
    let mut rest = text;
    std::iter::from_fn(move || {
        let (piece, after) = rest.split_at(first_len(rest));
        rest = after;
        (!piece.is_empty()).then_some(piece)
    })
}

/// The length of the first pre-token, when the text starts where a pre-token does.
pub(super) fn first_len(text: &str) -> usize {
    let mut chars = text.chars();
    let Some(first) = chars.next() else { return 0 };
    let class = class_of(first);
    let after_first = first.len_utf8();
    if class & !CJK == NUMBER {
        return after_first
            + chars.take(2).take_while(|c| class_of(*c) == NUMBER).map(char::len_utf8).sum::<usize>();
    }
    let zone = Zone { text, cjk: class & CJK };
    let second = zone.class_at(after_first);
    match class & !CJK {
        LETTER => zone.run_end(after_first, LETTER),
        PUNCTUATION
            if first.is_ascii() && text[after_first..].starts_with(|c: char| c.is_ascii_alphabetic()) =>
        {
            let letters = text[after_first..].bytes().take_while(u8::is_ascii_alphabetic).count();
            after_first + letters
        }
        PUNCTUATION => zone.line_ends(zone.run_end(after_first, PUNCTUATION)),
        SPACE if second == Some(LETTER) && !matches!(first, '\r' | '\n') => zone.run_end(after_first, LETTER),
        SPACE if second == Some(PUNCTUATION) && first == ' ' => {
            zone.line_ends(zone.run_end(after_first, PUNCTUATION))
        }
        SPACE => zone.spaces_end(after_first),
        // One character that is nothing else may stand before letters; a run of others loses its last to them.
        _ => {
            let end = zone.run_end(after_first, OTHER);
            if zone.class_at(end) != Some(LETTER) {
                end
            } else if end == after_first {
                zone.run_end(end, LETTER)
            } else {
                end - text[..end].chars().next_back().map_or(0, char::len_utf8)
            }
        }
    }
}

/// The text from a pre-token's start; it counts as ended where a number comes or CJK begins or ends.
struct Zone<'t> {
    text: &'t str,
    cjk: u8,
}

impl Zone<'_> {
    /// The class of the character at a place, or nothing at the zone's end.
    fn class_at(&self, at: usize) -> Option<u8> {
        let class = class_of(self.text[at..].chars().next()?);
        (class & CJK == self.cjk && class & !CJK != NUMBER).then_some(class & !CJK)
    }

    /// Where a run of one class that goes on at a place ends.
    fn run_end(&self, from: usize, class: u8) -> usize {
        let run = self.text[from..].chars().take_while(|c| class_of(*c) == class | self.cjk);
        from + run.map(char::len_utf8).sum::<usize>()
    }

    /// Where the line ends after punctuation end.
    fn line_ends(&self, from: usize) -> usize {
        if self.cjk != 0 {
            return from;
        }
        from + self.text[from..].bytes().take_while(|byte| matches!(byte, b'\r' | b'\n')).count()
    }

    /// Where white space that no letter or punctuation claims ends; its first character is before `second`.
    fn spaces_end(&self, second: usize) -> usize {
        let end = self.run_end(second, SPACE);
        let run = &self.text[..end];
        if let Some(line_end) = run.rfind(['\r', '\n']) {
            return line_end + 1;
        }
        let last = run.chars().next_back().map_or(0, char::len_utf8);
        // The last one is left for what follows, unless the zone ends here or it is the only one.
        if self.class_at(end).is_none() || last == end { end } else { end - last }
    }
}

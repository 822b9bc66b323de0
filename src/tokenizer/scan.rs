//! Borders in text, 64 bytes at a time.
//!
//! A window of 64 bytes that begins where a pre-token begins becomes one bit mask for each class, and a few
//! operations on masks give the places where pre-tokens start. What is left of the window does not matter then:
//! the expressions look at nothing before a match. What is right of it can matter; only the places that it
//! cannot move are given.
//!
//! ASCII is classified many bytes at once, other characters one by one. A character's bits are those of all its
//! bytes, so that a run of a class is a run of bits, and the place after a character is one bit further. Rare
//! characters, whose rules would need more than that, end what is known of the window: numbers, white space and
//! CJK signs beyond ASCII.

use wide::u8x16;

use super::classes::{CJK, LETTER, OTHER, PUNCTUATION};
use super::links::Links;
use super::utf8::Utf8;

/// The bytes of a window that are looked at.
pub(super) const WINDOW: usize = 64;
/// A window, and what can be read behind it.
pub(super) const READ: usize = WINDOW + 16;

/// The class of most characters that the second expression matches.
const CJK_LETTER: u8 = CJK | LETTER;

/// One bit for each byte of a window, the first byte lowest.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct Masks {
    /// `[A-Za-z]`
    ascii_letters: u64,
    /// `[0-9]`
    digits: u64,
    /// The printable ASCII characters but letters, digits and the space.
    ascii_punctuation: u64,
    /// `[\t\n\v\f\r ]`
    spaces: u64,
    /// `[\r\n]`
    line_ends: u64,
    /// The space itself.
    blanks: u64,
    /// Bytes from 0x80.
    non_ascii: u64,
}

/// The characters beyond ASCII in a window.
#[derive(Debug, Clone, Copy, Default)]
struct Others {
    letters: u64,
    cjk_letters: u64,
    punctuation: u64,
    /// The bytes after the first of characters of no class.
    tails: u64,
    /// Characters that no token links to the one before them, both letters of CJK or both punctuation.
    unlinked: u64,
}

/// The places of a window where parts start that are encoded on their own: pre-tokens, and within them
/// characters that no token [links](super::links) to the one before. `len` bytes of the window are text.
///
/// The first place must be the start of a pre-token. The last place of the result starts a part whose end is
/// not known, unless the text ends with the `len` bytes and the second half of the result says that all of them
/// are known then.
#[inline]
pub(super) fn starts(window: &[u8; READ], len: usize, links: &Links) -> (u64, bool) {
    let masks = masks(window.first_chunk().unwrap_or(&[0; WINDOW]));
    let text = bits_below(len);
    if masks.non_ascii & text == 0 {
        return masks.starts(text, &Others::default());
    }
    let (others, known) = masks.others(window, len, links);
    let (starts, is_whole) = masks.starts(known, &others);
    (starts, is_whole && known == text)
}

impl Masks {
    /// Classifies the characters beyond ASCII; also gives the bits of what is known.
    fn others(&self, window: &[u8; READ], len: usize, links: &Links) -> (Others, u64) {
        let mut others = Others::default();
        let mut rest = self.non_ascii & bits_below(len);
        // The character before, its class, and where it ends.
        let (mut left, mut left_class, mut end) = (Utf8::default(), OTHER, 0);
        while rest != 0 {
            let at = rest.trailing_zeros() as usize % WINDOW;
            let char = Utf8::at(window, at);
            let next = at + char.len();
            if next > len {
                return (others, bits_below(at));
            }
            let class = char.class();
            let bits = bits_below(next) & !bits_below(at);
            match class {
                CJK_LETTER => others.cjk_letters |= bits,
                PUNCTUATION => others.punctuation |= bits,
                LETTER => others.letters |= bits,
                OTHER => others.tails |= bits & (bits << 1),
                _ => return (others, bits_below(at)),
            }
            let alike = at == end && class == left_class && matches!(class, CJK_LETTER | PUNCTUATION);
            others.unlinked |= u64::from(alike && !links.linked(left, char)) << at;
            (left, left_class, end) = (char, class, next);
            if class == CJK_LETTER {
                // Where one ideograph is there are more. No branches: whether they are linked is hard to predict.
                while end + 3 <= len {
                    let Some(char) = Utf8::ideograph_at(window, end) else { break };
                    others.unlinked |= u64::from(!links.linked_threes(left, char)) << end;
                    (left, end) = (char, end + 3);
                }
                others.cjk_letters |= bits_below(end) & !bits_below(next);
            }
            rest &= !bits_below(end);
        }
        (others, bits_below(len))
    }

    /// The places where parts start, as far as they are certain, and whether that is as far as the end of what is known if
    /// the text ends there.
    fn starts(&self, known: u64, others: &Others) -> (u64, bool) {
        let ascii_letters = self.ascii_letters & known;
        let letters = ascii_letters | others.letters;
        let digits = self.digits & known;
        let ascii_punctuation = self.ascii_punctuation & known;
        let punctuation = ascii_punctuation | others.punctuation;
        let line_ends = self.line_ends & known;
        let blanks = self.blanks & known;
        let cjk = others.cjk_letters;
        let other = known & !(letters | digits | punctuation | cjk | self.spaces);

        // Line ends that follow punctuation belong to it; adding a bit to the start of a run clears the run.
        let after_punctuation = line_ends & (punctuation << 1);
        let taken = line_ends & !line_ends.wrapping_add(after_punctuation);
        let spaces = self.spaces & known & !taken;
        let inline = spaces & !line_ends;

        // A blank before punctuation belongs to it.
        let free_punctuation = punctuation & !(punctuation << 1) & !(blanks << 1);
        // One space that is no line end or one other character begins a word; one punctuation mark begins a word
        // of ASCII letters, which ends where they end.
        let marked = ((free_punctuation & ascii_punctuation) << 1) & ascii_letters;
        let begins_word = ((inline | other) << 1) | marked;
        let mut starts = free_punctuation
            | (letters & !(letters << 1) & !begins_word)
            | (others.letters & ascii_letters.wrapping_add(marked))
            | (spaces & !(spaces << 1))
            | (cjk & !(cjk << 1))
            | others.unlinked;
        // The last one of other characters is left for letters.
        let last = other & (letters >> 1);
        starts |= (other & !(other << 1)) | last & !others.tails;
        starts |= starts_of(last & others.tails, others.tails);
        // The last space is left for what follows, unless that is a number or CJK.
        starts |= inline & !(spaces >> 1) & !((digits | cjk) >> 1);
        starts |= after_line_ends(inline, line_ends);
        starts |= triples(digits);

        // White space up to the edge of what is known can go on, and then end anywhere.
        let ends_in_space = spaces & known & !(known >> 1) != 0;
        if ends_in_space {
            let run = WINDOW as u32 - (known & !spaces).leading_zeros();
            starts &= u64::MAX.checked_shr(WINDOW as u32 - 1 - run).unwrap_or(0);
        }
        (starts, !ends_in_space)
    }
}

/// For the last bytes of some characters the places of their first bytes, by the places of all further bytes.
fn starts_of(mut ends: u64, tails: u64) -> u64 {
    let mut starts = 0;
    while ends != 0 {
        let before = !tails & bits_below(ends.trailing_zeros() as usize);
        starts |= 1 << before.ilog2();
        ends &= ends - 1;
    }
    starts
}

fn bits_below(len: usize) -> u64 {
    if len < WINDOW { (1 << len) - 1 } else { u64::MAX }
}

/// The starts of runs of other white space that follow a line end, but not those with a line end behind them.
fn after_line_ends(inline: u64, line_ends: u64) -> u64 {
    let mut starts = inline & (line_ends << 1);
    let mut inner = inline & (line_ends >> 1);
    while inner != 0 {
        let last = inner.trailing_zeros();
        let before = !inline & ((1 << last) - 1);
        let first = WINDOW as u32 - before.leading_zeros();
        starts &= !(1 << first);
        inner &= inner - 1;
    }
    starts
}

/// Every third digit of a run, from its first.
fn triples(digits: u64) -> u64 {
    let mut found = digits & !(digits << 1);
    let mut starts = found;
    let fourth = digits & (digits << 1) & (digits << 2) & (digits << 3);
    if fourth != 0 {
        while found != 0 {
            found = (found << 3) & fourth;
            starts |= found;
        }
    }
    starts
}

/// The masks of a window, 16 bytes at a time.
#[inline]
pub(super) fn masks(window: &[u8; WINDOW]) -> Masks {
    let mut masks = Masks::default();
    let (blocks, _) = window.as_chunks::<16>();
    for (place, block) in blocks.iter().enumerate() {
        let bytes = u8x16::new(*block);
        let bits = |mask: u8x16| u64::from(mask.to_bitmask()) << (16 * place);
        let letter = within(bytes | u8x16::splat(0x20), b'a', b'z');
        let digit = within(bytes, b'0', b'9');
        let blank = bytes.simd_eq(u8x16::splat(b' '));
        let line_end = bytes.simd_eq(u8x16::splat(b'\n')) | bytes.simd_eq(u8x16::splat(b'\r'));
        masks.ascii_letters |= bits(letter);
        masks.digits |= bits(digit);
        masks.ascii_punctuation |= bits(within(bytes, 0x21, 0x7E) & !(letter | digit));
        masks.spaces |= bits(within(bytes, b'\t', b'\r') | blank);
        masks.line_ends |= bits(line_end);
        masks.blanks |= bits(blank);
        masks.non_ascii |= bits(bytes);
    }
    masks
}

/// All ones in each byte that lies in a range.
#[inline]
fn within(bytes: u8x16, first: u8, last: u8) -> u8x16 {
    let above = bytes - u8x16::splat(first);
    above.simd_eq(above.min(u8x16::splat(last - first)))
}

/// The masks of a window, byte by byte: the slow twin.
#[cfg(test)]
pub(super) fn slow_masks(window: &[u8; WINDOW]) -> Masks {
    let mut masks = Masks::default();
    for (place, byte) in window.iter().enumerate() {
        let bit = |is: bool| u64::from(is) << place;
        masks.ascii_letters |= bit(byte.is_ascii_alphabetic());
        masks.digits |= bit(byte.is_ascii_digit());
        masks.ascii_punctuation |= bit(byte.is_ascii_punctuation());
        masks.spaces |= bit(matches!(byte, b'\t'..=b'\r' | b' '));
        masks.line_ends |= bit(matches!(byte, b'\r' | b'\n'));
        masks.blanks |= bit(*byte == b' ');
        masks.non_ascii |= bit(!byte.is_ascii());
    }
    masks
}

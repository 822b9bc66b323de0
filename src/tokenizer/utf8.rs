//! Characters as their bytes.

use super::classes::{CJK, LETTER, class_of_code};

/// The bytes of one character as a number, the first one highest.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) struct Utf8(u32);

impl Utf8 {
    /// The character at a place of a text's bytes, which must start one.
    #[inline]
    pub(super) fn at(bytes: &[u8], at: usize) -> Self {
        Self::front(u32::from_be_bytes(*bytes[at..].first_chunk().unwrap_or(&[0; 4])))
    }

    /// The ideograph at a place of a text's bytes, if there is one.
    #[inline]
    pub(super) fn ideograph_at(bytes: &[u8], at: usize) -> Option<Self> {
        let char = Self(match *bytes.get(at..)? {
            [a, b, c, d, ..] => u32::from_be_bytes([a, b, c, d]) >> 8,
            [a, b, c] => u32::from_be_bytes([0, a, b, c]),
            _ => return None,
        });
        char.is_ideograph().then_some(char)
    }

    /// The character at the front of four bytes. No branches: what follows what is hard to foretell.
    #[inline]
    fn front(four: u32) -> Self {
        Self(four >> (32 - 8 * four.leading_ones().clamp(1, 4)))
    }

    /// The first character of some bytes, if there is a whole one. Encoded surrogates pass for characters.
    #[inline]
    pub(super) fn first_of(bytes: &[u8]) -> Option<Self> {
        /// Of characters by their length the marks in all bytes, what these must be, and the least character.
        const FORMS: [(u32, u32, u32); 4] = [
            (0x80, 0, 0),
            (0xE0C0, 0xC080, 0xC280),
            (0xF0_C0C0, 0xE0_8080, 0xE0_A080),
            (0xF8C0_C0C0, 0xF080_8080, 0xF090_8080),
        ];
        let char = match bytes.first_chunk() {
            Some(four) => Self::front(u32::from_be_bytes(*four)),
            None => {
                let mut four = [0; 4];
                four[..bytes.len()].copy_from_slice(bytes);
                Self::front(u32::from_be_bytes(four))
            }
        };
        let (marks, fixed, least) = FORMS[(char.len() - 1) % 4];
        (char.0 & marks == fixed && char.0 >= least && !bytes.is_empty()).then_some(char)
    }

    /// The last character of some bytes, if there is a whole one.
    pub(super) fn last_of(bytes: &[u8]) -> Option<Self> {
        let tail = bytes.iter().rev().take(3).take_while(|byte| **byte & 0xC0 == 0x80).count();
        let start = bytes.len().checked_sub(tail + 1)?;
        Self::first_of(&bytes[start..]).filter(|char| char.len() == tail + 1)
    }

    #[inline]
    pub(super) fn len(self) -> usize {
        4 - (self.0 | 1).leading_zeros() as usize / 8
    }

    #[inline]
    pub(super) fn number(self) -> u32 {
        self.0
    }

    #[inline]
    pub(super) fn is_ascii(self) -> bool {
        self.0 < 0x80
    }

    #[inline]
    pub(super) fn first_byte(self) -> u8 {
        (self.0 >> (8 * (self.len() - 1))) as u8
    }

    #[inline]
    pub(super) fn last_byte(self) -> u8 {
        self.0 as u8
    }

    /// Whether it is one of `[一-龥]`.
    #[inline]
    pub(super) fn is_ideograph(self) -> bool {
        matches!(self.0, 0xE4_B8_80..=0xE9_BE_A5)
    }

    #[inline]
    pub(super) fn class(self) -> u8 {
        if self.is_ideograph() { CJK | LETTER } else { class_of_code(self.code()) }
    }

    /// The code point.
    #[inline]
    pub(super) fn code(self) -> u32 {
        let tails = (self.0 & 0x3F) | (self.0 >> 2 & 0xFC0);
        match self.len() {
            1 => self.0,
            2 => tails & 0x7FF,
            3 => tails | (self.0 >> 4 & 0xF000),
            _ => tails | (self.0 >> 4 & 0x3_F000) | (self.0 >> 6 & 0x1C_0000),
        }
    }
}

impl From<char> for Utf8 {
    fn from(char: char) -> Self {
        let mut bytes = [0; 4];
        let bytes = char.encode_utf8(&mut bytes).as_bytes();
        Self(bytes.iter().fold(0, |number, byte| number << 8 | u32::from(*byte)))
    }
}

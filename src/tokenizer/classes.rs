//! The pre-tokenizer's class of every character.
//!
//! The classes are those of Unicode 16.0 (Hugging Face `tokenizers` 0.23 has the same). The table is made by
//! `tools/vocab/classes` and compared with the regex engine's classes for every code point by the tests.

/// Neither of the others: controls, format characters, private use, unassigned.
pub(super) const OTHER: u8 = 0;
/// `\p{L}` and `\p{M}`.
pub(super) const LETTER: u8 = 1;
/// `\p{P}` and `\p{S}`.
pub(super) const PUNCTUATION: u8 = 2;
/// `\p{N}`.
pub(super) const NUMBER: u8 = 3;
/// `\s`, line ends among them.
pub(super) const SPACE: u8 = 4;
/// Set on members of `[一-龥぀-ゟ゠-ヿ]`, whatever else they are.
pub(super) const CJK: u8 = 8;

const BLOCK: usize = 128;
const INDEX: usize = 0x11_0000 / BLOCK;
static TABLE: &[u8] = include_bytes!("vocab/classes.bin");

#[inline]
pub(super) fn class_of(char: char) -> u8 {
    class_of_code(u32::from(char))
}

/// The class of a code point; [`OTHER`] for what is none.
#[inline]
pub(super) fn class_of_code(code: u32) -> u8 {
    let code = code as usize;
    let Some(block) = TABLE[..INDEX].get(code / BLOCK) else { return OTHER };
    TABLE[INDEX + usize::from(*block) * BLOCK + code % BLOCK]
}

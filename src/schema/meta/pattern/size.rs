//! How large a pattern becomes when it is built. The official engines refuse what is too large, such as some hundred
//! repetitions of all letters. They are not rebuilt here: the figures are measured, and near the limit the estimate
//! can be wrong either way.

/// The size that is too large, in bytes.
pub(super) const LIMIT: u64 = 10 << 20;

/// A repetition that may stop, a branch of an alternative.
pub(super) const STEP: u64 = 41;

/// What a group that captures needs beyond its content.
pub(super) const CAPTURE: u64 = 64;

/// A class, and each of its ranges.
pub(super) const CLASS: u64 = 64;
pub(super) const RANGE: u64 = 8;
pub(super) const WIDE_RANGE: u64 = 300;

/// All characters but a few.
pub(super) const MOST: u64 = 936;

/// A literal character.
pub(super) const fn literal(character: char) -> u64 {
    32 * character.len_utf8() as u64
}

/// A set such as `\d`. Patterns that are translated mean ASCII letters and digits by it, others mean Unicode's.
pub(super) const fn set(letter: char, is_translated: bool) -> u64 {
    match (letter, is_translated) {
        ('d', true) => 8,
        ('w', true) => 32,
        ('s', _) => 681,
        ('S', _) => 2058,
        ('D' | 'W', true) => MOST,
        ('d' | 'D', false) => 5200,
        _ => 50_000,
    }
}

/// A property of Unicode.
pub(super) fn property(name: &str) -> u64 {
    match name.to_ascii_lowercase().as_str() {
        "l" | "letter" | "alphabetic" | "alpha" | "c" | "other" | "alnum" | "word" | "graph" | "print" => {
            43_000
        }
        "lu" | "ll" | "uppercase" | "lowercase" | "uppercase_letter" | "lowercase_letter" => 27_000,
        "m" | "mark" => 19_000,
        "s" | "symbol" => 16_000,
        "p" | "punct" | "punctuation" => 12_000,
        "n" | "number" => 9800,
        "nd" | "decimal_number" => 5200,
        "z" | "separator" | "zs" => 600,
        _ => 3000,
    }
}

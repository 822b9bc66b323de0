//! Writes `src/tokenizer/vocab/classes.bin`: the pre-tokenizer's class of every code point, by Unicode 16.
//!
//!     cargo run --release --manifest-path tools/vocab/classes/Cargo.toml src/tokenizer/vocab/classes.bin
//!
//! Layout: for each 128 code points one byte, the number of their block; then the blocks, 128 bytes each.

use std::collections::BTreeMap;

use unicode_general_category::{GeneralCategory, UNICODE_VERSION, get_general_category};

const BLOCK: usize = 128;

const OTHER: u8 = 0;
const LETTER: u8 = 1;
const MARK: u8 = 1;
const PUNCTUATION: u8 = 2;
const NUMBER: u8 = 3;
const SPACE: u8 = 4;
/// Set on members of `[一-龥぀-ゟ゠-ヿ]`, whatever else they are.
const CJK: u8 = 8;

fn main() {
    assert_eq!(UNICODE_VERSION, (16, 0, 0));
    let out = std::env::args().nth(1).expect("the file to write");
    let mut numbers = BTreeMap::new();
    let (mut index, mut blocks) = (Vec::new(), Vec::new());
    for first in (0..0x11_0000).step_by(BLOCK) {
        let block: Vec<u8> =
            (first..first + BLOCK as u32).map(|code| char::from_u32(code).map_or(OTHER, class)).collect();
        let number = *numbers.entry(block.clone()).or_insert_with(|| {
            blocks.extend(block);
            u8::try_from(blocks.len() / BLOCK - 1).expect("at most 256 blocks")
        });
        index.push(number);
    }
    println!("{} blocks", blocks.len() / BLOCK);
    index.extend(blocks);
    std::fs::write(out, index).expect("the file can be written");
}

fn class(char: char) -> u8 {
    use GeneralCategory::*;
    let cjk = if matches!(char, '\u{4E00}'..='\u{9FA5}' | '\u{3040}'..='\u{30FF}') { CJK } else { 0 };
    // White space is the property White_Space: the separators and six controls.
    let base = match (get_general_category(char), char) {
        (_, '\t'..='\r' | '\u{85}') => SPACE,
        (SpaceSeparator | LineSeparator | ParagraphSeparator, _) => SPACE,
        (UppercaseLetter | LowercaseLetter | TitlecaseLetter | ModifierLetter | OtherLetter, _) => LETTER,
        (NonspacingMark | SpacingMark | EnclosingMark, _) => MARK,
        (DecimalNumber | LetterNumber | OtherNumber, _) => NUMBER,
        (
            ConnectorPunctuation | DashPunctuation | OpenPunctuation | ClosePunctuation | InitialPunctuation
            | FinalPunctuation | OtherPunctuation | MathSymbol | CurrencySymbol | ModifierSymbol
            | OtherSymbol,
            _,
        ) => PUNCTUATION,
        _ => OTHER,
    };
    base | cjk
}

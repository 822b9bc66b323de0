//! The byte alphabet of byte-level BPE: a printable character for each byte, in which tokenizer files spell
//! their tokens.
//!
//! Bytes that are printable in Latin-1 stand for themselves; the others follow from U+0100 on. The same order,
//! printable bytes first, numbers the single-byte tokens of most vocabularies.

/// The ranges of bytes that stand for themselves.
const PRINTABLE: [(u8, u8); 3] = [(0x21, 0x7E), (0xA1, 0xAC), (0xAE, 0xFF)];
const PRINTABLE_COUNT: usize = 188;

/// The bytes, those that stand for themselves first.
const ORDER: [u8; 256] = {
    let mut order = [0; 256];
    let (mut printable, mut other) = (0, PRINTABLE_COUNT);
    let mut byte = 0;
    while byte < 256 {
        if is_printable(byte as u8) {
            order[printable] = byte as u8;
            printable += 1;
        } else {
            order[other] = byte as u8;
            other += 1;
        }
        byte += 1;
    }
    order
};

const fn is_printable(byte: u8) -> bool {
    let mut range = 0;
    while range < PRINTABLE.len() {
        let (first, last) = PRINTABLE[range];
        if first <= byte && byte <= last {
            return true;
        }
        range += 1;
    }
    false
}

/// The byte that stands at a place of the alphabet's order.
pub(super) fn byte_of_printable_order(place: usize) -> u8 {
    ORDER[place]
}

/// The byte that a character stands for.
pub(super) fn byte_of_char(char: char) -> Option<u8> {
    match u32::from(char) {
        code @ 0..=0xFF => u8::try_from(code).ok().filter(|byte| is_printable(*byte)),
        code @ 0x100..0x144 => ORDER.get(PRINTABLE_COUNT + (code as usize - 0x100)).copied(),
        _ => None,
    }
}

//! Places inside a pre-token that no merge can cross.
//!
//! # Why these cuts are safe
//! Every symbol with more than one byte is made by merges. A symbol with bytes on both sides of a border between
//! two characters contains that border, so one of the merges that made it joined two tokens there: one that
//! ends with the end of the left character (or all of it, and more), and one that starts with the start of the
//! right one. If no merge of the vocabulary joins such tokens, none crosses the border, whatever else the
//! pre-token holds. The merges of either side then never see the
//! other: the lowest rank of the whole is the lowest of one side, and taking it changes that side only. So the
//! tokens of the pre-token are those of its two parts, one after the other.
//!
//! What is stored may only err on the side of "linked": pairs of whole characters as bits under a hash, and the
//! rare merges with only a part of a character next to the border by the two bytes at the border.

use super::tables::{Merge, Tables};

const BITS: u32 = 20;

/// Which characters stand side by side in some token.
#[derive(Debug, Default)]
pub(super) struct Links {
    /// One bit for each hash of two characters.
    pairs: Box<[u64]>,
    /// One bit for each last byte of the left character and first byte of the right one.
    seams: Box<[u64]>,
}

impl Links {
    pub(super) fn new(tables: &Tables, merges: &[Merge]) -> Self {
        let mut links = Self {
            pairs: vec![0; 1 << (BITS - 6)].into_boxed_slice(),
            seams: vec![0; 1 << (16 - 6)].into_boxed_slice(),
        };
        // A border inside one of a merge's parts belongs to the merge that made the part.
        for merge in merges {
            links.insert(tables.token(merge.left), tables.token(merge.right));
        }
        links
    }

    /// Notes the border between two tokens that merge, if characters meet there.
    fn insert(&mut self, left: &[u8], right: &[u8]) {
        let (Some(&left_byte), Some(&right_byte)) = (left.last(), right.first()) else { return };
        if left_byte | right_byte < 0x80 || right_byte & 0xC0 == 0x80 {
            return;
        }
        match (last_character(left), first_character(right)) {
            (Some(left), Some(right)) => set(&mut self.pairs, pair_bit(left, right)),
            _ => set(&mut self.seams, seam_bit(left_byte, right_byte)),
        }
    }

    /// Whether a token may contain the border between two characters, given with the bytes at the border.
    /// Two ASCII characters always count as linked.
    pub(super) fn linked(&self, left: char, right: char, left_byte: u8, right_byte: u8) -> bool {
        left_byte < 0x80 && right_byte < 0x80
            || get(&self.pairs, pair_bit(left, right))
            || self.seam(left_byte, right_byte)
    }

    /// Whether a token may contain this border with only a part of one of the characters.
    pub(super) fn seam(&self, left_byte: u8, right_byte: u8) -> bool {
        get(&self.seams, seam_bit(left_byte, right_byte))
    }
}

/// The whole character at the end of a token.
fn last_character(bytes: &[u8]) -> Option<char> {
    let tail = bytes.iter().rev().take(3).take_while(|byte| **byte & 0xC0 == 0x80).count();
    whole_character(&bytes[bytes.len().checked_sub(tail + 1)?..])
}

/// The whole character at the start of a token.
fn first_character(bytes: &[u8]) -> Option<char> {
    let len = match *bytes.first()? {
        0..0x80 => 1,
        0x80..0xE0 => 2,
        0xE0..0xF0 => 3,
        0xF0.. => 4,
    };
    whole_character(bytes.get(..len)?)
}

/// The character that these bytes are, unless they are a part of one.
fn whole_character(bytes: &[u8]) -> Option<char> {
    let tail = |byte: u8| u32::from(byte & 0x3F);
    let code = match *bytes {
        [a @ 0..0x80] => u32::from(a),
        [a @ 0xC0..0xE0, b] => u32::from(a & 0x1F) << 6 | tail(b),
        [a @ 0xE0..0xF0, b, c] => u32::from(a & 0x0F) << 12 | tail(b) << 6 | tail(c),
        [a @ 0xF0..=0xFF, b, c, d] => u32::from(a & 0x07) << 18 | tail(b) << 12 | tail(c) << 6 | tail(d),
        _ => return None,
    };
    char::from_u32(code)
}

fn pair_bit(left: char, right: char) -> usize {
    let hash = (u64::from(left) << 21 | u64::from(right)).wrapping_mul(0x9E37_79B9_7F4A_7C15);
    (hash >> (64 - BITS)) as usize
}

fn seam_bit(left: u8, right: u8) -> usize {
    usize::from(left) << 8 | usize::from(right)
}

fn set(bits: &mut [u64], at: usize) {
    bits[at / 64] |= 1 << (at % 64);
}

fn get(bits: &[u64], at: usize) -> bool {
    bits[at / 64] >> (at % 64) & 1 != 0
}

//! A quick hash for keys that this crate makes itself.

use std::collections::HashMap;
use std::hash::{BuildHasherDefault, Hasher};

use crate::tokenizer::fold;

/// A map whose order never matters.
pub(super) type Map<K, V> = HashMap<K, V, BuildHasherDefault<Mix>>;

/// Multiplies and folds, one word at a time.
#[derive(Default, Clone)]
pub(super) struct Mix(u64);

impl Mix {
    fn add(&mut self, word: u64) {
        self.0 = add(self.0, word);
    }
}

/// The hash of what had the hash `hash`, and one more word.
pub(super) fn add(hash: u64, word: u64) -> u64 {
    fold(hash ^ word ^ 0x243F_6A88_85A3_08D3, 0x9E37_79B9_7F4A_7C15)
}

impl Hasher for Mix {
    fn finish(&self) -> u64 {
        self.0
    }

    fn write(&mut self, bytes: &[u8]) {
        for chunk in bytes.chunks(8) {
            let mut word = [0; 8];
            word[..chunk.len()].copy_from_slice(chunk);
            self.add(u64::from_le_bytes(word));
        }
        self.add(bytes.len() as u64);
    }

    fn write_u8(&mut self, number: u8) {
        self.add(number.into());
    }

    fn write_u16(&mut self, number: u16) {
        self.add(number.into());
    }

    fn write_u32(&mut self, number: u32) {
        self.add(number.into());
    }

    fn write_u64(&mut self, number: u64) {
        self.add(number);
    }

    fn write_usize(&mut self, number: usize) {
        self.add(number as u64);
    }
}

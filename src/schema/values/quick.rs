//! A quick hash for keys that are small numbers. Their count is limited, and so is what a hostile choice of them costs.

use std::collections::HashMap;
use std::hash::{BuildHasherDefault, Hasher};

pub(super) type QuickMap<K, V> = HashMap<K, V, BuildHasherDefault<Quick>>;

#[derive(Default)]
pub(super) struct Quick(u64);

impl Quick {
    const fn mix(&mut self, word: u64) {
        self.0 = (self.0.rotate_left(5) ^ word).wrapping_mul(0x517c_c1b7_2722_0a95);
    }
}

impl Hasher for Quick {
    fn write(&mut self, bytes: &[u8]) {
        for chunk in bytes.chunks(8) {
            let mut word = [0; 8];
            word[..chunk.len()].copy_from_slice(chunk);
            self.mix(u64::from_le_bytes(word));
        }
    }

    fn write_u32(&mut self, number: u32) {
        self.mix(number.into());
    }

    fn write_u64(&mut self, number: u64) {
        self.mix(number);
    }

    fn write_usize(&mut self, number: usize) {
        self.mix(number as u64);
    }

    fn finish(&self) -> u64 {
        // The map takes the upper bits for one thing and the lower bits for another.
        self.0 ^ (self.0 >> 32)
    }
}

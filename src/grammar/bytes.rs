//! Sets of bytes.

/// A set of bytes.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct ByteSet([u64; 4]);

impl ByteSet {
    const SPACE: u64 = 1 << b' ' | 1 << b'\t' | 1 << b'\n' | 1 << b'\r';

    pub(super) fn add(&mut self, byte: u8) {
        self.0[byte as usize / 64] |= 1 << (byte % 64);
    }

    pub(super) fn add_all(&mut self, bytes: &[u8]) {
        bytes.iter().for_each(|byte| self.add(*byte));
    }

    pub(super) fn has(&self, byte: u8) -> bool {
        self.0[byte as usize / 64] >> (byte % 64) & 1 == 1
    }

    pub(super) fn add_every(&mut self) {
        self.0 = [u64::MAX; 4];
    }

    pub(super) fn is_empty(&self) -> bool {
        self.0 == [0; 4]
    }

    pub(super) fn is_ascii(&self) -> bool {
        self.0[2] == 0 && self.0[3] == 0
    }

    /// The ASCII bytes of the set.
    pub(super) fn ascii(&self) -> u128 {
        u128::from(self.0[0]) | u128::from(self.0[1]) << 64
    }

    pub(super) fn remove_space(&mut self) {
        self.0[0] &= !Self::SPACE;
    }

    pub(super) fn remove(&mut self, byte: u8) {
        self.0[byte as usize / 64] &= !(1 << (byte % 64));
    }

    pub(super) fn iter(self) -> impl Iterator<Item = u8> {
        (0_u8..4).zip(self.0).flat_map(|(word, mut bits)| {
            std::iter::from_fn(move || {
                let bit = (bits != 0).then(|| bits.trailing_zeros() as u8)?;
                bits &= bits - 1;
                Some(word * 64 + bit)
            })
        })
    }
}

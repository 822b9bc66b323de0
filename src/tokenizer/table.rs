//! Open-addressing tables that are built once, with linear probing. Five slots hold three items: dense tables
//! stay in the cache.
//!
//! A vocabulary may be hostile, and made so that its tokens collide. So no item may be further than [`FARTHEST`]
//! slots from its own; where one would be, the table is not built, and the vocabulary is tried with another
//! [`Seed`].

/// The longest way from an item's first slot to its place. In tables of random hashes it is about a third of this.
pub(super) const FARTHEST: usize = 128;

/// What the hashes of one vocabulary's tables start from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Seed(pub(super) u64, u64);

impl Seed {
    /// To be tried in this order. They are fixed, so that a vocabulary is laid out alike in every process; one that
    /// defeats all of them is not loaded.
    pub(super) const ALL: [Self; 4] = [
        Self(0x2D35_8DCC_AA6C_78A5, 0x8BB8_4B93_962E_ACC9),
        Self(0x4B33_A62E_D433_D4A3, 0x4D5A_2DA5_1DE1_AA47),
        Self(0xA076_1D64_78BD_642F, 0xE703_7ED1_A0B4_28DB),
        Self(0x9036_7FC2_F55B_1E5D, 0xD6E8_FEB8_6659_FD93),
    ];

    /// The hash of two numbers.
    #[inline]
    pub(super) fn mix(self, a: u64, b: u64) -> u64 {
        let product = u128::from(a ^ self.0) * u128::from(b ^ self.1);
        (product >> 64) as u64 ^ product as u64
    }

    /// A cheap hash of one number, good in its upper bits.
    #[inline]
    pub(super) fn multiply(self, number: u64) -> u64 {
        number.wrapping_mul(self.0 | 1)
    }
}

/// Places the items by their hashes. The default item must count as empty. Of two items for one slot the
/// earlier one is nearer to it. Gives nothing if an item would be too far from its slot.
pub(super) fn build<T: Copy + Default>(
    items: &[T],
    hash: impl Fn(&T) -> u64,
    is_empty: impl Fn(&T) -> bool,
) -> Option<Box<[T]>> {
    let mut table = vec![T::default(); items.len() * 5 / 3 + 2].into_boxed_slice();
    let len = table.len();
    in_order(items.iter().map(|item| (slot(hash(item), len), *item)), &mut table, |table, mut slot, item| {
        for _ in 0..=FARTHEST {
            if is_empty(&table[slot]) {
                table[slot] = item;
                return true;
            }
            slot = next(slot, len);
        }
        false
    })
    .then_some(table)
}

/// Gives items with their slots in order to `place`, each a little after the memory of its slot was asked for.
/// Stops with false when `place` says so.
pub(super) fn in_order<T: Copy + Default, E>(
    items: impl Iterator<Item = (usize, T)>,
    table: &mut [E],
    mut place: impl FnMut(&mut [E], usize, T) -> bool,
) -> bool {
    const AHEAD: usize = 32;
    let mut waiting = [(0, T::default()); AHEAD];
    let mut count = 0;
    for (slot, item) in items {
        prefetch(&table[slot]);
        let (slot, item) = std::mem::replace(&mut waiting[count % AHEAD], (slot, item));
        if count >= AHEAD && !place(table, slot, item) {
            return false;
        }
        count += 1;
    }
    (count.saturating_sub(AHEAD)..count).all(|at| {
        let (slot, item) = waiting[at % AHEAD];
        place(table, slot, item)
    })
}

/// The first slot for a hash, by its upper bits.
#[inline]
pub(super) fn slot(hash: u64, len: usize) -> usize {
    ((u128::from(hash) * len as u128) >> 64) as usize
}

/// The slot after one.
#[inline]
pub(super) fn next(slot: usize, len: usize) -> usize {
    if slot + 1 < len { slot + 1 } else { 0 }
}

/// Asks the processor for the memory of a place that will be read soon, where there is a way to ask.
#[inline]
pub(super) fn prefetch<T>(place: &T) {
    #[cfg(target_arch = "x86_64")]
    safe_arch::prefetch_t0(place);
    #[cfg(not(target_arch = "x86_64"))]
    let _ = place;
}

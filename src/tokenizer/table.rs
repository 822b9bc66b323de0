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
pub(super) struct Seed(pub(super) u64, pub(super) u64);

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
        fold(a ^ self.0, b ^ self.1)
    }
}

/// Places the items by their hashes. The default item must count as empty. Of two items for one slot the
/// earlier one is nearer to it. Gives nothing if an item would be too far from its slot.
pub(super) fn build<T: Copy + Default>(
    items: &[T],
    hash: impl Fn(&T) -> u64,
    is_empty: impl Fn(&T) -> bool,
) -> Option<Box<[T]>> {
    let mut table: Box<[T]> = empty(items.len() * 5 / 3 + 2);
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

/// So many slots with nothing in them.
#[inline(never)]
pub(super) fn empty<E: Copy + Default>(len: usize) -> Box<[E]> {
    vec![E::default(); len].into_boxed_slice()
}

/// An array of zeros, made in place: the processor's memory for it is taken when it is used.
pub(super) fn zeros<const N: usize>() -> Box<[u64; N]> {
    match vec![0; N].into_boxed_slice().try_into() {
        Ok(zeros) => zeros,
        Err(_) => unreachable!("the list has this length"),
    }
}

/// Gives items with their slots in order to `place`, each a little after the memory of its slot was asked for.
/// Stops with false when `place` says so.
pub(super) fn in_order<T: Copy + Default, E>(
    mut items: impl Iterator<Item = (usize, T)>,
    table: &mut [E],
    mut place: impl FnMut(&mut [E], usize, T) -> bool,
) -> bool {
    let mut queue = Queue { waiting: [(0, T::default()); AHEAD], count: 0 };
    loop {
        match queue.pass(&mut items, table, &mut place) {
            Some(BLOCK) => {}
            Some(_) => break,
            None => return false,
        }
    }
    (queue.count.saturating_sub(AHEAD)..queue.count).all(|at| {
        let (slot, item) = queue.waiting[at % AHEAD];
        place(table, slot, item)
    })
}

/// So much of a vocabulary is worked on by one call of a function. Engines of WebAssembly begin with code that they
/// have not optimised, and what replaces it counts from the next call on: a loop over all tokens would run in slow
/// code to its end.
pub(super) const BLOCK: usize = 1024;

/// How long the memory of a slot is waited for.
const AHEAD: usize = 32;

/// Items whose memory was asked for.
struct Queue<T> {
    waiting: [(usize, T); AHEAD],
    count: usize,
}

impl<T: Copy> Queue<T> {
    /// Takes a block of items, or what is left; returns how many. Nothing if `place` refuses one.
    #[inline(never)]
    fn pass<E>(
        &mut self,
        items: &mut impl Iterator<Item = (usize, T)>,
        table: &mut [E],
        place: &mut impl FnMut(&mut [E], usize, T) -> bool,
    ) -> Option<usize> {
        let mut count = self.count;
        let mut left = BLOCK;
        while left > 0
            && let Some((slot, item)) = items.next()
        {
            left -= 1;
            if !cfg!(target_arch = "x86_64") {
                // Nothing to wait for.
                if !place(table, slot, item) {
                    return None;
                }
                continue;
            }
            prefetch(&table[slot]);
            let (slot, item) = std::mem::replace(&mut self.waiting[count % AHEAD], (slot, item));
            if count >= AHEAD && !place(table, slot, item) {
                return None;
            }
            count += 1;
        }
        self.count = count;
        Some(BLOCK - left)
    }
}

/// The first slot for a hash, by its upper bits.
#[inline]
pub(super) fn slot(hash: u64, len: usize) -> usize {
    if cfg!(target_arch = "wasm32") {
        // Half the bits are enough, and one multiplication.
        return (((hash >> 32) * len as u64) >> 32) as usize;
    }
    ((u128::from(hash) * len as u128) >> 64) as usize
}

/// The halves of a product, one over the other.
#[inline]
pub(crate) fn fold(a: u64, b: u64) -> u64 {
    if cfg!(target_arch = "wasm32") {
        // There it would be a call for numbers of 128 bits. Without the carries, nothing else becomes of the parts.
        let halves = |number: u64| (number & 0xFFFF_FFFF, number >> 32);
        let ((a_low, a_high), (b_low, b_high)) = (halves(a), halves(b));
        let upper = a_high * b_high + ((a_low * b_high) >> 32) + ((a_high * b_low) >> 32);
        return a.wrapping_mul(b) ^ upper;
    }
    let product = u128::from(a) * u128::from(b);
    (product >> 64) as u64 ^ product as u64
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

//! Open-addressing tables that are built once, with linear probing. Five slots hold three items: dense tables
//! stay in the cache.

/// Places the items by their hashes. The default item must count as empty. Of two items for one slot the
/// earlier one is nearer to it.
pub(super) fn build<T: Copy + Default>(
    items: &[T],
    hash: impl Fn(&T) -> u64,
    is_empty: impl Fn(&T) -> bool,
) -> Box<[T]> {
    let mut table = vec![T::default(); items.len() * 5 / 3 + 2].into_boxed_slice();
    let mut place = |item: &T| {
        let mut slot = slot(hash(item), table.len());
        while !is_empty(&table[slot]) {
            slot = next(slot, table.len());
        }
        table[slot] = *item;
    };
    if size_of_val(items) < CACHED {
        items.iter().for_each(place);
    } else {
        // Region by region, so that the part of the table that is written stays in the cache.
        by_region(items, &hash).into_iter().for_each(|at| place(&items[at as usize]));
    }
    table
}

/// Tables up to about this size are written in any order without waiting.
const CACHED: usize = 1 << 18;

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

/// The items' places in `items`, sorted by the upper bits of their hashes.
pub(super) fn by_region<T>(items: &[T], hash: impl Fn(&T) -> u64) -> Vec<u32> {
    let region = |item: &T| (hash(item) >> 58) as usize;
    let mut starts = [0u32; 65];
    for item in items {
        starts[region(item) + 1] += 1;
    }
    for at in 1..starts.len() {
        starts[at] += starts[at - 1];
    }
    let mut order = vec![0; items.len()];
    for (at, item) in (0..).zip(items) {
        let start = &mut starts[region(item)];
        order[*start as usize] = at;
        *start += 1;
    }
    order
}

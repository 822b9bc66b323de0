//! Open-addressing tables that are built once: at most half full, linear probing.

/// Places the items by the upper bits of their hashes, and gives the table with the shift from hash to slot.
/// The default item must count as empty. Of two items for one slot the earlier one is nearer to it.
pub(super) fn build<T: Copy + Default>(
    items: &[T],
    hash: impl Fn(&T) -> u64,
    is_empty: impl Fn(&T) -> bool,
) -> (Box<[T]>, u32) {
    let slots = (2 * items.len()).next_power_of_two().max(2);
    let shift = 64 - slots.trailing_zeros();
    let mut table = vec![T::default(); slots].into_boxed_slice();
    // Region by region, so that the part of the table that is written stays in the cache.
    for at in by_region(items, &hash) {
        let item = items[at as usize];
        let mut slot = (hash(&item) >> shift) as usize;
        while !is_empty(&table[slot]) {
            slot = (slot + 1) & (slots - 1);
        }
        table[slot] = item;
    }
    (table, shift)
}

/// The items' places in `items`, sorted by the upper bits of their hashes.
fn by_region<T>(items: &[T], hash: impl Fn(&T) -> u64) -> Vec<u32> {
    let region = |item: &T| (hash(item) >> 57) as usize;
    let mut next = [0u32; 129];
    for item in items {
        next[region(item) + 1] += 1;
    }
    for at in 1..next.len() {
        next[at] += next[at - 1];
    }
    let mut order = vec![0; items.len()];
    for (at, item) in (0..).zip(items) {
        let place = &mut next[region(item)];
        order[*place as usize] = at;
        *place += 1;
    }
    order
}

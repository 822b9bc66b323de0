//! Arrays without what has no instance.

use super::Alive;
use crate::grammar::value::{Array, Item, ValueId};
use crate::schema::values::items::least;

const NONE: Item = Item { value: ValueId::NEVER, counted: ValueId::NEVER };

fn is_none(item: Item) -> bool {
    item.value == ValueId::NEVER && item.counted == ValueId::NEVER
}

impl Alive {
    /// The array without what has no instance, if it has one itself.
    pub(super) fn trimmed_items(&self, mut array: Array) -> Option<Array> {
        for item in array.prefix.iter_mut().chain([&mut array.rest]) {
            item.value = self.only(item.value);
            item.counted = self.only(item.counted);
        }
        if let Some(end) = array.prefix.iter().position(|item| is_none(*item)) {
            array.prefix.truncate(end);
            array.rest = NONE;
        }
        if let Some((from, to)) = array.contains {
            bound_by_contents(&mut array, from, to)?;
            if from == 0 && to.is_none() {
                array.contains = None;
            }
        }
        if array.contains.is_none() {
            array.prefix.iter_mut().chain([&mut array.rest]).for_each(|item| item.counted = ValueId::NEVER);
        }
        if array.unique {
            array.max = least(array.max, self.most_different(&array));
        }
        cut(&mut array);
        if array.max.is_some_and(|max| max < array.min) {
            return None;
        }
        Some(array)
    }
}

/// Makes the upper bound and the items agree.
fn cut(array: &mut Array) {
    let length = u32::try_from(array.prefix.len()).unwrap_or(u32::MAX);
    if is_none(array.rest) {
        array.max = least(array.max, Some(length));
    }
    if let Some(max) = array.max
        && max <= length
    {
        array.prefix.truncate(max as usize);
        array.rest = NONE;
    }
}

/// Bounds the number of items by how many of them may, and how many have to be of the counted kind.
fn bound_by_contents(array: &mut Array, from: u32, to: Option<u32>) -> Option<()> {
    if to.is_some_and(|to| to < from) {
        return None;
    }
    let (mut possible, mut forced) = (0_u32, 0_u32);
    let mut fewest = (from == 0).then_some(0);
    let mut most = None;
    let mut length = 0_u32;
    for item in &array.prefix {
        possible += u32::from(item.counted != ValueId::NEVER);
        forced += u32::from(item.value == ValueId::NEVER);
        if most.is_none() && to.is_some_and(|to| forced > to) {
            most = Some(length);
        }
        length += 1;
        if fewest.is_none() && possible >= from {
            fewest = Some(length);
        }
    }
    if fewest.is_none() && array.rest.counted != ValueId::NEVER {
        fewest = length.checked_add(from - possible);
    }
    if let Some(to) = to
        && most.is_none()
        && array.rest.value == ValueId::NEVER
    {
        most = length.checked_add(to - forced);
    }
    array.min = array.min.max(fewest?);
    array.max = least(array.max, most);
    Some(())
}

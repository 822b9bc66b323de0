//! How many different values there are, where items must differ.

use super::{Alive, more_keys};
use crate::grammar::value::{Array, Item, Object, ValueId};

/// How many levels of items and members are counted; what lies deeper counts as endless.
const MAX_LEVELS: usize = 6;

/// How many values are looked at for counting, in all; more count as endless.
pub(super) const FUEL: u32 = 100_000;

impl Alive {
    /// The most items an array of different items can have, if all its items are of one kind and that is small.
    pub(super) fn most_different(&self, array: &Array) -> Option<u32> {
        let limit = u64::from(array.max.unwrap_or(u32::MAX).min(MANY));
        if !array.prefix.is_empty() || limit < 2 {
            return None;
        }
        let count = self.item_count(array.rest, limit);
        (count < limit).then(|| u32::try_from(count).unwrap_or(u32::MAX))
    }

    /// Whether a choice of the first items may leave none for a later one that has to be there.
    pub(super) fn may_run_out(&self, array: &Array) -> bool {
        if !array.unique || array.min < 2 {
            return false;
        }
        let length = array.min.min(u32::try_from(array.prefix.len()).unwrap_or(u32::MAX).saturating_add(1));
        let item = |index: u32| array.prefix.get(index as usize).copied().unwrap_or(array.rest);
        // The last of those that are alike has the most before it.
        let runs_out = |index: u32, before: u32| {
            let needed = u64::from(before) + 1;
            self.item_count(item(index), needed) < needed
        };
        let is_counted = array.contains.is_some_and(|(from, to)| from > 1 || to.is_some());
        (0..length).any(|index| runs_out(index, index))
            || array.min > length && runs_out(length, array.min - 1)
            || is_counted && (0..length).any(|index| self.is_small(item(index), array.min))
    }

    /// Whether either kind of an item has so few values that counting and differing may clash.
    fn is_small(&self, item: Item, needed: u32) -> bool {
        [item.value, item.counted].into_iter().any(|id| {
            id != ValueId::NEVER && self.value_count(id, u64::from(needed) + 1, 0) <= u64::from(needed)
        })
    }

    fn item_count(&self, item: Item, limit: u64) -> u64 {
        // What is counted is part of the value, unless there is an upper bound.
        let value = self.value_count(item.value, limit, 0);
        let counted = self.value_count(item.counted, limit, 0);
        value.max(counted)
    }

    /// How many values there are, at most `limit`.
    fn value_count(&self, id: ValueId, limit: u64, level: usize) -> u64 {
        let fuel = self.fuel.get();
        if id == ValueId::ANY || level > MAX_LEVELS || fuel == 0 {
            return limit;
        }
        self.fuel.set(fuel - 1);
        if !self.is(id) {
            return 0;
        }
        let shape = &self.shapes[id.0 as usize];
        let mut count = u64::from(shape.null) + u64::from(shape.yes) + u64::from(shape.no);
        for set in &shape.numbers {
            let few = usize::try_from(limit).ok().and_then(|limit| set.members(limit));
            count = count.saturating_add(few.map_or(limit, |members| members.len() as u64));
        }
        if let Some(strings) = &shape.strings {
            count = count.saturating_add(strings.count(limit).unwrap_or(limit));
        }
        for array in &shape.arrays {
            count = count.saturating_add(self.array_count(array, limit, level + 1));
        }
        for object in &shape.objects {
            count = count.saturating_add(self.object_count(object, limit, level + 1));
        }
        count.min(limit)
    }

    fn array_count(&self, array: &Array, limit: u64, level: usize) -> u64 {
        let (mut count, mut product) = (0_u64, 1_u64);
        let mut index = 0;
        while product > 0 && count < limit && array.max.is_none_or(|max| index <= max) {
            if index >= array.min {
                count = count.saturating_add(product);
            }
            let item = array.prefix.get(index as usize).copied().unwrap_or(array.rest);
            let value = self.value_count(item.value, limit, level);
            let counted = self.value_count(item.counted, limit, level);
            product = product.saturating_mul(value.max(counted));
            index += 1;
        }
        count.min(limit)
    }

    fn object_count(&self, object: &Object, limit: u64, level: usize) -> u64 {
        let mut count = 1_u64;
        if object.max != Some(0) {
            let names: Vec<&str> = object.properties.iter().map(|property| property.name.as_str()).collect();
            for class in object.others.iter().filter(|class| self.is(class.value)) {
                let keys = more_keys(class, &names, MOST_KEYS);
                if keys == MOST_KEYS {
                    return limit;
                }
                let values = self.value_count(class.value, limit, level).saturating_add(1);
                for _ in 0..keys {
                    count = count.saturating_mul(values).min(limit);
                }
            }
        }
        for property in &object.properties {
            let values = self.value_count(property.value, limit, level);
            let choices = if property.required { values } else { values.saturating_add(1) };
            count = count.saturating_mul(choices);
            if count >= limit {
                return limit;
            }
        }
        count
    }
}

/// Classes of so many keys count as endless.
const MOST_KEYS: usize = 64;

/// Upper bounds on different items beyond this are not looked for.
const MANY: u32 = 10_000;

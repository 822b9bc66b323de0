//! Arrays in their final form.

use super::error::{Fault, Outcome};
use super::goal::Compiler;
use super::items::{Contains, Items, least};
use crate::grammar::value::{Array, Item, ValueId};

/// More items than this are not told apart.
const MAX_PREFIX: usize = 10_000;

impl Compiler<'_> {
    /// Adds the shapes of an alternative: none, one, or two where items of a kind and other items are demanded.
    pub(super) fn arrays(&mut self, items: &Items, shapes: &mut Vec<Array>) -> Outcome<()> {
        self.spend(items.prefix.len())?;
        if items.prefix.len() > MAX_PREFIX {
            return Err(Fault::unsupported("too many items that are told apart"));
        }
        let mut items = items.clone();
        self.settle_demands(&mut items)?;
        if let [a, b] = &items.contains[..]
            && (a.min, a.max, a.from) == (1, None, b.from)
            && (b.min, b.max) == (1, None)
            && self.negated(a.kind)? == b.kind
        {
            // The first item is of either kind; another one of the other kind has to follow.
            for (first, other) in [(a, b), (b, a)] {
                let mut split = items.clone();
                split.prefix.resize(items.prefix.len().max(a.from + 1), items.rest);
                split.prefix[a.from] = self.both(split.prefix[a.from], first.kind)?;
                split.min = split.min.max(u32::try_from(a.from).unwrap_or(u32::MAX).saturating_add(2));
                split.contains = vec![Contains { from: a.from + 1, ..other.clone() }];
                shapes.extend(self.array(&split)?);
            }
            return Ok(());
        }
        shapes.extend(self.array(&items)?);
        Ok(())
    }

    fn array(&mut self, items: &Items) -> Outcome<Option<Array>> {
        let mut array = Array {
            prefix: Vec::new(),
            rest: plain(items.rest),
            min: items.min,
            max: items.max,
            contains: None,
            unique: items.unique,
        };
        match items.contains[..] {
            [] => array.prefix = items.prefix.iter().copied().map(plain).collect(),
            [ref demand] => {
                array.contains = Some((demand.min, demand.max));
                let other = match demand.max {
                    Some(_) => self.negated(demand.kind)?,
                    None => ValueId::ANY,
                };
                for index in 0..items.prefix.len().max(demand.from) {
                    let item = items.at(index);
                    array.prefix.push(if index < demand.from {
                        plain(item)
                    } else {
                        Item { value: self.both(item, other)?, counted: self.both(item, demand.kind)? }
                    });
                }
                array.rest = Item {
                    value: self.both(items.rest, other)?,
                    counted: self.both(items.rest, demand.kind)?,
                };
            }
            _ => return Err(Fault::unsupported("several demands on how many items are of a kind")),
        }
        // The rest is like the last items of many a prefix.
        while array.prefix.last().is_some_and(|last| same(last, &array.rest)) {
            array.prefix.pop();
        }
        let is_empty = array.max.is_some_and(|max| max < array.min);
        Ok((!is_empty).then_some(array))
    }

    /// Turns demands that all items meet, or that none may, into bounds and items.
    fn settle_demands(&mut self, items: &mut Items) -> Outcome<()> {
        let mut demands = std::mem::take(&mut items.contains);
        // What may not be there narrows the items that the others look at.
        demands.sort_by_key(|demand| demand.max != Some(0));
        for demand in demands {
            let from = demand.from;
            if demand.max == Some(0) {
                let other = self.negated(demand.kind)?;
                let length = items.prefix.len().max(from);
                self.spend(length)?;
                items.prefix.resize(length, items.rest);
                for item in items.prefix.iter_mut().skip(from) {
                    *item = self.both(*item, other)?;
                }
                items.rest = self.both(items.rest, other)?;
                if demand.min > 0 {
                    items.max = Some(0);
                    items.min = items.min.max(1);
                }
                continue;
            }
            let (mut are_all, mut are_none) = (true, true);
            for index in from..items.prefix.len().max(from) + 1 {
                let item = items.at(index);
                let both = self.both(item, demand.kind)?;
                are_all = are_all && both == item;
                are_none = are_none && (both == ValueId::NEVER || self.is_plainly_empty(both)?);
            }
            if are_none && demand.min > 0 {
                items.max = Some(0);
                items.min = items.min.max(1);
                return Ok(());
            }
            let skipped = u32::try_from(from).unwrap_or(u32::MAX);
            if are_all {
                if demand.min > 0 {
                    items.min = items.min.max(demand.min.saturating_add(skipped));
                }
                items.max = least(items.max, demand.max.map(|max| max.saturating_add(skipped)));
            } else if demand.min > 0 || demand.max.is_some() {
                items.demand(demand);
            }
        }
        Ok(())
    }

    /// The shape without what cannot be enforced.
    pub(super) fn plain_array(&mut self, items: &Items) -> Array {
        let prefix = items.prefix.iter().take(MAX_PREFIX).copied().map(plain).collect();
        let rest = if items.prefix.len() > MAX_PREFIX { ValueId::ANY } else { items.rest };
        Array {
            prefix,
            rest: plain(rest),
            min: items.min,
            max: items.max,
            contains: None,
            unique: items.unique,
        }
    }
}

const fn plain(value: ValueId) -> Item {
    Item { value, counted: ValueId::NEVER }
}

fn same(a: &Item, b: &Item) -> bool {
    a.value == b.value && a.counted == b.counted
}

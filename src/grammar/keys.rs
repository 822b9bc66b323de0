//! Keys of objects: which may still come, and reading one.

use crate::grammar::bytes::ByteSet;
use crate::grammar::frames::Arena;
use crate::grammar::layout::Order;
use crate::grammar::program::{NameCode, ObjectCode};
use crate::grammar::string::{Place, hash_byte};
use crate::grammar::value::ValueId;

/// A place in a key.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Key {
    /// The known names that begin like it, as a range of [`ObjectCode::names`].
    pub(super) low: u32,
    pub(super) high: u32,
    /// How many bytes have been read.
    pub(super) depth: u32,
    /// The state of the object's classifier.
    pub(super) class: u32,
    pub(super) hash: u64,
}

/// What keys an object can still take.
pub(super) struct Keys<'k> {
    pub(super) shape: &'k ObjectCode,
    pub(super) seen: &'k [u64],
    pub(super) missing: &'k [u64],
    /// How many keys there is room for beside those that must come.
    pub(super) spare: u32,
    pub(super) arena: &'k Arena,
    pub(super) others: u32,
    /// How many keys the object has.
    pub(super) count: u32,
    /// How many of the object's keys are none of the known names.
    pub(super) others_count: u32,
    pub(super) last: u32,
    pub(super) order: Order,
}

impl Keys<'_> {
    /// The known keys that may come next, of one word of the set.
    pub(super) fn names(&self, word: usize) -> u64 {
        let mut names = self.shape.allowed[word] & !self.seen[word];
        if self.spare == 0 {
            names &= self.missing[word];
        }
        if self.order == Order::Any && (self.shape.needs.is_empty() || self.shape.max.is_none()) {
            return names;
        }
        let mut kept = 0;
        let mut left = names;
        while left != 0 {
            let bit = left.trailing_zeros();
            left &= left - 1;
            if self.may_take(word as u32 * 64 + bit) {
                kept |= 1 << bit;
            }
        }
        kept
    }

    /// The slower questions about a known key: is there room for the keys it brings, is it its turn.
    pub(super) fn may_take(&self, name: u32) -> bool {
        let has = |set: &[u64], place: u32| set[place as usize / 64] >> (place % 64) & 1 == 1;
        let brought = self.shape.needs.get(name as usize).map_or(0, |needs| {
            needs.iter().filter(|key| !has(self.seen, **key) && !has(self.missing, **key)).count() as u32
        });
        let room = brought + u32::from(!has(self.missing, name)) <= self.spare;
        room && (self.order == Order::Any || self.is_turn(name))
    }

    /// In the schema's order: whether a known key may come now. What must come later still can, and there are enough
    /// keys left.
    fn is_turn(&self, name: u32) -> bool {
        let has = |set: &[u64], place: usize| set[place / 64] >> (place % 64) & 1 == 1;
        let names = &self.shape.names;
        let order = names[name as usize].order;
        let brought = self.shape.needs.get(name as usize).map_or(&[][..], |needs| needs);
        let is_over = |place: usize| names[place].order < order && !has(self.seen, place);
        let later = || {
            let is_left = |place: &usize| names[*place].order > order && has(&self.shape.allowed, *place);
            (0..names.len()).filter(is_left).count()
        };
        order >= self.last
            && (0..names.len()).all(|place| !(has(self.missing, place) && is_over(place)))
            && !brought.iter().any(|place| is_over(*place as usize))
            && (self.shape.classifier.is_some()
                || self.count as usize + 1 + later() >= self.shape.min as usize)
    }

    /// The words of the set of known keys from the `low`th up to the `high`th that may come next.
    fn words(&self, low: u32, high: u32) -> impl Iterator<Item = (u32, u64)> {
        let words = if low < high { low / 64..(high - 1) / 64 + 1 } else { 0..0 };
        words.map(move |word| {
            let mut names = self.names(word as usize);
            if word == low / 64 {
                names &= u64::MAX << (low % 64);
            }
            if word == high / 64 {
                names &= !(u64::MAX << (high % 64));
            }
            (word, names)
        })
    }

    pub(super) fn may_add_name(&self, low: u32, high: u32) -> bool {
        self.words(low, high).any(|(_, names)| names != 0)
    }

    /// Each known key from the `low`th up to the `high`th that may come next.
    pub(super) fn each_name(&self, low: u32, high: u32, mut see: impl FnMut(u32)) {
        for (word, mut names) in self.words(low, high) {
            while names != 0 {
                see(word * 64 + names.trailing_zeros());
                names &= names - 1;
            }
        }
    }

    pub(super) fn may_add_other(&self) -> bool {
        self.spare > 0
            && self.shape.classifier.is_some()
            && (self.order == Order::Any || self.missing.iter().all(|word| *word == 0))
    }

    pub(super) fn may_add_any(&self) -> bool {
        self.may_add_other() || self.may_add_name(0, self.shape.names.len() as u32)
    }

    /// Adds the bytes with which the known names that begin like `key` go on.
    pub(super) fn next_bytes(&self, key: Key, bytes: &mut ByteSet) {
        let (mut low, depth) = (key.low, key.depth as usize);
        while low < key.high {
            match self.shape.names[low as usize].name.get(depth) {
                Some(&byte) => {
                    bytes.add(byte);
                    low = Key { low, ..key }.narrow(self.shape, byte).1;
                }
                None => low += 1,
            }
        }
    }

    /// Whether a key may come whose value is a witness.
    pub(super) fn may_witness(&self) -> bool {
        let name = |(place, name): (usize, &NameCode)| {
            name.witness != ValueId::NEVER && self.names(place / 64) >> (place % 64) & 1 == 1
        };
        (self.may_add_other() && self.shape.classes.iter().any(|class| class.witness != ValueId::NEVER))
            || self.shape.names.iter().enumerate().any(name)
    }
}

impl<'k> Place<Keys<'k>> for Key {
    fn next(self, keys: &Keys<'k>, byte: u8) -> Option<Self> {
        let (low, high) = self.narrow(keys.shape, byte);
        let class = match &keys.shape.classifier {
            Some(classifier) if self.class != 0 && keys.may_add_other() => classifier.next(self.class, byte),
            _ => 0,
        };
        (class != 0 || keys.may_add_name(low, high)).then(|| Self {
            low,
            high,
            depth: self.depth + 1,
            class,
            hash: hash_byte(self.hash, byte),
        })
    }

    fn is_complete(self, keys: &Keys<'k>) -> bool {
        match exact(keys.shape, self) {
            Some(name) => keys.names(name as usize / 64) >> (name % 64) & 1 == 1,
            None => {
                self.class != 0
                    && keys.may_add_other()
                    && keys.shape.classifier.as_ref().is_some_and(|all| all.label(self.class).is_some())
                    && !keys.arena.has_hash(self.hash, keys.others)
            }
        }
    }
}

impl Key {
    pub(super) fn narrow(&self, shape: &ObjectCode, byte: u8) -> (u32, u32) {
        if self.low >= self.high {
            return (self.low, self.low);
        }
        let names = &shape.names[self.low as usize..self.high as usize];
        let depth = self.depth as usize;
        // A name that ends here sorts before all that go on.
        let before = names.partition_point(|name| name.name.get(depth).is_none_or(|found| *found < byte));
        let to = names[before..].partition_point(|name| name.name[depth] == byte);
        (self.low + before as u32, self.low + (before + to) as u32)
    }
}

/// The known name that the key is, read to its end.
pub(super) fn exact(shape: &ObjectCode, key: Key) -> Option<u32> {
    let name = shape.names.get(key.low as usize).filter(|_| key.low < key.high)?;
    (name.name.len() == key.depth as usize).then_some(key.low)
}

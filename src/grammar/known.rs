//! Masks that were made before: for the same place of the same sequence, and for like places of all sequences.

use std::collections::HashMap;
use std::sync::{Arc, PoisonError, RwLock};

use crate::grammar::frames::{Arena, Kind, ROOT_FRAME, Then};
use crate::grammar::layout::{Layout, Order};
use crate::grammar::machine::{Thread, Top};
use crate::grammar::mask::Allowed;
use crate::grammar::program::Program;
use crate::grammar::string::{Cursor, Escape};

/// Masks of recent places of one sequence. A place inside a string comes again with the next token.
#[derive(Debug, Clone, Default)]
pub(super) struct Recent {
    entries: Vec<(Vec<Thread>, Arc<Allowed>)>,
    next: usize,
}

impl Recent {
    const LENGTH: usize = 4;

    pub(super) fn get(&self, threads: &[Thread]) -> Option<Arc<Allowed>> {
        self.entries.iter().find(|(known, _)| known == threads).map(|(_, allowed)| allowed.clone())
    }

    pub(super) fn put(&mut self, threads: &[Thread], allowed: Arc<Allowed>) {
        if self.entries.len() < Self::LENGTH {
            self.entries.push((threads.to_vec(), allowed));
            return;
        }
        let (known, kept) = &mut self.entries[self.next];
        known.clear();
        known.extend_from_slice(threads);
        *kept = allowed;
        self.next = (self.next + 1) % Self::LENGTH;
    }

    /// Drops what names frames from `frames` on: their numbers will be given again.
    pub(super) fn forget(&mut self, frames: u32) {
        self.entries.retain(|(threads, _)| threads.iter().all(|thread| thread.frame < frames));
        self.next = 0;
    }
}

/// Masks of all sequences of a grammar, by what decides them.
///
/// Two places have the same key only if everything that a walk can ask is equal: the key is compared as a whole, so
/// one mask is never taken for another.
#[derive(Debug, Default)]
pub(super) struct Known {
    masks: RwLock<HashMap<Box<[u64]>, Arc<Allowed>>>,
}

impl Known {
    /// How many masks are kept; then it begins anew. One is about a kilobyte, beside sets that are shared.
    const MOST: usize = 8192;

    pub(super) fn get(&self, key: &[u64]) -> Option<Arc<Allowed>> {
        self.masks.read().unwrap_or_else(PoisonError::into_inner).get(key).cloned()
    }

    pub(super) fn put(&self, key: &[u64], allowed: &Arc<Allowed>) {
        let mut masks = self.masks.write().unwrap_or_else(PoisonError::into_inner);
        if masks.len() >= Self::MOST {
            masks.clear();
        }
        masks.insert(key.into(), allowed.clone());
    }
}

/// Longer keys are not made: they would cost more than they save.
const LONGEST_KEY: usize = 256;

/// How many keys without a known name an object may have for its places to be remembered.
const MOST_OTHERS: usize = 4;

/// What writes keys.
pub(super) struct KeyWriter<'k> {
    pub(super) program: &'k Program,
    pub(super) layout: &'k Layout,
    pub(super) arena: &'k Arena,
    pub(super) key: &'k mut Vec<u64>,
}

impl KeyWriter<'_> {
    /// Writes the key of `threads`, if they have one.
    pub(super) fn write(mut self, threads: &[Thread]) -> Option<()> {
        self.key.clear();
        for thread in threads {
            self.top(*thread)?;
            self.frames(thread.frame)?;
        }
        Some(())
    }

    fn top(&mut self, thread: Thread) -> Option<()> {
        let pair = |a: u32, b: u32| u64::from(a) << 32 | u64::from(b);
        let gap = |tag: u32, gap: u16| pair(tag, gap.into());
        match thread.top {
            Top::Value { value, gap, separator } => {
                self.key.extend([pair(1 + u32::from(separator), gap.into()), value.0.into()]);
            }
            Top::Literal { which, at } => self.key.push(pair(3, u32::from(which) << 8 | u32::from(at))),
            Top::String { language, cursor, escape } => {
                self.key.extend([pair(4, language), escape_word(escape)]);
                self.cursor(cursor)?;
            }
            // Nearly each is another.
            Top::Number { .. } => return None,
            Top::Open { gap: at } => self.key.push(gap(6, at)),
            Top::Comma { gap: at } => self.key.push(gap(7, at)),
            Top::Key { key, escape } => {
                let Kind::Object { others, .. } = self.arena.frame(thread.frame).kind else { return None };
                let names = key.low < key.high;
                self.key.extend([pair(8, key.class), escape_word(escape)]);
                // Where no name begins like it, what has been read matters only if keys must differ from it.
                self.key.push(if names { pair(key.low, key.high) } else { 0 });
                self.key.push(if names { key.depth.into() } else { 0 });
                self.key.push(if others == 0 { 0 } else { key.hash });
            }
            Top::Colon { value, gap } => self.key.extend([pair(9, gap.into()), value.0.into()]),
            Top::ArrayOpen { gap: at } => self.key.push(gap(10, at)),
            Top::After { gap: at } => self.key.push(gap(11, at)),
            Top::Rule { state } => self.key.push(pair(12, state)),
            Top::Word { language, cursor } => {
                self.key.push(pair(13, language));
                self.cursor(cursor)?;
            }
            Top::End => self.key.push(pair(14, 0)),
        }
        Some(())
    }

    fn cursor(&mut self, cursor: Cursor) -> Option<()> {
        self.key.push(u64::from(cursor.state) << 32 | u64::from(cursor.chars));
        // Somebody compares the text.
        (cursor.hash == 0).then_some(())
    }

    /// Writes the hashes of a set, if they are few.
    fn others(&mut self, set: u32, start: usize) -> Option<()> {
        if set == 0 {
            return Some(());
        }
        if self.key.len() - start >= MOST_OTHERS {
            return None;
        }
        let node = self.arena.hashes[set as usize];
        self.key.push(node.hash);
        self.others(node.less, start)?;
        self.others(node.more, start)
    }

    /// Writes all frames from `frame` outwards.
    fn frames(&mut self, mut frame: u32) -> Option<()> {
        let pair = |a: u32, b: u32| u64::from(a) << 32 | u64::from(b);
        while frame != ROOT_FRAME {
            let inside = self.arena.frame(frame);
            if inside.hashed || self.key.len() > LONGEST_KEY {
                return None;
            }
            match inside.kind {
                Kind::Root => break,
                Kind::Part(then) => {
                    let (tag, number, value) = match then {
                        Then::State(state) => (32, state, 0),
                        Then::Key => (33, 0, 0),
                        Then::Text(members, value) => (34, members, value.0),
                        Then::Json(members, value) => (35, members, value.0),
                        Then::Close(members) => (36, members, 0),
                        Then::Next(members) => (37, members, 0),
                    };
                    self.key.extend([pair(tag, number), value.into()]);
                }
                Kind::Object { object, count, bits, others, witnessed, last, members, .. } => {
                    let shape = &self.program.objects[object as usize];
                    // Without an upper bound, only the way up to the lower one matters.
                    let count = if shape.max.is_some() { count } else { count.min(shape.min) };
                    let last = if self.layout.order == Order::Schema { last } else { 0 };
                    self.key.extend([
                        pair(48 + u32::from(witnessed), object),
                        pair(count, last),
                        members.into(),
                    ]);
                    self.key.extend_from_slice(self.arena.sets(bits, shape.words));
                    let before = self.key.len();
                    self.others(others, before)?;
                    self.key.push((self.key.len() - before) as u64);
                }
                Kind::Array { array, count, counted, .. } => {
                    let shape = &self.program.arrays[array as usize];
                    let counts = shape.max.is_some() || shape.contains.is_some();
                    let most = shape.min.max(shape.prefix.len() as u32);
                    let count = if counts { count } else { count.min(most) };
                    self.key.extend([pair(50, array), pair(count, counted)]);
                }
            }
            frame = inside.parent;
        }
        self.key.push(u64::MAX);
        Some(())
    }
}

fn escape_word(escape: Escape) -> u64 {
    match escape {
        Escape::None => 0,
        Escape::Backslash => 1,
        Escape::Hex { digits, value, high } => {
            2 | u64::from(digits) << 8 | u64::from(value) << 16 | u64::from(high) << 32
        }
        Escape::High { high, backslash } => 3 | u64::from(backslash) << 8 | u64::from(high) << 32,
    }
}

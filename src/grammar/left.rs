//! Whether a reading can still come to an end where keys or items must differ: what is left may be used up.
//!
//! Everything else that a matcher offers can be completed, whatever came before. Only an object's further keys and
//! the items of an array with `uniqueItems` may not come again, so a text may be one that only a used one goes on
//! from. Nearly always there is plenty left, and an automaton knows how much: more words than are used. Where there
//! is not, a search looks for an end.

use crate::grammar::bytes::ByteSet;
use crate::grammar::frames::{Kind, Numeral};
use crate::grammar::keys::{Key, Keys};
use crate::grammar::language::Classifier;
use crate::grammar::machine::{Machine, Thread, Top};
use crate::grammar::string::{Cursor, Escape, Place};
use crate::grammar::value::ValueId;

/// Steps of a search after which an end is taken for granted: where hundreds of items begin alike, or values that hold
/// several others are nearly used up.
const MOST_STEPS: usize = 2000;

/// So many names are looked at before a search.
const MOST_NAMES: usize = 16;

/// The bytes that go on inside an escape sequence.
const ESCAPED: &[u8] = b"\"\\/bfnrtu0123456789abcdefABCDEF";

impl Machine<'_> {
    /// Whether `thread` can come to an end.
    pub(super) fn is_alive(&mut self, thread: Thread) -> bool {
        let is_key = matches!(thread.top, Top::Key { .. } | Top::Comma { .. });
        let hashed = self.arena.frame(thread.frame).hashed;
        if !is_key && !hashed {
            return true;
        }
        let used = self.used_items(thread.frame);
        if is_key && used == 0 {
            return self.has_new_key(thread) || self.reaches_end(thread, false, 0);
        }
        used == 0
            || self.is_over(thread)
            || self.has_plenty(thread, used)
            || self.reaches_end(thread, true, used)
    }

    /// Whether a member can begin in the object of `frame`.
    pub(super) fn may_begin_key(&mut self, frame: u32) -> bool {
        self.may_add(frame) && self.is_alive(Thread { top: Top::Comma { gap: 0 }, frame })
    }

    /// How many items the value around `frame` must differ from: none if nobody compares it, or nothing came yet.
    pub(super) fn used_items(&self, mut frame: u32) -> u32 {
        let mut used = 0_u32;
        loop {
            let inside = self.arena.frame(frame);
            if !inside.hashed {
                return used;
            }
            if let Kind::Array { count, items: 1.., .. } = inside.kind {
                used = used.saturating_add(count);
            }
            frame = inside.parent;
        }
    }

    /// How many keys a further key must differ from, at most: known names are only in the way of keys that begin like
    /// them.
    pub(super) fn used_keys(keys: &Keys<'_>, low: u32, high: u32) -> u32 {
        keys.others_count + high.saturating_sub(low)
    }

    /// Whether more keys begin like the one of `thread` than are used, or a known one that may come.
    fn has_new_key(&self, thread: Thread) -> bool {
        let Some(keys) = self.keys(thread.frame) else { return true };
        let (low, high, class) = Self::beginning(thread, &keys);
        let others = class != 0 && keys.may_add_other();
        if matches!(thread.top, Top::Key { escape, .. } if escape != Escape::None) {
            // It is not clear which character comes.
            return others && !keys.shape.has_few_keys();
        }
        keys.may_add_name(low, high)
            || others && keys.shape.keys_left(class) > Self::used_keys(&keys, low, high)
    }

    /// Whether the outermost array whose items must differ has one that does, and may be over.
    fn is_over(&self, thread: Thread) -> bool {
        let frame = self.arena.frame(thread.frame);
        !frame.hashed
            || matches!(thread.top, Top::After { .. })
                && !self.arena.frame(frame.parent).hashed
                && self.may_close_array_of(thread.frame)
    }

    /// Whether there are more ways on than items are used, as far as a look tells.
    fn has_plenty(&self, thread: Thread, used: u32) -> bool {
        match thread.top {
            Top::String { language, cursor, escape } => {
                let words = self.program.words(language);
                // Inside an escape sequence it is not clear which character comes.
                (escape == Escape::None || !words.has_few()) && words.ways(cursor) > used
            }
            Top::Value { value, .. } | Top::Colon { value, .. } => self.is_plenty(value, used),
            Top::Key { escape: Escape::None, .. } | Top::Comma { .. } | Top::After { .. } => {
                let Some(keys) = self.keys(thread.frame) else { return false };
                let (low, high, class) = Self::beginning(thread, &keys);
                let taken = Self::used_keys(&keys, low, high).saturating_add(used);
                class != 0 && keys.may_add_other() && keys.shape.keys_left(class) > taken
                    || (low..high).take(MOST_NAMES).any(|name| {
                        keys.may_add_name(name, name + 1)
                            && self.is_plenty(keys.shape.names[name as usize].value, used)
                    })
            }
            _ => false,
        }
    }

    /// Whether a value has more instances than are used, as far as a look tells.
    pub(super) fn is_plenty(&self, value: ValueId, used: u32) -> bool {
        let code = self.program.value(value);
        let strings = code.strings.map(|language| self.program.words(language));
        strings.is_some_and(|words| words.ways(Cursor::start(&words.language, false)) > used)
            || code.numbers.iter().any(|set| self.program.numbers[*set as usize].is_plenty())
    }

    /// What the keys that `thread` can still become begin with: known names, and a state of the classifier.
    pub(super) fn beginning(thread: Thread, keys: &Keys<'_>) -> (u32, u32, u32) {
        match thread.top {
            Top::Key { key, .. } => (key.low, key.high, key.class),
            _ => (0, keys.shape.names.len() as u32, keys.shape.first_class()),
        }
    }

    /// What a number that may be over is compared by.
    fn number_value(&self, set: u32, at: u32) -> Option<u64> {
        let Numeral { state, residue } = *self.arena.number(at);
        self.program.numbers[set as usize].is_complete(&state).then(|| residue.hash(&state))
    }

    /// Looks for an end: of the key of `thread` or, if it is `compared`, of the value that must differ from others.
    fn reaches_end(&mut self, thread: Thread, compared: bool, used: u32) -> bool {
        let mark = self.arena.mark();
        let mut open = vec![thread];
        let mut next = Vec::new();
        let mut steps = 0;
        let mut found = false;
        while let Some(thread) = open.pop().filter(|_| !found) {
            steps += 1;
            next.clear();
            self.go_on(thread, &mut next);
            found = steps > MOST_STEPS
                || next.iter().any(|thread| match thread.top {
                    Top::Key { .. } | Top::Comma { .. } if !compared => self.has_new_key(*thread),
                    _ if !compared => true,
                    _ => self.is_over(*thread) || self.has_plenty(*thread, used),
                });
            open.extend(next.drain(..).rev());
        }
        self.arena.reset(mark);
        found
    }

    /// Adds how `thread` goes on in the plainest form, ends first. Rules are not looked into.
    fn go_on(&mut self, thread: Thread, out: &mut Vec<Thread>) {
        let frame = thread.frame;
        match thread.top {
            Top::Value { value, .. } => {
                for byte in b"nft\"-0123456789[{" {
                    self.begin(value, frame, *byte, out);
                }
            }
            Top::Colon { value, .. } => {
                out.push(Thread { top: Top::Value { value, gap: 0, separator: true }, frame });
            }
            Top::Literal { which, .. } => self.finish(frame, Self::literal_hash(which), out),
            Top::String { language, cursor, escape: Escape::None } => {
                let code = &self.program.words(language).language;
                if cursor.is_complete(code) {
                    self.finish(frame, Self::string_hash(cursor), out);
                }
                let next = (0..=255).filter_map(|byte| cursor.next(code, byte));
                out.extend(next.map(|cursor| {
                    let top = Top::String { language, cursor, escape: Escape::None };
                    Thread { top, frame }
                }));
            }
            Top::Key { key, escape: Escape::None } => {
                let Some(keys) = self.keys(frame) else { return };
                let complete = key.is_complete(&keys);
                let mut bytes = ByteSet::default();
                keys.next_bytes(key, &mut bytes);
                if let Some(classifier) = keys.shape.classifier.as_ref().filter(|_| key.class != 0) {
                    (0..=255)
                        .filter(|byte| classifier.next(key.class, *byte) != Classifier::DEAD)
                        .for_each(|byte| bytes.add(byte));
                }
                let next: Vec<Key> = bytes.iter().filter_map(|byte| key.next(&keys, byte)).collect();
                if complete {
                    self.end_key(frame, key, out);
                }
                out.extend(
                    next.into_iter().map(|key| Thread { top: Top::Key { key, escape: Escape::None }, frame }),
                );
            }
            Top::String { .. } | Top::Key { .. } => {
                ESCAPED.iter().for_each(|byte| self.step(thread, *byte, out));
            }
            Top::Number { set, at } => {
                self.end_number(thread, out);
                let value = self.number_value(set, at);
                for byte in b"0123456789.e-" {
                    let from = out.len();
                    self.step(thread, *byte, out);
                    let next = out.get(from).and_then(Thread::number);
                    // Zeros behind the point lead to nothing new.
                    if value.is_some() && next.is_some_and(|next| self.number_value(set, next) == value) {
                        out.truncate(from);
                    }
                }
            }
            Top::Open { .. } => {
                self.close_object(frame, out);
                self.begin_key(frame, out);
            }
            Top::Comma { .. } => self.begin_key(frame, out),
            Top::ArrayOpen { .. } => self.close_array(frame, out),
            Top::After { .. } => {
                for byte in b"]},".iter() {
                    self.after(frame, *byte, out);
                }
            }
            Top::Rule { .. } | Top::Word { .. } | Top::End => {}
        }
    }
}

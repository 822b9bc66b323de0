//! How values are read, byte by byte: threads on top of frames.
//!
//! A *frame* is an open object or array. Frames are never changed: a key or an item makes a new one beside the old,
//! so that threads share them, a walk over the vocabulary can try what it likes, and going back means forgetting
//! the newest. A *thread* is one reading of what came so far: its lexical place and the frame around it. There is
//! more than one only where alternatives overlap.

use crate::grammar::frames::{Arena, Frame, Kind, Numeral, ROOT_FRAME, Then};
use crate::grammar::keys::{Key, Keys, exact};
use crate::grammar::layout::Layout;
use crate::grammar::program::{ArrayCode, Program};
use crate::grammar::residue::Residue;
use crate::grammar::rules::Edge;
use crate::grammar::string::{Body, Cursor, EMPTY_HASH, Escape, Place, body, hash_byte};
use crate::grammar::value::ValueId;

/// More readings than this are not followed at once: the newest are given up. That keeps a step's time bounded;
/// what is allowed stays sound, but some valid text may be refused.
pub(super) const MAX_THREADS: usize = 512;

/// The literals of JSON, by number.
pub(super) const LITERALS: [&[u8]; 3] = [b"null", b"true", b"false"];

/// A lexical place.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum Top {
    /// Before a value, `gap` bytes of white space after a separator or a bracket.
    Value { value: ValueId, gap: u16, separator: bool },
    /// In one of [`LITERALS`].
    Literal { which: u8, at: u8 },
    /// In a string.
    String { language: u32, cursor: Cursor, escape: Escape },
    /// In a number of a set; it may be over. What was read of it is a [`Numeral`] of the arena.
    Number { set: u32, at: u32 },
    /// After the opening brace.
    Open { gap: u16 },
    /// After a comma in an object.
    Comma { gap: u16 },
    /// In a key.
    Key { key: Key, escape: Escape },
    /// After a key whose value is to come.
    Colon { value: ValueId, gap: u16 },
    /// After the opening bracket, if the array may be empty.
    ArrayOpen { gap: u16 },
    /// After a value.
    After { gap: u16 },
    /// In a rule: an index into [`RuleCode::states`](crate::grammar::rules::RuleCode::states).
    Rule { state: u32 },
    /// In a word that stands as it is; it may be over.
    Word { language: u32, cursor: Cursor },
    /// After the outermost rule.
    End,
}

/// One reading of what came so far.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Thread {
    pub(super) top: Top,
    pub(super) frame: u32,
}

impl Thread {
    /// Where in the arena the number stands that is being read.
    pub(super) const fn number(&self) -> Option<u32> {
        match self.top {
            Top::Number { at, .. } => Some(at),
            _ => None,
        }
    }
}

/// A key that an object gets.
#[derive(Debug, Clone, Copy)]
pub(super) enum Added {
    /// One of the known names, by its place among them.
    Name(u32),
    /// A key of a further class.
    Other { class: usize, hash: u64 },
}

/// A program with the frames that it works on.
pub(super) struct Machine<'m> {
    pub(super) program: &'m Program,
    pub(super) layout: &'m Layout,
    pub(super) arena: &'m mut Arena,
}

impl Machine<'_> {
    /// The readings before the first byte.
    pub(super) fn start(&mut self, out: &mut Vec<Thread>) {
        if !self.program.rules.states.is_empty() {
            self.enter(self.program.rules.start, ROOT_FRAME, out);
            return;
        }
        let top = Top::Value { value: self.program.root, gap: 0, separator: false };
        out.push(Thread { top, frame: ROOT_FRAME });
    }

    /// Whether the text may end with this reading.
    pub(super) fn is_complete(program: &Program, arena: &Arena, thread: Thread) -> bool {
        match thread.top {
            Top::After { .. } | Top::End => thread.frame == ROOT_FRAME,
            // Only what comes next shows that a number is over, and at the end nothing does.
            Top::Number { set, at } => {
                program.numbers[set as usize].is_complete(&arena.number(at).state)
                    && Self::may_end(program, arena, thread.frame)
            }
            _ => false,
        }
    }

    /// Adds to `out` how each of `threads` goes on with `byte`.
    #[inline]
    pub(super) fn step_all(&mut self, threads: &[Thread], byte: u8, out: &mut Vec<Thread>) {
        let from = out.len();
        for thread in threads {
            self.step(*thread, byte, out);
        }
        if out.len() - from > 1 {
            dedup(out, from);
        }
    }

    /// Adds to `out` how `thread` goes on with `byte`: in no way, in one, or in several.
    pub(super) fn step(&mut self, thread: Thread, byte: u8, out: &mut Vec<Thread>) {
        let frame = thread.frame;
        match thread.top {
            Top::String { language, cursor, escape } => {
                match body(&self.program.words(language).language, cursor, escape, byte) {
                    Body::On(cursor, escape) => {
                        out.push(Thread { top: Top::String { language, cursor, escape }, frame });
                    }
                    Body::End => self.finish(frame, Self::string_hash(cursor), out),
                    Body::Dead => {}
                }
            }
            Top::Key { key, escape } => self.key(frame, key, escape, byte, out),
            Top::Value { value, gap, separator } => match self.layout.gap(gap, separator, byte) {
                Some(gap) => out.push(Thread { top: Top::Value { value, gap, separator }, frame }),
                None if self.layout.is_gap(gap, separator) => self.begin(value, frame, byte, out),
                None => {}
            },
            Top::Literal { which, at } => {
                let literal = LITERALS[which as usize];
                if literal[at as usize] == byte {
                    match at as usize + 1 == literal.len() {
                        true => self.finish(frame, Self::literal_hash(which), out),
                        false => out.push(Thread { top: Top::Literal { which, at: at + 1 }, frame }),
                    }
                }
            }
            Top::Number { set, at } => {
                let numbers = &self.program.numbers[set as usize];
                let Numeral { state, residue } = *self.arena.number(at);
                if let Some(next) = numbers.next(&state, byte) {
                    let at =
                        self.arena.push_number(Numeral { state: next, residue: residue.read(&state, byte) });
                    out.push(Thread { top: Top::Number { set, at }, frame });
                } else if !matches!(byte, b'0'..=b'9' | b'+' | b'-' | b'.' | b'e' | b'E')
                    && numbers.is_complete(&state)
                {
                    let from = out.len();
                    self.finish(frame, residue.hash(&state), out);
                    // What follows a number is never part of it.
                    if out.len() == from + 1 {
                        let after = out[from];
                        out.truncate(from);
                        self.step(after, byte, out);
                    } else {
                        let after: Vec<Thread> = out.drain(from..).collect();
                        after.into_iter().for_each(|thread| self.step(thread, byte, out));
                    }
                }
            }
            Top::Open { gap } => match self.layout.gap(gap, false, byte) {
                Some(gap) => out.push(Thread { top: Top::Open { gap }, frame }),
                None if !self.layout.is_gap(gap, false) => {}
                None if byte == b'"' => self.begin_key(frame, out),
                None if byte == b'}' => self.close_object(frame, out),
                None => {}
            },
            Top::Comma { gap } => match self.layout.gap(gap, true, byte) {
                Some(gap) => out.push(Thread { top: Top::Comma { gap }, frame }),
                None if byte == b'"' && self.layout.is_gap(gap, true) => self.begin_key(frame, out),
                None => {}
            },
            Top::Colon { value, gap } => match self.layout.gap(gap, false, byte) {
                Some(gap) => out.push(Thread { top: Top::Colon { value, gap }, frame }),
                None if byte == b':' && self.layout.is_gap(gap, false) => {
                    out.push(Thread { top: Top::Value { value, gap: 0, separator: true }, frame });
                }
                None => {}
            },
            Top::ArrayOpen { gap } => match self.layout.gap(gap, false, byte) {
                Some(gap) => out.push(Thread { top: Top::ArrayOpen { gap }, frame }),
                None if byte == b']' && self.layout.is_gap(gap, false) => self.close_array(frame, out),
                None => {}
            },
            Top::Rule { state } => {
                for (edge, to) in &self.program.rules.states[state as usize].edges {
                    if *edge == Edge::Byte(byte) {
                        self.enter(*to, frame, out);
                    }
                }
            }
            Top::Word { language, cursor } => {
                if let Some(cursor) = cursor.next(&self.program.words(language).language, byte) {
                    self.word(language, cursor, frame, out);
                }
            }
            Top::End => {}
            Top::After { gap } => match self.layout.gap(gap, false, byte) {
                Some(gap) => out.push(Thread { top: Top::After { gap }, frame }),
                None if self.layout.is_gap(gap, false) => self.after(frame, byte, out),
                None => {}
            },
        }
    }

    /// The first byte of a value.
    pub(super) fn begin(&mut self, value: ValueId, frame: u32, byte: u8, out: &mut Vec<Thread>) {
        let program = self.program;
        let code = program.value(value);
        let hashed = self.arena.frame(frame).hashed;
        let mut literal = |which| out.push(Thread { top: Top::Literal { which, at: 1 }, frame });
        match byte {
            b'n' if code.null => literal(0),
            b't' if code.yes => literal(1),
            b'f' if code.no => literal(2),
            b'"' => {
                // In markup, strings are not written as JSON.
                let raw = matches!(self.arena.frame(frame).kind, Kind::Part(Then::Close(_)));
                if let Some(language) = code.strings.filter(|_| !raw) {
                    let cursor = Cursor::start(&program.words(language).language, hashed);
                    out.push(Thread { top: Top::String { language, cursor, escape: Escape::None }, frame });
                }
            }
            b'-' | b'0'..=b'9' => {
                for &set in &code.numbers {
                    let numbers = &program.numbers[set as usize];
                    let start = numbers.start();
                    if let Some(state) = numbers.next(&start, byte) {
                        let residue = Residue::new(hashed).read(&start, byte);
                        let at = self.arena.push_number(Numeral { state, residue });
                        out.push(Thread { top: Top::Number { set, at }, frame });
                    }
                }
            }
            b'{' => {
                for &object in &code.objects {
                    let frame = self.open_object(object, frame, hashed, 0);
                    out.push(Thread { top: Top::Open { gap: 0 }, frame });
                }
            }
            b'[' => {
                for &array in &code.arrays {
                    let kind = Kind::Array { array, count: 0, counted: 0, items: 0 };
                    let hashed = hashed || program.arrays[array as usize].unique;
                    let frame = self.arena.push(Frame { parent: frame, kind, hashed, hash: 0 });
                    let shape = &program.arrays[array as usize];
                    if may_close_array(shape, 0, 0) {
                        out.push(Thread { top: Top::ArrayOpen { gap: 0 }, frame });
                    }
                    self.begin_items(frame, false, out);
                }
            }
            _ => {}
        }
    }

    pub(super) fn open_object(&mut self, object: u32, parent: u32, hashed: bool, members: u32) -> u32 {
        let bits = self.arena.bits.len() as u32;
        let shape = &self.program.objects[object as usize];
        self.arena.bits.resize(bits as usize + shape.words, 0);
        self.arena.bits.extend_from_slice(&shape.required);
        let kind =
            Kind::Object { object, count: 0, bits, others: 0, witnessed: false, last: 0, key: 0, members };
        self.arena.push(Frame { parent, kind, hashed, hash: 0 })
    }

    /// What a literal is compared by.
    pub(super) const fn literal_hash(which: u8) -> u64 {
        which as u64 + 1
    }

    /// What a string is compared by.
    pub(super) const fn string_hash(end: Cursor) -> u64 {
        hash_byte(end.hash, b's')
    }

    /// A value is complete.
    pub(super) fn finish(&mut self, frame: u32, hash: u64, out: &mut Vec<Thread>) {
        let inside = *self.arena.frame(frame);
        let mut frame = frame;
        if matches!(inside.kind, Kind::Part(_)) {
            self.end_part(frame, out);
            return;
        }
        if inside.hashed {
            match inside.kind {
                Kind::Root | Kind::Part(_) => {}
                Kind::Object { key, .. } => {
                    // Keys may come in any order.
                    let hash = inside.hash.wrapping_add(mix(key, hash));
                    frame = self.arena.push(Frame { hash, ..inside });
                }
                Kind::Array { array, count, counted, items } => {
                    let mut last = items;
                    if self.program.arrays[array as usize].unique {
                        if self.arena.has_hash(hash, items) {
                            return;
                        }
                        last = self.arena.insert_hash(hash, items);
                    }
                    let kind = Kind::Array { array, count, counted, items: last };
                    frame = self.arena.push(Frame { kind, hash: mix(inside.hash, hash), ..inside });
                }
            }
        }
        out.push(Thread { top: Top::After { gap: 0 }, frame });
    }

    /// What follows a value.
    pub(super) fn after(&mut self, frame: u32, byte: u8, out: &mut Vec<Thread>) {
        match (self.arena.frame(frame).kind, byte) {
            (Kind::Object { .. }, b',') if self.may_add(frame) => {
                out.push(Thread { top: Top::Comma { gap: 0 }, frame });
            }
            (Kind::Object { .. }, b'}') => self.close_object(frame, out),
            (Kind::Array { .. }, b',') => self.begin_items(frame, true, out),
            (Kind::Array { .. }, b']') => self.close_array(frame, out),
            _ => {}
        }
    }

    /// The readings of the next item: one that counts for `contains`, and one that does not.
    fn begin_items(&mut self, frame: u32, separator: bool, out: &mut Vec<Thread>) {
        let inside = *self.arena.frame(frame);
        let Kind::Array { array, count, counted, items } = inside.kind else { return };
        let shape = &self.program.arrays[array as usize];
        if shape.max.is_some_and(|max| count >= max) {
            return;
        }
        let item = shape.item(count);
        for (value, counted) in [(item.value, counted), (item.counted, counted + 1)] {
            if value == ValueId::NEVER || !can_count(shape, count + 1, counted) {
                continue;
            }
            let kind = Kind::Array { array, count: count + 1, counted, items };
            let frame = self.arena.push(Frame { kind, ..inside });
            out.push(Thread { top: Top::Value { value, gap: 0, separator }, frame });
        }
    }

    pub(super) fn close_array(&mut self, frame: u32, out: &mut Vec<Thread>) {
        if self.may_close_array_of(frame) {
            let inside = *self.arena.frame(frame);
            self.finish(inside.parent, mix(inside.hash, u64::from(b'[')), out);
        }
    }

    pub(super) fn may_close_array_of(&self, frame: u32) -> bool {
        let Kind::Array { array, count, counted, .. } = self.arena.frame(frame).kind else { return false };
        may_close_array(&self.program.arrays[array as usize], count, counted)
    }

    pub(super) fn close_object(&mut self, frame: u32, out: &mut Vec<Thread>) {
        if self.may_close_object(frame) {
            let inside = *self.arena.frame(frame);
            self.finish(inside.parent, mix(inside.hash, u64::from(b'{')), out);
        }
    }

    pub(super) fn may_close_object(&self, frame: u32) -> bool {
        let Kind::Object { object, count, bits, witnessed, .. } = self.arena.frame(frame).kind else {
            return false;
        };
        let shape = &self.program.objects[object as usize];
        let missing = &self.arena.bits[bits as usize + shape.words..bits as usize + 2 * shape.words];
        count >= shape.min && missing.iter().all(|word| *word == 0) && (witnessed || !shape.needs_witness)
    }

    pub(super) fn begin_key(&mut self, frame: u32, out: &mut Vec<Thread>) {
        let Some(keys) = self.keys(frame) else { return };
        if keys.may_add_any() {
            let class = keys.shape.classifier.as_ref().map_or(0, |classifier| classifier.start());
            let high = keys.shape.names.len() as u32;
            let key = Key { low: 0, high, depth: 0, class, hash: EMPTY_HASH };
            out.push(Thread { top: Top::Key { key, escape: Escape::None }, frame });
        }
    }

    pub(super) fn may_add(&self, frame: u32) -> bool {
        self.keys(frame).is_some_and(|keys| keys.may_add_any())
    }

    fn key(&mut self, frame: u32, key: Key, escape: Escape, byte: u8, out: &mut Vec<Thread>) {
        let raw = matches!(self.arena.frame(frame).kind, Kind::Object { members: 1.., .. });
        let Some(keys) = self.keys(frame) else { return };
        if raw && byte != b'"' {
            // Markup knows no escapes.
            if let Some(key) = key.next(&keys, byte) {
                out.push(Thread { top: Top::Key { key, escape }, frame });
            }
            return;
        }
        match body(&keys, key, escape, byte) {
            Body::On(key, escape) => out.push(Thread { top: Top::Key { key, escape }, frame }),
            Body::End => self.end_key(frame, key, out),
            Body::Dead => {}
        }
    }

    /// The keys that the object of `frame` can still take.
    pub(super) fn keys(&self, frame: u32) -> Option<Keys<'_>> {
        let Kind::Object { object, count, bits, others, last, .. } = self.arena.frame(frame).kind else {
            return None;
        };
        let shape = &self.program.objects[object as usize];
        let (seen, missing) =
            self.arena.bits[bits as usize..bits as usize + 2 * shape.words].split_at(shape.words);
        let needed: u32 = missing.iter().map(|word| word.count_ones()).sum();
        let spare = shape.max.map_or(u32::MAX, |max| max.saturating_sub(count).saturating_sub(needed));
        let known: u32 = seen.iter().map(|word| word.count_ones()).sum();
        Some(Keys {
            shape,
            seen,
            missing,
            spare,
            arena: self.arena,
            others,
            count,
            others_count: count.saturating_sub(known),
            last,
            order: self.layout.order,
        })
    }

    /// A key is complete: the readings of its value.
    pub(super) fn end_key(&mut self, frame: u32, key: Key, out: &mut Vec<Thread>) {
        let Kind::Object { object, .. } = self.arena.frame(frame).kind else { return };
        let shape = &self.program.objects[object as usize];
        let class = || shape.classifier.as_ref().and_then(|classifier| classifier.label(key.class));
        let added = match exact(shape, key) {
            Some(name) => Added::Name(name),
            None => match class() {
                Some(class) => Added::Other { class, hash: key.hash },
                None => return,
            },
        };
        self.add_key(frame, added, out);
    }

    /// The readings of the value of one more key.
    pub(super) fn add_key(&mut self, frame: u32, added: Added, out: &mut Vec<Thread>) {
        let inside = *self.arena.frame(frame);
        let Kind::Object { object, count, bits, others, witnessed, members, .. } = inside.kind else {
            return;
        };
        let shape = &self.program.objects[object as usize];
        let words = shape.words;
        let start = self.arena.bits.len();
        self.arena.bits.extend_from_within(bits as usize..bits as usize + 2 * words);
        let (value, witness, others, last, key) = match added {
            Added::Name(name) => {
                let place = name as usize;
                self.arena.bits[start + place / 64] |= 1 << (place % 64);
                self.arena.bits[start + words + place / 64] &= !(1 << (place % 64));
                for &needed in shape.needs.get(place).map_or(&[][..], |needs| needs) {
                    let place = needed as usize;
                    if self.arena.bits[start + place / 64] >> (place % 64) & 1 == 0 {
                        self.arena.bits[start + words + place / 64] |= 1 << (place % 64);
                    }
                }
                let name = &shape.names[place];
                (name.value, name.witness, others, name.order + 1, name.hash)
            }
            Added::Other { class, hash } => {
                let class = &shape.classes[class];
                let others = self.arena.insert_hash(hash, others);
                (class.value, class.witness, others, shape.names.len() as u32 + 1, hash)
            }
        };
        let count = count + 1;
        let kind = |witnessed| Kind::Object {
            object,
            count,
            bits: start as u32,
            others,
            witnessed,
            last,
            key,
            members,
        };
        let plain = self.arena.push(Frame { kind: kind(witnessed), ..inside });
        let needs_witness = shape.needs_witness && !witnessed;
        if value != ValueId::NEVER
            && (!needs_witness || self.keys(plain).is_some_and(|keys| keys.may_witness()))
        {
            self.after_key(value, plain, out);
        }
        if needs_witness && witness != ValueId::NEVER {
            let frame = self.arena.push(Frame { kind: kind(true), ..inside });
            self.after_key(witness, frame, out);
        }
    }

    fn after_key(&mut self, value: ValueId, frame: u32, out: &mut Vec<Thread>) {
        match self.arena.frame(frame).kind {
            Kind::Object { members: 0, .. } => out.push(Thread { top: Top::Colon { value, gap: 0 }, frame }),
            Kind::Object { members, .. } => self.member_value(members - 1, value, frame, out),
            _ => {}
        }
    }
}

fn may_close_array(shape: &ArrayCode, count: u32, counted: u32) -> bool {
    count >= shape.min
        && shape.contains.is_none_or(|(min, max)| counted >= min && max.is_none_or(|max| counted <= max))
}

/// Whether an array that has `count` items, `counted` of which count, can still get what `contains` wants.
fn can_count(shape: &ArrayCode, count: u32, counted: u32) -> bool {
    let Some((least, most)) = shape.contains else { return true };
    if most.is_some_and(|most| counted > most) {
        return false;
    }
    let last = shape.max.unwrap_or(u32::MAX);
    let prefix = shape.prefix.len() as u32;
    let mut can = counted;
    let mut must = counted;
    for place in count..prefix.min(last) {
        let item = shape.item(place);
        can += u32::from(item.counted != ValueId::NEVER);
        must += u32::from(item.value == ValueId::NEVER && place < shape.min);
    }
    let rest = last.saturating_sub(count.max(prefix));
    if shape.rest.counted != ValueId::NEVER {
        can = can.saturating_add(rest);
    }
    if shape.rest.value == ValueId::NEVER {
        must = must.saturating_add(shape.min.saturating_sub(count.max(prefix)));
    }
    can >= least && most.is_none_or(|most| must <= most)
}

/// One hash of two; the order matters.
const fn mix(a: u64, b: u64) -> u64 {
    let mixed = (a.rotate_left(23) ^ b).wrapping_mul(0x9E37_79B9_7F4A_7C15);
    mixed ^ mixed >> 29
}

/// Drops threads from `from` on that are there already.
fn dedup(threads: &mut Vec<Thread>, from: usize) {
    let mut kept = from;
    for next in from..threads.len() {
        let thread = threads[next];
        if kept - from < MAX_THREADS && !threads[from..kept].contains(&thread) {
            threads[kept] = thread;
            kept += 1;
        }
    }
    threads.truncate(kept);
}

//! What a walk over the vocabulary asks a reading before it tries tokens.

use crate::grammar::bytes::ByteSet;
use crate::grammar::frames::{Kind, Numeral};
use crate::grammar::keys::Key;
use crate::grammar::language::Classifier;
use crate::grammar::layout::Whitespace;
use crate::grammar::machine::{Added, LITERALS, Machine, Thread, Top};
use crate::grammar::rules::Edge;
use crate::grammar::string::{Cursor, Escape};

/// The hash of a text that is like no other.
const UNLIKE_ANY: u64 = 0x5EED_0FA1_10DD_5EED;

impl Machine<'_> {
    /// Whether white space can stand here and leaves the reading as it is.
    pub(super) fn loops_on_space(&self, thread: Thread) -> bool {
        self.layout.whitespace == Whitespace::Any
            && matches!(
                thread.top,
                Top::Value { .. }
                    | Top::Open { .. }
                    | Top::Comma { .. }
                    | Top::Colon { .. }
                    | Top::ArrayOpen { .. }
                    | Top::After { .. }
            )
    }

    /// Where a reading is, in words.
    pub(super) const fn place(thread: Thread) -> &'static str {
        match thread.top {
            Top::Value { .. } => "before a value",
            Top::Literal { .. } => "inside null, true or false",
            Top::String { .. } => "inside a string",
            Top::Number { .. } => "inside a number",
            Top::Open { .. } => "at the start of an object",
            Top::Comma { .. } => "before a key",
            Top::Key { .. } => "inside a key",
            Top::Colon { .. } => "after a key",
            Top::ArrayOpen { .. } => "at the start of an array",
            Top::After { .. } => "after a value",
            Top::Rule { .. } => "inside markup or fixed text",
            Top::Word { .. } => "inside free text",
            Top::End => "at the end",
        }
    }

    /// Adds to `bytes` all bytes that `thread` may go on with, and perhaps some others. At the root of a walk, digits
    /// that begin a value are left out where white space can stand: there they are a set of their own.
    pub(super) fn next_bytes(&self, thread: Thread, at_root: bool, bytes: &mut ByteSet) {
        let space = b" \t\n\r";
        match thread.top {
            Top::Value { value, .. } => {
                let code = self.program.value(value);
                if at_root && self.loops_on_space(thread) {
                    bytes.add_all(if code.numbers.is_empty() { b"" } else { b"-" });
                } else {
                    bytes.add_all(space);
                    bytes.add_all(if code.numbers.is_empty() { b"" } else { b"-0123456789" });
                }
                for (byte, may) in [
                    (b'n', code.null),
                    (b't', code.yes),
                    (b'f', code.no),
                    (b'"', code.strings.is_some()),
                    (b'[', !code.arrays.is_empty()),
                    (b'{', !code.objects.is_empty()),
                ] {
                    if may {
                        bytes.add(byte);
                    }
                }
            }
            Top::Literal { which, at } => bytes.add(LITERALS[which as usize][at as usize]),
            Top::Open { .. } => bytes.add_all(b" \t\n\r\"}"),
            Top::Comma { .. } => bytes.add_all(b" \t\n\r\""),
            Top::Colon { .. } => bytes.add_all(b" \t\n\r:"),
            Top::ArrayOpen { .. } => bytes.add_all(b" \t\n\r]"),
            Top::After { .. } => bytes.add_all(b" \t\n\r,]}"),
            Top::Number { .. } if matches!(self.arena.frame(thread.frame).kind, Kind::Part(_)) => {
                bytes.add_every();
            }
            Top::Number { .. } => bytes.add_all(b" \t\n\r,]}+-.0123456789Ee"),
            Top::Key { key, escape: Escape::None } if key.class == 0 => {
                let Some(keys) = self.keys(thread.frame) else { return };
                bytes.add_all(b"\"\\");
                keys.next_bytes(key, bytes);
            }
            Top::Rule { state } => {
                for (edge, _) in &self.program.rules.states[state as usize].edges {
                    if let Edge::Byte(byte) = edge {
                        bytes.add(*byte);
                    }
                }
            }
            Top::End => {}
            Top::String { .. } | Top::Key { .. } | Top::Word { .. } => bytes.add_every(),
        }
    }

    /// Adds what follows the text that `thread` is in, as if the text were complete, to `out`.
    pub(super) fn close_text(&mut self, thread: Thread, out: &mut Vec<Thread>) {
        match thread.top {
            // If somebody compares the string with others, one that is like none of them.
            Top::String { cursor: Cursor { hash: 1.., .. }, .. } => {
                self.finish(thread.frame, UNLIKE_ANY, out)
            }
            Top::String { .. } => self.finish(thread.frame, 0, out),
            Top::Key { .. } => {
                // What a known name brings is not asked here: names are walked one by one.
                let Kind::Object { object, .. } = self.arena.frame(thread.frame).kind else { return };
                for class in 0..self.program.objects[object as usize].classes.len() {
                    self.add_key(thread.frame, Added::Other { class, hash: UNLIKE_ANY }, out);
                }
            }
            _ => {}
        }
    }

    /// Adds what follows the number of `thread`, if it may be over, to `out`.
    pub(super) fn end_number(&mut self, thread: Thread, out: &mut Vec<Thread>) {
        if let Top::Number { set, at } = thread.top {
            let Numeral { state, residue } = *self.arena.number(at);
            let numbers = &self.program.numbers[set as usize];
            if numbers.is_complete(&state) {
                self.finish(thread.frame, residue.hash(&state), out);
            }
        }
    }

    /// The object whose key of a further class is being read, and whether that class takes any text.
    pub(super) fn class_key(&self, frame: u32, key: Key) -> Option<(u32, bool)> {
        let Kind::Object { object, members: 0, .. } = self.arena.frame(frame).kind else { return None };
        let keys = self.keys(frame)?;
        let classifier = keys.shape.classifier.as_ref()?;
        let open = keys.shape.open && key.class == classifier.start();
        (key.class != Classifier::DEAD && keys.may_add_other()).then_some((object, open))
    }

    /// The same reading as far as the key is one of the known names; nothing if none begins like it, or if the key
    /// is in no further class anyway.
    pub(super) fn only_names(thread: Thread) -> Option<Thread> {
        match thread.top {
            Top::Key { key, escape } if key.class != Classifier::DEAD && key.low < key.high => {
                let key = Key { class: Classifier::DEAD, ..key };
                Some(Thread { top: Top::Key { key, escape }, ..thread })
            }
            _ => None,
        }
    }
}

//! How rules are read: their states, and the parts that stand in them.

use crate::grammar::frames::{Arena, Frame, Kind, Then};
use crate::grammar::machine::{Machine, Thread, Top};
use crate::grammar::program::Program;
use crate::grammar::rules::Edge;
use crate::grammar::string::{Cursor, Place};
use crate::grammar::value::ValueId;
use crate::token::Special;

impl Machine<'_> {
    /// Adds to `out` how `thread` goes on with a special token.
    pub(super) fn step_special(&mut self, thread: Thread, special: Special, out: &mut Vec<Thread>) {
        match thread.top {
            Top::Rule { state } => {
                for (edge, to) in &self.program.rules.states[state as usize].edges {
                    if *edge == Edge::Special(special) {
                        self.enter(*to, thread.frame, out);
                    }
                }
            }
            Top::Number { set, at }
                if self.program.numbers[set as usize].is_complete(&self.arena.number(at).state) =>
            {
                let from = out.len();
                self.finish(thread.frame, 0, out);
                let after: Vec<Thread> = out.drain(from..).collect();
                after.into_iter().for_each(|thread| self.step_special(thread, special, out));
            }
            _ => {}
        }
    }

    /// The readings at a state of a rule.
    pub(super) fn enter(&mut self, state: u32, frame: u32, out: &mut Vec<Thread>) {
        let program = self.program;
        let code = &program.rules.states[state as usize];
        let mut takes = false;
        for (edge, to) in &code.edges {
            match edge {
                Edge::Byte(_) | Edge::Special(_) => takes = true,
                Edge::Word(word) => {
                    let frame = self.part(frame, Then::State(*to));
                    let cursor = Cursor::start(&program.words(*word).language, false);
                    self.word(*word, cursor, frame, out);
                }
                Edge::Json(value) => {
                    let frame = self.part(frame, Then::State(*to));
                    out.push(Thread { top: Top::Value { value: *value, gap: 0, separator: false }, frame });
                }
                Edge::Rule(start) => {
                    let frame = self.part(frame, Then::State(*to));
                    self.enter(*start, frame, out);
                }
                Edge::Members(members) => {
                    let around = self.part(frame, Then::State(*to));
                    let object = program.rules.members[*members as usize].object;
                    let frame = self.open_object(object.0, around, false, members + 1);
                    self.next_member(*members, frame, out);
                }
            }
        }
        if takes {
            out.push(Thread { top: Top::Rule { state }, frame });
        }
        if code.ends {
            self.end_part(frame, out);
        }
    }

    /// Whether the text may end where a value in `frame` does.
    pub(super) fn may_end(program: &Program, arena: &Arena, frame: u32) -> bool {
        let inside = arena.frame(frame);
        match inside.kind {
            Kind::Root => true,
            Kind::Part(Then::State(state)) => {
                Self::may_be_over(program, state) && Self::may_end(program, arena, inside.parent)
            }
            // Something follows a value in brackets, or in markup.
            Kind::Part(_) | Kind::Object { .. } | Kind::Array { .. } => false,
        }
    }

    /// Whether a rule may be over at a state, also because what is left may be empty. No rule begins with itself, and nothing
    /// that may be empty is repeated, so this comes to an end.
    fn may_be_over(program: &Program, state: u32) -> bool {
        let code = &program.rules.states[state as usize];
        code.ends
            || code.edges.iter().any(|(edge, to)| match edge {
                Edge::Word(word) => {
                    let language = &program.words(*word).language;
                    Cursor::start(language, false).is_complete(language) && Self::may_be_over(program, *to)
                }
                Edge::Rule(start) => Self::may_be_over(program, *start) && Self::may_be_over(program, *to),
                _ => false,
            })
    }

    pub(super) fn part(&mut self, parent: u32, then: Then) -> u32 {
        self.arena.push(Frame { parent, kind: Kind::Part(then), hashed: false, hash: 0 })
    }

    pub(super) fn word(&mut self, language: u32, cursor: Cursor, frame: u32, out: &mut Vec<Thread>) {
        out.push(Thread { top: Top::Word { language, cursor }, frame });
        if cursor.is_complete(&self.program.words(language).language) {
            self.end_part(frame, out);
        }
    }

    /// The part that `frame` stands for is over.
    pub(super) fn end_part(&mut self, frame: u32, out: &mut Vec<Thread>) {
        let inside = *self.arena.frame(frame);
        let around = inside.parent;
        let Kind::Part(then) = inside.kind else {
            out.push(Thread { top: Top::End, frame });
            return;
        };
        match then {
            Then::State(state) => self.enter(state, around, out),
            Then::Key => self.begin_key(around, out),
            Then::Text(members, value) => {
                if let Some(language) = self.program.value(value).strings {
                    let frame = self.part(around, Then::Close(members));
                    let cursor = Cursor::start(&self.program.words(language).language, false);
                    self.word(language, cursor, frame, out);
                }
            }
            Then::Json(members, value) => {
                let frame = self.part(around, Then::Close(members));
                out.push(Thread { top: Top::Value { value, gap: 0, separator: false }, frame });
            }
            Then::Close(members) => {
                let frame = self.part(around, Then::Next(members));
                self.enter(self.program.rules.members[members as usize].close, frame, out);
            }
            Then::Next(members) => self.next_member(members, around, out),
        }
    }

    /// Between the members of an object in markup.
    pub(super) fn next_member(&mut self, members: u32, frame: u32, out: &mut Vec<Thread>) {
        if self.may_begin_key(frame) {
            let open = self.part(frame, Then::Key);
            self.enter(self.program.rules.members[members as usize].open, open, out);
        }
        if self.may_close_object(frame) {
            self.end_part(self.arena.frame(frame).parent, out);
        }
    }

    /// After a key of an object in markup: the markup in front of its value.
    pub(super) fn member_value(&mut self, members: u32, value: ValueId, frame: u32, out: &mut Vec<Thread>) {
        let (value_code, code) = (self.program.value(value), self.program.rules.members[members as usize]);
        if value_code.strings.is_some() {
            let part = self.part(frame, Then::Text(members, value));
            self.enter(code.string, part, out);
        }
        if value_code.has_other_than_strings() {
            let part = self.part(frame, Then::Json(members, value));
            self.enter(code.other, part, out);
        }
    }
}

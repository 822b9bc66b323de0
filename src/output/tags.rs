//! What the tags of an output do.

use super::OutputWarningKind as Kind;
use super::machine::{Held, Machine, Mode, Sink, held_end};
use super::markup::{Tag, TagReader};

impl Machine {
    /// Markup begins: what was held in front of it belongs to it.
    pub(super) fn markup(&mut self, sink: Sink<'_>) {
        let held = std::mem::take(&mut self.held);
        let closing = held.open == 2;
        if held.open == 0 && !matches!(self.mode, Mode::Tag(..)) {
            self.warn(Kind::MalformedTag, sink);
        }
        match &mut self.mode {
            Mode::Tag(..) => {
                self.held = held;
                self.salvage_tag(sink);
                self.markup(sink);
                return;
            }
            Mode::Reasoning { .. } if !closing => self.warn(Kind::UnendedReasoning, sink),
            Mode::Content { .. } | Mode::Json(_) => self.flush_stops(sink),
            Mode::StringValue | Mode::HeldValue { .. } => {
                self.held = Held { line_ends: held.line_ends, open: 0 };
                // Which tag it is that closes decides whose the line ends are.
                if !closing {
                    self.leave_value(false, sink);
                }
            }
            _ => {}
        }
        if matches!(self.mode, Mode::Ended) {
            return;
        }
        let outer = std::mem::replace(&mut self.mode, Mode::Ended);
        self.mode = Mode::Tag(TagReader::new(closing, self.at), Box::new(outer));
    }

    /// Leaves a tag for what it stands in. Warnings of `act` are about the place where the tag begins.
    pub(super) fn leave_tag(&mut self, act: impl FnOnce(&mut Self)) -> Option<TagReader> {
        let Mode::Tag(reader, outer) = std::mem::replace(&mut self.mode, Mode::Ended) else { return None };
        self.mode = *outer;
        let at = std::mem::replace(&mut self.at, reader.at());
        act(self);
        self.at = at;
        Some(reader)
    }

    /// Gives up a tag. A value that it was about to close ends with it.
    pub(super) fn give_up_tag(&mut self, kind: Kind, sink: Sink<'_>) -> Option<TagReader> {
        self.leave_tag(|machine| {
            machine.leave_value(true, sink);
            machine.warn(kind, sink);
        })
    }

    /// Ends the value, if there is one, at a tag. A value that ends without its own tag does not own the line end in
    /// front of the other one.
    fn leave_value(&mut self, closed: bool, sink: Sink<'_>) {
        if !matches!(self.mode, Mode::StringValue | Mode::HeldValue { .. }) {
            return;
        }
        let held = std::mem::take(&mut self.held);
        let line_ends = if closed { held.line_ends } else { held.line_ends.saturating_sub(1) };
        self.release_line_ends(held, line_ends, sink);
        if !closed {
            self.warn(Kind::MissingClose, sink);
        }
        self.end_value(sink);
    }

    /// A special token cuts a tag short.
    pub(super) fn salvage_tag(&mut self, sink: Sink<'_>) {
        let reader = self.give_up_tag(Kind::MalformedTag, sink);
        let Some((tag, text)) = reader.and_then(TagReader::salvage) else { return };
        self.tag(tag, sink);
        // Without a call there is no value that the text could belong to.
        if !matches!(self.mode, Mode::HeldValue { .. }) {
            return;
        }
        let held = held_end(&text);
        self.plain(&text[..text.len() - held.len()], self.at, sink);
        self.held = held;
    }

    /// A complete tag, in the mode of what it stands in.
    pub(super) fn tag(&mut self, tag: Tag, sink: Sink<'_>) {
        let in_value = matches!(self.mode, Mode::StringValue | Mode::HeldValue { .. });
        self.leave_value(matches!(tag, Tag::EndParameter | Tag::Unknown), sink);
        match tag {
            Tag::Block => {
                self.close_call(sink);
                self.open_block(sink);
            }
            Tag::Invoke(name) => {
                self.close_call(sink);
                if !matches!(self.mode, Mode::Block { .. }) {
                    self.warn(Kind::MissingBlock, sink);
                }
                self.open_call(&name, sink);
            }
            Tag::Parameter { name, form } => self.open_value(&name, form, sink),
            Tag::EndParameter if in_value => {}
            Tag::EndParameter => self.warn(Kind::StrayMarkup, sink),
            Tag::EndInvoke => {
                if self.call.is_some() {
                    self.end_call(true, sink);
                } else {
                    self.warn(Kind::StrayMarkup, sink);
                }
            }
            Tag::EndBlock => {
                self.close_call(sink);
                if matches!(self.mode, Mode::Block { .. }) {
                    self.in_block = false;
                    self.mode = Mode::AfterBlock;
                } else if !matches!(self.mode, Mode::Ended) {
                    self.warn(Kind::StrayMarkup, sink);
                }
            }
            Tag::Unknown => self.warn(Kind::MalformedTag, sink),
        }
    }

    fn open_block(&mut self, sink: Sink<'_>) {
        match self.mode {
            Mode::Ended => return,
            Mode::Block { .. } => self.warn(Kind::MissingClose, sink),
            _ if self.blocks > 0 => self.warn(Kind::SecondBlock, sink),
            _ => {}
        }
        self.blocks += 1;
        self.in_block = true;
        self.mode = Mode::Block { warned: false };
    }
}

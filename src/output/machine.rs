//! The machine that reads units of an output.

use std::sync::Arc;

use crate::json::{needs_escape, push_escaped};
use crate::token::Special;

use super::call::Call;
use super::json_extent::JsonExtent;
use super::markup::{TagReader, ValueForm};
use super::spelling::Unit;
use super::stop::{Matched, StopMatcher};
use super::{Event, Finish, JsonTypes, OutputWarning, OutputWarningKind as Kind, Plan, Start, StopReason};

/// The most bytes of a value or call body that are held until it is complete.
const MAX_HELD_BYTES: usize = 16 * 1024 * 1024;

/// Line ends, of which some are written at a time.
const LINE_ENDS: &str = "\n\n\n\n\n\n\n\n\n\n\n\n\n\n\n\n";

/// What a text is that is passed on as it stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Passed {
    Reasoning,
    Content,
    /// A piece of the last call's arguments.
    Arguments,
}

#[derive(Debug, Clone)]
pub(super) struct Machine {
    pub(super) plan: Arc<Plan>,
    pub(super) mode: Mode,
    /// The end of the text so far that markup may belong to.
    pub(super) held: Held,
    stops: StopMatcher,
    /// Bytes of text before what is read now, spellings of special tokens included.
    pub(super) at: u64,
    pub(super) calls: usize,
    /// Whether a call was completed.
    pub(super) has_calls: bool,
    /// Whether a call ended incomplete.
    pub(super) has_cut_call: bool,
    pub(super) blocks: usize,
    /// Whether a block is open.
    pub(super) in_block: bool,
    pub(super) call: Option<Call>,
    /// Room for what was held together with the text behind it, and for text with escapes.
    joined: String,
    escaped: String,
}

/// The end of a text that may belong to markup behind it: line ends, then `<` or `</`.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Held {
    pub(super) line_ends: usize,
    pub(super) open: usize,
}

impl Held {
    const OPEN: [&'static str; 3] = ["", "<", "</"];

    pub(super) const fn len(self) -> usize {
        self.line_ends + self.open
    }
}

#[derive(Debug, Clone)]
pub(super) enum Mode {
    /// Reasoning; `fresh` until something other than line ends occurs.
    Reasoning { fresh: bool },
    /// Answer; `fresh` as above.
    Content { fresh: bool },
    /// Before the JSON of a JSON answer; `warned` of text there.
    BeforeJson { warned: bool },
    /// Inside it.
    Json(JsonExtent),
    /// Behind it.
    AfterJson { warned: bool },
    /// Inside a tag, with what the tag stands in.
    Tag(TagReader, Box<Mode>),
    /// Inside a block, between calls.
    Block { warned: bool },
    /// Inside a call, between parameters.
    Call,
    /// Inside a string parameter.
    StringValue,
    /// Inside a parameter whose text is held until it is complete.
    HeldValue { text: String, form: ValueForm, types: Option<JsonTypes> },
    /// Behind a block.
    AfterBlock,
    /// Nothing more is read.
    Ended,
}

pub(super) type Sink<'s> = &'s mut dyn FnMut(Event<'_>);

impl Machine {
    pub(super) fn new(plan: Plan) -> Self {
        let answer =
            if plan.json { Mode::BeforeJson { warned: false } } else { Mode::Content { fresh: true } };
        let mode = match plan.start {
            Start::Reasoning => Mode::Reasoning { fresh: true },
            Start::InReasoning => Mode::Reasoning { fresh: false },
            Start::Content => answer,
            Start::InContent => Mode::Content { fresh: false },
            Start::Calls => Mode::Block { warned: false },
        };
        let blocks = usize::from(plan.start == Start::Calls);
        let stops = StopMatcher::new(&plan.stops);
        Self {
            plan: Arc::new(plan),
            mode,
            held: Held::default(),
            stops,
            at: 0,
            calls: 0,
            has_calls: false,
            has_cut_call: false,
            blocks,
            in_block: blocks > 0,
            call: None,
            joined: String::new(),
            escaped: String::new(),
        }
    }

    /// Takes a unit of text without token borders. A value or a JSON answer may well be about special tokens, such
    /// as a file with `</think>` in it: there, only markup and the end of the turn are more than text.
    pub(super) fn spelled(&mut self, unit: Unit<'_>, sink: Sink<'_>) {
        match unit {
            Unit::Special(special)
                if !matches!(special, Special::Dsml | Special::Eos)
                    && matches!(self.mode, Mode::StringValue | Mode::HeldValue { .. } | Mode::Json(_)) =>
            {
                self.text(special.spelling(), sink);
            }
            unit => self.unit(unit, sink),
        }
    }

    pub(super) fn held_bytes(&self) -> usize {
        let text = |mode: &Mode| match mode {
            Mode::HeldValue { text, .. } => text.len(),
            _ => 0,
        };
        let mode = match &self.mode {
            Mode::Tag(reader, outer) => reader.len() + text(outer),
            mode => text(mode),
        };
        mode + self.call.as_ref().map_or(0, |call| call.body.len()) + self.held.len()
    }

    pub(super) fn unit(&mut self, unit: Unit<'_>, sink: Sink<'_>) {
        match unit {
            Unit::Text(text) => self.text(text, sink),
            // Grounding tokens are part of what the model says.
            Unit::Special(special) if Special::GROUNDING.contains(&special) => {
                if matches!(self.mode, Mode::Tag(..)) {
                    self.salvage_tag(sink);
                }
                self.text(special.spelling(), sink);
            }
            Unit::Special(special) => {
                self.special(special, sink);
                self.at += special.spelling().len() as u64;
            }
        }
    }

    pub(super) fn foreign(&mut self, length: usize, sink: Sink<'_>) {
        self.leave_out(Kind::StraySpecial, sink);
        self.at += length as u64;
    }

    pub(super) fn warn(&self, kind: Kind, sink: Sink<'_>) {
        // Nothing follows the stop, not even what is wrong with the tag that caused it.
        if !matches!(self.mode, Mode::Ended) {
            warn_at(kind, self.at, sink);
        }
    }

    /// Takes text, which may pass through several modes.
    pub(super) fn text(&mut self, text: &str, sink: Sink<'_>) {
        if self.is_plain(text) {
            self.plain(text, self.at, sink);
            self.at += text.len() as u64;
            return;
        }
        let mut rest = text;
        while !rest.is_empty() {
            let taken = self.step(rest, sink);
            rest = &rest[taken..];
            self.at += taken as u64;
        }
    }

    /// Takes text if it is passed on as it stands, as most tokens are, and says as what.
    #[inline]
    pub(super) fn pass(&mut self, text: &str) -> Option<Passed> {
        let passed = match self.mode {
            Mode::Reasoning { .. } => Passed::Reasoning,
            Mode::Content { .. } if self.stops.is_free(text) => Passed::Content,
            Mode::StringValue
                if self.call.as_ref().is_some_and(|call| !call.silent) && !needs_escape(text) =>
            {
                Passed::Arguments
            }
            _ => return None,
        };
        if !self.is_plain(text) {
            return None;
        }
        self.at += text.len() as u64;
        Some(passed)
    }

    /// Whether no markup can belong to any of `text`, and it is no beginning of anything.
    #[inline]
    fn is_plain(&self, text: &str) -> bool {
        let takes_all = matches!(
            self.mode,
            Mode::Reasoning { fresh: false }
                | Mode::Content { fresh: false }
                | Mode::StringValue
                | Mode::HeldValue { .. }
        );
        takes_all
            && self.held.len() == 0
            && !matches!(text.as_bytes().last(), None | Some(b'\n' | b'<' | b'/'))
    }

    /// Takes a prefix of `text`, not empty, in the mode of the machine, and returns its length.
    fn step(&mut self, text: &str, sink: Sink<'_>) -> usize {
        match &mut self.mode {
            Mode::Ended => text.len(),
            Mode::Reasoning { fresh } | Mode::Content { fresh } if *fresh => {
                let line_ends = text.len() - text.trim_start_matches('\n').len();
                if line_ends == 0 {
                    *fresh = false;
                }
                line_ends
            }
            Mode::BeforeJson { .. } => match JsonExtent::find_start(text) {
                None => self.held_back(text, sink),
                Some(0) => {
                    self.release(sink);
                    self.mode = Mode::Json(JsonExtent::default());
                    0
                }
                Some(start) => self.held_back(&text[..start], sink),
            },
            Mode::Json(extent) => match extent.push(text) {
                None => {
                    self.emit(text, self.at, sink);
                    text.len()
                }
                Some(end) => {
                    self.mode = Mode::AfterJson { warned: false };
                    self.emit(&text[..end], self.at, sink);
                    end
                }
            },
            Mode::AfterBlock => self.held_back(text, sink),
            Mode::Tag(reader, _) => {
                let (tag, taken) = reader.push(text);
                if let Some(tag) = tag {
                    self.leave_tag(|machine| machine.tag(tag, sink));
                } else if taken < text.len() {
                    self.give_up_tag(Kind::TooLarge, sink);
                }
                taken
            }
            Mode::Reasoning { .. } | Mode::Content { .. } | Mode::StringValue => self.held_back(text, sink),
            Mode::AfterJson { .. } | Mode::Block { .. } | Mode::Call | Mode::HeldValue { .. } => {
                self.held_back(text, sink)
            }
        }
    }

    /// Takes text but for its end that may belong to markup, after what was held before.
    fn held_back(&mut self, text: &str, sink: Sink<'_>) -> usize {
        if self.held.len() > 0 {
            if self.held.open == 0 {
                let line_ends = text.len() - text.trim_start_matches('\n').len();
                if line_ends > 0 {
                    self.held.line_ends += line_ends;
                    return line_ends;
                }
                if text.starts_with('<') {
                    self.held.open = 1;
                    return 1;
                }
            } else if self.held.open == 1 && text.starts_with('/') {
                self.held.open = 2;
                return 1;
            }
        }
        let held = held_end(text);
        let plain = &text[..text.len() - held.len()];
        self.release_with(plain, sink);
        // A stop sequence may have ended the output.
        if !matches!(self.mode, Mode::Ended) {
            self.held = held;
        }
        text.len()
    }

    /// Takes what was held: no markup came behind it.
    pub(super) fn release(&mut self, sink: Sink<'_>) {
        let held = std::mem::take(&mut self.held);
        self.release_line_ends(held, held.line_ends, sink);
        if held.open > 0 {
            self.plain(Held::OPEN[held.open], self.at - held.open as u64, sink);
        }
    }

    /// Takes what was held together with the text behind it, as one if that is possible.
    fn release_with(&mut self, text: &str, sink: Sink<'_>) {
        let held = self.held;
        if held.len() == 0 {
            if !text.is_empty() {
                self.plain(text, self.at, sink);
            }
            return;
        }
        let is_text = matches!(self.mode, Mode::Reasoning { .. } | Mode::Content { .. } | Mode::StringValue);
        if text.is_empty() || !is_text || held.line_ends > LINE_ENDS.len() {
            self.release(sink);
            if !text.is_empty() {
                self.plain(text, self.at, sink);
            }
            return;
        }
        self.held = Held::default();
        let mut joined = std::mem::take(&mut self.joined);
        joined.clear();
        joined.push_str(&LINE_ENDS[..held.line_ends]);
        joined.push_str(Held::OPEN[held.open]);
        joined.push_str(text);
        self.plain(&joined, self.at - held.len() as u64, sink);
        self.joined = joined;
    }

    /// Takes the first `count` line ends of `held`, which ends at the place reached.
    pub(super) fn release_line_ends(&mut self, held: Held, count: usize, sink: Sink<'_>) {
        let mut at = self.at - held.len() as u64;
        let mut left = count;
        while left > 0 {
            let length = left.min(LINE_ENDS.len());
            self.plain(&LINE_ENDS[..length], at, sink);
            at += length as u64;
            left -= length;
        }
    }

    /// Takes text that is certainly no markup.
    pub(super) fn plain(&mut self, text: &str, at: u64, sink: Sink<'_>) {
        match &mut self.mode {
            Mode::Reasoning { .. } => sink(Event::Reasoning { text, at }),
            Mode::Content { .. } => self.emit(text, at, sink),
            Mode::StringValue if needs_escape(text) => {
                let mut json = std::mem::take(&mut self.escaped);
                json.clear();
                push_escaped(&mut json, text);
                self.argument(&json, sink);
                self.escaped = json;
            }
            Mode::StringValue => self.argument(text, sink),
            Mode::HeldValue { text: value, .. } => {
                if value.len() + text.len() > MAX_HELD_BYTES {
                    self.warn(Kind::TooLarge, sink);
                    self.end_call(false, sink);
                    self.end(StopReason::Length, None, sink);
                } else {
                    value.push_str(text);
                }
            }
            Mode::Call => {
                let Some(call) = &mut self.call else { return };
                if call.body_at.is_none() && blank(text) < text.len() {
                    call.body_at = Some(at + blank(text) as u64);
                }
                if call.body.len() + text.len() <= MAX_HELD_BYTES {
                    call.body.push_str(text);
                }
            }
            Mode::Block { warned } | Mode::BeforeJson { warned } | Mode::AfterJson { warned } => {
                if !*warned && blank(text) < text.len() {
                    *warned = true;
                    let is_block = matches!(self.mode, Mode::Block { .. });
                    let kind = if is_block { Kind::TextInMarkup } else { Kind::TextAroundJson };
                    warn_at(kind, at + blank(text) as u64, sink);
                }
            }
            Mode::AfterBlock => {
                let blank = blank(text);
                if blank < text.len() {
                    let at = at + blank as u64;
                    warn_at(Kind::TextAfterCalls, at, sink);
                    self.mode = Mode::Content { fresh: false };
                    self.emit(&text[blank..], at, sink);
                }
            }
            Mode::Json(_) | Mode::Tag(..) | Mode::Ended => {}
        }
    }

    /// Adds to the answer, which a stop sequence may end.
    fn emit(&mut self, text: &str, at: u64, sink: Sink<'_>) {
        if text.is_empty() || matches!(self.mode, Mode::Ended) {
            return;
        }
        if self.stops.is_free(text) {
            sink(Event::Content { text, at });
            return;
        }
        let matched = self.stops.push(text, at, &mut |text, at| sink(Event::Content { text, at }));
        if let Matched::Stop(index) = matched {
            let sequence = self.stops.sequence(index).to_owned();
            if self.plan.keep_stop {
                sink(Event::Content { text: &sequence, at: self.stops.at() });
            }
            self.end(StopReason::StopSequence, Some(&sequence), sink);
        }
    }

    /// The answer pauses here: no stop sequence goes on behind it.
    pub(super) fn flush_stops(&mut self, sink: Sink<'_>) {
        self.stops.flush(&mut |text, at| sink(Event::Content { text, at }));
    }

    fn special(&mut self, special: Special, sink: Sink<'_>) {
        match special {
            _ if matches!(self.mode, Mode::Ended) => {}
            Special::Dsml => self.markup(sink),
            _ if matches!(self.mode, Mode::Tag(..)) => {
                self.salvage_tag(sink);
                self.special(special, sink);
            }
            Special::Eos => {
                self.release(sink);
                self.finish(Finish::Stop, sink);
            }
            Special::ThinkEnd => self.think_end(sink),
            _ => self.leave_out(Kind::StraySpecial, sink),
        }
    }

    /// Leaves out a special token. What stands around it is not joined by that.
    fn leave_out(&mut self, kind: Kind, sink: Sink<'_>) {
        self.release(sink);
        self.flush_stops(sink);
        self.warn(kind, sink);
    }

    fn think_end(&mut self, sink: Sink<'_>) {
        let Mode::Reasoning { .. } = self.mode else {
            self.leave_out(Kind::ExtraThinkEnd, sink);
            if let Mode::Content { fresh } = &mut self.mode {
                *fresh = false;
            }
            return;
        };
        // Line ends in front of the end of reasoning are no part of it.
        if self.held.open > 0 {
            self.release(sink);
        }
        self.held = Held::default();
        self.mode =
            if self.plan.json { Mode::BeforeJson { warned: false } } else { Mode::Content { fresh: true } };
    }

    pub(super) fn finish(&mut self, finish: Finish, sink: Sink<'_>) {
        if matches!(self.mode, Mode::Ended) {
            return;
        }
        if matches!(self.mode, Mode::Tag(..)) {
            self.give_up_tag(Kind::MalformedTag, sink);
        }
        self.release(sink);
        self.flush_stops(sink);
        if matches!(self.mode, Mode::Json(_)) {
            self.warn(Kind::IncompleteJson, sink);
        }
        let mut is_cut = self.has_cut_call;
        if let Some(call) = &self.call {
            is_cut |= !call.silent;
            self.warn(Kind::CutCall, sink);
            self.end_call(false, sink);
        }
        let reason = match finish {
            Finish::Length => StopReason::Length,
            Finish::ContentFilter => StopReason::ContentFilter,
            Finish::Stop | Finish::Unknown if is_cut => StopReason::Length,
            Finish::Stop | Finish::Unknown if self.has_calls => StopReason::ToolCalls,
            Finish::Stop | Finish::Unknown => StopReason::End,
        };
        self.end(reason, None, sink);
    }

    pub(super) fn end(&mut self, reason: StopReason, sequence: Option<&str>, sink: Sink<'_>) {
        if !matches!(self.mode, Mode::Ended) {
            self.mode = Mode::Ended;
            sink(Event::Stop { reason, sequence });
        }
    }
}

pub(super) fn warn_at(kind: Kind, at: u64, sink: Sink<'_>) {
    sink(Event::Warning(OutputWarning { kind, at }));
}

/// The length of the blanks that `text` begins with.
fn blank(text: &str) -> usize {
    text.len() - text.trim_start().len()
}

/// The end of `text` that may belong to markup behind it.
pub(super) fn held_end(text: &str) -> Held {
    let (rest, open) = match text.as_bytes() {
        [.., b'<', b'/'] => (&text[..text.len() - 2], 2),
        [.., b'<'] => (&text[..text.len() - 1], 1),
        _ => (text, 0),
    };
    let line_ends = rest.bytes().rev().take_while(|&byte| byte == b'\n').count();
    Held { line_ends, open }
}

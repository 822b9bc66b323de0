//! Generated tokens become an API's streamed events, and its complete response from the same events.

use std::fmt::Write;

#[cfg(feature = "validate")]
use crate::constraint::Validator;
use crate::json::{Json, Number, push_escaped};
use crate::output::{Event, Finish, OutputWarning, Parser, Passed, Plan, StopReason};
use crate::token::{Special, TokenId};
use crate::tokenizer::{Detokenizer, Piece, Tokenizer};

use super::call_id::call_id;
#[cfg(feature = "validate")]
use super::checks::{Checks, SchemaWarning};
use super::sink::EventSink;
use super::{Api, Dialect, Lowered, chat, messages, responses};

/// What a stream says about itself.
#[derive(Debug, Clone)]
pub struct StreamOptions {
    /// The response's id.
    pub id: String,
    /// When the response was made, in seconds of Unix time.
    pub created: u64,
    /// Makes the ids of tool calls: the same seed gives the same ids.
    pub seed: u64,
    /// Whose habits the response follows.
    pub dialect: Dialect,
    /// Tokens of the prompt, those from a cache included.
    pub prompt_tokens: u64,
    /// Tokens of the prompt that a prefix cache had.
    pub cached_tokens: u64,
    /// Which of several answers this is (Chat Completions).
    pub index: u32,
    /// What the engine is, for Chat Completions.
    pub system_fingerprint: Option<String>,
    /// Ids that end the output wherever they come, as the end of the model's turn does. They count as generated only
    /// if they are kept.
    pub stop_ids: Vec<TokenId>,
    /// Whether a stop sequence stays in the answer, and the text of an id that ends the output. In APIs it does not.
    pub keep_stop: bool,
}

impl StreamOptions {
    /// Options for the response `id`: the official dialect, everything else 0.
    #[must_use]
    pub fn new(id: impl Into<String>) -> Self {
        Self {
            id: id.into(),
            created: 0,
            seed: 0,
            dialect: Dialect::default(),
            prompt_tokens: 0,
            cached_tokens: 0,
            index: 0,
            system_fingerprint: None,
            stop_ids: Vec::new(),
            keep_stop: false,
        }
    }
}

/// The log probability of a generated token, and of its alternatives.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct TokenLogprob {
    /// The token's own.
    pub logprob: f32,
    /// The most likely tokens at this place, with theirs.
    pub top: Vec<(TokenId, f32)>,
}

/// Tokens that a request used.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Usage {
    /// Of the prompt.
    pub prompt: u64,
    /// Of the prompt, from a cache.
    pub cached: u64,
    /// Generated.
    pub completion: u64,
    /// Generated as reasoning; `None` without thinking.
    pub reasoning: Option<u64>,
}

/// Turns a model's output into an API's events while it arrives.
///
/// Feed it ids or text, then finish it; [`Stream::response`] is then the complete response. Events go to an
/// [`EventSink`]: a `Vec<Chunk>`, or a `String` of server-sent events, that the caller drains as it likes.
///
/// What was sent cannot be taken back: push drafts of speculative decoding when they are accepted, or to a clone. An
/// engine that speaks a protocol of its own can take ids back, see [`Decoder`](crate::output::Decoder).
#[derive(Debug, Clone)]
pub struct Stream {
    parser: Parser,
    tokenizer: Tokenizer,
    detokenizer: Detokenizer,
    writer: Writer,
    logprobs: Logprobs,
    usage: Usage,
    thinks: bool,
    /// Reasoning that came as text, whose tokens are counted at the end.
    reasoning_text: String,
    /// Whether the output comes as text.
    comes_as_text: bool,
    started: bool,
    /// Whether the last event was sent.
    closed: bool,
    warnings: Warnings,
}

/// What was wrong with the output.
#[derive(Debug, Clone, Default)]
struct Warnings {
    of_output: Vec<OutputWarning>,
    #[cfg(feature = "validate")]
    checks: Option<Checks>,
}

#[derive(Debug, Clone)]
enum Writer {
    Chat(Box<chat::Writer>),
    Responses(Box<responses::Writer>),
    Messages(Box<messages::Writer>),
}

/// Log probabilities of tokens whose text has not been passed on yet.
#[derive(Debug, Clone, Default)]
struct Logprobs {
    /// Where each token's text begins and ends, and its entry; ascending.
    waiting: std::collections::VecDeque<(u64, u64, Json)>,
    /// Bytes of text before the next token.
    at: u64,
}

impl Logprobs {
    /// The entries of the tokens that begin before `end`, without those that end before `start`: they are markup.
    fn take(&mut self, start: u64, end: u64) -> Vec<Json> {
        let mut taken = Vec::new();
        while self.waiting.front().is_some_and(|&(from, ..)| from < end) {
            if let Some((_, to, entry)) = self.waiting.pop_front()
                && to > start
            {
                taken.push(entry);
            }
        }
        taken
    }
}

impl Lowered {
    /// The stream that answers this request. `tokenizer` is the one that made the prompt's ids.
    #[must_use]
    pub fn stream(&self, tokenizer: &Tokenizer, options: StreamOptions) -> Stream {
        let plan = Plan {
            stop_ids: options.stop_ids.clone(),
            keep_stop: options.keep_stop,
            ..Plan::of(&self.conversation, &self.stops)
        };
        let usage =
            Usage { prompt: options.prompt_tokens, cached: options.cached_tokens, ..Usage::default() };
        let writer = match self.api {
            Api::Chat => Writer::Chat(Box::new(chat::Writer::new(self, &plan, options))),
            Api::Responses => Writer::Responses(Box::new(responses::Writer::new(self, options))),
            Api::Messages => Writer::Messages(Box::new(messages::Writer::new(self, options))),
        };
        Stream {
            parser: Parser::new(plan),
            tokenizer: tokenizer.clone(),
            detokenizer: tokenizer.detokenizer(),
            writer,
            logprobs: Logprobs::default(),
            usage,
            thinks: self.conversation.thinking.is_on(),
            reasoning_text: String::new(),
            comes_as_text: false,
            started: false,
            closed: false,
            warnings: Warnings::default(),
        }
    }
}

impl Stream {
    /// Sends the events that open the response, unless they were sent. The other methods do it on their own.
    pub fn start<'s>(&mut self, out: impl Into<EventSink<'s>>) {
        self.start_to(&mut out.into());
    }

    fn start_to(&mut self, out: &mut EventSink<'_>) {
        if !std::mem::replace(&mut self.started, true) {
            match &mut self.writer {
                Writer::Chat(writer) => writer.start(out),
                Writer::Responses(writer) => writer.start(out),
                Writer::Messages(writer) => writer.start(out),
            }
        }
    }

    /// Takes a generated id, with its log probability if the request asks for it.
    pub fn push_id<'s>(
        &mut self,
        id: TokenId,
        logprob: Option<&TokenLogprob>,
        out: impl Into<EventSink<'s>>,
    ) {
        self.push_id_to(id, logprob, &mut out.into());
    }

    fn push_id_to(&mut self, id: TokenId, logprob: Option<&TokenLogprob>, out: &mut EventSink<'_>) {
        if self.has_ended() {
            return;
        }
        self.start_to(out);
        if logprob.is_none() && self.passes_on(id, out) {
            return;
        }
        let is_text = self.tokenizer.token_bytes(id).is_some();
        let role = if is_text { None } else { self.tokenizer.special_role(id) };
        let ends = role == Some(Special::Eos) || (self.parser.is_stop(id) && !self.parser.keeps_stop());
        self.usage.completion += u64::from(!ends);
        if self.parser.is_reasoning() && !ends && role != Some(Special::ThinkEnd) {
            *self.usage.reasoning.get_or_insert(0) += 1;
        }
        if let Some(logprob) = logprob {
            let entry = logprob_json(&self.tokenizer, id, logprob);
            // A token that goes on with a character begins inside it.
            let from = self.logprobs.at + (self.detokenizer.pending().len() as u64).min(1);
            let bytes = self.tokenizer.token_bytes(id).map_or(0, <[u8]>::len) as u64;
            self.logprobs.waiting.push_back((from, from + bytes.max(1), entry));
        }
        let Self { parser, tokenizer, detokenizer, writer, logprobs, warnings, .. } = self;
        let mut sink = |event: Event<'_>| pass(&event, writer, logprobs, warnings, out);
        let length = parser.id(id, detokenizer, tokenizer, &mut sink);
        self.logprobs.at += length;
    }

    /// Takes an id whose text goes on at once and as it stands, as that of most ids does, and says whether it did. What
    /// it does is what the long way would do.
    #[inline]
    fn passes_on(&mut self, id: TokenId, out: &mut EventSink<'_>) -> bool {
        #[cfg(feature = "validate")]
        if self.warnings.checks.is_some() {
            return false;
        }
        if !self.logprobs.waiting.is_empty() || self.parser.is_stop(id) {
            return false;
        }
        let Some(text) = self.detokenizer.whole(id) else { return false };
        let Some(passed) = self.parser.pass(text) else { return false };
        self.usage.completion += 1;
        self.usage.reasoning = match (passed, self.usage.reasoning) {
            (Passed::Reasoning, tokens) => Some(tokens.unwrap_or(0) + 1),
            (_, tokens) => tokens,
        };
        self.logprobs.at += text.len() as u64;
        match &mut self.writer {
            Writer::Chat(writer) => writer.pass(passed, text, out),
            Writer::Responses(writer) => writer.pass(passed, text, out),
            Writer::Messages(writer) => writer.pass(passed, text, out),
        }
        true
    }

    /// Takes generated text without token borders that `tokens` tokens made.
    pub fn push_text<'s>(&mut self, text: &str, tokens: u64, out: impl Into<EventSink<'s>>) {
        let out = &mut out.into();
        if self.has_ended() {
            return;
        }
        self.start_to(out);
        self.usage.completion += tokens;
        self.comes_as_text = true;
        let Self { parser, writer, logprobs, warnings, reasoning_text, .. } = self;
        parser.spelled(text, &mut |event| {
            if let Event::Reasoning { text, .. } = &event {
                reasoning_text.push_str(text);
            }
            pass(&event, writer, logprobs, warnings, out);
        });
    }

    /// Ends the response: the engine stopped generating. Does nothing more if the output ended before.
    pub fn finish<'s>(&mut self, finish: Finish, out: impl Into<EventSink<'s>>) {
        let out = &mut out.into();
        if std::mem::replace(&mut self.closed, true) {
            return;
        }
        self.start_to(out);
        let Self {
            parser,
            detokenizer,
            writer,
            logprobs,
            usage,
            warnings,
            reasoning_text,
            comes_as_text,
            thinks,
            tokenizer,
            ..
        } = self;
        let mut left = String::new();
        detokenizer.finish(|piece| {
            if let Piece::Text(text) = piece {
                left.push_str(text);
            }
        });
        let ended = parser.has_ended();
        let mut stop = None;
        // Reasoning that came as ids has been counted.
        let counts = *comes_as_text;
        let mut sink = |event: Event<'_>| {
            if let Event::Reasoning { text, .. } = &event
                && counts
            {
                reasoning_text.push_str(text);
            }
            match event {
                // The usage of the last event is complete only when all else has been passed on.
                Event::Stop { reason, sequence } => stop = Some((reason, sequence.map(str::to_owned))),
                event => pass(&event, writer, logprobs, warnings, out),
            }
        };
        if !ended {
            parser.text(&left, &mut sink);
            parser.finish(finish, &mut sink);
        }
        if *thinks {
            let counted = if reasoning_text.is_empty() {
                0
            } else {
                tokenizer.encode_text(reasoning_text).len() as u64
            };
            *usage.reasoning.get_or_insert(0) += counted;
        }
        if let Some((reason, sequence)) = stop {
            let event = Event::Stop { reason, sequence: sequence.as_deref() };
            pass(&event, writer, logprobs, warnings, out);
        }
        self.close(out);
    }

    /// Sends the last events, with the whole usage.
    fn close(&mut self, out: &mut EventSink<'_>) {
        let usage = Usage { reasoning: self.usage.reasoning.filter(|_| self.thinks), ..self.usage };
        match &mut self.writer {
            Writer::Chat(writer) => writer.close(usage, out),
            Writer::Responses(writer) => writer.close(usage, out),
            Writer::Messages(writer) => writer.close(usage, out),
        }
    }

    /// Ends the response with an error of the engine. Nothing is sent after it.
    pub fn fail<'s>(&mut self, message: &str, out: impl Into<EventSink<'s>>) {
        let out = &mut out.into();
        self.start_to(out);
        if std::mem::replace(&mut self.closed, true) {
            return;
        }
        match &mut self.writer {
            Writer::Chat(writer) => writer.fail(message, out),
            Writer::Responses(writer) => writer.fail(message, self.usage, out),
            Writer::Messages(writer) => writer.fail(message, out),
        }
    }

    /// What keeps a silent connection open: an event or a comment that changes nothing.
    #[must_use]
    pub fn ping(&self) -> &'static [u8] {
        match self.writer {
            Writer::Messages(_) => b"event: ping\ndata: {\"type\":\"ping\"}\n\n",
            Writer::Chat(_) | Writer::Responses(_) => b": keep-alive\n\n",
        }
    }

    /// Whether the output has ended, so that an engine can stop. [`Stream::finish`] is still to be called, unless
    /// [`Stream::fail`] was.
    #[must_use]
    pub const fn has_ended(&self) -> bool {
        self.closed || self.parser.has_ended()
    }

    /// The complete response so far.
    #[must_use]
    pub fn response(&self) -> Json {
        match &self.writer {
            Writer::Chat(writer) => writer.response(),
            Writer::Responses(writer) => writer.response(),
            Writer::Messages(writer) => writer.response(),
        }
    }

    /// What was wrong with the output so far.
    #[must_use]
    pub fn warnings(&self) -> &[OutputWarning] {
        &self.warnings.of_output
    }

    /// Validates each call when it is complete, and the answer when the output has ended by itself, for outputs that
    /// no mask keeps to their schemas. Call it before the output begins. The response stays as it is; what is wrong
    /// with it is in [`schema_warnings`](Self::schema_warnings). A call's arguments, and an answer that has a schema,
    /// are held for it as they come.
    #[cfg(feature = "validate")]
    pub fn validate(&mut self, validator: Validator) {
        self.warnings.checks = Some(Checks::new(validator));
    }

    /// Where the answer and the calls so far do not follow their schemas. Empty unless they are
    /// [validated](Self::validate).
    #[cfg(feature = "validate")]
    #[must_use]
    pub fn schema_warnings(&self) -> &[SchemaWarning] {
        self.warnings.checks.as_ref().map_or(&[], |checks| &checks.warnings)
    }

    /// Says how many of the prompt's tokens a prefix cache had, for engines that tell it on the way. What was sent before
    /// stays as it is.
    pub const fn set_cached_tokens(&mut self, tokens: u64) {
        self.usage.cached = tokens;
    }

    /// Tokens used so far.
    #[must_use]
    pub const fn usage(&self) -> Usage {
        self.usage
    }
}

/// Passes an event on to the API's writer.
fn pass(
    event: &Event<'_>,
    writer: &mut Writer,
    logprobs: &mut Logprobs,
    warnings: &mut Warnings,
    out: &mut EventSink<'_>,
) {
    #[cfg(feature = "validate")]
    if let Some(checks) = &mut warnings.checks {
        checks.event(event);
    }
    let entries = match *event {
        Event::Reasoning { text, at } | Event::Content { text, at } if !logprobs.waiting.is_empty() => {
            logprobs.take(at, at + text.len() as u64)
        }
        Event::Warning(warning) => {
            warnings.of_output.push(warning);
            return;
        }
        _ => Vec::new(),
    };
    match writer {
        Writer::Chat(writer) => writer.event(event, entries, out),
        Writer::Responses(writer) => writer.event(event, entries, out),
        Writer::Messages(writer) => writer.event(event, out),
    }
}

/// A token's log probability in the form that all APIs share.
fn logprob_json(tokenizer: &Tokenizer, id: TokenId, logprob: &TokenLogprob) -> Json {
    let mut entry = token_json(tokenizer, id, logprob.logprob);
    let top = logprob.top.iter().map(|&(id, logprob)| Json::Object(token_json(tokenizer, id, logprob)));
    entry.insert("top_logprobs", Json::Array(top.collect()));
    entry.into()
}

fn token_json(tokenizer: &Tokenizer, id: TokenId, logprob: f32) -> crate::json::Object {
    // JSON has no other word for a token that cannot come.
    let logprob = if logprob.is_finite() { logprob } else { -9999.0 };
    let spelling = tokenizer.added_spelling(id).map(str::as_bytes);
    let bytes = tokenizer.token_bytes(id).or(spelling).unwrap_or_default();
    let token = match std::str::from_utf8(bytes) {
        Ok(text) => text.to_owned(),
        Err(_) => bytes.iter().fold(String::new(), |mut text, byte| {
            let _ = write!(text, "\\x{byte:02x}");
            text
        }),
    };
    let bytes = bytes.iter().map(|&byte| u32::from(byte).into()).collect();
    [("token", token.into()), ("logprob", single(logprob)), ("bytes", Json::Array(bytes))].into()
}

/// A single-precision number with the digits that single precision has.
pub(super) fn single(value: f32) -> Json {
    let shortest = value.to_string().parse().unwrap_or_else(|_| f64::from(value));
    Json::Number(Number::Float(shortest))
}

/// Makes the ids of a response's calls.
#[derive(Debug, Clone, Default)]
pub(super) struct CallIds {
    seed: u64,
    made: usize,
}

impl CallIds {
    pub(super) const fn new(seed: u64) -> Self {
        Self { seed, made: 0 }
    }

    pub(super) fn next(&mut self, without_reasoning: bool) -> String {
        let index = self.made;
        self.made += 1;
        call_id(self.seed, index, without_reasoning)
    }
}

/// Appends `text` as a JSON string.
pub(super) fn push_string(out: &mut String, text: &str) {
    out.push('"');
    push_escaped(out, text);
    out.push('"');
}

/// The reason in the words of Chat Completions.
pub(super) const fn finish_reason(reason: StopReason) -> &'static str {
    match reason {
        StopReason::End | StopReason::StopSequence => "stop",
        StopReason::ToolCalls => "tool_calls",
        StopReason::Length => "length",
        StopReason::ContentFilter => "content_filter",
    }
}

//! Chunks of a Chat Completions stream, and the complete response.
//!
//! Calls of custom tools are calls of functions, with the text as `input` in the arguments: OpenAI's schema of chunks
//! knows no others, and its SDKs refuse them.

use crate::json::{Json, Object};
use crate::output::{Event, Passed, Plan, Start, StopReason};
use crate::protocol::sink::Frame;
use crate::protocol::stream::{CallIds, StreamOptions, Usage, finish_reason, push_string};
use crate::protocol::{Dialect, EventSink, Lowered};

/// Writes chunks and keeps what the complete response needs.
#[derive(Debug, Clone)]
pub(in crate::protocol) struct Writer {
    options: StreamOptions,
    model: String,
    /// What stands in every chunk before the delta.
    head: String,
    /// What stands there behind it, up to the delta.
    choice: String,
    /// Of deltas of reasoning, without log probabilities; likewise of the answer, and of the last call's arguments.
    reasoning_delta: Frame,
    content_delta: Frame,
    arguments_delta: Frame,
    thinks: bool,
    starts_in_reasoning: bool,
    include_usage: bool,
    call_ids: CallIds,
    content: Option<String>,
    reasoning: Option<String>,
    calls: Vec<Call>,
    content_logprobs: Vec<Json>,
    reasoning_logprobs: Vec<Json>,
    stop: Option<StopReason>,
    usage: Option<Usage>,
    closed: bool,
}

#[derive(Debug, Clone)]
struct Call {
    id: String,
    name: String,
    arguments: String,
}

impl Writer {
    pub(in crate::protocol) fn new(lowered: &Lowered, plan: &Plan, options: StreamOptions) -> Self {
        let mut head = String::from("{\"id\":");
        push_string(&mut head, &options.id);
        head.push_str(",\"object\":\"chat.completion.chunk\",\"created\":");
        head.push_str(&options.created.to_string());
        head.push_str(",\"model\":");
        push_string(&mut head, &lowered.model);
        if let Some(fingerprint) = fingerprint(&options) {
            head.push_str(",\"system_fingerprint\":");
            head.push_str(&fingerprint.to_string());
        }
        let thinks = lowered.conversation.thinking.is_on();
        Self {
            call_ids: CallIds::new(options.seed),
            model: lowered.model.clone(),
            head,
            reasoning_delta: Frame::default(),
            content_delta: Frame::default(),
            arguments_delta: Frame::default(),
            choice: format!(",\"choices\":[{{\"index\":{},\"delta\":", options.index),
            thinks,
            starts_in_reasoning: matches!(plan.start, Start::Reasoning | Start::InReasoning),
            include_usage: lowered.include_usage || (!lowered.stream && options.dialect == Dialect::Deepseek),
            options,
            content: None,
            reasoning: None,
            calls: Vec::new(),
            content_logprobs: Vec::new(),
            reasoning_logprobs: Vec::new(),
            stop: None,
            usage: None,
            closed: false,
        }
        .with_frames()
    }

    fn with_frames(mut self) -> Self {
        self.reasoning_delta = self.frame(&format!("{}\"", self.before_reasoning()), "\"}");
        self.content_delta = self.frame("{\"content\":\"", &format!("\"{}", self.behind_content()));
        self
    }

    /// Chunks whose delta is `front`, the inside of a string, and `behind`.
    fn frame(&self, front: &str, behind: &str) -> Frame {
        let usage = if self.include_usage { ",\"usage\":null" } else { "" };
        let behind = format!("{behind},\"logprobs\":null,\"finish_reason\":null}}]{usage}}}");
        Frame::new(None, &format!("{}{}{front}", self.head, self.choice), &behind)
    }

    /// What stands in a delta of reasoning up to the text.
    fn before_reasoning(&self) -> &'static str {
        if self.is_vendor() { "{\"reasoning_content\":" } else { "{\"content\":null,\"reasoning_content\":" }
    }

    /// What stands in a delta of the answer behind the text.
    fn behind_content(&self) -> &'static str {
        if self.thinks && !self.is_vendor() { ",\"reasoning_content\":null}" } else { "}" }
    }

    fn is_vendor(&self) -> bool {
        self.options.dialect == Dialect::Vendor
    }

    /// Sends a chunk with a delta that `delta` writes.
    fn send(
        &self,
        out: &mut EventSink<'_>,
        logprobs: Option<(&str, Vec<Json>)>,
        end: Option<(&str, Option<&str>)>,
        length: usize,
        delta: impl FnOnce(&mut String),
    ) {
        out.send(None, self.head.len() + length + 160, |data| {
            data.push_str(&self.head);
            data.push_str(&self.choice);
            delta(data);
            let (finish, usage) = end.map_or((None, None), |(finish, usage)| (Some(finish), usage));
            match logprobs {
                Some((field, entries)) if !entries.is_empty() => {
                    data.push_str(",\"logprobs\":");
                    data.push_str(&self.logprobs([(field, entries)]).to_string());
                    data.push_str(",\"finish_reason\":");
                }
                _ => data.push_str(",\"logprobs\":null,\"finish_reason\":"),
            }
            match finish {
                Some(finish) => {
                    push_string(data, finish);
                    data.push_str("}]");
                }
                None => data.push_str("null}]"),
            }
            match usage {
                Some(usage) => {
                    data.push_str(",\"usage\":");
                    data.push_str(usage);
                }
                None if self.include_usage => data.push_str(",\"usage\":null"),
                None => {}
            }
            data.push('}');
        });
    }

    /// The log probabilities of `fields`, with the fields that the dialect has to have.
    fn logprobs<const N: usize>(&self, fields: [(&str, Vec<Json>); N]) -> Json {
        let mut members = Object::new();
        for (field, entries) in fields {
            if !entries.is_empty() {
                members.insert(field, Json::Array(entries));
            }
        }
        if self.is_vendor() {
            if members.get("content").is_none() {
                members.insert("content", Json::Null);
            }
            members.insert("refusal", Json::Null);
        }
        members.into()
    }

    pub(in crate::protocol) fn start(&mut self, out: &mut EventSink<'_>) {
        let delta = if self.is_vendor() {
            self.content = Some(String::new());
            "{\"role\":\"assistant\",\"content\":\"\",\"refusal\":null}"
        } else if self.starts_in_reasoning {
            self.reasoning = Some(String::new());
            "{\"role\":\"assistant\",\"content\":null,\"reasoning_content\":\"\"}"
        } else if self.thinks {
            self.content = Some(String::new());
            "{\"role\":\"assistant\",\"content\":\"\",\"reasoning_content\":null}"
        } else {
            self.content = Some(String::new());
            "{\"role\":\"assistant\",\"content\":\"\"}"
        };
        self.send(out, None, None, delta.len(), |data| data.push_str(delta));
    }

    pub(in crate::protocol) fn event(
        &mut self,
        event: &Event<'_>,
        logprobs: Vec<Json>,
        out: &mut EventSink<'_>,
    ) {
        match *event {
            Event::Reasoning { text, .. } => self.reasoning(text, logprobs, out),
            Event::Content { text, .. } => self.content(text, logprobs, out),
            Event::CallStart { index, name } => self.call_start(index, name, out),
            Event::CallArguments { json, .. } => self.call_arguments(json, out),
            Event::Stop { reason, .. } => self.stop = Some(reason),
            Event::CallEnd { .. } | Event::Warning(_) => {}
        }
    }

    /// Takes what would come as an event without log probabilities.
    pub(in crate::protocol) fn pass(&mut self, passed: Passed, text: &str, out: &mut EventSink<'_>) {
        match passed {
            Passed::Content => self.content(text, Vec::new(), out),
            Passed::Reasoning => self.reasoning(text, Vec::new(), out),
            Passed::Arguments => self.call_arguments(text, out),
        }
    }

    fn reasoning(&mut self, text: &str, logprobs: Vec<Json>, out: &mut EventSink<'_>) {
        self.reasoning.get_or_insert_default().push_str(text);
        if logprobs.is_empty() {
            return out.send_delta(&self.reasoning_delta, text, None);
        }
        self.reasoning_logprobs.extend(logprobs.iter().cloned());
        self.send(out, Some(("reasoning_content", logprobs)), None, text.len(), |data| {
            data.push_str(self.before_reasoning());
            push_string(data, text);
            data.push('}');
        });
    }

    fn content(&mut self, text: &str, logprobs: Vec<Json>, out: &mut EventSink<'_>) {
        self.content.get_or_insert_default().push_str(text);
        if logprobs.is_empty() {
            return out.send_delta(&self.content_delta, text, None);
        }
        self.content_logprobs.extend(logprobs.iter().cloned());
        self.send(out, Some(("content", logprobs)), None, text.len(), |data| {
            data.push_str("{\"content\":");
            push_string(data, text);
            data.push_str(self.behind_content());
        });
    }

    fn call_start(&mut self, index: usize, name: &str, out: &mut EventSink<'_>) {
        let without_reasoning = self.thinks && self.reasoning.as_ref().is_none_or(String::is_empty);
        let id = self.call_ids.next(without_reasoning);
        let front = format!("{{\"tool_calls\":[{{\"index\":{index},");
        self.send(out, None, None, 160 + name.len(), |data| {
            data.push_str(&front);
            data.push_str("\"id\":");
            push_string(data, &id);
            data.push_str(",\"type\":\"function\",\"function\":{\"name\":");
            push_string(data, name);
            data.push_str(",\"arguments\":\"\"}}]}");
        });
        self.arguments_delta = self.frame(&format!("{front}\"function\":{{\"arguments\":\""), "\"}}]}");
        self.calls.push(Call { id, name: name.to_owned(), arguments: String::new() });
    }

    fn call_arguments(&mut self, json: &str, out: &mut EventSink<'_>) {
        if let Some(call) = self.calls.last_mut() {
            call.arguments.push_str(json);
            out.send_delta(&self.arguments_delta, json, None);
        }
    }

    /// Sends the last chunks.
    pub(in crate::protocol) fn close(&mut self, usage: Usage, out: &mut EventSink<'_>) {
        let Some(reason) = self.stop else { return };
        if std::mem::replace(&mut self.closed, true) {
            return;
        }
        self.usage = Some(usage);
        let usage = self.usage_json(usage).to_string();
        let finish = finish_reason(reason);
        if self.is_vendor() {
            self.send(out, None, Some((finish, None)), 2, |data| data.push_str("{}"));
            if self.include_usage {
                out.send_text(None, &format!("{},\"choices\":[],\"usage\":{usage}}}", self.head));
            }
        } else {
            self.content.get_or_insert_default();
            let delta = if self.thinks {
                "{\"content\":\"\",\"reasoning_content\":null}"
            } else {
                "{\"content\":\"\"}"
            };
            self.send(out, None, Some((finish, Some(&usage))), 500, |data| data.push_str(delta));
        }
        out.send_text(None, "[DONE]");
    }

    pub(in crate::protocol) fn fail(&mut self, message: &str, out: &mut EventSink<'_>) {
        if std::mem::replace(&mut self.closed, true) {
            return;
        }
        let error = Json::from([
            ("message", message.into()),
            ("type", "server_error".into()),
            ("param", Json::Null),
            ("code", "server_error".into()),
        ]);
        out.send_json(None, &Json::from([("error", error)]));
        out.send_text(None, "[DONE]");
    }

    fn usage_json(&self, usage: Usage) -> Json {
        let mut members = Object::from([
            ("prompt_tokens", usage.prompt.into()),
            ("completion_tokens", usage.completion.into()),
            ("total_tokens", (usage.prompt + usage.completion).into()),
            ("prompt_tokens_details", [("cached_tokens", usage.cached.into())].into()),
        ]);
        if let Some(reasoning) = usage.reasoning {
            members.insert("completion_tokens_details", [("reasoning_tokens", reasoning.into())].into());
        }
        if !self.is_vendor() {
            members.insert("prompt_cache_hit_tokens", usage.cached.into());
            members.insert("prompt_cache_miss_tokens", usage.prompt.saturating_sub(usage.cached).into());
        }
        members.into()
    }

    /// The complete response.
    pub(in crate::protocol) fn response(&self) -> Json {
        let mut message =
            Object::from([("role", "assistant".into()), ("content", self.content.as_deref().into())]);
        if let Some(reasoning) = &self.reasoning {
            message.insert("reasoning_content", reasoning.as_str().into());
        }
        if self.is_vendor() {
            message.insert("refusal", Json::Null);
        }
        if !self.calls.is_empty() {
            let calls = self.calls.iter().enumerate().map(|(index, call)| self.call_json(index, call));
            message.insert("tool_calls", Json::Array(calls.collect()));
        }
        let logprobs = if self.content_logprobs.is_empty() && self.reasoning_logprobs.is_empty() {
            Json::Null
        } else {
            self.logprobs([
                ("content", self.content_logprobs.clone()),
                ("reasoning_content", self.reasoning_logprobs.clone()),
            ])
        };
        let choice = Json::from([
            ("index", self.options.index.into()),
            ("message", message.into()),
            ("logprobs", logprobs),
            ("finish_reason", self.stop.map(finish_reason).into()),
        ]);
        let mut members = Object::from([
            ("id", self.options.id.as_str().into()),
            ("object", "chat.completion".into()),
            ("created", self.options.created.into()),
            ("model", self.model.as_str().into()),
            ("choices", Json::Array(vec![choice])),
        ]);
        if let Some(usage) = self.usage {
            members.insert("usage", self.usage_json(usage));
        }
        if let Some(fingerprint) = fingerprint(&self.options) {
            members.insert("system_fingerprint", fingerprint);
        }
        members.into()
    }

    fn call_json(&self, index: usize, call: &Call) -> Json {
        let function =
            Json::from([("name", call.name.as_str().into()), ("arguments", call.arguments.as_str().into())]);
        let mut members = Object::new();
        if !self.is_vendor() {
            members.insert("index", (index as u64).into());
        }
        members.insert("id", call.id.as_str().into());
        members.insert("type", "function".into());
        members.insert("function", function);
        members.into()
    }
}

/// What the engine is, unless nothing says it. OpenAI's schema knows no null here.
fn fingerprint(options: &StreamOptions) -> Option<Json> {
    let fingerprint = options.system_fingerprint.as_deref();
    (fingerprint.is_some() || options.dialect == Dialect::Deepseek).then(|| fingerprint.into())
}

/// The complete response to a request for several answers (`n`), from the responses of their streams: the choices of
/// all, and what they used together. The prompt counts once.
///
/// Each stream numbers its choice by [`StreamOptions::index`], and ends with a `[DONE]` of its own, of which a client
/// gets the last ([`Choices`](super::Choices)).
#[must_use]
pub fn join_choices(responses: impl IntoIterator<Item = Json>) -> Option<Json> {
    let mut responses = responses.into_iter();
    let Json::Object(mut joined) = responses.next()? else { return None };
    for response in responses {
        let Json::Object(response) = response else { return None };
        if let (Some(Json::Array(choices)), Some(Json::Array(more))) =
            (joined.get("choices").cloned(), response.get("choices"))
        {
            let choices = choices.into_iter().chain(more.iter().cloned());
            joined.insert("choices", Json::Array(choices.collect()));
        }
        if let (Some(usage), Some(more)) = (joined.get("usage"), response.get("usage")) {
            let usage = add_usage(usage, more);
            joined.insert("usage", usage);
        }
    }
    Some(joined.into())
}

/// Counts of generated tokens add up; those of the prompt are the same in all answers.
pub(super) fn add_usage(usage: &Json, more: &Json) -> Json {
    let number = |json: Option<&Json>| match json {
        Some(Json::Number(number)) => number.as_u64().unwrap_or(0),
        _ => 0,
    };
    let Json::Object(members) = usage else { return usage.clone() };
    let sum = |key: &str| number(usage.get(key)) + number(more.get(key));
    let add = |(key, value): (&str, &Json)| {
        let value = match key {
            "completion_tokens" => sum(key).into(),
            "total_tokens" => (number(usage.get(key)) + number(more.get("completion_tokens"))).into(),
            "completion_tokens_details" => {
                let reasoning =
                    |usage: &Json| number(usage.get(key).and_then(|details| details.get("reasoning_tokens")));
                Json::from([("reasoning_tokens", (reasoning(usage) + reasoning(more)).into())])
            }
            _ => value.clone(),
        };
        (key.to_owned(), value)
    };
    Json::Object(members.iter().map(add).collect())
}

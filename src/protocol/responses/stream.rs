//! Events of a Responses stream, and the complete response.

use std::collections::HashMap;

use crate::conversation::ToolKind;
use crate::json::{Json, Object};
use crate::output::{Event, Passed, StopReason};
use crate::protocol::custom_input::CustomInput;
use crate::protocol::sink::{Frame, Sequence};
use crate::protocol::stream::{CallIds, StreamOptions, Usage, push_string};
use crate::protocol::{Dialect, Echo as AnyEcho, EventSink, Lowered};

use super::object;

/// Writes events and keeps what the complete response needs.
#[derive(Debug, Clone)]
pub(in crate::protocol) struct Writer {
    options: StreamOptions,
    /// The response object but for its output.
    base: Object,
    /// Tools that are no plain functions, by the name that the model uses.
    kinds: HashMap<String, ToolKind>,
    thinks: bool,
    call_ids: CallIds,
    has_reasoned: bool,
    items: Vec<Item>,
    is_open: bool,
    /// Of the deltas of the open item, without log probabilities.
    delta: Frame,
    /// Of the next event.
    sequence: Sequence,
    stop: Option<StopReason>,
    closed: bool,
}

#[derive(Debug, Clone)]
struct Item {
    id: String,
    status: &'static str,
    kind: ItemKind,
}

#[derive(Debug, Clone)]
enum ItemKind {
    Message { text: String, logprobs: Vec<Json>, phase: &'static str },
    Reasoning { text: String, encrypted: String },
    Function { call_id: String, name: String, namespace: Option<String>, arguments: String },
    Custom { call_id: String, name: String, input: String, reader: CustomInput },
    ToolSearch { call_id: String, arguments: String },
}

const IN_PROGRESS: &str = "in_progress";
const COMPLETED: &str = "completed";
const INCOMPLETE: &str = "incomplete";

impl Writer {
    pub(in crate::protocol) fn new(lowered: &Lowered, options: StreamOptions) -> Self {
        let base = match &lowered.echo {
            AnyEcho::Responses(echo) => object::base(&options, &lowered.model, echo),
            AnyEcho::None => Object::new(),
        };
        let tools = lowered.conversation.tools.iter().filter(|tool| tool.kind != ToolKind::Function);
        Self {
            base,
            kinds: tools.map(|tool| (tool.name.clone(), tool.kind.clone())).collect(),
            thinks: lowered.conversation.thinking.is_on(),
            call_ids: CallIds::new(options.seed),
            has_reasoned: false,
            items: Vec::new(),
            is_open: false,
            delta: Frame::default(),
            sequence: Sequence::default(),
            stop: None,
            closed: false,
            options,
        }
    }

    /// Sends an event with these members, and the next sequence number.
    fn send<const N: usize>(
        &mut self,
        kind: &'static str,
        members: [(&str, Json); N],
        out: &mut EventSink<'_>,
    ) {
        let mut data = Object::from([("type", kind.into())]);
        for (key, value) in members {
            data.insert(key, value);
        }
        data.insert("sequence_number", self.sequence.number().into());
        self.sequence.advance();
        out.send_json(Some(kind), &data.into());
    }

    /// Sends a delta: the event that there are many of.
    fn send_delta(&mut self, text: &str, out: &mut EventSink<'_>) {
        out.send_delta(&self.delta, text, Some(&self.sequence));
        self.sequence.advance();
    }

    pub(in crate::protocol) fn start(&mut self, out: &mut EventSink<'_>) {
        for kind in ["response.created", "response.in_progress"] {
            let response = self.response();
            self.send(kind, [("response", response)], out);
        }
    }

    pub(in crate::protocol) fn event(
        &mut self,
        event: &Event<'_>,
        logprobs: Vec<Json>,
        out: &mut EventSink<'_>,
    ) {
        match *event {
            Event::Content { text, .. } => self.content(text, logprobs, out),
            Event::Reasoning { text, .. } => self.reasoning(text, out),
            Event::CallStart { name, .. } => self.call_start(name, out),
            Event::CallArguments { json, .. } => self.call_arguments(json, out),
            Event::CallEnd { complete, .. } => {
                self.close_item(if complete { COMPLETED } else { INCOMPLETE }, out)
            }
            Event::Stop { reason, .. } => self.stop = Some(reason),
            Event::Warning(_) => {}
        }
    }

    /// Takes what would come as an event without log probabilities.
    pub(in crate::protocol) fn pass(&mut self, passed: Passed, text: &str, out: &mut EventSink<'_>) {
        match passed {
            Passed::Content => self.content(text, Vec::new(), out),
            Passed::Reasoning => self.reasoning(text, out),
            Passed::Arguments => self.call_arguments(text, out),
        }
    }

    fn content(&mut self, text: &str, entries: Vec<Json>, out: &mut EventSink<'_>) {
        if !(self.is_open && matches!(self.items.last(), Some(Item { kind: ItemKind::Message { .. }, .. }))) {
            let kind = ItemKind::Message { text: String::new(), logprobs: Vec::new(), phase: "final_answer" };
            self.open_item("msg", kind, out);
        }
        let index = self.items.len().saturating_sub(1);
        let Some(Item { kind: ItemKind::Message { text: whole, logprobs, .. }, .. }) = self.items.last_mut()
        else {
            return;
        };
        whole.push_str(text);
        if entries.is_empty() {
            return self.send_delta(text, out);
        }
        logprobs.extend(entries.iter().cloned());
        if let Some(item) = self.items.last() {
            let delta = item.delta(index, &Json::Array(entries).to_string());
            out.send_delta(&delta, text, Some(&self.sequence));
            self.sequence.advance();
        }
    }

    fn reasoning(&mut self, text: &str, out: &mut EventSink<'_>) {
        self.has_reasoned = true;
        if !(self.is_open && matches!(self.items.last(), Some(Item { kind: ItemKind::Reasoning { .. }, .. })))
        {
            let encrypted = format!("{}-0", self.options.id);
            self.open_item("rs", ItemKind::Reasoning { text: String::new(), encrypted }, out);
        }
        if let Some(Item { kind: ItemKind::Reasoning { text: whole, .. }, .. }) = self.items.last_mut() {
            whole.push_str(text);
        }
        self.send_delta(text, out);
    }

    fn call_start(&mut self, name: &str, out: &mut EventSink<'_>) {
        if self.is_open
            && let Some(Item { kind: ItemKind::Message { phase, .. }, .. }) = self.items.last_mut()
        {
            *phase = "commentary";
        }
        let call_id = self.call_ids.next(self.thinks && !self.has_reasoned);
        let (prefix, kind) = match self.kinds.get(name) {
            Some(ToolKind::Custom) => {
                let (input, reader) = (String::new(), CustomInput::default());
                ("ctc", ItemKind::Custom { call_id, name: name.to_owned(), input, reader })
            }
            Some(ToolKind::ToolSearch) => ("tsc", ItemKind::ToolSearch { call_id, arguments: String::new() }),
            Some(ToolKind::Namespaced { namespace, name }) => {
                let (name, namespace) = (name.clone(), Some(namespace.clone()));
                ("fc", ItemKind::Function { call_id, name, namespace, arguments: String::new() })
            }
            Some(ToolKind::Function) | None => {
                let name = name.to_owned();
                ("fc", ItemKind::Function { call_id, name, namespace: None, arguments: String::new() })
            }
        };
        self.open_item(prefix, kind, out);
    }

    fn call_arguments(&mut self, json: &str, out: &mut EventSink<'_>) {
        match self.items.last_mut().map(|item| &mut item.kind) {
            Some(ItemKind::Function { arguments, .. }) => {
                arguments.push_str(json);
                self.send_delta(json, out);
            }
            Some(ItemKind::Custom { input, reader, .. }) => {
                let text = reader.push(json);
                input.push_str(&text);
                if !text.is_empty() {
                    self.send_delta(&text, out);
                }
            }
            Some(ItemKind::ToolSearch { arguments, .. }) => arguments.push_str(json),
            _ => {}
        }
    }

    fn open_item(&mut self, prefix: &str, kind: ItemKind, out: &mut EventSink<'_>) {
        self.close_item(COMPLETED, out);
        let index = self.items.len();
        let id = format!("{prefix}_{}_{index}", self.options.id);
        let item = Item { id: id.clone(), status: IN_PROGRESS, kind };
        let part = item.part();
        let shown = item.json(true);
        self.delta = item.delta(index, "[]");
        self.items.push(item);
        self.is_open = true;
        let index = Json::from(index as u64);
        self.send("response.output_item.added", [("item", shown), ("output_index", index.clone())], out);
        if let Some(part) = part {
            let members = [
                ("content_index", 0_u64.into()),
                ("item_id", id.into()),
                ("output_index", index),
                ("part", part),
            ];
            self.send("response.content_part.added", members, out);
        }
    }

    fn close_item(&mut self, status: &'static str, out: &mut EventSink<'_>) {
        if !std::mem::take(&mut self.is_open) {
            return;
        }
        let output_index = Json::from(self.items.len().saturating_sub(1) as u64);
        let Some(item) = self.items.last_mut() else { return };
        item.status = status;
        let mut left = String::new();
        match &mut item.kind {
            ItemKind::Custom { input, reader, .. } => {
                left = reader.finish();
                input.push_str(&left);
            }
            ItemKind::ToolSearch { arguments, .. } if Json::parse(arguments.as_bytes()).is_err() => {
                item.status = INCOMPLETE;
            }
            _ => {}
        }
        let item = item.clone();
        if !left.is_empty() {
            self.send_delta(&left, out);
        }
        let id = Json::from(item.id.as_str());
        let part = item.part();
        match &item.kind {
            ItemKind::Message { text, logprobs, .. } => {
                let members = [
                    ("content_index", 0_u64.into()),
                    ("item_id", id.clone()),
                    ("logprobs", Json::Array(logprobs.clone())),
                    ("output_index", output_index.clone()),
                    ("text", text.as_str().into()),
                ];
                self.send("response.output_text.done", members, out);
            }
            ItemKind::Reasoning { text, .. } => {
                let members = [
                    ("content_index", 0_u64.into()),
                    ("item_id", id.clone()),
                    ("output_index", output_index.clone()),
                    ("text", text.as_str().into()),
                ];
                self.send("response.reasoning_text.done", members, out);
            }
            ItemKind::Function { arguments, name, .. } => {
                let kind = "response.function_call_arguments.done";
                let arguments = ("arguments", arguments.as_str().into());
                let (item_id, output_index) =
                    (("item_id", id.clone()), ("output_index", output_index.clone()));
                if self.options.dialect == Dialect::Vendor {
                    let name = ("name", name.as_str().into());
                    self.send(kind, [arguments, item_id, name, output_index], out);
                } else {
                    self.send(kind, [arguments, item_id, output_index], out);
                }
            }
            ItemKind::Custom { input, .. } => {
                let members = [
                    ("input", input.as_str().into()),
                    ("item_id", id.clone()),
                    ("output_index", output_index.clone()),
                ];
                self.send("response.custom_tool_call_input.done", members, out);
            }
            ItemKind::ToolSearch { .. } => {}
        }
        if let Some(part) = part {
            let members = [
                ("content_index", 0_u64.into()),
                ("item_id", id),
                ("output_index", output_index.clone()),
                ("part", part),
            ];
            self.send("response.content_part.done", members, out);
        }
        self.send(
            "response.output_item.done",
            [("item", item.json(false)), ("output_index", output_index)],
            out,
        );
    }

    /// Sends the last events.
    pub(in crate::protocol) fn close(&mut self, usage: Usage, out: &mut EventSink<'_>) {
        let Some(reason) = self.stop else { return };
        if std::mem::replace(&mut self.closed, true) {
            return;
        }
        let details = match reason {
            StopReason::Length => Some("max_output_tokens"),
            StopReason::ContentFilter => Some("content_filter"),
            StopReason::End | StopReason::ToolCalls | StopReason::StopSequence => None,
        };
        let status = if details.is_some() { INCOMPLETE } else { COMPLETED };
        self.close_item(status, out);
        self.end(status, usage);
        if let Some(details) = details {
            self.base.insert("incomplete_details", [("reason", details.into())].into());
        }
        let kind = if details.is_some() { "response.incomplete" } else { "response.completed" };
        let response = self.response();
        self.send(kind, [("response", response)], out);
    }

    pub(in crate::protocol) fn fail(&mut self, message: &str, usage: Usage, out: &mut EventSink<'_>) {
        if std::mem::replace(&mut self.closed, true) {
            return;
        }
        self.close_item(INCOMPLETE, out);
        self.end("failed", usage);
        self.base.insert("error", [("code", "server_error".into()), ("message", message.into())].into());
        let response = self.response();
        self.send("response.failed", [("response", response)], out);
    }

    fn end(&mut self, status: &str, usage: Usage) {
        self.base.insert("status", status.into());
        if status == COMPLETED || self.options.dialect == Dialect::Deepseek {
            self.base.insert("completed_at", self.options.created.into());
        }
        self.base.insert("usage", object::usage(usage, self.options.dialect));
    }

    /// The complete response.
    pub(in crate::protocol) fn response(&self) -> Json {
        let mut response = self.base.clone();
        response.insert("output", Json::Array(self.items.iter().map(|item| item.json(false)).collect()));
        response.into()
    }
}

impl Item {
    /// Its deltas, as the item `index`, with these log probabilities if it has any.
    fn delta(&self, index: usize, logprobs: &str) -> Frame {
        let name = match self.kind {
            ItemKind::Message { .. } => "response.output_text.delta",
            ItemKind::Reasoning { .. } => "response.reasoning_text.delta",
            ItemKind::Custom { .. } => "response.custom_tool_call_input.delta",
            ItemKind::Function { .. } | ItemKind::ToolSearch { .. } => {
                "response.function_call_arguments.delta"
            }
        };
        let is_part = matches!(self.kind, ItemKind::Message { .. } | ItemKind::Reasoning { .. });
        let part = if is_part { "\"content_index\":0," } else { "" };
        let front = format!("{{\"type\":\"{name}\",{part}\"delta\":\"");
        let mut behind = String::from("\",\"item_id\":");
        push_string(&mut behind, &self.id);
        if matches!(self.kind, ItemKind::Message { .. }) {
            behind.push_str(",\"logprobs\":");
            behind.push_str(logprobs);
        }
        behind.push_str(&format!(",\"output_index\":{index},\"sequence_number\":"));
        Frame::numbered(Some(name), &front, &behind)
    }

    /// The item's content part, for items that have one.
    fn part(&self) -> Option<Json> {
        match &self.kind {
            ItemKind::Message { text, logprobs, .. } => Some(Json::from([
                ("type", "output_text".into()),
                ("annotations", Json::Array(Vec::new())),
                ("logprobs", Json::Array(logprobs.clone())),
                ("text", text.as_str().into()),
            ])),
            ItemKind::Reasoning { text, .. } => {
                Some(Json::from([("type", "reasoning_text".into()), ("text", text.as_str().into())]))
            }
            _ => None,
        }
    }

    /// The item; `opening` leaves out its content, which comes in events of its own.
    fn json(&self, opening: bool) -> Json {
        let (id, status) = (Json::from(self.id.as_str()), Json::from(self.status));
        let content = Json::Array(self.part().filter(|_| !opening).into_iter().collect());
        match &self.kind {
            ItemKind::Message { phase, .. } => Json::from([
                ("type", "message".into()),
                ("id", id),
                ("status", status),
                ("role", "assistant".into()),
                ("phase", (*phase).into()),
                ("content", content),
            ]),
            ItemKind::Reasoning { encrypted, .. } => Json::from([
                ("type", "reasoning".into()),
                ("id", id),
                ("status", status),
                ("content", content),
                ("summary", Json::Array(Vec::new())),
                ("encrypted_content", encrypted.as_str().into()),
            ]),
            ItemKind::Function { call_id, name, namespace, arguments } => {
                let mut members = Object::from([
                    ("type", "function_call".into()),
                    ("id", id),
                    ("status", status),
                    ("call_id", call_id.as_str().into()),
                    ("name", name.as_str().into()),
                ]);
                if let Some(namespace) = namespace {
                    members.insert("namespace", namespace.as_str().into());
                }
                members.insert("arguments", arguments.as_str().into());
                members.into()
            }
            ItemKind::Custom { call_id, name, input, .. } => Json::from([
                ("type", "custom_tool_call".into()),
                ("id", id),
                ("status", status),
                ("call_id", call_id.as_str().into()),
                ("name", name.as_str().into()),
                ("input", input.as_str().into()),
            ]),
            ItemKind::ToolSearch { call_id, arguments } => {
                let arguments = match Json::parse(arguments.as_bytes()) {
                    Ok(arguments @ Json::Object(_)) => arguments,
                    _ => Json::Object(Object::new()),
                };
                Json::from([
                    ("type", "tool_search_call".into()),
                    ("id", id),
                    ("status", status),
                    ("call_id", call_id.as_str().into()),
                    ("execution", "client".into()),
                    ("arguments", arguments),
                ])
            }
        }
    }
}

//! Events of a Messages stream, and the complete response.

use crate::json::{Json, Object};
use crate::output::{Event, Passed, StopReason};
use crate::protocol::sink::Frame;
use crate::protocol::stream::{CallIds, StreamOptions, Usage};
use crate::protocol::{Dialect, EventSink, Lowered};

/// Writes events and keeps what the complete response needs.
#[derive(Debug, Clone)]
pub(in crate::protocol) struct Writer {
    options: StreamOptions,
    model: String,
    thinks: bool,
    call_ids: CallIds,
    has_reasoned: bool,
    blocks: Vec<Block>,
    is_open: bool,
    /// Of the deltas of the open block.
    delta: Frame,
    stop: Option<(StopReason, Option<String>)>,
    usage: Usage,
    closed: bool,
}

#[derive(Debug, Clone, PartialEq, Eq)]
enum Block {
    Text(String),
    Thinking(String),
    ToolUse { id: String, name: String, input: String },
}

const SERVICE_TIER: &str = "standard";

impl Writer {
    pub(in crate::protocol) fn new(lowered: &Lowered, options: StreamOptions) -> Self {
        Self {
            model: lowered.model.clone(),
            thinks: lowered.conversation.thinking.is_on(),
            call_ids: CallIds::new(options.seed),
            has_reasoned: false,
            blocks: Vec::new(),
            is_open: false,
            delta: Frame::default(),
            stop: None,
            usage: Usage { prompt: options.prompt_tokens, cached: options.cached_tokens, ..Usage::default() },
            closed: false,
            options,
        }
    }

    pub(in crate::protocol) fn start(&mut self, out: &mut EventSink<'_>) {
        let start = Json::from([("type", "message_start".into()), ("message", self.response())]);
        out.send_json(Some("message_start"), &start);
        if self.thinks {
            self.open(Block::Thinking(String::new()), out);
        }
    }

    fn open(&mut self, block: Block, out: &mut EventSink<'_>) {
        self.close_block(out);
        let index = self.blocks.len();
        let content = match &block {
            Block::Text(_) => Json::from([("type", "text".into()), ("text", "".into())]),
            Block::Thinking(_) => {
                Json::from([("type", "thinking".into()), ("thinking", "".into()), ("signature", "".into())])
            }
            Block::ToolUse { id, name, .. } => tool_use(id, name, Json::Object(Object::new())),
        };
        let start = Json::from([
            ("type", "content_block_start".into()),
            ("index", (index as u64).into()),
            ("content_block", content),
        ]);
        out.send_json(Some("content_block_start"), &start);
        if index == 0 {
            out.send_text(Some("ping"), "{\"type\":\"ping\"}");
        }
        let (kind, field) = match &block {
            Block::Text(_) => ("text_delta", "text"),
            Block::Thinking(_) => ("thinking_delta", "thinking"),
            Block::ToolUse { .. } => ("input_json_delta", "partial_json"),
        };
        self.delta = delta(index, kind, field);
        self.blocks.push(block);
        self.is_open = true;
    }

    fn close_block(&mut self, out: &mut EventSink<'_>) {
        if !std::mem::take(&mut self.is_open) {
            return;
        }
        let index = self.blocks.len().saturating_sub(1);
        if matches!(self.blocks.last(), Some(Block::Thinking(_))) {
            out.send_delta(&delta(index, "signature_delta", "signature"), &self.options.id, None);
        }
        let data = format!("{{\"type\":\"content_block_stop\",\"index\":{index}}}");
        out.send_text(Some("content_block_stop"), &data);
    }

    pub(in crate::protocol) fn event(&mut self, event: &Event<'_>, out: &mut EventSink<'_>) {
        match *event {
            Event::Content { text, .. } => self.content(text, out),
            Event::Reasoning { text, .. } => self.reasoning(text, out),
            Event::CallStart { name, .. } => {
                let id = self.call_ids.next(self.thinks && !self.has_reasoned);
                self.open(Block::ToolUse { id, name: name.to_owned(), input: String::new() }, out);
            }
            Event::CallArguments { json, .. } => self.call_arguments(json, out),
            Event::Stop { reason, sequence } => self.stop = Some((reason, sequence.map(str::to_owned))),
            Event::CallEnd { .. } | Event::Warning(_) => {}
        }
    }

    /// Takes what would come as an event.
    pub(in crate::protocol) fn pass(&mut self, passed: Passed, text: &str, out: &mut EventSink<'_>) {
        match passed {
            Passed::Content => self.content(text, out),
            Passed::Reasoning => self.reasoning(text, out),
            Passed::Arguments => self.call_arguments(text, out),
        }
    }

    fn content(&mut self, text: &str, out: &mut EventSink<'_>) {
        if !(self.is_open && matches!(self.blocks.last(), Some(Block::Text(_)))) {
            self.open(Block::Text(String::new()), out);
        }
        if let Some(Block::Text(whole)) = self.blocks.last_mut() {
            whole.push_str(text);
        }
        out.send_delta(&self.delta, text, None);
    }

    fn reasoning(&mut self, text: &str, out: &mut EventSink<'_>) {
        if !(self.is_open && matches!(self.blocks.last(), Some(Block::Thinking(_)))) {
            self.open(Block::Thinking(String::new()), out);
        }
        self.has_reasoned = true;
        if let Some(Block::Thinking(whole)) = self.blocks.last_mut() {
            whole.push_str(text);
        }
        out.send_delta(&self.delta, text, None);
    }

    fn call_arguments(&mut self, json: &str, out: &mut EventSink<'_>) {
        if let Some(Block::ToolUse { input, .. }) = self.blocks.last_mut() {
            input.push_str(json);
            out.send_delta(&self.delta, json, None);
        }
    }

    /// Sends the last events.
    pub(in crate::protocol) fn close(&mut self, usage: Usage, out: &mut EventSink<'_>) {
        if self.stop.is_none() || std::mem::replace(&mut self.closed, true) {
            return;
        }
        self.usage = usage;
        self.close_block(out);
        let (reason, sequence) = self.stop_json();
        let delta = Json::from([("stop_reason", reason), ("stop_sequence", sequence)]);
        let mut usage = self.usage_json();
        if self.options.dialect == Dialect::Deepseek {
            usage.insert("service_tier", SERVICE_TIER.into());
        }
        let data = Json::from([("type", "message_delta".into()), ("delta", delta), ("usage", usage.into())]);
        out.send_json(Some("message_delta"), &data);
        out.send_text(Some("message_stop"), "{\"type\":\"message_stop\"}");
    }

    pub(in crate::protocol) fn fail(&mut self, message: &str, out: &mut EventSink<'_>) {
        if std::mem::replace(&mut self.closed, true) {
            return;
        }
        self.close_block(out);
        let error = Json::from([("type", "api_error".into()), ("message", message.into())]);
        let data = Json::from([("type", "error".into()), ("error", error)]);
        out.send_json(Some("error"), &data);
    }

    fn stop_json(&self) -> (Json, Json) {
        let Some((reason, sequence)) = &self.stop else { return (Json::Null, Json::Null) };
        let reason = match reason {
            StopReason::End => "end_turn",
            StopReason::ToolCalls => "tool_use",
            StopReason::Length => "max_tokens",
            StopReason::StopSequence => "stop_sequence",
            StopReason::ContentFilter => "refusal",
        };
        (reason.into(), sequence.as_deref().into())
    }

    fn usage_json(&self) -> Object {
        let mut members = Object::from([
            ("input_tokens", self.usage.prompt.saturating_sub(self.usage.cached).into()),
            ("cache_creation_input_tokens", 0_u64.into()),
            ("cache_read_input_tokens", self.usage.cached.into()),
            ("output_tokens", self.usage.completion.into()),
        ]);
        if self.options.dialect == Dialect::Vendor
            && let Some(reasoning) = self.usage.reasoning
        {
            members.insert("output_tokens_details", [("thinking_tokens", reasoning.into())].into());
        }
        members
    }

    /// The complete response.
    pub(in crate::protocol) fn response(&self) -> Json {
        let mut usage = self.usage_json();
        usage.insert("service_tier", SERVICE_TIER.into());
        let (reason, sequence) = self.stop_json();
        let content = self.blocks.iter().map(|block| match block {
            Block::Text(text) => Json::from([("type", "text".into()), ("text", text.as_str().into())]),
            Block::Thinking(text) => Json::from([
                ("type", "thinking".into()),
                ("thinking", text.as_str().into()),
                ("signature", self.options.id.as_str().into()),
            ]),
            Block::ToolUse { id, name, input } => {
                // Of a call that was cut, what Anthropic's SDKs gather from the deltas.
                let input = match Json::parse_cut(input) {
                    Some(input @ Json::Object(_)) => input,
                    _ => Json::Object(Object::new()),
                };
                tool_use(id, name, input)
            }
        });
        Json::from([
            ("id", self.options.id.as_str().into()),
            ("type", "message".into()),
            ("role", "assistant".into()),
            ("model", self.model.as_str().into()),
            ("content", Json::Array(content.collect())),
            ("stop_reason", reason),
            ("stop_sequence", sequence),
            ("usage", usage.into()),
        ])
    }
}

/// Deltas of type `kind` of the block `index`, with their text in the member `field`.
fn delta(index: usize, kind: &str, field: &str) -> Frame {
    let name = "content_block_delta";
    let front =
        format!("{{\"type\":\"{name}\",\"index\":{index},\"delta\":{{\"type\":\"{kind}\",\"{field}\":\"");
    Frame::new(Some(name), &front, "\"}}")
}

fn tool_use(id: &str, name: &str, input: Json) -> Json {
    Json::from([("type", "tool_use".into()), ("id", id.into()), ("name", name.into()), ("input", input)])
}

//! Events of a Messages stream, and the complete response.
//!
//! | | `deepseek` dialect | `vendor` dialect |
//! | --- | --- | --- |
//! | `service_tier` in the usage of `message_delta` | `standard` | absent |
//! | tokens of reasoning | not told | `output_tokens_details.thinking_tokens` in usage, when they are known |

use crate::json::{Json, Object};
use crate::output::{Event, StopReason};
use crate::protocol::stream::{CallIds, Common, StreamOptions, Usage};
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
    /// What stands in a delta up to its text, for deltas of this block and type.
    front: ((usize, &'static str), String),
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
            front: Default::default(),
            stop: None,
            usage: Usage { prompt: options.prompt_tokens, cached: options.cached_tokens, ..Usage::default() },
            closed: false,
            options,
        }
    }

    pub(in crate::protocol) fn start(&mut self, common: Common<'_, '_>) {
        let start = Json::from([("type", "message_start".into()), ("message", self.response())]);
        common.out.send_text(Some("message_start"), &start.to_string());
        if self.thinks {
            self.open(Block::Thinking(String::new()), common.out);
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
        out.send_text(Some("content_block_start"), &start.to_string());
        if index == 0 {
            out.send_text(Some("ping"), "{\"type\":\"ping\"}");
        }
        self.blocks.push(block);
        self.is_open = true;
    }

    fn close_block(&mut self, out: &mut EventSink<'_>) {
        if !std::mem::take(&mut self.is_open) {
            return;
        }
        if matches!(self.blocks.last(), Some(Block::Thinking(_))) {
            let signature = self.options.id.clone();
            self.delta("signature_delta", "signature", &signature, out);
        }
        let index = self.blocks.len().saturating_sub(1);
        let data = format!("{{\"type\":\"content_block_stop\",\"index\":{index}}}");
        out.send_text(Some("content_block_stop"), &data);
    }

    /// Sends a delta of the open block, whose text is in the member `field` of a delta of type `kind`.
    fn delta(&mut self, kind: &'static str, field: &str, text: &str, out: &mut EventSink<'_>) {
        let index = self.blocks.len().saturating_sub(1);
        if self.front.0 != (index, kind) {
            let text = format!(
                "{{\"type\":\"content_block_delta\",\"index\":{index},\"delta\":{{\"type\":\"{kind}\",\"{field}\":\""
            );
            self.front = ((index, kind), text);
        }
        let frame = "event: content_block_delta\ndata: ";
        out.send_delta(frame, &self.front.1, text, |data| data.push_str("\"}}"));
    }

    pub(in crate::protocol) fn event(&mut self, event: Event<'_>, common: Common<'_, '_>) {
        let out = common.out;
        match event {
            Event::Content { text, .. } => {
                if !(self.is_open && matches!(self.blocks.last(), Some(Block::Text(_)))) {
                    self.open(Block::Text(String::new()), out);
                }
                if let Some(Block::Text(whole)) = self.blocks.last_mut() {
                    whole.push_str(text);
                }
                self.delta("text_delta", "text", text, out);
            }
            Event::Reasoning { text, .. } => {
                if !(self.is_open && matches!(self.blocks.last(), Some(Block::Thinking(_)))) {
                    self.open(Block::Thinking(String::new()), out);
                }
                self.has_reasoned = true;
                if let Some(Block::Thinking(whole)) = self.blocks.last_mut() {
                    whole.push_str(text);
                }
                self.delta("thinking_delta", "thinking", text, out);
            }
            Event::CallStart { name, .. } => {
                let id = self.call_ids.next(self.thinks && !self.has_reasoned);
                self.open(Block::ToolUse { id, name: name.to_owned(), input: String::new() }, out);
            }
            Event::CallArguments { json, .. } => {
                if let Some(Block::ToolUse { input, .. }) = self.blocks.last_mut() {
                    input.push_str(json);
                }
                self.delta("input_json_delta", "partial_json", json, out);
            }
            Event::Stop { reason, sequence } => self.stop = Some((reason, sequence.map(str::to_owned))),
            Event::CallEnd { .. } | Event::Warning(_) => {}
        }
    }

    /// Sends the last events.
    pub(in crate::protocol) fn close(&mut self, common: Common<'_, '_>) {
        if self.stop.is_none() || std::mem::replace(&mut self.closed, true) {
            return;
        }
        self.usage = common.usage;
        self.close_block(common.out);
        let (reason, sequence) = self.stop_json();
        let delta = Json::from([("stop_reason", reason), ("stop_sequence", sequence)]);
        let mut usage = self.usage_json();
        if self.options.dialect == Dialect::Deepseek {
            usage.insert("service_tier", SERVICE_TIER.into());
        }
        let data = Json::from([("type", "message_delta".into()), ("delta", delta), ("usage", usage.into())]);
        common.out.send_text(Some("message_delta"), &data.to_string());
        common.out.send_text(Some("message_stop"), "{\"type\":\"message_stop\"}");
    }

    pub(in crate::protocol) fn fail(&mut self, message: &str, common: Common<'_, '_>) {
        if std::mem::replace(&mut self.closed, true) {
            return;
        }
        self.close_block(common.out);
        let error = Json::from([("type", "api_error".into()), ("message", message.into())]);
        let data = Json::from([("type", "error".into()), ("error", error)]);
        common.out.send_text(Some("error"), &data.to_string());
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

fn tool_use(id: &str, name: &str, input: Json) -> Json {
    Json::from([("type", "tool_use".into()), ("id", id.into()), ("name", name.into()), ("input", input)])
}

//! The history: messages one by one, calls with their results. As in [`blocks`](super::blocks), places are written only
//! if something is to be said of them.

use std::collections::{BTreeSet, HashMap, HashSet};
use std::fmt::{Display, from_fn};

use crate::conversation::{AssistantMessage, Call, Content, Message as Out, Part, Tool as OutTool};
use crate::json::{Json, Style};
use crate::protocol::chat::{BILLING_HEADER, strip_billing_header};
use crate::protocol::tools::Declaration;
use crate::protocol::{Context, ErrorKind, RequestError, WarningKind};

use super::blocks::{content_part, result_content, unknown_block};
use super::{Block, Content as In, Message, ResultBlock, ResultContent, System, SystemBlock};

/// Converts the messages one by one.
pub(super) struct Conversion<'c, 'o> {
    context: &'c mut Context<'o>,
    tools: HashMap<&'c str, &'c Declaration>,
    messages: Vec<Out>,
    /// Calls of the last assistant message that have no result yet.
    pending: BTreeSet<String>,
    /// Messages that wait until the pending calls have their results.
    moved: Vec<(usize, Message)>,
}

impl<'c, 'o> Conversion<'c, 'o> {
    pub(super) fn new(context: &'c mut Context<'o>, tools: &'c [Declaration]) -> Self {
        let tools = tools.iter().map(|tool| (tool.name.as_str(), tool)).collect();
        Self { context, tools, messages: Vec::new(), pending: BTreeSet::new(), moved: Vec::new() }
    }

    pub(super) fn run(
        mut self,
        system: Option<System>,
        messages: Vec<Message>,
    ) -> Result<Vec<Out>, RequestError> {
        if messages.is_empty() {
            let message = "messages: at least one message is required";
            return Err(RequestError::new(ErrorKind::Message, "messages", message));
        }
        if let Some(system) = system {
            let content = self.convert_system_field(system)?;
            self.messages.push(Out::System { content, tools: Vec::new() });
        }
        let count = messages.len();
        for (index, message) in messages.into_iter().enumerate() {
            self.convert(index, message)?;
            if self.pending.is_empty() {
                for (index, message) in std::mem::take(&mut self.moved) {
                    self.convert(index, message)?;
                }
            }
        }
        if self.pending.is_empty() {
            Ok(self.messages)
        } else {
            Err(self.unanswered(format_args!("{}:", count - 1), count - 1))
        }
    }

    fn convert(&mut self, index: usize, message: Message) -> Result<(), RequestError> {
        let path = from_fn(|f| write!(f, "messages[{index}]"));
        match message {
            Message::User(content) => match self.context.required(content, &path)? {
                In::Text(text) => {
                    self.require_results(index)?;
                    self.messages.push(Out::User { content: text.into() });
                    Ok(())
                }
                In::List(blocks) => self.convert_user(index, blocks),
            },
            Message::Assistant(content) => match self.context.required(content, &path)? {
                In::Text(text) => {
                    self.require_results(index)?;
                    self.messages.push(Out::Assistant(AssistantMessage {
                        content: text,
                        ..AssistantMessage::default()
                    }));
                    Ok(())
                }
                In::List(blocks) => self.convert_assistant(index, blocks),
            },
            message @ Message::System(_) if !self.pending.is_empty() => {
                let refusal = self.unanswered(format_args!("{index}: "), index);
                let note = "a message between a call and its result moves behind the result";
                self.context.accept(WarningKind::MovedMessage, &path, note, || refusal)?;
                self.moved.push((index, message));
                Ok(())
            }
            Message::System(content) => {
                let content = self.context.required(content, &path)?;
                self.convert_system(index, content)
            }
            Message::Unknown { role, .. } => {
                let message = format!("a message of the unknown role `{role}` is left out");
                self.context.accept(WarningKind::UnknownRole, &path, message, || {
                    let problem = format!("unknown role `{role}`, expected `user`, `assistant` or `system`");
                    RequestError::wrong_type(format!("{path}.role"), problem)
                })
            }
        }
    }

    /// Refuses the message `index` if calls before it have no results.
    fn require_results(&self, index: usize) -> Result<(), RequestError> {
        if self.pending.is_empty() { Ok(()) } else { Err(self.unanswered(format_args!("{index}: "), index)) }
    }

    /// The error for calls without results. `at` is the message in the official API's words, with what follows.
    fn unanswered(&self, at: std::fmt::Arguments<'_>, index: usize) -> RequestError {
        let ids: Vec<&str> = self.pending.iter().map(String::as_str).collect();
        let message = format!(
            "messages.{at}`tool_use` ids were found without `tool_result` blocks immediately after: {}. Each `tool_use` \
             block must have a corresponding `tool_result` block in the next message.",
            ids.join(", ")
        );
        RequestError::new(ErrorKind::ToolResult, format_args!("messages[{index}]"), message)
    }

    /// A first block that is a billing header is left out, as in the official API; so is such a header at the
    /// start of a plain text.
    fn convert_system_field(&mut self, system: System) -> Result<Content, RequestError> {
        let blocks = match system {
            System::Text(text) => {
                let mut content = Content::from(text);
                if !self.context.is_strict() && strip_billing_header(&mut content) {
                    self.context.note(WarningKind::BillingHeader, "system", "the billing header is left out");
                }
                return Ok(content);
            }
            System::List(blocks) => blocks,
        };
        let mut parts = Vec::with_capacity(blocks.len());
        for (index, block) in blocks.into_iter().enumerate() {
            let path = format!("system[{index}]");
            match block {
                SystemBlock::Text(text) if index == 0 && starts_with_billing_header(&text) => {
                    self.context.note(WarningKind::BillingHeader, path, "the billing header is left out");
                }
                SystemBlock::Text(text) => parts.push(Part::Text(text)),
                SystemBlock::Unknown(kind) => {
                    let message = format!("a block of type `{kind}` is left out");
                    self.context.accept(WarningKind::UnknownBlock, &path, message, || {
                        unknown_block(&kind, &path, "`text`")
                    })?;
                }
            }
        }
        Ok(Content(parts))
    }

    fn convert_system(&mut self, index: usize, content: In) -> Result<(), RequestError> {
        let mut added = Vec::new();
        let content = match content {
            In::Text(text) => text.into(),
            In::List(blocks) => self.convert_system_blocks(index, blocks, &mut added)?,
        };
        if self.context.profile.capabilities().mid_conversation_system {
            self.messages.push(Out::System { content, tools: added });
        } else if !content.is_empty() {
            self.messages.push(Out::User { content: as_reminder(content) });
        }
        Ok(())
    }

    fn convert_system_blocks(
        &mut self,
        index: usize,
        blocks: Vec<Block>,
        added: &mut Vec<OutTool>,
    ) -> Result<Content, RequestError> {
        let mut parts = Vec::with_capacity(blocks.len());
        for (block_index, mut block) in blocks.into_iter().enumerate() {
            let path = from_fn(|f| write!(f, "messages[{index}].content[{block_index}]"));
            let at = from_fn(|f| write!(f, "messages.{index}.content[{block_index}]"));
            if let Some(part) = content_part(self.context, &mut block, &at, &path)? {
                parts.push(part);
                continue;
            }
            match block {
                Block::ToolAddition(name) => {
                    let Some(tool) = self.tools.get(name.as_str()) else {
                        let message = format!(
                            "messages.{index}.content.{block_index}: `tool_addition` references unknown tool '{name}'"
                        );
                        return Err(RequestError::new(ErrorKind::Tool, path, message));
                    };
                    added.push(tool.as_declared());
                }
                block => self.misplaced(index, &path, &block, Role::System)?,
            }
        }
        Ok(Content(parts))
    }

    fn convert_user(&mut self, index: usize, mut blocks: Vec<Block>) -> Result<(), RequestError> {
        self.check_not_empty(index, &blocks)?;
        self.results_first(index, &mut blocks)?;
        let mut answered = HashSet::new();
        let mut referenced = Vec::new();
        for (block_index, mut block) in blocks.into_iter().enumerate() {
            let path = from_fn(|f| write!(f, "messages[{index}].content[{block_index}]"));
            if matches!(block, Block::Text(_) | Block::Image(_) | Block::Document(_) | Block::Unknown(_)) {
                self.require_results(index)?;
            }
            let at = from_fn(|f| write!(f, "messages.{index}.content[{block_index}]"));
            if let Some(part) = content_part(self.context, &mut block, &at, &path)? {
                self.messages.push(Out::User { content: Content(vec![part]) });
                continue;
            }
            match block {
                Block::ToolResult { tool_use_id, content, is_error } => {
                    let place = from_fn(|f| write!(f, "messages.{index}.content.{block_index}"));
                    self.answer(&tool_use_id, &mut answered, &place, &path)?;
                    self.collect_references(content.as_ref(), &place, &path, &mut referenced)?;
                    let at = from_fn(|f| write!(f, "{place}.tool_result"));
                    let mut content = result_content(self.context, content, &at, &path)?;
                    if is_error == Some(true) {
                        self.mark_error(&mut content, &path);
                    }
                    self.messages.push(Out::Tool { content, call_id: Some(tool_use_id) });
                }
                block => self.misplaced(index, &path, &block, Role::User)?,
            }
        }
        if !self.pending.is_empty() {
            return Err(self.unanswered(format_args!("{}:", index.saturating_sub(1)), index));
        }
        if self.context.profile.capabilities().mid_conversation_system && !referenced.is_empty() {
            self.messages.push(Out::System { content: Content::default(), tools: referenced });
        }
        Ok(())
    }

    /// Moves results in front of other blocks while calls wait for them.
    fn results_first(&mut self, index: usize, blocks: &mut [Block]) -> Result<(), RequestError> {
        let is_result = |block: &Block| matches!(block, Block::ToolResult { .. });
        if self.pending.is_empty()
            || self.context.is_strict()
            || blocks.is_sorted_by_key(|block| !is_result(block))
        {
            return Ok(());
        }
        let note = "tool results move to the front of their message";
        self.context.note(WarningKind::MovedBlock, format_args!("messages[{index}].content"), note);
        blocks.sort_by_key(|block| !is_result(block));
        Ok(())
    }

    /// Notes that the call `id` has its result.
    fn answer(
        &mut self,
        id: &str,
        answered: &mut HashSet<String>,
        place: &dyn Display,
        path: &dyn Display,
    ) -> Result<(), RequestError> {
        let refuse = |message: String| Err(RequestError::new(ErrorKind::ToolResult, path, message));
        if answered.contains(id) {
            return refuse(format!(
                "{place}: each tool_use must have a single result. Found multiple `tool_result` blocks with id: {id}"
            ));
        }
        if !self.pending.remove(id) {
            return refuse(format!(
                "unexpected `{place}: tool_use_id` found in `tool_result` blocks: {id}. Each `tool_result` block must have \
                 a corresponding `tool_use` block in the previous message."
            ));
        }
        answered.insert(id.to_owned());
        Ok(())
    }

    /// Collects the deferred tools that a search result refers to.
    fn collect_references(
        &self,
        content: Option<&ResultContent>,
        place: &dyn Display,
        path: &dyn Display,
        referenced: &mut Vec<OutTool>,
    ) -> Result<(), RequestError> {
        let Some(ResultContent::List(blocks)) = content else { return Ok(()) };
        for block in blocks {
            let ResultBlock::ToolReference(name) = block else { continue };
            let Some(tool) = self.tools.get(name.as_str()) else {
                let message = format!("{place}: tool reference '{name}' not found in available tools");
                return Err(RequestError::new(ErrorKind::Tool, path, message));
            };
            referenced.push(tool.as_declared());
        }
        Ok(())
    }

    fn mark_error(&mut self, content: &mut Content, path: &dyn Display) {
        if !self.context.options.mark_tool_errors {
            let message = "the prompt does not show that the tool failed";
            self.context.note(WarningKind::ToolError, path, message);
            return;
        }
        match content.0.first_mut() {
            Some(Part::Text(text)) => text.insert_str(0, "Error: "),
            _ => content.0.insert(0, Part::Text("Error:".to_owned())),
        }
    }

    fn convert_assistant(&mut self, index: usize, blocks: Vec<Block>) -> Result<(), RequestError> {
        self.require_results(index)?;
        self.check_not_empty(index, &blocks)?;
        let mut message = AssistantMessage::default();
        for (block_index, mut block) in blocks.into_iter().enumerate() {
            let path = from_fn(|f| write!(f, "messages[{index}].content[{block_index}]"));
            let is_content = matches!(block, Block::Text(_) | Block::Image(_) | Block::Document(_));
            if is_content && message.calls.is_some() {
                let refusal = self.unanswered(format_args!("{index}.{block_index}: "), index);
                let note = "text after a call moves in front of it";
                self.context.accept(WarningKind::MovedBlock, &path, note, || refusal)?;
            }
            if let Block::Unknown(kind) = &block {
                let note = format!("a block of type `{kind}` is left out");
                self.context.accept(WarningKind::DroppedBlock, &path, note, || {
                    unknown_block(kind, &path, "`text`, `thinking` or `tool_use`")
                })?;
                continue;
            }
            let at = from_fn(|f| write!(f, "messages.{index}.content[{block_index}]"));
            match content_part(self.context, &mut block, &at, &path)? {
                Some(Part::Text(text)) => {
                    if !message.content.is_empty() {
                        message.content.push_str("\n\n");
                    }
                    message.content.push_str(&text);
                    continue;
                }
                Some(Part::Image(_)) => {
                    let message = "Image in assistant message is unsupported";
                    return Err(RequestError::new(ErrorKind::Image, path, message));
                }
                None => {}
            }
            match block {
                Block::ToolUse { id, name, input } => {
                    if !self.pending.insert(id.clone()) {
                        let message =
                            format!("messages.{index}.content.{block_index}: `tool_use` ids must be unique");
                        return Err(RequestError::new(ErrorKind::ToolResult, path, message));
                    }
                    message.calls.get_or_insert_default().push(Call {
                        id,
                        name,
                        arguments: arguments(input),
                    });
                }
                Block::Thinking(thinking) => match &mut message.reasoning {
                    Some(reasoning) => {
                        reasoning.push_str("\n\n");
                        reasoning.push_str(&thinking);
                    }
                    none => *none = Some(thinking),
                },
                Block::RedactedThinking => {
                    let note = "redacted thinking is left out: only its vendor can read it";
                    self.context.accept(WarningKind::DroppedBlock, &path, note, || {
                        unknown_block("redacted_thinking", &path, "`text`, `thinking` or `tool_use`")
                    })?;
                }
                Block::ServerToolUse | Block::WebSearchToolResult => {
                    let note = "a call that the vendor ran is left out";
                    self.context.accept(WarningKind::DroppedBlock, &path, note, || {
                        let message = "Unsupported content block: server tools are not supported";
                        RequestError::new(ErrorKind::Message, &path, message)
                    })?;
                }
                block => self.misplaced(index, &path, &block, Role::Assistant)?,
            }
        }
        self.messages.push(Out::Assistant(message));
        Ok(())
    }

    fn check_not_empty(&mut self, index: usize, blocks: &[Block]) -> Result<(), RequestError> {
        if !blocks.is_empty() {
            return Ok(());
        }
        let path = format!("messages[{index}].content");
        self.context.accept(WarningKind::EmptyList, &path, "a message without blocks counts as empty", || {
            let message = format!("messages.{index}: all messages must have non-empty content");
            RequestError::new(ErrorKind::Message, &path, message)
        })
    }

    /// Refuses a block that cannot stand in a message of `role`.
    fn misplaced(
        &mut self,
        index: usize,
        path: &dyn Display,
        block: &Block,
        role: Role,
    ) -> Result<(), RequestError> {
        let message = match block {
            Block::Thinking(_) => {
                format!("messages.{index}.content: thinking blocks may only be in `assistant` messages")
            }
            Block::ToolUse { .. } | Block::ServerToolUse => {
                format!("messages.{index}: `tool_use` blocks can only be in `assistant` messages")
            }
            Block::ToolResult { .. } => {
                format!("messages.{index}: `tool_result` blocks can only be in `user` messages")
            }
            Block::ToolAddition(_) => {
                format!("messages.{index}: `tool_addition` blocks can only be in `system` messages")
            }
            Block::WebSearchToolResult => {
                format!(
                    "messages.{index}: `web_search_tool_result` blocks can only be in `assistant` messages"
                )
            }
            Block::RedactedThinking => {
                let note = format!("redacted thinking in a {} message is left out", role.as_str());
                return self.context.accept(WarningKind::DroppedBlock, path, note, || {
                    unknown_block("redacted_thinking", path, "`text`, `image`, `document` or `tool_result`")
                });
            }
            // Content blocks were taken before.
            Block::Text(_) | Block::Image(_) | Block::Document(_) | Block::Unknown(_) => return Ok(()),
        };
        Err(RequestError::new(ErrorKind::Message, path, message))
    }
}

/// The role of a message, for messages about it.
#[derive(Clone, Copy)]
enum Role {
    User,
    Assistant,
    System,
}

impl Role {
    const fn as_str(self) -> &'static str {
        match self {
            Self::User => "user",
            Self::Assistant => "assistant",
            Self::System => "system",
        }
    }
}

fn starts_with_billing_header(text: &str) -> bool {
    text.get(..BILLING_HEADER.len()).is_some_and(|start| start.eq_ignore_ascii_case(BILLING_HEADER))
}

/// A system message in the middle, for a model that takes none: a user message that says what it is.
fn as_reminder(content: Content) -> Content {
    const OPEN: &str = "<system-reminder>\n";
    const CLOSE: &str = "\n</system-reminder>";
    let mut parts = content.0;
    match parts.first_mut() {
        Some(Part::Text(text)) => text.insert_str(0, OPEN),
        _ => parts.insert(0, Part::Text(OPEN.to_owned())),
    }
    match parts.last_mut() {
        Some(Part::Text(text)) => text.push_str(CLOSE),
        _ => parts.push(Part::Text(CLOSE.to_owned())),
    }
    Content(parts)
}

/// The arguments of a call. The official conversion writes the input as text and reads it back, which can change
/// the last digit of a float.
fn arguments(input: Json) -> crate::json::Object {
    match input {
        Json::Object(object) if !object.iter().any(|(_, value)| value.has_float()) => object,
        input => Call::parse_arguments(input.text(Style::Spaced)),
    }
}

//! Input items: messages, reasoning, and calls with their results.

use std::collections::{HashMap, HashSet, VecDeque};

use crate::conversation::{self, AssistantMessage, Call, Message as Out, Tool as OutTool};
use crate::protocol::images::{self, UNSUPPORTED_DOCUMENT, UNSUPPORTED_IMAGE, check_data_urls};
use crate::protocol::tools::{call_arguments, custom_arguments};
use crate::protocol::{Context, ErrorKind, RequestError, WarningKind};

use super::tools::{Declared, EarlierNames, TOOL_SEARCH, search_result};
use super::{CallOutput, Content, InputImage, Item, Message, Part, ReasoningItem};

/// Converts the items one by one.
pub(super) struct Conversion<'c, 'o> {
    context: &'c mut Context<'o>,
    declared: &'c Declared,
    messages: Vec<Out>,
    items: VecDeque<(usize, Item)>,
    /// Calls without a result, each with the number of calls before it.
    pending: HashMap<String, usize>,
    answered: HashSet<String>,
    group: Group,
    /// Function names of namespaced calls whose tools are not declared.
    earlier_names: EarlierNames,
    /// Items that wait until the pending calls have their results.
    moved: Vec<(usize, Item)>,
}

/// Calls of one turn, collected until each has its result.
#[derive(Default)]
struct Group {
    calls: Vec<Call>,
    results: HashMap<String, Vec<Out>>,
    /// Tools that searches among the calls found.
    found: Vec<Vec<OutTool>>,
}

impl<'c, 'o> Conversion<'c, 'o> {
    /// A conversion whose messages follow `messages`.
    pub(super) fn new(context: &'c mut Context<'o>, declared: &'c Declared, messages: Vec<Out>) -> Self {
        Self {
            context,
            declared,
            messages,
            items: VecDeque::new(),
            pending: HashMap::new(),
            answered: HashSet::new(),
            group: Group::default(),
            earlier_names: declared.earlier_names(),
            moved: Vec::new(),
        }
    }

    pub(super) fn run(mut self, items: Vec<Item>) -> Result<Vec<Out>, RequestError> {
        if items.is_empty() {
            let message = "Input items array must not be empty";
            return Err(RequestError::new(ErrorKind::Message, "input", message));
        }
        self.items = items.into_iter().enumerate().collect();
        while let Some((index, item)) = self.items.pop_front() {
            self.convert(index, item)?;
            if self.pending.is_empty() && !self.moved.is_empty() {
                for moved in std::mem::take(&mut self.moved).into_iter().rev() {
                    self.items.push_front(moved);
                }
            }
        }
        self.close_group();
        self.require_results("input")?;
        Ok(self.messages)
    }

    fn convert(&mut self, index: usize, item: Item) -> Result<(), RequestError> {
        let path = format!("input[{index}]");
        let takes_searches = self.context.profile.capabilities().mid_conversation_system;
        match item {
            item @ (Item::Message(_) | Item::Reasoning(_) | Item::WebSearchCall)
                if !self.pending.is_empty() =>
            {
                let refusal = self.unanswered(&path);
                let note = "an item between a call and its result moves behind the result";
                self.context.accept(WarningKind::MovedMessage, &path, note, || refusal)?;
                self.moved.push((index, item));
            }
            Item::Message(message) => {
                self.close_group();
                self.convert_message(index, message)?;
            }
            Item::Reasoning(reasoning) => {
                self.close_group();
                self.convert_reasoning(reasoning);
            }
            Item::WebSearchCall => {
                self.context.note(
                    WarningKind::DroppedItem,
                    path,
                    "a web search that the vendor ran is left out",
                );
                self.close_group();
            }
            Item::FunctionCall(call) => {
                self.open_call(&call.call_id, &path)?;
                let arguments = call_arguments(self.context, call.arguments, &format!("{path}.arguments"))?;
                let name = match call.namespace {
                    Some(namespace) => {
                        self.declared.function_name(namespace, call.name, &mut self.earlier_names)
                    }
                    None => call.name,
                };
                self.group.calls.push(Call { id: call.call_id, name, arguments });
            }
            Item::CustomToolCall(call) => {
                self.open_call(&call.call_id, &path)?;
                let arguments = custom_arguments(call.input);
                self.group.calls.push(Call { id: call.call_id, name: call.name, arguments });
            }
            Item::ToolSearchCall(call) if takes_searches => {
                self.open_call(&call.call_id, &path)?;
                let name = TOOL_SEARCH.to_owned();
                self.group.calls.push(Call { id: call.call_id, name, arguments: call.arguments });
            }
            Item::FunctionCallOutput(output) => self.convert_output(output, &path)?,
            Item::CustomToolCallOutput(output) => self.convert_custom_output(output, &path)?,
            Item::ToolSearchOutput(output) if takes_searches => {
                self.answer_call(&output.call_id, &path)?;
                let content = search_result(self.context, &output.tools, &path)?.into();
                if let Some(found) = self.declared.found.get(&index).filter(|found| !found.is_empty())
                    && !self.group.calls.is_empty()
                {
                    self.group.found.push(found.clone());
                }
                let result = Out::Tool { content, call_id: Some(output.call_id.clone()) };
                self.push_result(output.call_id, vec![result]);
            }
            Item::ToolSearchCall(_) | Item::ToolSearchOutput(_) => {
                self.context.note(
                    WarningKind::DroppedItem,
                    path,
                    "the model searches for no tools: the item is left out",
                );
            }
            Item::Unknown(kind) => {
                let message = format!("an item of type `{kind}` is left out");
                self.context.note(WarningKind::DroppedItem, path, message);
            }
        }
        Ok(())
    }

    /// Notes a call that waits for its result.
    fn open_call(&mut self, id: &str, path: &str) -> Result<(), RequestError> {
        check_call_id(id, path)?;
        if self.answered.contains(id) || self.pending.contains_key(id) {
            let message = format!("Duplicate 'call_id': {id}.");
            return Err(RequestError::new(ErrorKind::ToolResult, path, message));
        }
        self.pending.insert(id.to_owned(), self.pending.len() + self.answered.len());
        Ok(())
    }

    /// Notes that a call has its result.
    fn answer_call(&mut self, id: &str, path: &str) -> Result<(), RequestError> {
        check_call_id(id, path)?;
        if self.pending.remove(id).is_none() {
            let message = if self.answered.contains(id) {
                format!("Duplicate tool output for call_id: {id}.")
            } else {
                format!("No tool call found for tool output with call_id {id}.")
            };
            return Err(RequestError::new(ErrorKind::ToolResult, path, message));
        }
        self.answered.insert(id.to_owned());
        Ok(())
    }

    fn require_results(&self, path: &str) -> Result<(), RequestError> {
        if self.pending.is_empty() { Ok(()) } else { Err(self.unanswered(path)) }
    }

    /// The error for calls without results; it names the first.
    fn unanswered(&self, path: &str) -> RequestError {
        let id = self.pending.iter().min_by_key(|(_, before)| **before).map_or("", |(id, _)| id.as_str());
        RequestError::new(ErrorKind::ToolResult, path, format!("No tool output found for tool call {id}."))
    }

    fn push_result(&mut self, id: String, messages: Vec<Out>) {
        if self.group.calls.is_empty() {
            self.messages.extend(messages);
            return;
        }
        self.group.results.insert(id, messages);
        if self.group.results.len() >= self.group.calls.len() {
            self.close_group();
        }
    }

    /// Appends the calls so far, sorted by id, to the last message if it is the model's, else to a new one; then
    /// their results in the same order, then the tools that were found.
    fn close_group(&mut self) {
        let Group { mut calls, mut results, found } = std::mem::take(&mut self.group);
        if calls.is_empty() {
            return;
        }
        calls.sort_by(|a, b| a.id.cmp(&b.id));
        let results: Vec<Out> = calls.iter().filter_map(|call| results.remove(&call.id)).flatten().collect();
        self.last_assistant(|_| true).calls.get_or_insert_default().extend(calls);
        self.messages.extend(results);
        let found =
            found.into_iter().map(|tools| Out::System { content: conversation::Content::default(), tools });
        self.messages.extend(found);
    }

    /// The last message if it is the model's and `fits`, else a new one of the model's.
    fn last_assistant(&mut self, fits: impl FnOnce(&AssistantMessage) -> bool) -> &mut AssistantMessage {
        let fits = matches!(self.messages.last(), Some(Out::Assistant(message)) if fits(message));
        if !fits {
            self.messages.push(Out::Assistant(AssistantMessage::default()));
        }
        match self.messages.last_mut() {
            Some(Out::Assistant(message)) => message,
            _ => unreachable!("an assistant message was found or pushed"),
        }
    }

    fn convert_message(&mut self, index: usize, message: Message) -> Result<(), RequestError> {
        let path = format!("input[{index}]");
        let content = match message.content {
            Some(content) => content,
            None => {
                let note = "the message has no content: it counts as empty";
                self.context.accept(WarningKind::NullContent, &path, note, || {
                    RequestError::wrong_type(&path, "missing field `content`")
                })?;
                Content::Text(String::new())
            }
        };
        if !matches!(message.role.as_str(), "user" | "assistant" | "system" | "developer") {
            let role = &message.role;
            let note = format!("a message of the unknown role `{role}` is left out");
            return self.context.accept(WarningKind::UnknownRole, &path, note, || {
                let problem =
                    format!("unknown role `{role}`, expected `user`, `assistant`, `system` or `developer`");
                RequestError::wrong_type(format!("{path}.role"), problem)
            });
        }
        let content = self.convert_content(content, &path, "content")?;
        let takes_developers = self.context.profile.capabilities().mid_conversation_system;
        match message.role.as_str() {
            "assistant" => {
                if content.images().next().is_some() {
                    let message = format!("{path}: Image in assistant message is unsupported");
                    return Err(RequestError::new(ErrorKind::Image, path, message));
                }
                let text = content.texts().collect::<Vec<_>>().join("\n\n");
                let last = self.last_assistant(|last| last.calls.is_none());
                if !text.is_empty() {
                    if !last.content.is_empty() {
                        last.content.push_str("\n\n");
                    }
                    last.content.push_str(&text);
                }
            }
            role => {
                check_data_urls(&content, &path)?;
                self.messages.push(if role == "system" || (role == "developer" && takes_developers) {
                    Out::System { content, tools: Vec::new() }
                } else {
                    Out::User { content }
                });
            }
        }
        Ok(())
    }

    /// Content of the item at `path`, in its field `field`. Data URLs are checked apart.
    fn convert_content(
        &mut self,
        content: Content,
        path: &str,
        field: &str,
    ) -> Result<conversation::Content, RequestError> {
        let parts = match content {
            Content::Text(text) => return Ok(text.into()),
            Content::List(parts) => parts,
        };
        let mut converted = Vec::with_capacity(parts.len());
        for (index, part) in parts.into_iter().enumerate() {
            let path = format!("{path}.{field}[{index}]");
            converted.push(self.convert_part(part, path, field)?);
        }
        Ok(conversation::Content(converted))
    }

    fn convert_part(
        &mut self,
        part: Part,
        path: String,
        field: &str,
    ) -> Result<conversation::Part, RequestError> {
        use conversation::Part as OutPart;
        let unknown = |kind: &str| {
            let problem = format!(
                "unknown content type `{kind}`, expected `input_text`, `output_text`, `input_image` or `input_file`"
            );
            RequestError::wrong_type(format!("{path}.type"), problem)
        };
        let note = "a note stands in the content's place";
        let (kind, replacement) = match part {
            Part::InputText(text) => return Ok(OutPart::Text(text)),
            Part::OutputText(text) if field == "content" => return Ok(OutPart::Text(text)),
            Part::OutputText(text) => {
                let note = "output text in a tool's result counts as text";
                self.context.accept(WarningKind::UnknownBlock, &path, note, || unknown("output_text"))?;
                return Ok(OutPart::Text(text));
            }
            Part::InputFile => {
                self.context.note(WarningKind::UnknownBlock, &path, note);
                return Ok(OutPart::Text(UNSUPPORTED_DOCUMENT.to_owned()));
            }
            Part::InputImage(image) => return self.convert_image(image, path),
            Part::Refusal(text) => {
                let note = "a refusal counts as text";
                self.context.accept(WarningKind::Refusal, &path, note, || unknown("refusal"))?;
                return Ok(OutPart::Text(text));
            }
            Part::InputAudio => ("input_audio".to_owned(), "[Unsupported Audio]"),
            Part::Unknown(kind) => (kind, "[Unsupported Content]"),
        };
        self.context.accept(WarningKind::UnknownBlock, &path, note, || unknown(&kind))?;
        Ok(OutPart::Text(replacement.to_owned()))
    }

    fn convert_image(&mut self, image: InputImage, path: String) -> Result<conversation::Part, RequestError> {
        use conversation::Part as OutPart;
        let detail = images::detail(self.context, image.detail.as_deref(), &path)?;
        if !self.context.profile.capabilities().images {
            let note = "the model takes no images: a note stands in its place";
            self.context.note(WarningKind::UnknownBlock, path, note);
            return Ok(OutPart::Text(UNSUPPORTED_IMAGE.to_owned()));
        }
        let refuse = |problem: &str| Err(images::error(&path, format!("{path}: {problem}")));
        match (image.image_url.filter(|url| !url.is_empty()), image.file_id) {
            (None, None) => refuse("input_image must have image_url or file_id"),
            (Some(_), Some(_)) => refuse("input_image cannot have both image_url and file_id"),
            (None, Some(_)) => Err(images::file_id_unsupported(&path, &path)),
            (Some(url), None) => {
                let too_long = || format!("{path}: image_url");
                images::from_url(url, detail, path.clone(), too_long).map(OutPart::Image)
            }
        }
    }

    /// Appends reasoning to the last message if it is the model's and has no content yet, else to a new one.
    fn convert_reasoning(&mut self, reasoning: ReasoningItem) {
        let texts: Vec<String> =
            reasoning.content.unwrap_or_default().into_iter().map(|part| part.text).collect();
        let text = texts.join("\n");
        if text.is_empty() {
            return;
        }
        let last = self.last_assistant(|last| last.content.is_empty());
        match &mut last.reasoning {
            Some(reasoning) => {
                reasoning.push('\n');
                reasoning.push_str(&text);
            }
            none => *none = Some(text),
        }
    }

    fn convert_output(&mut self, output: CallOutput, path: &str) -> Result<(), RequestError> {
        let content = match output.output {
            Some(content) => content,
            None => {
                let note = "a call without output has an empty result";
                self.context.accept(WarningKind::NullContent, path, note, || {
                    RequestError::wrong_type(path, "missing field `output`")
                })?;
                Content::Text(String::new())
            }
        };
        let content = self.convert_content(content, path, "output")?;
        check_data_urls(&content, path)?;
        let Some(id) = output.call_id else {
            // A result without a call's id answers no call.
            self.require_results(path)?;
            self.close_group();
            self.messages.push(Out::Tool { content, call_id: None });
            return Ok(());
        };
        self.answer_call(&id, path)?;
        self.push_output(id, content);
        Ok(())
    }

    fn convert_custom_output(&mut self, output: CallOutput, path: &str) -> Result<(), RequestError> {
        let Some(id) = output.call_id else {
            return Err(RequestError::wrong_type(path, "missing field `call_id`"));
        };
        self.answer_call(&id, path)?;
        let content = match output.output {
            Some(content) => self.convert_content(content, path, "output")?,
            None => conversation::Content::default(),
        };
        check_data_urls(&content, path)?;
        self.push_output(id, content);
        Ok(())
    }

    /// Adds a result. A notice about its images' size, which clients send as a developer message right behind it,
    /// stays with it.
    fn push_output(&mut self, id: String, content: conversation::Content) {
        let mut messages = vec![Out::Tool { content, call_id: Some(id.clone()) }];
        if self.context.profile.capabilities().mid_conversation_system
            && let Some(notice) = self.items.front().and_then(|(_, item)| resize_notice(item))
        {
            messages.push(Out::System { content: notice.into(), tools: Vec::new() });
            self.items.pop_front();
        }
        self.push_result(id, messages);
    }
}

fn check_call_id(id: &str, path: &str) -> Result<(), RequestError> {
    if !id.is_empty() {
        return Ok(());
    }
    let message = format!(
        "Invalid '{path}.call_id': empty string. Expected a string with minimum length 1, but got an empty string instead."
    );
    Err(RequestError::new(ErrorKind::ToolResult, format_args!("{path}.call_id"), message))
}

/// The text of a developer message that is nothing but a notice about resized images.
fn resize_notice(item: &Item) -> Option<&str> {
    let Item::Message(Message { role, content: Some(Content::List(parts)) }) = item else { return None };
    let [Part::InputText(text)] = parts.as_slice() else { return None };
    let is_notice = text.starts_with("<image_resize_notice>") && text.ends_with("</image_resize_notice>");
    (role == "developer" && is_notice).then_some(text)
}

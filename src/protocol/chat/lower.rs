//! Lowering. Checks run in this order: model, thinking, tool names, messages, reasoning, continuation, JSON
//! instruction, tool schemas and choice, continuation with JSON or tools, stop sequences, stream options,
//! response format, strict tools, sampling.

use std::collections::HashSet;

use crate::conversation::{
    self, Call, Conversation, Message as Out, ParallelToolCalls, ResponseFormat as OutFormat, ToolKind,
};
use crate::json::Json;
use crate::protocol::images::check_data_urls;
use crate::protocol::sampling::{self, check_stop, check_stops};
use crate::protocol::tools::{self, Choice, Declaration};
use crate::protocol::wire::TextOrList;
use crate::protocol::{
    Api, Context, Echo, ErrorKind, Lowered, Options, RequestError, WarningKind, reasoning,
};

use super::content::{convert, strip_billing_header};
use super::{
    AssistantMessage, CallKind, Content, Message, Request, ResponseFormat, TextMessage, Tool, ToolCall,
    ToolChoice, ToolMessage,
};

impl Request {
    /// Lowers the request.
    ///
    /// # Errors
    ///
    /// [`RequestError`] if the request is refused.
    pub fn lower(self, options: &Options) -> Result<Lowered, RequestError> {
        let mut context = Context::new(options, &self.model)?;
        note_ignored(&mut context, &self);
        let requested = reasoning::Requested::read(
            &mut context,
            self.thinking.as_ref(),
            self.reasoning_effort.as_ref(),
            "reasoning_effort",
        )?;
        let has_tool_context = self.tools.as_ref().is_some_and(|tools| !tools.is_empty())
            || self.messages.iter().any(|message| match message {
                Message::Assistant(message) => message.tool_calls.is_some(),
                Message::Tool(_) => true,
                _ => false,
            });
        let declarations = declare(&mut context, self.tools.unwrap_or_default())?;
        let has_tools = !declarations.is_empty();
        let choice = choose(&mut context, self.tool_choice)?;
        let forced = has_tools && choice.as_ref().is_some_and(Choice::is_forced);
        let thinking = requested.resolve(&mut context, forced);

        let mut messages = convert_messages(&mut context, self.messages)?;
        reasoning::normalize_history(&context, &mut messages, thinking, has_tools, "reasoning_content")?;
        let continues = check_prefix(&messages)?;
        let json_mode = matches!(self.response_format, Some(ResponseFormat::JsonObject));
        if json_mode && !mentions_json(&messages) {
            let message = "Prompt must contain the word 'json' in some form to use 'response_format' of type \
                           'json_object'.";
            return Err(RequestError::new(ErrorKind::ResponseFormat, "response_format", message));
        }
        let (tools, tool_choice) = tools::resolve(&mut context, declarations, choice, thinking.is_on())?;
        if continues && json_mode {
            let message = "response_format json_object should not be used with prefix";
            return Err(RequestError::new(ErrorKind::Prefix, "response_format", message));
        }
        if continues && has_tool_context {
            let message = "Function call should not be used with prefix";
            return Err(RequestError::new(ErrorKind::Prefix, "messages", message));
        }
        match &self.stop {
            Some(TextOrList::Text(stop)) => check_stop(stop, "stop")?,
            Some(TextOrList::List(stops)) => check_stops(stops, "stop")?,
            None => {}
        }
        if self.stream != Some(true) && self.stream_options.is_some() {
            let message = "stream_options should be set along with stream = true";
            return Err(RequestError::new(ErrorKind::Stream, "stream_options", message));
        }
        let has_format = self.response_format.is_some();
        let response_format = convert_format(&mut context, self.response_format)?;
        tools::check_strict_tools(&mut context, &tools, &tool_choice, has_format, "response_format")?;

        let conversation = Conversation {
            messages,
            tools,
            tool_choice,
            thinking,
            response_format,
            parallel_tool_calls: match self.parallel_tool_calls {
                Some(false) => ParallelToolCalls::Forbidden,
                _ => ParallelToolCalls::Allowed,
            },
        };
        let max_tokens = self
            .max_tokens
            .or_else(|| max_completion_tokens(&mut context, self.max_completion_tokens.as_ref()));
        let sampling = sampling::Requested {
            n: self.n,
            presence_penalty: self.presence_penalty,
            frequency_penalty: self.frequency_penalty,
            temperature: self.temperature,
            top_p: self.top_p,
            logprobs: self.logprobs,
            top_logprobs: self.top_logprobs,
            max_tokens,
            seed: self.seed,
            max_tokens_field: "max_tokens",
            clamps_max_tokens: false,
        };
        let sampling = sampling.resolve(&mut context, &conversation)?;
        Ok(Lowered {
            api: Api::Chat,
            profile: context.profile,
            model: self.model,
            conversation,
            sampling,
            stops: match self.stop {
                None => Vec::new(),
                Some(TextOrList::Text(stop)) => vec![stop],
                Some(TextOrList::List(stops)) => stops,
            },
            stream: self.stream == Some(true),
            include_usage: self.stream_options.is_some_and(|options| options.include_usage == Some(true)),
            echo: Echo::None,
            warnings: context.warnings,
        })
    }
}

/// Notes settings whose absence of effect may surprise.
fn note_ignored(context: &mut Context<'_>, request: &Request) {
    let ignored = [
        ("logit_bias", request.logit_bias.is_some()),
        ("audio", request.audio.is_some()),
        ("web_search_options", request.web_search_options.is_some()),
        ("functions", request.functions.is_some()),
        ("function_call", request.function_call.is_some()),
    ];
    for (field, is_set) in ignored {
        if is_set {
            context.note(WarningKind::Ignored, field, format!("{field} has no effect"));
        }
    }
}

/// The limit in the field that the official API ignores, if it is one.
fn max_completion_tokens(context: &mut Context<'_>, limit: Option<&Json>) -> Option<u32> {
    let limit = limit.filter(|_| !context.is_strict())?;
    let path = "max_completion_tokens";
    let bound = context.options.max_tokens_bound;
    let tokens = match limit {
        Json::Number(number) => number.as_u64().and_then(|limit| u32::try_from(limit).ok()),
        _ => None,
    };
    let Some(tokens) = tokens.filter(|tokens| (1..=bound).contains(tokens)) else {
        let message = format!("not a number of tokens from 1 to {bound}: there is no limit");
        context.note(WarningKind::UnknownValue, path, message);
        return None;
    };
    context.note(WarningKind::MaxCompletionTokens, path, "max_completion_tokens counts as max_tokens");
    Some(tokens)
}

fn declare(context: &mut Context<'_>, tools: Vec<Tool>) -> Result<Vec<Declaration>, RequestError> {
    let mut declarations = Vec::with_capacity(tools.len());
    for (index, tool) in tools.into_iter().enumerate() {
        let path = format!("tools[{index}]");
        let unsupported = |kind: &str| {
            let problem = format!("unknown tool type `{kind}`, expected `function`");
            RequestError::wrong_type(format!("tools[{index}].type"), problem)
        };
        match tool {
            Tool::Function { function, typed } => {
                if !typed {
                    context.accept(
                        WarningKind::UntypedTool,
                        &path,
                        "a tool without type counts as a function",
                        || RequestError::wrong_type(&path, "missing field `type`"),
                    )?;
                }
                let path = format!("{path}.function");
                tools::check_name(&function.name, &path)?;
                declarations.push(Declaration {
                    name: function.name,
                    description: function.description,
                    parameters: function.parameters,
                    strict: function.strict,
                    deferred: false,
                    kind: ToolKind::Function,
                    path,
                });
            }
            Tool::Custom(tool) => {
                let message = "a custom tool becomes a function with one string";
                context.accept(WarningKind::CustomTool, &path, message, || unsupported("custom"))?;
                declarations.push(tools::declare_custom(
                    tool.name,
                    tool.description,
                    tool.format,
                    format!("{path}.custom"),
                )?);
            }
            Tool::Unknown(kind) => {
                let message = format!("a tool of type `{kind}` cannot be offered: it is left out");
                context.accept(WarningKind::DroppedTool, &path, message, || unsupported(&kind))?;
            }
        }
    }
    Ok(declarations)
}

/// The tool choice; `None` is the choice `none`.
fn choose(context: &mut Context<'_>, choice: Option<ToolChoice>) -> Result<Option<Choice>, RequestError> {
    Ok(Some(match choice {
        None => Choice::Auto,
        Some(ToolChoice::Mode(mode)) => return tools::choice_by_mode(context, &mode),
        Some(ToolChoice::Named { kind, name }) => {
            if kind != "function" {
                let note = "a custom tool counts as a function";
                context
                    .accept(WarningKind::CustomTool, "tool_choice", note, || tools::unknown_choice(&kind))?;
            }
            Choice::Named(name)
        }
        Some(ToolChoice::Allowed { mode, names }) => tools::allowed_choice(context, &mode, names)?,
        Some(ToolChoice::Unknown(kind)) => tools::other_choice(context, &kind)?,
    }))
}

fn convert_messages(context: &mut Context<'_>, messages: Vec<Message>) -> Result<Vec<Out>, RequestError> {
    if messages.is_empty() {
        return Err(RequestError::new(ErrorKind::Message, "messages", "Empty input messages"));
    }
    let mut converted = Vec::with_capacity(messages.len());
    let mut messages = messages.into_iter().enumerate();
    while let Some((index, message)) = messages.next() {
        match message {
            Message::Assistant(message) => {
                let calls = message.tool_calls.is_some();
                let message = convert_assistant(context, *message, index)?;
                let mut results = Vec::new();
                let mut moved = Vec::new();
                if calls {
                    collect_results(
                        context,
                        message.calls.as_deref().unwrap_or_default(),
                        &mut messages,
                        &mut results,
                        &mut moved,
                    )?;
                }
                converted.push(Out::Assistant(message));
                converted.append(&mut results);
                for (index, message) in moved {
                    convert_other(context, message, index, &mut converted)?;
                }
            }
            message => convert_other(context, message, index, &mut converted)?,
        }
    }
    Ok(converted)
}

/// Converts a message that is not the model's.
fn convert_other(
    context: &mut Context<'_>,
    message: Message,
    index: usize,
    converted: &mut Vec<Out>,
) -> Result<(), RequestError> {
    let path = format!("messages[{index}]");
    match message {
        Message::System(message) => convert_system(context, message, index, converted)?,
        Message::Developer(message) => {
            context.accept(
                WarningKind::DeveloperRole,
                &path,
                "a developer message counts as a system message",
                || unknown_role(&path, "developer"),
            )?;
            convert_system(context, message, index, converted)?;
        }
        Message::User(message) => {
            let content = context.required(message.content, &path)?;
            let content = checked_content(context, content, index)?;
            converted.push(Out::User { content });
        }
        Message::LatestReminder(message) => {
            let content = match context.required(message.content, &path)? {
                Content::Text(text) => text,
                parts @ Content::List(_) => {
                    let message = "a reminder in parts counts as their text";
                    context.accept(WarningKind::UnknownValue, &path, message, || {
                        RequestError::wrong_type(
                            format!("{path}.content"),
                            "expected a string, found an array",
                        )
                    })?;
                    let content = convert(context, parts, index)?;
                    content.texts().collect::<Vec<_>>().join("\n\n")
                }
            };
            converted.push(Out::LatestReminder { content });
        }
        Message::Tool(_) => {
            let message =
                "Messages with role 'tool' must be a response to a preceding message with 'tool_calls'";
            return Err(RequestError::new(ErrorKind::ToolResult, path, message));
        }
        Message::Unknown { role, .. } => {
            let message = format!("a message of the unknown role `{role}` is left out");
            context.accept(WarningKind::UnknownRole, &path, message, || unknown_role(&path, &role))?;
        }
        // The caller takes these itself.
        Message::Assistant(_) => {}
    }
    Ok(())
}

fn unknown_role(path: &str, role: &str) -> RequestError {
    let problem =
        format!("unknown role `{role}`, expected `system`, `user`, `assistant`, `tool` or `latest_reminder`");
    RequestError::wrong_type(format!("{path}.role"), problem)
}

fn checked_content(
    context: &mut Context<'_>,
    content: Content,
    index: usize,
) -> Result<conversation::Content, RequestError> {
    let content = convert(context, content, index)?;
    check_data_urls(&content, &format!(".messages[{index}]"))?;
    Ok(content)
}

fn convert_system(
    context: &mut Context<'_>,
    message: TextMessage,
    index: usize,
    converted: &mut Vec<Out>,
) -> Result<(), RequestError> {
    let path = format!("messages[{index}]");
    let content = context.required(message.content, &path)?;
    let mut content = convert(context, content, index)?;
    if strip_billing_header(&mut content) {
        context.note(WarningKind::BillingHeader, &path, "the billing header is left out");
    }
    if !content.is_empty() {
        check_data_urls(&content, &format!(".messages[{index}]"))?;
        converted.push(Out::System { content, tools: Vec::new() });
    }
    Ok(())
}

fn convert_assistant(
    context: &mut Context<'_>,
    message: AssistantMessage,
    index: usize,
) -> Result<conversation::AssistantMessage, RequestError> {
    let path = format!("messages[{index}]");
    let content = match message.content {
        None if message.tool_calls.is_none() => {
            let refusal = || {
                let message = "Invalid assistant message: content or tool_calls must be set";
                RequestError::new(ErrorKind::Message, &path, message)
            };
            if let Some(text) = message.refusal.as_ref().and_then(Json::as_str) {
                context.accept(WarningKind::Refusal, &path, "the refusal counts as content", refusal)?;
                Content::Text(text.to_owned())
            } else {
                context.accept(
                    WarningKind::NullContent,
                    &path,
                    "the message has no content: it counts as empty",
                    refusal,
                )?;
                Content::Text(String::new())
            }
        }
        None => Content::Text(String::new()),
        Some(content) => content,
    };
    let content = convert(context, content, index)?;
    if content.images().next().is_some() {
        let message = "Image in assistant message is not supported";
        return Err(RequestError::new(ErrorKind::Image, format!("{path}.content"), message));
    }
    let calls = message.tool_calls.map(|calls| convert_calls(context, calls, index)).transpose()?;
    Ok(conversation::AssistantMessage {
        content: join_texts(content),
        reasoning: message.reasoning_content,
        calls: calls.filter(|calls| !calls.is_empty()),
        prefix: message.prefix == Some(true),
    })
}

/// The texts of content without images, as they render.
fn join_texts(mut content: conversation::Content) -> String {
    match content.0.as_mut_slice() {
        [conversation::Part::Text(text)] => std::mem::take(text),
        _ => content.texts().collect::<Vec<_>>().join("\n\n"),
    }
}

fn convert_calls(
    context: &mut Context<'_>,
    calls: Vec<ToolCall>,
    index: usize,
) -> Result<Vec<Call>, RequestError> {
    let path = format!("messages[{index}].tool_calls");
    if calls.is_empty() {
        context.accept(WarningKind::EmptyList, &path, "an empty list of calls counts as none", || {
            let message = format!(
                "Invalid '{path}': empty array. Expected an array with minimum length 1, but got an empty array instead."
            );
            RequestError::new(ErrorKind::Message, &path, message)
        })?;
    }
    let mut ids = HashSet::new();
    let mut converted = Vec::with_capacity(calls.len());
    for (call_index, call) in calls.into_iter().enumerate() {
        let path = format!("{path}[{call_index}]");
        let call = convert_call(context, call, &path)?;
        if !ids.insert(call.id.clone()) {
            let message = format!("Duplicate value for 'tool_call_id' of {} in message[{index}]", call.id);
            return Err(RequestError::new(ErrorKind::ToolResult, path, message));
        }
        converted.push(call);
    }
    Ok(converted)
}

fn convert_call(context: &mut Context<'_>, call: ToolCall, path: &str) -> Result<Call, RequestError> {
    let ToolCall { id, call } = call;
    let unknown = |kind: &str| {
        let problem = format!("unknown call type `{kind}`, expected `function`");
        RequestError::wrong_type(format!("{path}.type"), problem)
    };
    match call {
        CallKind::Function { call, typed } => {
            if !typed {
                let note = "a call without type counts as one of a function";
                context.accept(WarningKind::UntypedTool, path, note, || {
                    RequestError::wrong_type(path, "missing field `type`")
                })?;
            }
            let path = format!("{path}.function.arguments");
            let arguments = tools::call_arguments(context, call.arguments, &path)?;
            Ok(Call { id, name: call.name, arguments })
        }
        CallKind::Custom(call) => {
            let note = "a custom tool's call counts as one of a function";
            context.accept(WarningKind::CustomTool, path, note, || unknown("custom"))?;
            Ok(Call { id, name: call.name, arguments: tools::custom_arguments(call.input) })
        }
        CallKind::Unknown(kind) => Err(unknown(&kind)),
    }
}

/// Takes the results of `calls` from `messages`. Messages between calls and results go to `moved`, behind the
/// results.
fn collect_results(
    context: &mut Context<'_>,
    calls: &[Call],
    messages: &mut impl Iterator<Item = (usize, Message)>,
    results: &mut Vec<Out>,
    moved: &mut Vec<(usize, Message)>,
) -> Result<(), RequestError> {
    let open: HashSet<&str> = calls.iter().map(|call| call.id.as_str()).collect();
    let mut answered = HashSet::new();
    let refuse = |path: String, message: String| Err(RequestError::new(ErrorKind::ToolResult, path, message));
    const RULE: &str = "An assistant message with 'tool_calls' must be followed by tool messages responding to each \
                        'tool_call_id'";
    while results.len() < calls.len() {
        let insufficient = || {
            let message = format!("{RULE}. (insufficient tool messages following tool_calls message)");
            RequestError::new(ErrorKind::ToolResult, "messages", message)
        };
        let (index, ToolMessage { tool_call_id: id, content }) = match messages.next() {
            Some((index, Message::Tool(result))) => (index, result),
            None | Some((_, Message::Assistant(_))) => return Err(insufficient()),
            Some((index, message)) => {
                let note = "a message between a call and its result moves behind the result";
                context.accept(
                    WarningKind::MovedMessage,
                    format_args!("messages[{index}]"),
                    note,
                    insufficient,
                )?;
                moved.push((index, message));
                continue;
            }
        };
        let path = format!("messages[{index}]");
        if !open.contains(id.as_str()) {
            let message = format!("{RULE}, The following tool_call_ids did not have response messages: {id}");
            return refuse(path, message);
        }
        if !answered.insert(id.clone()) {
            return refuse(path, format!("Duplicate value for 'tool_call_id' of {id} in message[{index}]"));
        }
        let content = context.required(content, &path)?;
        let content = checked_content(context, content, index)?;
        results.push(Out::Tool { content, call_id: Some(id) });
    }
    Ok(())
}

/// Whether the last message is continued; no other can be.
fn check_prefix(messages: &[Out]) -> Result<bool, RequestError> {
    let continues = |message: &Out| matches!(message, Out::Assistant(message) if message.prefix);
    match messages.iter().position(continues) {
        None => Ok(false),
        Some(index) if index + 1 == messages.len() => Ok(true),
        Some(_) => {
            let message = "Invalid completion message: prefix set true with message which is not final message or \
                           message role is not assistant";
            Err(RequestError::new(ErrorKind::Prefix, "messages", message))
        }
    }
}

/// Whether the content of any message contains the word `json` in any case.
pub(in crate::protocol) fn mentions_json(messages: &[Out]) -> bool {
    let mentions = |text: &str| text.as_bytes().windows(4).any(|part| part.eq_ignore_ascii_case(b"json"));
    messages.iter().any(|message| match message {
        Out::System { content, .. } | Out::User { content } | Out::Tool { content, .. } => {
            content.texts().any(mentions)
        }
        Out::Assistant(message) => mentions(&message.content),
        Out::LatestReminder { content } => mentions(content),
    })
}

fn convert_format(
    context: &mut Context<'_>,
    format: Option<ResponseFormat>,
) -> Result<OutFormat, RequestError> {
    Ok(match format {
        None | Some(ResponseFormat::Text) => OutFormat::Text,
        Some(ResponseFormat::JsonObject) => OutFormat::JsonObject,
        Some(ResponseFormat::Regex(regex)) => OutFormat::Regex(regex),
        Some(ResponseFormat::JsonSchema(format)) => {
            let path = "response_format.json_schema.schema";
            let enforced = tools::check_response_schema(context, &format.schema, format.strict, path)?;
            OutFormat::JsonSchema { schema: format.schema, enforced }
        }
    })
}

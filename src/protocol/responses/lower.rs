//! Lowering. Checks run in this order: model, thinking, tool names, input items, reasoning, tool schemas and choice,
//! text format, strict tools, sampling.

use crate::conversation::{Conversation, Message as Out, ParallelToolCalls, ResponseFormat};
use crate::json::Json;
use crate::protocol::chat::mentions_json;
use crate::protocol::sampling;
use crate::protocol::tools::{self, Choice};
use crate::protocol::{
    Api, Context, Echo as AnyEcho, ErrorKind, Lowered, Options, RequestError, WarningKind, reasoning,
};

use super::items::Conversion;
use super::tools::Declared;
use super::{
    FormatField, Input, Item, NamespaceTool, Reasoning, Request, TextConfig, TextFormat, Tool, ToolChoice,
    ToolSearchCall, ToolSearchOutput,
};

/// The settings that a Responses object repeats.
#[derive(Debug, Clone, PartialEq)]
pub struct Echo {
    /// The instructions.
    pub instructions: Option<String>,
    /// The limit as requested.
    pub max_output_tokens: Option<u32>,
    /// The reasoning settings.
    pub reasoning: Option<Reasoning>,
    /// The temperature as requested.
    pub temperature: Option<f32>,
    /// The share of probability as requested.
    pub top_p: Option<f32>,
    /// The number of alternatives as requested.
    pub top_logprobs: Option<u8>,
    /// The text settings.
    pub text: Option<TextConfig>,
    /// The tool choice.
    pub tool_choice: Option<ToolChoice>,
    /// The tools, without those of unknown types.
    pub tools: Vec<Tool>,
    /// The end user's id.
    pub user: Option<String>,
    /// The caller's own key-value pairs.
    pub metadata: Option<Json>,
}

impl Request {
    /// Lowers the request.
    ///
    /// # Errors
    ///
    /// [`RequestError`] if the request is refused.
    pub fn lower(self, options: &Options) -> Result<Lowered, RequestError> {
        let mut context = Context::new(options, &self.model)?;
        note_ignored(&mut context, &self);
        check_words(&mut context, &self)?;
        let echo = self.echo();
        let requested = reasoning::Requested::read(
            &mut context,
            None,
            self.reasoning.as_ref().and_then(|reasoning| reasoning.effort.as_ref()),
            "reasoning.effort",
        )?;
        let declared = Declared::read(&mut context, self.tools.unwrap_or_default(), self.input.as_ref())?;
        let has_tools = !declared.tools.is_empty();
        let choice = choose(&mut context, self.tool_choice, &declared)?;
        let forced = has_tools && choice.as_ref().is_some_and(Choice::is_forced);
        let thinking = requested.resolve(&mut context, forced);

        let mut messages = convert_input(&mut context, &declared, self.instructions, self.input)?;
        reasoning::normalize_history(&context, &mut messages, thinking, has_tools, "reasoning_text")?;
        let (tools, tool_choice) = tools::resolve(&mut context, declared.tools, choice, thinking.is_on())?;
        tools::normalize_message_tools(&mut messages, &tools);
        let format = self.text.map_or(FormatField::Absent, |text| text.format);
        let response_format = convert_format(&mut context, format, &messages)?;
        let has_format = response_format != ResponseFormat::Text;
        tools::check_strict_tools(&mut context, &tools, &tool_choice, has_format, "text.format")?;

        let conversation = Conversation {
            messages,
            tools,
            tool_choice,
            thinking,
            response_format,
            parallel_tool_calls: match self.parallel_tool_calls {
                Some(Json::Bool(false)) => ParallelToolCalls::Forbidden,
                _ => ParallelToolCalls::Allowed,
            },
        };
        let sampling = sampling::Requested {
            temperature: self.temperature,
            top_p: self.top_p,
            logprobs: self.top_logprobs.map(|_| true),
            top_logprobs: self.top_logprobs,
            max_tokens: self.max_output_tokens,
            max_tokens_field: "max_output_tokens",
            ..sampling::Requested::default()
        };
        let sampling = sampling.resolve(&mut context, &conversation)?;
        Ok(Lowered {
            api: Api::Responses,
            profile: context.profile,
            model: self.model,
            conversation,
            sampling,
            stops: Vec::new(),
            stream: self.stream == Some(true),
            include_usage: false,
            echo: AnyEcho::Responses(Box::new(echo)),
            warnings: context.warnings,
        })
    }

    fn echo(&self) -> Echo {
        let known = |tool: &&Tool| !matches!(tool, Tool::Unknown(_));
        Echo {
            instructions: self.instructions.clone(),
            max_output_tokens: self.max_output_tokens,
            reasoning: self.reasoning.clone(),
            temperature: self.temperature,
            top_p: self.top_p,
            top_logprobs: self.top_logprobs,
            text: self.text.clone(),
            tool_choice: self.tool_choice.clone(),
            tools: self.tools.iter().flatten().filter(known).cloned().collect(),
            user: self.user.clone(),
            metadata: self.metadata.clone(),
        }
    }
}

/// Notes settings whose absence of effect may surprise.
fn note_ignored(context: &mut Context<'_>, request: &Request) {
    let stateful = "nothing is stored: the input has to hold the whole conversation";
    let ignored = [
        ("previous_response_id", request.previous_response_id.is_some(), stateful),
        ("conversation", request.conversation.is_some(), stateful),
        ("prompt", request.prompt.is_some(), "stored prompts are not used"),
        ("background", request.background == Some(Json::Bool(true)), "every response is awaited"),
        ("max_tool_calls", request.max_tool_calls.is_some(), "max_tool_calls has no effect"),
    ];
    for (field, is_set, message) in ignored {
        if is_set {
            context.note(WarningKind::Ignored, field, message);
        }
    }
}

/// Checks the words of settings that have no effect but are repeated in the response.
fn check_words(context: &mut Context<'_>, request: &Request) -> Result<(), RequestError> {
    const SUMMARIES: &[&str] = &["auto", "concise", "detailed"];
    const SIZES: &[&str] = &["low", "medium", "high"];
    const EXECUTIONS: &[&str] = &["client", "server"];
    const KINDS: &[&str] = &["function", "custom"];
    let reasoning = request.reasoning.as_ref();
    let summary = reasoning.and_then(|reasoning| reasoning.summary.as_deref());
    let generate_summary = reasoning.and_then(|reasoning| reasoning.generate_summary.as_deref());
    let verbosity = request.text.as_ref().and_then(|text| text.verbosity.as_deref());
    let mut words = vec![
        ("reasoning.summary".to_owned(), summary, SUMMARIES),
        ("reasoning.generate_summary".to_owned(), generate_summary, SUMMARIES),
        ("text.verbosity".to_owned(), verbosity, SIZES),
    ];
    for (tools, parent) in declarations(request) {
        for (index, tool) in tools.iter().enumerate() {
            let path = |field: &str| format!("{parent}tools[{index}].{field}");
            match tool {
                Tool::ToolSearch(search) => {
                    words.push((path("execution"), search.execution.as_deref(), EXECUTIONS));
                }
                Tool::WebSearch { search, .. } => {
                    words.push((path("search_context_size"), search.search_context_size.as_deref(), SIZES));
                }
                // Declaring the tools says more, but models that search for no tools declare none that were found.
                Tool::Namespace(namespace) if context.is_strict() => {
                    words.extend(namespace.tools.iter().enumerate().filter_map(|(inner, tool)| match tool {
                        NamespaceTool::Unknown(kind) => {
                            Some((path(&format!("tools[{inner}].type")), Some(kind.as_str()), KINDS))
                        }
                        _ => None,
                    }));
                }
                _ => {}
            }
        }
    }
    if let Some(Input::List(items)) = &request.input {
        words.extend(items.iter().enumerate().filter_map(|(index, item)| match item {
            Item::ToolSearchCall(ToolSearchCall { execution, .. })
            | Item::ToolSearchOutput(ToolSearchOutput { execution, .. }) => {
                Some((format!("input[{index}].execution"), execution.as_deref(), EXECUTIONS))
            }
            _ => None,
        }));
    }
    for (path, word, known) in words {
        if let Some(word) = word.filter(|word| !known.contains(word)) {
            let problem = format!("unknown value `{word}`, expected one of `{}`", known.join("`, `"));
            context.accept(WarningKind::UnknownValue, &path, &problem, || {
                RequestError::wrong_type(&path, &problem)
            })?;
        }
    }
    Ok(())
}

/// All lists of tools in a request, each with what stands in front of `tools` in its place.
fn declarations(request: &Request) -> Vec<(&[Tool], String)> {
    let mut lists = vec![(request.tools.as_deref().unwrap_or_default(), String::new())];
    if let Some(Input::List(items)) = &request.input {
        lists.extend(items.iter().enumerate().filter_map(|(index, item)| match item {
            Item::ToolSearchOutput(output) => Some((output.tools.as_slice(), format!("input[{index}]."))),
            _ => None,
        }));
    }
    lists
}

/// The tool choice; `None` is the choice `none`.
fn choose(
    context: &mut Context<'_>,
    choice: Option<ToolChoice>,
    declared: &Declared,
) -> Result<Option<Choice>, RequestError> {
    Ok(Some(match choice {
        None => Choice::Auto,
        Some(ToolChoice::Mode(mode)) => return tools::choice_by_mode(context, &mode),
        Some(ToolChoice::Named { name, .. }) => Choice::Named(name),
        Some(ToolChoice::Allowed { mode, names }) => {
            // Tools that run at the vendor are not offered; without any others the choice says nothing.
            let named: Vec<String> = names.into_iter().flatten().collect();
            let says_nothing = named.is_empty() || declared.tools.is_empty();
            let choice = tools::allowed_choice(context, &mode, named)?;
            if says_nothing { Choice::Auto } else { choice }
        }
        Some(ToolChoice::Other(kind)) if matches!(kind.as_str(), "web_search" | "web_search_2025_08_26") => {
            let note = "web search is left out: the model decides";
            context.note(WarningKind::DroppedToolChoice, "tool_choice", note);
            Choice::Auto
        }
        Some(ToolChoice::Other(kind)) => tools::other_choice(context, &kind)?,
    }))
}

fn convert_input(
    context: &mut Context<'_>,
    declared: &Declared,
    instructions: Option<String>,
    input: Option<Input>,
) -> Result<Vec<Out>, RequestError> {
    let mut messages = Vec::new();
    if let Some(instructions) = instructions.filter(|instructions| !instructions.is_empty()) {
        messages.push(Out::System { content: instructions.into(), tools: Vec::new() });
    }
    match input {
        Some(Input::Text(text)) => messages.push(Out::User { content: text.into() }),
        Some(Input::List(items)) => return Conversion::new(context, declared, messages).run(items),
        None if messages.is_empty() => {
            let message = "Either input or instructions must be provided";
            return Err(RequestError::new(ErrorKind::Message, "input", message));
        }
        None => {}
    }
    Ok(messages)
}

fn convert_format(
    context: &mut Context<'_>,
    format: FormatField,
    messages: &[Out],
) -> Result<ResponseFormat, RequestError> {
    let format = match format {
        FormatField::Absent => return Ok(ResponseFormat::Text),
        FormatField::Null => {
            let path = "text.format";
            context.accept(WarningKind::UnknownValue, path, "no format counts as text", || {
                RequestError::wrong_type(path, "expected an object, found null")
            })?;
            return Ok(ResponseFormat::Text);
        }
        FormatField::Format(format) => format,
    };
    Ok(match format {
        TextFormat::Text => ResponseFormat::Text,
        TextFormat::JsonObject => {
            if !mentions_json(messages) {
                let message = "Response input messages must contain the word 'json' in some form to use 'text.format' \
                               of type 'json_object'.";
                return Err(RequestError::new(ErrorKind::ResponseFormat, "text.format", message));
            }
            ResponseFormat::JsonObject
        }
        TextFormat::JsonSchema(format) => {
            if format.name.is_none() {
                let path = "text.format";
                context.accept(WarningKind::UnknownValue, path, "the schema has no name", || {
                    RequestError::wrong_type(path, "missing field `name`")
                })?;
            }
            let enforced =
                tools::check_response_schema(context, &format.schema, format.strict, "text.format.schema")?;
            ResponseFormat::JsonSchema { schema: format.schema, enforced }
        }
        TextFormat::Regex(regex) => {
            let path = "text.format.type";
            context.accept(
                WarningKind::UnknownValue,
                path,
                "a regular expression limits the answer",
                || {
                    RequestError::wrong_type(
                        path,
                        "unknown format `regex`, expected `text`, `json_object` or `json_schema`",
                    )
                },
            )?;
            ResponseFormat::Regex(regex)
        }
    })
}

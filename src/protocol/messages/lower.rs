//! Lowering. Checks run in this order: model, thinking, tool names and deferral, messages, reasoning, tool schemas
//! and choice, strict tools, stop sequences, sampling.

use std::collections::HashSet;

use crate::conversation::{Conversation, ParallelToolCalls, ResponseFormat, ToolKind};
use crate::json::Json;
use crate::protocol::sampling::{self, check_stops};
use crate::protocol::tools::{self, Choice, Declaration};
use crate::protocol::{
    Api, Context, Echo, ErrorKind, Lowered, Options, RequestError, WarningKind, reasoning,
};

use super::history::Conversion;
use super::{Request, Tool, ToolChoice};

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
            self.output_config.as_ref().and_then(|config| config.effort.as_ref()),
            "output_config.effort",
        )?;
        let declared = Declared::read(&mut context, self.tools.unwrap_or_default())?;
        let parallel_tool_calls = match &self.tool_choice {
            Some(ToolChoice { disable_parallel_tool_use: Some(true), .. }) => ParallelToolCalls::Forbidden,
            _ => ParallelToolCalls::Allowed,
        };
        let choice = choose(&mut context, self.tool_choice, &declared)?;
        let has_tools = !declared.tools.is_empty();
        let forced = has_tools && choice.as_ref().is_some_and(Choice::is_forced);
        let thinking = requested.resolve(&mut context, forced);

        let mut messages = Conversion::new(&mut context, &declared.tools).run(self.system, self.messages)?;
        reasoning::normalize_history(&context, &mut messages, thinking, has_tools, "content[].thinking")?;
        let (tools, tool_choice) = tools::resolve(&mut context, declared.tools, choice, thinking.is_on())?;
        tools::normalize_message_tools(&mut messages, &tools);
        let stops = self.stop_sequences.unwrap_or_default();
        check_stops(&stops, "stop_sequences")?;
        let conversation = Conversation {
            messages,
            tools,
            tool_choice,
            thinking,
            response_format: ResponseFormat::Text,
            parallel_tool_calls,
        };
        let sampling = sampling::Requested {
            temperature: self.temperature,
            top_p: self.top_p,
            max_tokens: self.max_tokens,
            max_tokens_field: "max_tokens",
            clamps_max_tokens: true,
            ..sampling::Requested::default()
        };
        let sampling = sampling.resolve(&mut context, &conversation)?;
        Ok(Lowered {
            api: Api::Messages,
            profile: context.profile,
            model: self.model,
            conversation,
            sampling,
            stops,
            stream: self.stream == Some(true),
            include_usage: false,
            echo: Echo::None,
            warnings: context.warnings,
        })
    }
}

/// Notes settings whose absence of effect may surprise.
fn note_ignored(context: &mut Context<'_>, request: &Request) {
    let format = request.output_config.as_ref().is_some_and(|config| config.format.is_some());
    let has_servers = |servers: &Json| servers.as_array().is_none_or(|servers| !servers.is_empty());
    let ignored = [
        ("top_k", request.top_k.is_some()),
        ("container", request.container.is_some()),
        ("mcp_servers", request.mcp_servers.as_ref().is_some_and(has_servers)),
        ("output_format", request.output_format.is_some()),
        ("output_config.format", format),
    ];
    for (field, is_set) in ignored {
        if is_set {
            context.note(WarningKind::Ignored, field, format!("{field} has no effect"));
        }
    }
}

/// The tools of a request after their names are checked.
struct Declared {
    tools: Vec<Declaration>,
    /// Names of dropped tools of the vendor's.
    dropped: HashSet<String>,
}

impl Declared {
    fn read(context: &mut Context<'_>, declared: Vec<Tool>) -> Result<Self, RequestError> {
        let mut tools = Vec::with_capacity(declared.len());
        let mut dropped = HashSet::new();
        for (index, tool) in declared.into_iter().enumerate() {
            let path = format!("tools[{index}]");
            let refusal = || {
                RequestError::new(ErrorKind::Tool, &path, format!("{path}: server tools are not supported"))
            };
            match tool.kind.as_deref() {
                None => {}
                Some("custom") => {
                    let message = "a client tool may leave out `type: custom`";
                    context.accept(WarningKind::TypedClientTool, &path, message, refusal)?;
                }
                Some(kind) => {
                    let message = format!("a tool of type `{kind}` runs at the vendor: it is left out");
                    context.accept(WarningKind::DroppedTool, &path, message, refusal)?;
                    let unversioned =
                        kind.trim_end_matches(|c: char| c.is_ascii_digit()).trim_end_matches('_');
                    dropped.insert(tool.name.unwrap_or_else(|| unversioned.to_owned()));
                    continue;
                }
            }
            let name = tool.name.unwrap_or_default();
            tools::check_name(&name, &path)?;
            let parameters = match tool.input_schema {
                None if !context.is_strict() => {
                    let message = "a tool without input_schema takes anything";
                    context.note(WarningKind::UntypedParameters, &path, message);
                    None
                }
                schema => Some(schema.unwrap_or(Json::Null)),
            };
            tools.push(Declaration {
                name,
                description: tool.description,
                parameters,
                strict: None,
                deferred: context.profile.capabilities().mid_conversation_system
                    && tool.defer_loading == Some(true),
                kind: ToolKind::Function,
                path,
            });
        }
        if !tools.is_empty() && tools.iter().all(|tool| tool.deferred) {
            let message =
                "tools: at least one tool must have defer_loading=false. All tools cannot be deferred.";
            return Err(RequestError::new(ErrorKind::Tool, "tools", message));
        }
        Ok(Self { tools, dropped })
    }
}

/// The tool choice; `None` is the choice `none`.
fn choose(
    context: &mut Context<'_>,
    choice: Option<ToolChoice>,
    declared: &Declared,
) -> Result<Option<Choice>, RequestError> {
    let Some(choice) = choice else { return Ok(Some(Choice::Auto)) };
    let path = "tool_choice";
    Ok(match choice.kind.as_str() {
        "none" => None,
        "auto" => Some(Choice::Auto),
        // As in the official API, whose models are trained without it.
        "any" => {
            context.note(WarningKind::AnyToolChoice, path, "`any` counts as `auto`");
            Some(Choice::Auto)
        }
        "tool" => {
            let name = choice.name.unwrap_or_default();
            if declared.dropped.contains(&name) {
                context.note(
                    WarningKind::DroppedToolChoice,
                    path,
                    "the chosen tool is left out: the model decides",
                );
                Some(Choice::Auto)
            } else {
                Some(Choice::Named(name))
            }
        }
        other => {
            let problem = format!("unknown tool choice `{other}`, expected `auto`, `any`, `tool` or `none`");
            return Err(RequestError::wrong_type("tool_choice.type", problem));
        }
    })
}

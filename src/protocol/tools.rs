//! Tool declarations and the choice among them, as all three APIs share them.

use std::collections::{HashMap, HashSet};

use crate::conversation::{Call, Message, Tool, ToolChoice, ToolKind};
use crate::json::{Json, Object};
use crate::schema::strict::Top;
use crate::schema::{meta, strict};

use super::wire::Arguments;
use super::{Context, ErrorKind, RequestError, WarningKind};

/// The longest name of a tool, in bytes.
const MAX_NAME_BYTES: usize = 128;

/// A client tool whose name is checked and whose schema is not.
#[derive(Debug, Clone)]
pub(super) struct Declaration {
    pub(super) name: String,
    pub(super) description: Option<String>,
    /// The schema as declared; absent counts as an empty one.
    pub(super) parameters: Option<Json>,
    pub(super) strict: Option<bool>,
    pub(super) deferred: bool,
    pub(super) kind: ToolKind,
    /// Where the declaration stands.
    pub(super) path: String,
}

impl Declaration {
    /// The tool with its schema as declared.
    pub(super) fn as_declared(&self) -> Tool {
        self.clone().into_declared()
    }

    fn into_declared(self) -> Tool {
        Tool {
            name: self.name,
            description: self.description,
            parameters: self.parameters.unwrap_or_else(empty_object),
            enforced: None,
            strict: self.strict,
            deferred: self.deferred,
            kind: self.kind,
        }
    }
}

pub(super) fn empty_object() -> Json {
    Json::Object(Object::new())
}

/// Which tools a request wants called.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Choice {
    Auto,
    Required,
    Named(String),
    Allowed { names: Vec<String>, required: bool },
}

impl Choice {
    /// Whether it forces a call.
    pub(super) const fn is_forced(&self) -> bool {
        matches!(self, Self::Required | Self::Named(_) | Self::Allowed { required: true, .. })
    }
}

/// The choice that a word means; `None` is the choice `none`.
pub(super) fn choice_by_mode(context: &mut Context<'_>, mode: &str) -> Result<Option<Choice>, RequestError> {
    Ok(Some(match mode {
        "none" => return Ok(None),
        "auto" => Choice::Auto,
        "required" => Choice::Required,
        "any" => {
            let note = "`any` counts as `required`";
            context.accept(WarningKind::AnyToolChoice, TOOL_CHOICE, note, || unknown_choice("any"))?;
            Choice::Required
        }
        other => return Err(unknown_choice(other)),
    }))
}

/// The choice among the tools `names`, of which one has to be called if the mode is `required`.
pub(super) fn allowed_choice(
    context: &mut Context<'_>,
    mode: &str,
    names: Vec<String>,
) -> Result<Choice, RequestError> {
    let note = "the calls are limited to the allowed tools; the prompt lists all";
    context.accept(WarningKind::AllowedTools, TOOL_CHOICE, note, || unknown_choice("allowed_tools"))?;
    let required = match mode {
        "auto" => false,
        "required" => true,
        other => {
            let problem = format!("unknown mode `{other}`, expected `auto` or `required`");
            return Err(RequestError::wrong_type(TOOL_CHOICE, problem));
        }
    };
    Ok(Choice::Allowed { names, required })
}

/// The choice for an object of a type that cannot be served.
pub(super) fn other_choice(context: &mut Context<'_>, kind: &str) -> Result<Choice, RequestError> {
    let note = format!("a choice of type `{kind}` cannot be served: the model decides");
    context.accept(WarningKind::DroppedToolChoice, TOOL_CHOICE, note, || unknown_choice(kind))?;
    Ok(Choice::Auto)
}

const TOOL_CHOICE: &str = "tool_choice";

/// The refusal of a choice that is not known.
pub(super) fn unknown_choice(what: &str) -> RequestError {
    let problem = format!(
        "unknown tool choice `{what}`, expected `none`, `auto`, `required` or an object that names a tool"
    );
    RequestError::wrong_type(TOOL_CHOICE, problem)
}

/// Checks the name of the tool or namespace that stands at `path`.
pub(super) fn check_name(name: &str, path: &str) -> Result<(), RequestError> {
    let refuse = |problem: String| {
        Err(RequestError::new(
            ErrorKind::Tool,
            format_args!("{path}.name"),
            format!("Invalid '{path}.name': {problem}"),
        ))
    };
    if name.is_empty() {
        let problem =
            "empty string. Expected a string with minimum length 1, but got an empty string instead.";
        return refuse(problem.to_owned());
    }
    if name.len() > MAX_NAME_BYTES {
        return refuse(format!(
            "string too long. Expected a string with maximum length {MAX_NAME_BYTES}, but got a string with length {} \
             instead.",
            name.len()
        ));
    }
    if !name.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_' || byte == b'-') {
        let problem =
            "string does not match pattern. Expected a string that matches the pattern '^[a-zA-Z0-9_-]+$'.";
        return refuse(problem.to_owned());
    }
    Ok(())
}

/// Checks the schemas of the declared tools and settles the choice. Checks run in this order: names and schemas
/// by declaration, the choice's name, the choice with thinking.
///
/// The choice `none` checks nothing, and without declarations there is nothing to choose. A named tool becomes the only one; a choice of allowed ones leaves all in the prompt.
pub(super) fn resolve(
    context: &mut Context<'_>,
    declarations: Vec<Declaration>,
    choice: Option<Choice>,
    thinking: bool,
) -> Result<(Vec<Tool>, ToolChoice), RequestError> {
    let Some(choice) = choice else { return Ok((Vec::new(), ToolChoice::None)) };
    if declarations.is_empty() {
        return Ok((Vec::new(), ToolChoice::Auto));
    }
    let mut names = HashSet::new();
    let mut tools = Vec::with_capacity(declarations.len());
    for declaration in declarations {
        if !names.insert(declaration.name.clone()) {
            let refusal =
                || RequestError::new(ErrorKind::Tool, &declaration.path, "Tool names must be unique.");
            // A search that finds the same tool twice declares it twice.
            if !declaration.deferred {
                return Err(refusal());
            }
            let message = format!("the tool {} is declared already", declaration.name);
            context.accept(WarningKind::RepeatedTool, &declaration.path, message, refusal)?;
            continue;
        }
        tools.push(check_parameters(context, declaration)?);
    }
    let refuse = |message: String| Err(RequestError::new(ErrorKind::ToolChoice, "tool_choice", message));
    let chosen = match choice {
        Choice::Named(name) => {
            if !names.contains(&name) {
                return refuse(unknown_tool(&name));
            }
            tools.retain(|tool| tool.name == name);
            ToolChoice::Required
        }
        Choice::Allowed { names: allowed, required } => {
            if let Some(name) = allowed.iter().find(|name| !names.contains(*name)) {
                return refuse(unknown_tool(name));
            }
            ToolChoice::Allowed { names: allowed, required }
        }
        Choice::Required => ToolChoice::Required,
        Choice::Auto => ToolChoice::Auto,
    };
    if chosen.is_required() && thinking {
        return refuse("Thinking mode does not support this tool_choice".to_owned());
    }
    Ok((tools, chosen))
}

fn unknown_tool(name: &str) -> String {
    format!(
        "Invalid value for 'tool_call': no function named '{name}' was specified in the 'tools' parameter."
    )
}

/// Checks a tool's schema. A strict one is completed: all properties are required and no others allowed.
fn check_parameters(context: &mut Context<'_>, declaration: Declaration) -> Result<Tool, RequestError> {
    let path = format!("{}.parameters", declaration.path);
    let has_schema = declaration.parameters.is_some();
    let mut tool = declaration.into_declared();
    if tool.strict == Some(true) {
        let empty = (!has_schema).then(empty_strict_object);
        match strict::normalize(empty.as_ref().unwrap_or(&tool.parameters), Top::Parameters) {
            Ok(normalized) => {
                tool.enforced = (normalized.enforced != normalized.prompt).then_some(normalized.enforced);
                tool.parameters = normalized.prompt;
                return Ok(tool);
            }
            Err(error) => {
                let refusal = || RequestError::new(ErrorKind::Schema, &path, error.message());
                accept_relaxed(context, &path, &error, refusal)?;
            }
        }
    } else if !has_schema {
        return Ok(tool);
    }
    let refusal = |problem: String| {
        RequestError::new(
            ErrorKind::Schema,
            &path,
            format!("Invalid schema for function '{}': {problem}", tool.name),
        )
    };
    meta::check(&tool.parameters).map_err(|error| refusal(error.to_string()))?;
    let kind = tool.parameters.get("type");
    if kind.and_then(Json::as_str) != Some("object") {
        let found = kind.map_or_else(|| "null".to_owned(), ToString::to_string);
        let error =
            || refusal(format!("schema must be a JSON Schema of 'type: \"object\"', got 'type: {found}'."));
        if kind.is_some() || tool.parameters.as_object().is_none() {
            return Err(error());
        }
        let message = "the schema does not say that it describes an object";
        context.accept(WarningKind::UntypedParameters, &path, message, error)?;
    }
    Ok(tool)
}

/// What a strict tool without a schema takes: nothing.
fn empty_strict_object() -> Json {
    Json::from([
        ("type", "object".into()),
        ("properties", empty_object()),
        ("additionalProperties", false.into()),
        ("required", Json::Array(Vec::new())),
    ])
}

/// Accepts a schema that strict mode does not support, with a warning for each place that it does not.
fn accept_relaxed(
    context: &mut Context<'_>,
    path: &str,
    error: &strict::StrictError,
    refusal: impl FnOnce() -> RequestError,
) -> Result<(), RequestError> {
    let message =
        format!("strict mode does not support the schema, which is used as it is: {}", error.message());
    context.accept(WarningKind::RelaxedStrict, path, message, refusal)?;
    for (pointer, problem) in error.places() {
        context.note(WarningKind::RelaxedStrict, format_args!("{path}#{pointer}"), problem.as_str());
    }
    Ok(())
}

/// Checks the schema of a response format, which stands at `path`. Returns the schema to enforce, where it is not
/// the one given.
pub(super) fn check_response_schema(
    context: &mut Context<'_>,
    schema: &Json,
    strict_flag: Option<bool>,
    path: &str,
) -> Result<Option<Json>, RequestError> {
    if strict_flag == Some(true) {
        match strict::normalize(schema, Top::Response) {
            Ok(normalized) => {
                return Ok((normalized.enforced != *schema).then_some(normalized.enforced));
            }
            Err(error) => {
                let refusal = || RequestError::new(ErrorKind::Schema, path, error.message());
                accept_relaxed(context, path, &error, refusal)?;
            }
        }
    }
    meta::check(schema).map_err(|error| {
        RequestError::new(ErrorKind::Schema, path, format!("Invalid json schema: {error}"))
    })?;
    Ok(None)
}

/// Checks that strict tools stand alone. `has_format` says whether the request sets a response format, which
/// stands at `format_path`.
pub(super) fn check_strict_tools(
    context: &mut Context<'_>,
    tools: &[Tool],
    choice: &ToolChoice,
    has_format: bool,
    format_path: &str,
) -> Result<(), RequestError> {
    let strict = |tool: &Tool| tool.strict == Some(true);
    if *choice == ToolChoice::None || !tools.iter().any(strict) {
        return Ok(());
    }
    if !tools.iter().all(strict) {
        let message = "Cannot use strict tool with non-strict tool in the same request";
        let refusal = || RequestError::new(ErrorKind::Tool, "tools", message);
        context.accept(
            WarningKind::MixedStrict,
            "tools",
            "strict and other tools are declared together",
            refusal,
        )?;
    }
    if has_format {
        let message = "response_format should not be used with tools";
        let refusal = || RequestError::new(ErrorKind::ResponseFormat, format_path, message);
        context.accept(
            WarningKind::MixedStrict,
            format_path,
            "a response format is set beside strict tools",
            refusal,
        )?;
    }
    Ok(())
}

/// Brings the tools that messages introduce into their checked form, and drops those that are not offered and
/// messages that say nothing then.
pub(super) fn normalize_message_tools(messages: &mut Vec<Message>, tools: &[Tool]) {
    if !messages.iter().any(|message| matches!(message, Message::System { tools, .. } if !tools.is_empty())) {
        return;
    }
    let by_name: HashMap<&str, &Tool> = tools.iter().map(|tool| (tool.name.as_str(), tool)).collect();
    messages.retain_mut(|message| {
        let Message::System { content, tools } = message else { return true };
        if tools.is_empty() {
            return true;
        }
        tools.retain_mut(|tool| {
            by_name.get(tool.name.as_str()).is_some_and(|&known| {
                *tool = known.clone();
                true
            })
        });
        !content.is_empty() || !tools.is_empty()
    });
}

/// The schema of a custom tool as a function: one string.
pub(super) fn custom_parameters(description: &str) -> Json {
    let input = Json::from([("type", "string".into()), ("description", description.into())]);
    Json::from([
        ("type", "object".into()),
        ("additionalProperties", false.into()),
        ("properties", [("input", input)].into()),
        ("required", Json::Array(vec!["input".into()])),
    ])
}

/// The arguments of a custom tool's call.
pub(super) fn custom_arguments(input: String) -> Object {
    [("input", input.into())].into()
}

/// Declares a custom tool as a function that takes one string. A grammar for the text is told to the model in the
/// description.
pub(super) fn declare_custom(
    name: String,
    description: Option<Json>,
    format: Option<Json>,
    path: String,
) -> Result<Declaration, RequestError> {
    check_name(&name, &path)?;
    let description = match description {
        Some(Json::String(description)) => Some(description),
        _ => None,
    };
    let grammar = format.as_ref().and_then(|format| {
        // Chat Completions has the grammar in an object of its own.
        let grammar = format.get("grammar").unwrap_or(format);
        Some((grammar.get("syntax")?.as_str()?, grammar.get("definition")?.as_str()?))
    });
    let description = match (description, grammar) {
        (description, None) => description,
        (description, Some((syntax, definition))) => {
            let lead = description.map_or_else(String::new, |description| format!("{description}\n\n"));
            Some(format!("{lead}The input must match this {syntax} grammar:\n{definition}"))
        }
    };
    Ok(Declaration {
        parameters: Some(custom_parameters(&format!("The entire input of the {name} tool, as plain text."))),
        name,
        description,
        strict: None,
        deferred: false,
        kind: ToolKind::Custom,
        path,
    })
}

/// The arguments of a function call in the history.
pub(super) fn call_arguments(
    context: &mut Context<'_>,
    arguments: Arguments,
    path: &str,
) -> Result<Object, RequestError> {
    Ok(match arguments {
        Arguments::Text(text) => Call::parse_arguments(text),
        Arguments::Object(object) => {
            context.accept(WarningKind::ObjectArguments, path, "the arguments are an object", || {
                RequestError::wrong_type(path, "expected a string, found an object")
            })?;
            object
        }
        Arguments::Absent => {
            context.accept(WarningKind::ObjectArguments, path, "no arguments count as none", || {
                RequestError::wrong_type(path, "expected a string, found null")
            })?;
            Object::new()
        }
    })
}

//! The Responses object: what a response says beside its output.

use crate::json::{Json, Object};
use crate::protocol::Dialect;
use crate::protocol::stream::{StreamOptions, Usage, single};

use super::tools::tool_json;
use super::{Echo, FormatField, Reasoning, TextConfig, TextFormat, ToolChoice};
use crate::protocol::wire::EffortField;

/// The members of the object in their order, with the output empty.
pub(super) fn base(options: &StreamOptions, model: &str, echo: &Echo) -> Object {
    let is_vendor = options.dialect == Dialect::Vendor;
    let tools = echo.tools.iter().filter_map(tool_json);
    let tools = if is_vendor { tools.map(without_nulls).collect() } else { tools.collect() };
    let mut members = Object::from([
        ("id", options.id.as_str().into()),
        ("object", "response".into()),
        ("created_at", options.created.into()),
        ("status", "in_progress".into()),
        ("background", false.into()),
        ("completed_at", Json::Null),
        ("content_filters", Json::Null),
        ("error", Json::Null),
        ("frequency_penalty", single(0.0)),
        ("incomplete_details", Json::Null),
        ("instructions", echo.instructions.as_deref().into()),
        ("max_output_tokens", echo.max_output_tokens.into()),
        ("max_tool_calls", Json::Null),
        ("model", model.into()),
        ("moderation", Json::Null),
        ("output", Json::Array(Vec::new())),
        ("parallel_tool_calls", true.into()),
        ("presence_penalty", single(0.0)),
        ("previous_response_id", Json::Null),
        ("prompt_cache_key", Json::Null),
        ("prompt_cache_retention", Json::Null),
        ("reasoning", reasoning(echo.reasoning.as_ref())),
        ("safety_identifier", Json::Null),
        ("service_tier", "default".into()),
        ("store", false.into()),
        ("temperature", single(echo.temperature.unwrap_or(1.0))),
        ("text", text(echo.text.as_ref(), is_vendor)),
        ("tool_choice", tool_choice(echo.tool_choice.as_ref())),
        ("tools", Json::Array(tools)),
        ("top_logprobs", u32::from(echo.top_logprobs.unwrap_or(0)).into()),
        ("top_p", single(echo.top_p.unwrap_or(1.0))),
        ("truncation", "disabled".into()),
    ]);
    if !is_vendor {
        members.insert("usage", Json::Null);
    }
    // OpenAI's schema knows no null here.
    if let Some(user) = &echo.user {
        members.insert("user", user.as_str().into());
    }
    let metadata = echo.metadata.as_ref().filter(|metadata| is_vendor && matches!(metadata, Json::Object(_)));
    members.insert("metadata", metadata.cloned().unwrap_or_else(|| Object::new().into()));
    members
}

fn reasoning(reasoning: Option<&Reasoning>) -> Json {
    let effort = match reasoning.and_then(|reasoning| reasoning.effort.as_ref()) {
        None => Json::Null,
        Some(EffortField::Name(name)) => name.as_str().into(),
        Some(EffortField::Number(number)) => Json::Number(*number),
    };
    let summary = reasoning
        .and_then(|reasoning| reasoning.summary.as_deref().or(reasoning.generate_summary.as_deref()));
    Json::from([("effort", effort), ("summary", summary.into())])
}

/// A tool or a format without the nulls that OpenAI's schema does not know.
fn without_nulls(json: Json) -> Json {
    let Json::Object(members) = json else { return json };
    let is_namespace = members.get("tools").is_some();
    let members = members.into_iter().filter_map(|(key, value)| match (key.as_str(), value) {
        // Its schema requires one.
        ("description", Json::Null) if is_namespace => Some((key, "".into())),
        ("description" | "execution" | "search_context_size", Json::Null) => None,
        (_, value) => Some((key, value)),
    });
    Json::Object(members.collect())
}

fn text(text: Option<&TextConfig>, is_vendor: bool) -> Json {
    let format = match text.map(|text| &text.format) {
        Some(FormatField::Format(TextFormat::JsonObject)) => Json::from([("type", "json_object".into())]),
        Some(FormatField::Format(TextFormat::JsonSchema(format))) => Json::from([
            ("type", "json_schema".into()),
            ("name", format.name.as_deref().into()),
            ("schema", format.schema.clone()),
            ("description", format.description.as_deref().into()),
            ("strict", format.strict.into()),
        ]),
        Some(FormatField::Format(TextFormat::Regex(regex))) => {
            Json::from([("type", "regex".into()), ("regex", regex.as_str().into())])
        }
        _ => Json::from([("type", "text".into())]),
    };
    let format = if is_vendor { without_nulls(format) } else { format };
    let mut members = Object::from([("format", format)]);
    // OpenAI's schema knows no null here.
    if let Some(verbosity) = text.and_then(|text| text.verbosity.as_deref()) {
        members.insert("verbosity", verbosity.into());
    }
    members.into()
}

fn tool_choice(choice: Option<&ToolChoice>) -> Json {
    match choice {
        None => "auto".into(),
        Some(ToolChoice::Mode(mode)) if mode == "any" => "required".into(),
        Some(ToolChoice::Mode(mode)) => mode.as_str().into(),
        Some(ToolChoice::Named { kind, name }) => {
            Json::from([("type", kind.as_str().into()), ("name", name.as_str().into())])
        }
        Some(ToolChoice::Allowed { mode, names }) => {
            let tools = names
                .iter()
                .flatten()
                .map(|name| Json::from([("type", "function".into()), ("name", name.as_str().into())]));
            Json::from([
                ("type", "allowed_tools".into()),
                ("mode", mode.as_str().into()),
                ("tools", Json::Array(tools.collect())),
            ])
        }
        Some(ToolChoice::Other(kind)) => Json::from([("type", kind.as_str().into())]),
    }
}

pub(super) fn usage(usage: Usage, dialect: Dialect) -> Json {
    let mut input = Object::from([("cached_tokens", usage.cached.into())]);
    if dialect == Dialect::Vendor {
        input.insert("cache_write_tokens", 0_u64.into());
    }
    Json::from([
        ("input_tokens", usage.prompt.into()),
        ("input_tokens_details", input.into()),
        ("output_tokens", usage.completion.into()),
        ("output_tokens_details", [("reasoning_tokens", usage.reasoning.unwrap_or(0).into())].into()),
        ("total_tokens", (usage.prompt + usage.completion).into()),
    ])
}

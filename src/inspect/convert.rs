//! A request in the words of another API.

use crate::conversation::{
    AssistantMessage, Content, Effort, Image, ImageDetail, ImageSource, Message, Part, ResponseFormat,
    Thinking, Tool, ToolChoice,
};
use crate::json::{Json, Object};
use crate::protocol::{Api, Lowered, Options, lower_json};

/// The request in the format of `to`: the same model, conversation, tools and answer's form, with the limit on tokens,
/// the stop sequences and the temperature where the format has them. What only one format can say is left out.
///
/// Nothing if the format cannot say it: the result is lowered again, and its prompt has to be the same.
#[must_use]
pub fn convert(lowered: &Lowered, to: Api) -> Option<Json> {
    let body = Json::Object(match to {
        Api::Chat => chat(lowered)?,
        Api::Responses => responses(lowered)?,
        Api::Messages => messages(lowered)?,
    });
    let again = lower_json(to, body.clone(), &Options::default()).ok()?;
    let [own, others] = [lowered, &again].map(|it| it.profile.render(&it.conversation));
    let same = again.profile == lowered.profile
        && own.text() == others.text()
        && own.specials().eq(others.specials());
    same.then_some(body)
}

fn chat(lowered: &Lowered) -> Option<Object> {
    let conversation = &lowered.conversation;
    let mut body = front(lowered);
    let messages = conversation.messages.iter().map(|message| {
        Some(match message {
            Message::System { content, tools } if tools.is_empty() => {
                object([("role", "system".into()), ("content", chat_content(content))])
            }
            Message::System { .. } => return None,
            Message::User { content } => {
                object([("role", "user".into()), ("content", chat_content(content))])
            }
            Message::Assistant(message) => chat_assistant(message),
            Message::Tool { content, call_id } => object([
                ("role", "tool".into()),
                ("tool_call_id", call_id.as_deref()?.into()),
                ("content", chat_content(content)),
            ]),
            Message::LatestReminder { content } => {
                object([("role", "latest_reminder".into()), ("content", content.as_str().into())])
            }
        })
    });
    body.insert("messages", Json::Array(messages.collect::<Option<_>>()?));
    if !conversation.tools.is_empty() {
        let tools = conversation.tools.iter().map(|tool| {
            object([("type", "function".into()), ("function", Json::Object(function(tool, "parameters")))])
        });
        body.insert("tools", Json::Array(tools.collect()));
    }
    choose(&mut body, &conversation.tool_choice, |mode, names| {
        let tools = names.iter().map(|name| {
            object([("type", "function".into()), ("function", object([("name", name.as_str().into())]))])
        });
        let allowed = object([("mode", mode), ("tools", Json::Array(tools.collect()))]);
        object([("type", "allowed_tools".into()), ("allowed_tools", allowed)])
    });
    match &conversation.response_format {
        ResponseFormat::Text => {}
        ResponseFormat::JsonObject => {
            body.insert("response_format", object([("type", "json_object".into())]));
        }
        ResponseFormat::JsonSchema { schema, .. } => {
            let named = object([("name", "answer".into()), ("schema", schema.clone())]);
            body.insert("response_format", object([("type", "json_schema".into()), ("json_schema", named)]));
        }
        ResponseFormat::Regex(_) => return None,
    }
    body.insert("thinking", thinking(conversation.thinking));
    if let Thinking::On(effort) = conversation.thinking {
        body.insert("reasoning_effort", effort_json(effort));
    }
    if let Some(most) = lowered.sampling.max_tokens {
        body.insert("max_tokens", most.into());
    }
    if !lowered.stops.is_empty() {
        body.insert("stop", stops(lowered));
    }
    Some(body)
}

fn chat_assistant(message: &AssistantMessage) -> Json {
    let mut out = Object::from([("role", "assistant".into()), ("content", message.content.as_str().into())]);
    if let Some(reasoning) = &message.reasoning {
        out.insert("reasoning_content", reasoning.as_str().into());
    }
    if let Some(calls) = &message.calls {
        let calls = calls.iter().map(|call| {
            let function = object([
                ("name", call.name.as_str().into()),
                ("arguments", Json::Object(call.arguments.clone()).to_string().into()),
            ]);
            object([("id", call.id.as_str().into()), ("type", "function".into()), ("function", function)])
        });
        out.insert("tool_calls", Json::Array(calls.collect()));
    }
    if message.prefix {
        out.insert("prefix", true.into());
    }
    out.into()
}

fn chat_content(content: &Content) -> Json {
    content_json(content, "text", |image| {
        let url = object([("url", url(image).into()), ("detail", detail(image).into())]);
        object([("type", "image_url".into()), ("image_url", url)])
    })
}

fn responses(lowered: &Lowered) -> Option<Object> {
    let conversation = &lowered.conversation;
    let mut body = front(lowered);
    let mut input = Vec::new();
    for message in &conversation.messages {
        match message {
            Message::System { content, tools } if tools.is_empty() => {
                input.push(object([("role", "system".into()), ("content", responses_content(content))]));
            }
            Message::User { content } => {
                input.push(object([("role", "user".into()), ("content", responses_content(content))]));
            }
            Message::Assistant(message) if !message.prefix => responses_assistant(message, &mut input),
            Message::Tool { content, call_id } => input.push(object([
                ("type", "function_call_output".into()),
                ("call_id", call_id.as_deref()?.into()),
                ("output", responses_content(content)),
            ])),
            Message::System { .. } | Message::Assistant(_) | Message::LatestReminder { .. } => return None,
        }
    }
    body.insert("input", Json::Array(input));
    if !conversation.tools.is_empty() {
        let tools = conversation.tools.iter().map(|tool| {
            let own = function(tool, "parameters").into_iter();
            Json::Object(std::iter::once(("type".to_owned(), "function".into())).chain(own).collect())
        });
        body.insert("tools", Json::Array(tools.collect()));
    }
    choose(&mut body, &conversation.tool_choice, |mode, names| {
        let tools =
            names.iter().map(|name| object([("type", "function".into()), ("name", name.as_str().into())]));
        object([("type", "allowed_tools".into()), ("mode", mode), ("tools", Json::Array(tools.collect()))])
    });
    let format = match &conversation.response_format {
        ResponseFormat::Text => None,
        ResponseFormat::JsonObject => Some(object([("type", "json_object".into())])),
        ResponseFormat::JsonSchema { schema, .. } => Some(object([
            ("type", "json_schema".into()),
            ("name", "answer".into()),
            ("schema", schema.clone()),
        ])),
        ResponseFormat::Regex(_) => return None,
    };
    if let Some(format) = format {
        body.insert("text", object([("format", format)]));
    }
    let effort = match conversation.thinking {
        Thinking::Off => "none".into(),
        Thinking::On(effort) => effort_json(effort),
    };
    body.insert("reasoning", object([("effort", effort)]));
    if let Some(most) = lowered.sampling.max_tokens {
        body.insert("max_output_tokens", most.into());
    }
    Some(body)
}

fn responses_assistant(message: &AssistantMessage, input: &mut Vec<Json>) {
    if let Some(reasoning) = &message.reasoning {
        let text = object([("type", "reasoning_text".into()), ("text", reasoning.as_str().into())]);
        input.push(object([
            ("type", "reasoning".into()),
            ("summary", Json::Array(Vec::new())),
            ("content", Json::Array(vec![text])),
        ]));
    }
    let calls = message.calls.as_deref().unwrap_or_default();
    if !message.content.is_empty() || calls.is_empty() {
        input.push(object([("role", "assistant".into()), ("content", message.content.as_str().into())]));
    }
    for call in calls {
        input.push(object([
            ("type", "function_call".into()),
            ("call_id", call.id.as_str().into()),
            ("name", call.name.as_str().into()),
            ("arguments", Json::Object(call.arguments.clone()).to_string().into()),
        ]));
    }
}

fn responses_content(content: &Content) -> Json {
    content_json(content, "input_text", |image| {
        object([
            ("type", "input_image".into()),
            ("image_url", url(image).into()),
            ("detail", detail(image).into()),
        ])
    })
}

fn messages(lowered: &Lowered) -> Option<Object> {
    let conversation = &lowered.conversation;
    if conversation.response_format != ResponseFormat::Text {
        return None;
    }
    let mut body = front(lowered);
    body.insert("max_tokens", lowered.sampling.max_tokens.unwrap_or(8192).into());
    let mut rest = conversation.messages.as_slice();
    if let [Message::System { content, tools }, after @ ..] = rest
        && tools.is_empty()
    {
        body.insert("system", messages_content(content)?);
        rest = after;
    }
    let mut out: Vec<Json> = Vec::new();
    // Results of calls that follow each other are one message.
    let mut results: Vec<Json> = Vec::new();
    for message in rest {
        if let Message::Tool { content, call_id } = message {
            results.push(object([
                ("type", "tool_result".into()),
                ("tool_use_id", call_id.as_deref()?.into()),
                ("content", messages_content(content)?),
            ]));
            continue;
        }
        if !results.is_empty() {
            out.push(turn("user", Json::Array(std::mem::take(&mut results))));
        }
        out.push(match message {
            Message::System { content, tools } if tools.is_empty() => {
                turn("system", messages_content(content)?)
            }
            Message::User { content } => turn("user", messages_content(content)?),
            Message::Assistant(message) => turn("assistant", Json::Array(messages_blocks(message))),
            Message::System { .. } | Message::Tool { .. } | Message::LatestReminder { .. } => return None,
        });
    }
    if !results.is_empty() {
        out.push(turn("user", Json::Array(results)));
    }
    body.insert("messages", Json::Array(out));
    if !conversation.tools.is_empty() {
        let tools = conversation.tools.iter().map(|tool| Json::Object(function(tool, "input_schema")));
        body.insert("tools", Json::Array(tools.collect()));
    }
    match &conversation.tool_choice {
        ToolChoice::Auto => {}
        ToolChoice::None => body.insert("tool_choice", object([("type", "none".into())])),
        ToolChoice::Required => body.insert("tool_choice", object([("type", "any".into())])),
        ToolChoice::Allowed { .. } => return None,
    }
    body.insert("thinking", thinking(conversation.thinking));
    if let Thinking::On(effort) = conversation.thinking {
        body.insert("output_config", object([("effort", effort_json(effort))]));
    }
    if !lowered.stops.is_empty() {
        body.insert("stop_sequences", stops(lowered));
    }
    Some(body)
}

fn messages_blocks(message: &AssistantMessage) -> Vec<Json> {
    let mut blocks = Vec::new();
    if let Some(reasoning) = &message.reasoning {
        blocks.push(object([
            ("type", "thinking".into()),
            ("thinking", reasoning.as_str().into()),
            ("signature", "".into()),
        ]));
    }
    let calls = message.calls.as_deref().unwrap_or_default();
    if !message.content.is_empty() || calls.is_empty() {
        blocks.push(object([("type", "text".into()), ("text", message.content.as_str().into())]));
    }
    blocks.extend(calls.iter().map(|call| {
        object([
            ("type", "tool_use".into()),
            ("id", call.id.as_str().into()),
            ("name", call.name.as_str().into()),
            ("input", Json::Object(call.arguments.clone())),
        ])
    }));
    blocks
}

fn messages_content(content: &Content) -> Option<Json> {
    let sources: Option<Vec<Json>> = content.images().map(messages_source).collect();
    let mut sources = sources?.into_iter();
    Some(content_json(content, "text", |_| {
        object([("type", "image".into()), ("source", sources.next().unwrap_or_default())])
    }))
}

fn messages_source(image: &Image) -> Option<Json> {
    Some(match &image.source {
        ImageSource::Url(url) => object([("type", "url".into()), ("url", url.as_str().into())]),
        ImageSource::Data(data) => {
            let (kind, data) = data.strip_prefix("data:")?.split_once(";base64,")?;
            object([("type", "base64".into()), ("media_type", kind.into()), ("data", data.into())])
        }
    })
}

fn turn(role: &str, content: Json) -> Json {
    object([("role", role.into()), ("content", content)])
}

/// What all formats begin with.
fn front(lowered: &Lowered) -> Object {
    let mut body = Object::from([("model", lowered.profile.name().into())]);
    if lowered.stream {
        body.insert("stream", true.into());
    }
    if !lowered.conversation.thinking.is_on() && lowered.sampling.temperature != 1.0 {
        let temperature = lowered.sampling.temperature.to_string();
        body.insert("temperature", Json::parse(temperature.as_bytes()).unwrap_or_default());
    }
    body
}

fn function(tool: &Tool, schema: &str) -> Object {
    let mut out = Object::from([("name", tool.name.as_str().into())]);
    if let Some(description) = &tool.description {
        out.insert("description", description.as_str().into());
    }
    out.insert(schema, tool.parameters.clone());
    if let Some(strict) = tool.strict {
        out.insert("strict", strict.into());
    }
    out
}

/// Text alone as a string, anything else as a list of parts.
fn content_json(content: &Content, text_type: &str, mut image: impl FnMut(&Image) -> Json) -> Json {
    match content.0.as_slice() {
        [] => "".into(),
        [Part::Text(text)] => text.as_str().into(),
        parts => Json::Array(
            parts
                .iter()
                .map(|part| match part {
                    Part::Text(text) => object([("type", text_type.into()), ("text", text.as_str().into())]),
                    Part::Image(of) => image(of),
                })
                .collect(),
        ),
    }
}

fn url(image: &Image) -> &str {
    match &image.source {
        ImageSource::Url(url) | ImageSource::Data(url) => url,
    }
}

fn detail(image: &Image) -> &'static str {
    match image.detail {
        ImageDetail::Low => "low",
        ImageDetail::High => "high",
        ImageDetail::Original => "original",
        ImageDetail::Auto => "auto",
    }
}

fn thinking(thinking: Thinking) -> Json {
    object([("type", if thinking.is_on() { "enabled" } else { "disabled" }.into())])
}

fn effort_json(effort: Effort) -> Json {
    match effort {
        Effort::Low => "low".into(),
        Effort::High => "high".into(),
        Effort::Xhigh => "xhigh".into(),
        Effort::Max => "max".into(),
        Effort::Score(score) => u32::from(score.get()).into(),
    }
}

/// Writes a choice of tools that is not the default; `allowed` writes a mode and the names of those allowed.
fn choose(body: &mut Object, choice: &ToolChoice, allowed: impl Fn(Json, &[String]) -> Json) {
    let choice = match choice {
        ToolChoice::Auto => return,
        ToolChoice::None => "none".into(),
        ToolChoice::Required => "required".into(),
        ToolChoice::Allowed { names, required } => allowed(mode(*required), names),
    };
    body.insert("tool_choice", choice);
}

fn mode(required: bool) -> Json {
    if required { "required" } else { "auto" }.into()
}

fn stops(lowered: &Lowered) -> Json {
    Json::Array(lowered.stops.iter().map(|stop| stop.as_str().into()).collect())
}

fn object<const N: usize>(members: [(&str, Json); N]) -> Json {
    Json::from(members)
}

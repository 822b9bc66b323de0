//! Gold prompts of another implementation, rendered from a conversation built by hand.

use deepseek_codec::conversation::{
    AssistantMessage, Call, Content, Conversation, Effort, Image, ImageDetail, ImageSource, Message, Part,
    ResponseFormat, Score, Thinking, Tool,
};
use deepseek_codec::json::Json;
use deepseek_codec::model::Profile;
use serde::Deserialize;
use serde_json::Value;

/// One gold prompt.
#[derive(Debug, Deserialize)]
struct Case {
    name: String,
    messages: Vec<Value>,
    thinking: bool,
    effort: u64,
    expected: String,
}

/// Why a gold prompt is not ours.
#[derive(Debug, Deserialize)]
struct Explained {
    name: String,
    reason: String,
}

/// A gold prompt and what we make of it.
#[derive(Debug)]
pub struct Gold {
    pub name: String,
    pub expected: String,
    pub ours: String,
    /// The documented reason for a difference.
    pub reason: Option<String>,
}

impl Gold {
    /// Equal without a documented reason, or different with one.
    pub fn is_explained(&self) -> bool {
        (self.expected == self.ours) == self.reason.is_none()
    }
}

/// Renders all gold prompts.
pub fn run() -> Result<Vec<Gold>, String> {
    let explain = |error: serde_json::Error| format!("golds: {error}");
    let cases: Vec<Case> =
        serde_json::from_str(include_str!("../golds/deepseek_v41.json")).map_err(explain)?;
    let reasons: Vec<Explained> =
        serde_json::from_str(include_str!("../golds/explained.json")).map_err(explain)?;
    let profile = Profile::by_name("deepseek-v4.1-flash").ok_or("no such profile")?;
    let gold = |case: Case| {
        let conversation = conversation(&case).ok_or_else(|| format!("{}: cannot be read", case.name))?;
        let ours = profile.render(&conversation).to_string();
        let reason = reasons
            .iter()
            .find(|explained| explained.name == case.name)
            .map(|explained| explained.reason.clone());
        // Both spellings name the same token.
        let expected = case.expected.replace("<｜deepseek_image｜>", "<｜image｜>");
        Ok(Gold { name: case.name, expected, ours, reason })
    };
    cases.into_iter().map(gold).collect()
}

/// A line for each gold that differs, and the count of those that do not.
pub fn report(golds: &[Gold]) -> String {
    let equal = golds.iter().filter(|gold| gold.expected == gold.ours).count();
    let mut out = format!("{equal} of {} gold prompts are equal\n", golds.len());
    for gold in golds.iter().filter(|gold| gold.expected != gold.ours || !gold.is_explained()) {
        match &gold.reason {
            Some(reason) if gold.is_explained() => out += &format!("{}: {reason}\n", gold.name),
            _ => {
                out += &format!(
                    "{}: UNEXPLAINED\n  expected {:?}\n  ours     {:?}\n",
                    gold.name, gold.expected, gold.ours
                )
            }
        }
    }
    out
}

fn conversation(case: &Case) -> Option<Conversation> {
    let mut conversation = Conversation {
        thinking: match case.thinking {
            true => Thinking::On(Effort::Score(Score::new(case.effort)?)),
            false => Thinking::Off,
        },
        ..Conversation::default()
    };
    for message in &case.messages {
        for tool in message["tools"].as_array().into_iter().flatten() {
            conversation.tools.push(self::tool(&tool["function"])?);
        }
        if message["response_format"]["type"] == "json_object" {
            conversation.response_format = ResponseFormat::JsonObject;
        }
        conversation.messages.push(self::message(message)?);
    }
    Some(conversation)
}

fn tool(function: &Value) -> Option<Tool> {
    let parameters = Json::parse(function["parameters"].to_string().as_bytes()).ok()?;
    Some(Tool::function(
        function["name"].as_str()?,
        function["description"].as_str().map(str::to_owned),
        parameters,
    ))
}

fn message(message: &Value) -> Option<Message> {
    let content = || content(&message["content"]);
    Some(match message["role"].as_str()? {
        "system" => Message::System { content: content()?, tools: Vec::new() },
        "user" => Message::User { content: content()? },
        "tool" => Message::Tool {
            content: content()?,
            call_id: message["tool_call_id"].as_str().map(str::to_owned),
        },
        "assistant" => {
            let reasoning = message["reasoning_content"].as_str().map(str::to_owned);
            let calls = match &message["tool_calls"] {
                Value::Array(calls) => Some(calls.iter().map(call).collect::<Option<_>>()?),
                _ => None,
            };
            let content = message["content"].as_str()?.to_owned();
            Message::Assistant(AssistantMessage { content, reasoning, calls, prefix: false })
        }
        _ => return None,
    })
}

fn call(call: &Value) -> Option<Call> {
    let function = &call["function"];
    Some(Call {
        id: call["id"].as_str()?.to_owned(),
        name: function["name"].as_str()?.to_owned(),
        arguments: Call::parse_arguments(function["arguments"].as_str()?.to_owned()),
    })
}

fn content(content: &Value) -> Option<Content> {
    let part = |block: &Value| {
        Some(match block["type"].as_str()? {
            "text" => Part::Text(block["text"].as_str()?.to_owned()),
            _ => Part::Image(Image {
                source: ImageSource::Url(block["image_url"]["url"].as_str()?.to_owned()),
                detail: ImageDetail::default(),
                path: String::new(),
            }),
        })
    };
    match content {
        Value::Array(blocks) => blocks.iter().map(part).collect::<Option<_>>().map(Content),
        content => Some(content.as_str()?.into()),
    }
}

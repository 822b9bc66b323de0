//! Which part of a prompt each token belongs to.

use crate::conversation::{Content, Conversation, Message, Part};
use crate::prompt::{Position, Prompt, Segment, Source};
use crate::token::{Special, TokenId};
use crate::tokenizer::Tokenizer;

/// A prompt's ids, each with the place where it starts.
#[must_use]
pub fn placed_ids(tokenizer: &Tokenizer, prompt: &Prompt) -> Vec<(TokenId, Position)> {
    let mut at = Position { text: 0, specials: 0 };
    let mut placed = Vec::new();
    for segment in prompt.segments() {
        match segment {
            Segment::Special(role) => {
                if let Some(id) = tokenizer.special_id(role) {
                    placed.push((id, at));
                }
                at.specials += 1;
            }
            Segment::Text(text) => {
                for id in tokenizer.encode_text(text) {
                    placed.push((id, at));
                    at.text += tokenizer.token_bytes(id).map_or(0, <[u8]>::len);
                }
            }
        }
    }
    placed
}

/// The ids of text in which special tokens are spelled, as people write down what a model generated. Never for text of
/// a request: there a spelling is text.
#[must_use]
pub fn spelled_ids(tokenizer: &Tokenizer, text: &str) -> Vec<TokenId> {
    // Where each role is spelled next; looked for anew only when it has been passed, so that time stays linear.
    let mut next: Vec<Option<usize>> = Special::ALL.iter().map(|role| text.find(role.spelling())).collect();
    let mut ids = Vec::new();
    let mut from = 0;
    while let Some((at, role)) =
        next.iter().zip(Special::ALL).filter_map(|(at, role)| Some(((*at)?, *role))).min_by_key(|(at, _)| *at)
    {
        ids.extend(tokenizer.encode_text(&text[from..at]));
        ids.extend(tokenizer.special_id(role));
        from = at + role.spelling().len();
        for (place, role) in next.iter_mut().zip(Special::ALL) {
            if place.is_some_and(|place| place < from) {
                *place = text[from..].find(role.spelling()).map(|found| from + found);
            }
        }
    }
    ids.extend(tokenizer.encode_text(&text[from..]));
    ids
}

/// What a stretch of the prompt is called, for example `message 3: tool result`.
#[must_use]
pub fn label(source: Source, conversation: &Conversation) -> String {
    let index = match source {
        Source::Start => return "start".to_owned(),
        Source::Tools => return format!("{} tools", conversation.tools.len()),
        Source::ResponseFormat => return "response format".to_owned(),
        Source::Turn => return "next turn".to_owned(),
        Source::Message(index) => index,
    };
    let role = match conversation.messages.get(index) {
        None => "message",
        Some(Message::System { .. }) => "system",
        Some(Message::User { .. }) => "user",
        Some(Message::Assistant(_)) => "assistant",
        Some(Message::Tool { .. }) => "tool result",
        Some(Message::LatestReminder { .. }) => "latest reminder",
    };
    format!("message {index}: {role}")
}

/// The beginning of what the stretch says.
pub(super) fn summary(source: Source, conversation: &Conversation) -> String {
    let Source::Message(index) = source else { return String::new() };
    match conversation.messages.get(index) {
        None => String::new(),
        Some(Message::System { content, .. } | Message::User { content } | Message::Tool { content, .. }) => {
            content_summary(content)
        }
        Some(Message::LatestReminder { content }) => beginning(content),
        Some(Message::Assistant(message)) => {
            let calls = message.calls.iter().flatten().map(|call| format!("[{}]", call.name));
            std::iter::once(beginning(&message.content))
                .filter(|text| !text.is_empty())
                .chain(calls)
                .collect::<Vec<_>>()
                .join(" ")
        }
    }
}

fn content_summary(content: &Content) -> String {
    let parts = content.0.iter().map(|part| match part {
        Part::Text(text) => beginning(text),
        Part::Image(_) => "[image]".to_owned(),
    });
    parts.collect::<Vec<String>>().join(" ")
}

fn beginning(text: &str) -> String {
    text.chars().take(200).collect()
}

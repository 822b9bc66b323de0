//! Which part of a prompt each token belongs to.

use std::fmt;

use deepseek_codec::conversation::{Content, Conversation, Message, Part};
use deepseek_codec::prompt::{Position, Prompt, Segment, Source};
use deepseek_codec::token::TokenId;
use deepseek_codec::tokenizer::Tokenizer;

/// A prompt's ids, each with the place where it starts.
pub(crate) fn placed_ids(tokenizer: &Tokenizer, prompt: &Prompt) -> Vec<(TokenId, Position)> {
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

/// What a stretch of the prompt is called.
pub(crate) struct Label<'c> {
    pub(crate) source: Source,
    pub(crate) conversation: &'c Conversation,
}

impl fmt::Display for Label<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let index = match self.source {
            Source::Start => return f.write_str("start"),
            Source::Tools => return write!(f, "{} tools", self.conversation.tools.len()),
            Source::ResponseFormat => return f.write_str("response format"),
            Source::Turn => return f.write_str("next turn"),
            Source::Message(index) => index,
            _ => return f.write_str("other"),
        };
        let role = match self.conversation.messages.get(index) {
            None => "message",
            Some(Message::System { .. }) => "system",
            Some(Message::User { .. }) => "user",
            Some(Message::Assistant(_)) => "assistant",
            Some(Message::Tool { .. }) => "tool result",
            Some(Message::LatestReminder { .. }) => "latest reminder",
        };
        write!(f, "message {index}: {role}")
    }
}

/// The beginning of what the stretch says.
pub(crate) fn summary(source: Source, conversation: &Conversation) -> String {
    let Source::Message(index) = source else { return String::new() };
    match conversation.messages.get(index) {
        None => String::new(),
        Some(Message::System { content, .. } | Message::User { content } | Message::Tool { content, .. }) => {
            content_summary(content)
        }
        Some(Message::LatestReminder { content }) => content.clone(),
        Some(Message::Assistant(message)) => {
            let calls = message.calls.iter().flatten().map(|call| format!("[{}]", call.name));
            std::iter::once(message.content.clone())
                .filter(|text| !text.is_empty())
                .chain(calls)
                .collect::<Vec<_>>()
                .join(" ")
        }
    }
}

fn content_summary(content: &Content) -> String {
    let parts = content.0.iter().map(|part| match part {
        Part::Text(text) => text.chars().take(200).collect(),
        Part::Image(_) => "[image]".to_owned(),
    });
    parts.collect::<Vec<String>>().join(" ")
}

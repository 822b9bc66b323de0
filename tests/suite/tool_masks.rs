//! Masks of outputs that may call tools.

use deepseek_codec::constraint::Constraint;
use deepseek_codec::conversation::{
    Call, Conversation, Message, ParallelToolCalls, Thinking, Tool, ToolChoice,
};
use deepseek_codec::grammar::Layout;
use deepseek_codec::json::{Json, Style};
use deepseek_codec::model::PROFILES;
use deepseek_codec::output::{Plan, Start};
use deepseek_codec::protocol::{Api, Options, lower_json};
use deepseek_codec::token::{Special, TokenId};

use crate::fixture;
use crate::masks::{SETUP, accepts};

/// The tokens of a text in which special tokens are spelled.
pub(crate) fn spelled(text: &str) -> Vec<TokenId> {
    let mut ids = Vec::new();
    let mut rest = text;
    loop {
        let next = [Special::Dsml, Special::ThinkEnd]
            .into_iter()
            .filter_map(|role| Some((rest.find(role.spelling())?, role)))
            .min_by_key(|(at, _)| *at);
        let Some((at, role)) = next else { break };
        ids.extend(SETUP.tokenizer.encode_text(&rest[..at]));
        ids.extend(SETUP.tokenizer.special_id(role));
        rest = &rest[at + role.spelling().len()..];
    }
    ids.extend(SETUP.tokenizer.encode_text(rest));
    ids
}

#[test]
fn outputs_are_accepted_as_their_case_says() {
    for case in fixture::json("grammar/tools.json").as_array().unwrap() {
        let name = fixture::text(case, "name");
        let request = case.get("request").unwrap().clone();
        let lowered = lower_json(Api::Chat, request, &Options::default()).unwrap();
        let plan = Plan::of(&lowered.conversation, &lowered.stops);
        let constraint = Constraint::of(&lowered.conversation).unwrap();
        let compiled =
            constraint.compile(plan.start, lowered.profile, &SETUP.compiler, Layout::default()).unwrap();
        for (key, expected) in [("accepts", true), ("rejects", false)] {
            for text in case.get(key).and_then(Json::as_array).unwrap() {
                let text = text.as_str().unwrap();
                assert_eq!(accepts(&compiled, &spelled(text)), expected, "{name}: {text}");
            }
        }
    }
}

#[test]
fn text_that_spells_markup_is_text() {
    let case = &fixture::json("grammar/tools.json").as_array().unwrap()[0].clone();
    let lowered = lower_json(Api::Chat, case.get("request").unwrap().clone(), &Options::default()).unwrap();
    let constraint = Constraint::of(&lowered.conversation).unwrap();
    let compiled =
        constraint.compile(Start::Content, lowered.profile, &SETUP.compiler, Layout::default()).unwrap();
    for output in case.get("accepts").and_then(Json::as_array).unwrap() {
        // As text, all of it is answer, and no part of it is markup that would have to be closed.
        let ids = SETUP.tokenizer.encode_text(output.as_str().unwrap());
        assert!(accepts(&compiled, &ids), "{output}");
        assert!(accepts(&compiled, &ids[..ids.len() / 2]), "{output}");
    }
}

/// The calls of the golden requests' histories, as each model writes them: where their arguments follow their tools'
/// schemas, the masks of these tools allow them token by token.
#[test]
fn rendered_calls_are_allowed() {
    let mut checked = 0;
    for api in [Api::Chat, Api::Responses, Api::Messages] {
        for case in fixture::lines(&format!("protocol/golden/{}.jsonl", api.as_str())) {
            let Some(request) = case.get("request") else { continue };
            let Ok(lowered) = lower_json(api, request.clone(), &Options::default()) else { continue };
            let conversation = &lowered.conversation;
            for message in &conversation.messages {
                if let Message::Assistant(message) = message
                    && let Some(calls) = &message.calls
                    && !calls.is_empty()
                {
                    let fitting: Vec<Call> = calls
                        .iter()
                        .filter(|call| follows_schema(call, &conversation.tools))
                        .cloned()
                        .collect();
                    if !fitting.is_empty() {
                        checked += fitting.len();
                        check_rendered(fitting, &conversation.tools, fixture::text(&case, "id"));
                    }
                }
            }
        }
    }
    assert!(checked > 50, "{checked} calls");
}

fn follows_schema(call: &Call, tools: &[Tool]) -> bool {
    // A quotation mark ends a name in markup, so no such call can be read back.
    if call.arguments.iter().any(|(name, _)| name.contains('"')) {
        return false;
    }
    let Some(tool) = tools.iter().find(|tool| tool.name == call.name) else { return false };
    let constraint = Constraint::Json { schema: Some(tool.schema().clone()) };
    let Ok(compiled) = constraint.compile(Start::Content, PROFILES[0], &SETUP.compiler, Layout::default())
    else {
        return false;
    };
    let text = Json::Object(call.arguments.clone()).text(Style::Spaced);
    accepts(&compiled, &SETUP.tokenizer.encode_text(&text))
}

fn check_rendered(calls: Vec<Call>, tools: &[Tool], id: &str) {
    let used: Vec<Tool> =
        tools.iter().filter(|tool| calls.iter().any(|call| call.name == tool.name)).cloned().collect();
    let message = deepseek_codec::conversation::AssistantMessage { calls: Some(calls), ..Default::default() };
    let conversation = Conversation {
        messages: vec![Message::User { content: "x".into() }, Message::Assistant(message)],
        tools: used.clone(),
        tool_choice: ToolChoice::Auto,
        thinking: Thinking::Off,
        ..Conversation::default()
    };
    let constraint = Constraint::Tools { tools: used, required: false, parallel: ParallelToolCalls::Allowed };
    for profile in PROFILES {
        let tokenizer = profile.tokenizer();
        let ids = tokenizer.encode(&profile.render(&conversation));
        let special = |role| tokenizer.special_id(role).unwrap();
        // The turn stands between the end of its empty reasoning and the end of the message.
        let end = ids.iter().rposition(|id| *id == special(Special::Eos)).unwrap();
        let start = ids[..end].iter().rposition(|id| *id == special(Special::ThinkEnd)).unwrap() + 1;
        let compiled =
            constraint.compile(Start::Content, profile, &SETUP.compiler, Layout::default()).unwrap();
        assert!(accepts(&compiled, &ids[start..end]), "{id}: {}", tokenizer.decode(&ids[start..end]));
    }
}

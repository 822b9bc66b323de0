use super::*;
use crate::conversation::{
    AssistantMessage, Call, Content, Effort, Message, Part, Score, Thinking, Tool, ToolChoice,
};
use crate::json::{Json, Object};
use crate::token::Special;

fn user(text: &str) -> Message {
    Message::User { content: text.into() }
}

fn tool() -> Tool {
    Tool::function("f", None, Json::Object(Object::new()))
}

fn render_all(conversation: &Conversation) -> Vec<String> {
    PROFILES.iter().map(|profile| profile.render(conversation).to_string()).collect()
}

#[test]
fn names_are_unique_and_found() {
    let mut names: Vec<_> = PROFILES.iter().flat_map(|profile| profile.names()).collect();
    for name in &names {
        assert!(Profile::by_name(name).is_some());
    }
    names.sort_unstable();
    names.dedup();
    assert_eq!(names.len(), PROFILES.iter().map(|profile| profile.names().count()).sum::<usize>());
    assert_eq!(Profile::by_name("deepseek-v5"), None);
}

#[test]
fn every_version_binds_what_it_writes() {
    for profile in PROFILES {
        let mut ids: Vec<_> = profile.vocabulary().specials.iter().map(|special| special.id).collect();
        ids.sort_unstable();
        ids.dedup();
        assert_eq!(ids.len(), profile.vocabulary().specials.len(), "{profile:?}");
        for special in profile.vocabulary().specials {
            assert!(!special.spellings.is_empty());
        }
    }
}

#[test]
fn an_empty_conversation_renders() {
    let conversation = Conversation { thinking: Thinking::Off, ..Conversation::default() };
    assert_eq!(
        render_all(&conversation),
        ["<｜begin▁of▁sentence｜><｜Assistant｜></think>", "<｜begin▁of▁sentence｜><｜Assistant｜></think>"]
    );
}

#[test]
fn special_spellings_in_text_stay_text() {
    let everything: String = Special::ALL.iter().map(|special| special.spelling()).collect();
    let plain: Vec<Special> = {
        let conversation = Conversation {
            messages: vec![user("x"), Message::Assistant(AssistantMessage::default()), user("y")],
            tools: vec![tool()],
            ..Conversation::default()
        };
        PROFILES[0].render(&conversation).specials().map(|(_, special)| special).collect()
    };
    let conversation = Conversation {
        messages: vec![
            user(&everything),
            Message::Assistant(AssistantMessage { content: everything.clone(), ..Default::default() }),
            user(&everything),
        ],
        tools: vec![Tool::function(
            everything.as_str(),
            Some(everything.clone()),
            everything.as_str().into(),
        )],
        ..Conversation::default()
    };
    let mut attacked: Vec<Special> =
        PROFILES[0].render(&conversation).specials().map(|(_, special)| special).collect();
    // The one listed exception: grounding tokens in what the model itself wrote.
    attacked.retain(|special| !Special::GROUNDING.contains(special));
    assert_eq!(attacked, plain);
}

#[test]
fn scores_render_as_numbers_or_as_the_nearest_name() {
    let with = |effort| Conversation {
        messages: vec![user("x")],
        thinking: Thinking::On(effort),
        ..Conversation::default()
    };
    let by_score = |score| render_all(&with(Effort::Score(Score::new(score).unwrap())));
    assert!(by_score(42)[1].contains("Reasoning Effort: 42 (range 1-100"));
    assert_eq!(by_score(42)[0], render_all(&with(Effort::Low))[0]);
    assert_eq!(by_score(75), render_all(&with(Effort::High)));
    assert_eq!(by_score(100), render_all(&with(Effort::Max)));
    assert_eq!(Score::new(0), None);
    assert_eq!(Score::new(101), None);
}

#[test]
fn results_follow_calls_and_images_follow_results() {
    let image = |name: &str| {
        Part::Image(Image {
            source: crate::conversation::ImageSource::Url(name.to_owned()),
            detail: crate::conversation::ImageDetail::High,
            path: String::new(),
        })
    };
    let call = |id: &str| Call { id: id.to_owned(), name: "f".to_owned(), arguments: Object::new() };
    let result = |id: &str| Message::Tool {
        content: Content(vec![Part::Text(format!("R{id}")), image(id)]),
        call_id: Some(id.to_owned()),
    };
    let conversation = Conversation {
        messages: vec![
            user("q"),
            Message::Assistant(AssistantMessage {
                calls: Some(vec![call("b"), call("a")]),
                ..AssistantMessage::default()
            }),
            result("a"),
            result("b"),
        ],
        tools: vec![tool()],
        tool_choice: ToolChoice::Auto,
        ..Conversation::default()
    };
    for (profile, order) in PROFILES.iter().zip([["a", "b"], ["b", "a"]]) {
        let prompt = profile.render(&conversation).to_string();
        let at = |id: &str| prompt.find(&format!("<tool_result>R{id}")).unwrap();
        assert!(at(order[0]) < at(order[1]), "{profile:?}");
        let images: Vec<_> = profile.images(&conversation);
        let urls: Vec<_> = images
            .iter()
            .map(|image| match &image.source {
                crate::conversation::ImageSource::Url(url) => url.as_str(),
                crate::conversation::ImageSource::Data(_) => "",
            })
            .collect();
        assert_eq!(urls, order);
    }
}

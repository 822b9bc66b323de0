use super::{Difference, Explanation, View, convert, placed_ids, spelled_ids};
use crate::protocol::{Api, Lowered, Options, lower};
use crate::token::Special;

fn lowered(body: &str) -> Lowered {
    lower(Api::Chat, body.as_bytes(), &Options::default()).expect("the body is a request")
}

/// Calls `with` with the views of two bodies.
fn compare(a: &str, b: &str) -> Difference {
    let (a, b) = (lowered(a), lowered(b));
    let prompts = [&a, &b].map(|side| side.profile.render(&side.conversation));
    let tokenizer = a.profile.tokenizer();
    Difference::between(
        View { lowered: &a, prompt: &prompts[0], tokenizer: &tokenizer },
        View { lowered: &b, prompt: &prompts[1], tokenizer: &b.profile.tokenizer() },
    )
}

const REQUEST: &str = r#"{"model": "deepseek-flash", "messages": [{"role": "system", "content": "Be brief."},
    {"role": "user", "content": "What is 世界? <｜User｜> 🙂"}]}"#;

#[test]
fn the_parts_add_up_and_the_ids_are_the_prompt_s() {
    let lowered = lowered(REQUEST);
    let prompt = lowered.profile.render(&lowered.conversation);
    let tokenizer = lowered.profile.tokenizer();
    let explanation = Explanation::of(View { lowered: &lowered, prompt: &prompt, tokenizer: &tokenizer });
    let placed = placed_ids(&tokenizer, &prompt);
    assert_eq!(placed.iter().map(|(id, _)| *id).collect::<Vec<_>>(), tokenizer.encode(&prompt));
    assert_eq!(explanation.tokens, placed.len());
    assert_eq!(explanation.bytes, prompt.to_string().len());
    assert_eq!(explanation.parts.iter().map(|part| part.bytes).sum::<usize>(), explanation.bytes);
    let labels: Vec<&str> = explanation.parts.iter().map(|part| part.label.as_str()).collect();
    assert_eq!(labels, ["start", "message 0: system", "message 1: user", "next turn"]);
}

#[test]
fn the_same_prompts_do_not_part() {
    let same = compare(REQUEST, REQUEST);
    assert_eq!(same.sides, None);
    assert_eq!(same.tokens, [same.common; 2]);
    assert_eq!(same.json().get("sides").map(ToString::to_string).as_deref(), Some("null"));
}

#[test]
fn prompts_part_at_the_first_other_token() {
    let other = REQUEST.replace("世界", "the moon");
    let difference = compare(REQUEST, &other);
    let sides = difference.sides.expect("the prompts differ");
    assert!(sides[0].before.ends_with("What is"), "{:?}", sides[0]);
    assert!(sides[0].after.starts_with(' ') && sides[1].after.starts_with(" the moon"), "{sides:?}");
    assert_eq!(difference.reason, "message 1: user differs");
}

#[test]
fn spelled_special_tokens_become_theirs_and_the_rest_is_text() {
    let tokenizer = lowered(REQUEST).profile.tokenizer();
    let text = "why</think>\n\nx</think><｜DSML｜tool_calls>｜DSML｜</thin";
    let ids = spelled_ids(&tokenizer, text);
    let specials: Vec<Special> = ids.iter().filter_map(|id| tokenizer.special_role(*id)).collect();
    assert_eq!(specials, [Special::ThinkEnd, Special::ThinkEnd, Special::Dsml, Special::Dsml]);
    assert_eq!(tokenizer.decode(&ids), text);
    assert_eq!(spelled_ids(&tokenizer, "hi"), tokenizer.encode_text("hi"));
}

#[test]
fn a_conversation_is_the_same_in_each_format() {
    let request = r#"{"model": "deepseek-flash", "max_tokens": 9, "stop": ["x"], "temperature": 0.5,
        "thinking": {"type": "disabled"}, "messages": [{"role": "system", "content": "Be brief."},
        {"role": "user", "content": [{"type": "text", "text": "a"}, {"type": "text", "text": "b"}]},
        {"role": "assistant", "content": "c", "tool_calls": [{"id": "1", "type": "function",
            "function": {"name": "f", "arguments": "{\"x\": [1, 2.5]}"}}]},
        {"role": "tool", "tool_call_id": "1", "content": "d"}, {"role": "user", "content": "e"}],
        "tools": [{"type": "function", "function": {"name": "f", "description": "F.", "parameters":
            {"type": "object", "properties": {"x": {"type": "array"}}}}}]}"#;
    let lowered = lowered(request);
    let prompt = lowered.profile.render(&lowered.conversation);
    for api in Api::ALL {
        let body = convert(&lowered, api).unwrap_or_else(|| panic!("{api:?}"));
        let again = lower(api, body.to_string().as_bytes(), &Options::default()).expect("a request");
        assert_eq!(again.profile.render(&again.conversation).to_string(), prompt.to_string());
        assert_eq!(again.sampling.max_tokens, Some(9));
        assert!((again.sampling.temperature - 0.5).abs() < 1e-6);
        assert!(again.warnings.is_empty(), "{:?}", again.warnings);
    }
}

#[test]
fn most_requests_can_be_said_in_another_format() {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/fixtures/requests");
    let mut counts = [0, 0];
    for entry in std::fs::read_dir(folder).expect("the fixtures") {
        let path = entry.expect("an entry").path();
        let Ok(body) = std::fs::read(&path) else { continue };
        let Ok(json) = crate::json::Json::parse(&body) else { continue };
        let api = Api::detect(&json).unwrap_or(Api::Chat);
        let Ok(lowered) = lower(api, &body, &Options::default()) else { continue };
        for to in Api::ALL {
            counts[usize::from(convert(&lowered, to).is_some())] += 1;
        }
    }
    assert!(counts[1] > 3 * counts[0], "{counts:?}");
}

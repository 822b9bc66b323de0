//! Outputs of a model, well-formed and not, in every way they can arrive.

use deepseek_codec::conversation::{AssistantMessage, Call};
use deepseek_codec::json::{Json, Number, Object};
use deepseek_codec::output::{Decoder, Finish, Parser, Plan};
use deepseek_codec::token::{Special, TokenId};
use proptest::prelude::*;

use crate::fuzz_replay::outputs::{self, Part};

/// Pieces that outputs are made of.
const PIECES: [&str; 44] = [
    "</think>",
    "<think>",
    "<｜end▁of▁sentence｜>",
    "<｜User｜>",
    "<｜ref｜>",
    "<｜/ref｜>",
    "｜DSML｜",
    "<｜DSML｜",
    "</｜DSML｜",
    "\n\n<｜DSML｜tool_calls>\n",
    "\n\n<｜DSML｜ calls>\n",
    "<｜DSML｜invoke name=\"f\">\n",
    "<｜DSML｜ invoke name=\"get_weather\">\n",
    "<｜DSML｜invoke name=\"no such tool\">",
    "<｜DSML｜parameter name=\"a\" string=\"true\">",
    "<｜DSML｜ parameter name=\"b c\" string=\"false\">",
    "<｜DSML｜parameter name=\"\" string=\"false\">",
    "<｜DSML｜parameter name=\"a\">",
    "</｜DSML｜parameter>\n",
    "</｜DSML｜ parameter>\n",
    "</｜DSML｜invoke>\n",
    "</｜DSML｜ invoke>\n",
    "</｜DSML｜tool_calls>",
    "</｜DSML｜ calls>",
    "invoke name=\"",
    "\" string=\"true\">",
    "\">",
    "{\"a\": [1, \"x\\\"}\"]}",
    "{\"a\":",
    "}",
    "]",
    "```json\n",
    "\n```",
    "12",
    "\"quoted\\",
    "\n",
    "\n\n",
    "<",
    "/",
    "｜",
    "aab",
    "abcd é。😀",
    " ",
    "text",
];

fn anything() -> impl Strategy<Value = String> {
    prop::collection::vec(prop::sample::select(PIECES.to_vec()), 0..24).prop_map(|pieces| pieces.concat())
}

/// Outputs as a model should write them, in either markup.
fn well_formed() -> impl Strategy<Value = Vec<String>> {
    let text =
        prop::sample::select(vec!["", "\n", "text", "a<b", "x\n\ny", "abcd é。😀", "<｜ref｜>r<｜/ref｜>"]);
    let value = prop::sample::select(vec![
        ("true", "Paris"),
        ("true", ""),
        ("true", "a\n\"b\"\\\t</x>\n"),
        ("true", "<｜box｜>\u{1}"),
        ("false", "3"),
        ("false", "{\"x\": [1, null]}"),
        ("false", "no JSON"),
        ("false", ""),
    ]);
    let call = (prop::sample::select(vec!["f", "get_weather", "other"]), prop::collection::vec(value, 0..4));
    let calls = prop::collection::vec(call, 0..4);
    (text.clone(), text.clone(), calls, any::<bool>(), any::<bool>()).prop_map(
        |(reasoning, content, calls, spaced, thinks)| {
            let (block, space) = if spaced { (" calls", " ") } else { ("tool_calls", "") };
            let mut pieces = Vec::new();
            if thinks {
                pieces.extend([reasoning.to_owned(), "</think>".to_owned()]);
            }
            pieces.push(content.to_owned());
            if calls.is_empty() {
                return pieces;
            }
            pieces.push(format!("\n\n<｜DSML｜{block}>\n"));
            for (name, values) in calls {
                pieces.push(format!("<｜DSML｜{space}invoke name=\"{name}\">\n"));
                for (index, (is_string, value)) in values.into_iter().enumerate() {
                    pieces
                        .push(format!("<｜DSML｜{space}parameter name=\"p{index}\" string=\"{is_string}\">"));
                    pieces.push(value.to_owned());
                    pieces.push(format!("</｜DSML｜{space}parameter>\n"));
                }
                pieces.push(format!("</｜DSML｜{space}invoke>\n"));
            }
            pieces.push(format!("</｜DSML｜{block}>"));
            pieces
        },
    )
}

/// One way to damage an output.
#[derive(Debug, Clone)]
enum Damage {
    Cut(prop::sample::Index),
    Drop(prop::sample::Index),
    Repeat(prop::sample::Index),
    Insert(prop::sample::Index, &'static str),
    DropCharacter(prop::sample::Index),
    InsertAnywhere(prop::sample::Index, &'static str),
}

fn damage() -> impl Strategy<Value = Damage> {
    let place = any::<prop::sample::Index>;
    let piece = || prop::sample::select(PIECES.to_vec());
    prop_oneof![
        place().prop_map(Damage::Cut),
        place().prop_map(Damage::Drop),
        place().prop_map(Damage::Repeat),
        (place(), piece()).prop_map(|(place, piece)| Damage::Insert(place, piece)),
        place().prop_map(Damage::DropCharacter),
        (place(), piece()).prop_map(|(place, piece)| Damage::InsertAnywhere(place, piece)),
    ]
}

pub(crate) fn damaged() -> impl Strategy<Value = String> {
    (well_formed(), prop::collection::vec(damage(), 0..4)).prop_map(|(mut pieces, damages)| {
        for damage in damages {
            let count = pieces.len();
            if count == 0 {
                break;
            }
            match damage {
                Damage::Drop(place) => drop(pieces.remove(place.index(count))),
                Damage::Repeat(place) => {
                    pieces.insert(place.index(count), pieces[place.index(count)].clone())
                }
                Damage::Insert(place, piece) => pieces.insert(place.index(count), piece.to_owned()),
                Damage::Cut(place) => {
                    let mut text = pieces.concat();
                    text.truncate(character(&text, place));
                    pieces = vec![text];
                }
                Damage::DropCharacter(place) => {
                    let mut text = pieces.concat();
                    let at = character(&text, place);
                    if at < text.len() {
                        text.remove(at);
                    }
                    pieces = vec![text];
                }
                Damage::InsertAnywhere(place, piece) => {
                    let mut text = pieces.concat();
                    text.insert_str(character(&text, place), piece);
                    pieces = vec![text];
                }
            }
        }
        pieces.concat()
    })
}

/// The place of a character of the text.
fn character(text: &str, place: prop::sample::Index) -> usize {
    let places: Vec<usize> = text.char_indices().map(|(at, _)| at).collect();
    if places.is_empty() { 0 } else { places[place.index(places.len())] }
}

fn json() -> impl Strategy<Value = Json> {
    let text = || prop_oneof![any::<String>(), anything()];
    let leaf = prop_oneof![
        Just(Json::Null),
        any::<bool>().prop_map(Json::from),
        (i64::MIN..0).prop_map(|number| Json::Number(Number::Negative(number))),
        any::<u64>().prop_map(Json::from),
        prop::num::f64::NORMAL.prop_map(|number| Json::Number(Number::Float(number))),
        text().prop_map(Json::from),
    ];
    leaf.prop_recursive(3, 12, 4, move |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..4).prop_map(Json::Array),
            prop::collection::vec((text(), inner), 0..4)
                .prop_map(|members| Json::Object(Object::from_iter(members))),
        ]
    })
}

/// A name as clients have them, or an odd one. A quote would end it.
fn name() -> impl Strategy<Value = String> {
    prop_oneof![
        "[a-zA-Z0-9_-]{1,16}",
        "[^\"\n]{0,8}",
        anything().prop_map(|name| name.replace(['"', '\n'], "'"))
    ]
}

fn message() -> impl Strategy<Value = AssistantMessage> {
    let text = || prop_oneof![Just(String::new()), any::<String>(), anything()];
    let text = move || text().prop_map(|text| text.trim_matches('\n').to_owned());
    let arguments = prop::collection::vec((name(), json()), 0..4);
    let call = (name(), arguments).prop_map(|(name, arguments)| Call {
        id: "id".to_owned(),
        name,
        arguments: Object::from_iter(arguments),
    });
    let calls = prop::collection::vec(call, 1..4);
    (text(), text(), prop::option::of(calls)).prop_map(|(reasoning, content, calls)| AssistantMessage {
        content,
        reasoning: Some(reasoning),
        calls,
        prefix: false,
    })
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 1000, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn damaged_outputs(plan in any::<[u8; 3]>(), text in damaged()) {
        let (plan, finish) = outputs::plan(plan[0], plan[1], plan[2]);
        outputs::check(&plan, finish, &text);
    }

    #[test]
    fn pieces_in_any_order(plan in any::<[u8; 3]>(), text in anything()) {
        let (plan, finish) = outputs::plan(plan[0], plan[1], plan[2]);
        outputs::check(&plan, finish, &text);
    }

    #[test]
    fn calls_are_read_as_they_were_written(message in message()) {
        outputs::check_round_trip(&message);
    }

    /// Ids that are taken back leave no trace.
    #[test]
    fn rollbacks(
        plan in any::<[u8; 3]>(),
        text in damaged(),
        kept in 1_usize..40,
        steps in prop::collection::vec((any::<prop::sample::Index>(), any::<prop::sample::Index>()), 1..12),
    ) {
        let (plan, finish) = outputs::plan(plan[0], plan[1], plan[2]);
        let tokenizer = deepseek_codec::model::PROFILES[0].tokenizer();
        let ids = outputs::ids(&text);
        let mut decoder = Decoder::new(plan.clone(), &tokenizer).keeping(kept);
        let mut accepted: Vec<TokenId> = Vec::new();
        let mut possible = 0;
        for (count, back) in steps {
            let drafts = &ids[..count.index(ids.len() + 1)];
            for &id in drafts {
                decoder.push(id, &mut |_| ());
                accepted.push(id);
                possible = kept.min(possible + 1);
            }
            prop_assert!(!decoder.clone().rollback(possible + 1));
            let back = back.index(possible + 1);
            prop_assert!(decoder.rollback(back), "{} of {} with {}", back, accepted.len(), kept);
            possible -= back;
            accepted.truncate(accepted.len() - back);
            let mut fresh = Decoder::new(plan.clone(), &tokenizer);
            accepted.iter().for_each(|&id| fresh.push(id, &mut |_| ()));
            let events = |decoder: &Decoder| {
                let (mut decoder, mut events) = (decoder.clone(), Vec::new());
                ids.iter().for_each(|&id| decoder.push(id, &mut |event| events.push(format!("{event:?}"))));
                decoder.finish(finish, &mut |event| events.push(format!("{event:?}")));
                events
            };
            prop_assert_eq!(events(&decoder), events(&fresh));
        }
    }

    /// Text that spells special tokens is text when it comes as tokens.
    #[test]
    fn tokens_of_spellings_are_text(text in anything()) {
        let ids = deepseek_codec::model::PROFILES[0].tokenizer().encode_text(&text);
        let plan = Plan { start: deepseek_codec::output::Start::InContent, ..Plan::default() };
        let seen = outputs::read_ids(&plan, Finish::Stop, &ids);
        let expected: Vec<Part> = (!text.is_empty()).then_some(Part::Content(text)).into_iter().collect();
        prop_assert_eq!(seen.parts, expected);
        prop_assert_eq!(seen.warnings, []);
    }
}

/// Outputs that a parser of quadratic time or unbounded memory would not survive.
#[test]
fn long_outputs() {
    let plan = Plan { tools: Some(vec!["f".to_owned()]), ..Plan::default() };
    let parameter = "<｜DSML｜parameter name=\"a\" string=\"true\">x</｜DSML｜parameter>\n";
    let call = format!("<｜DSML｜tool_calls><｜DSML｜invoke name=\"f\">{}", parameter.repeat(20_000));
    let unclosed = format!("<｜DSML｜parameter name=\"{}", "x".repeat(1 << 20));
    let spaces = format!("<｜DSML｜{}", " ".repeat(1 << 20));
    let tags = "<｜DSML｜".repeat(100_000);
    let open = format!("<｜DSML｜tool_calls><｜DSML｜invoke name=\"f\">{}", "<\n/".repeat(1 << 18));
    for (text, parts) in [(call, 1), (unclosed, 1), (spaces, 0), (tags, 0), (open, 1)] {
        let seen = outputs::read_whole_and_by_character(&plan, Finish::Stop, &text);
        assert_eq!(seen.parts.len(), parts);
    }
}

/// Tokens that are no characters: each is passed on at once.
#[test]
fn undecodable_tokens() {
    let tokenizer = deepseek_codec::model::PROFILES[0].tokenizer();
    let continuation = (0..256).map(TokenId).find(|id| tokenizer.token_bytes(*id) == Some(&[0x80])).unwrap();
    let seen = outputs::read_ids(&Plan::default(), Finish::Stop, &vec![continuation; 100_000]);
    assert_eq!(seen.parts, [Part::Content("\u{FFFD}".repeat(100_000))]);
}

/// A clone goes its own way, and peeking changes nothing.
#[test]
fn clones_and_peeks() {
    let mut parser = Parser::new(Plan { stops: vec!["stop".to_owned()], ..Plan::default() });
    let mut content = String::new();
    let mut sink = |event: deepseek_codec::output::Event<'_>| {
        if let deepseek_codec::output::Event::Content { text, .. } = event {
            content.push_str(text);
        }
    };
    parser.text("before st", &mut sink);
    let mut draft = parser.clone();
    draft.text("op", &mut |_| ());
    assert!(draft.has_ended() && !parser.has_ended());
    let mut peeked = Vec::new();
    parser.peek(Finish::Stop, &mut |event| peeked.push(format!("{event:?}")));
    assert!(peeked[0].contains("\"st\"") && peeked[1].contains("End"), "{peeked:?}");
    parser.text("ay", &mut sink);
    parser.special(Special::Eos, &mut sink);
    assert!(parser.has_ended());
    assert_eq!(content, "before stay");
}

//! What holds for any output of a model. Fuzz targets in `fuzz/` look for outputs for which it does not.

use std::collections::BTreeMap;
use std::sync::LazyLock;

use deepseek_codec::conversation::{
    AssistantMessage, Call, Conversation, Message, ResponseFormat, Thinking, Tool,
};
use deepseek_codec::json::{Json, Object};
use deepseek_codec::model::{PROFILES, Profile};
use deepseek_codec::output::{Event, Finish, JsonTypes, OutputWarningKind, Parser, Plan, Start, StopReason};
use deepseek_codec::prompt::Segment;
use deepseek_codec::token::{Special, TokenId};
use deepseek_codec::tokenizer::{Piece, Tokenizer};

static TOKENIZERS: LazyLock<Vec<Tokenizer>> =
    LazyLock::new(|| PROFILES.iter().map(|p| p.tokenizer()).collect());

/// What a parser reported, without where texts were cut.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Seen {
    pub(crate) parts: Vec<Part>,
    pub(crate) stop: (StopReason, Option<String>),
    pub(crate) warnings: Vec<(OutputWarningKind, u64)>,
}

/// One stretch of an output.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Part {
    Reasoning(String),
    Content(String),
    Call { name: String, arguments: String, complete: bool },
}

/// A stretch of text, or a special token.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Unit {
    Text(String),
    Special(Special),
}

/// Reads an output in every way it can arrive: `data` is three bytes that choose the plan and the finish, then the
/// text, in which special tokens are spelled.
pub(crate) fn parse_output(data: &[u8]) {
    let Some((&[start, stops, rest], text)) = data.split_first_chunk() else { return };
    let (plan, finish) = plan(start, stops, rest);
    check(&plan, finish, &String::from_utf8_lossy(text));
}

/// - The report is the same however the text is cut, and the same for tokens.
/// - Events are in order: calls do not overlap, and the stop is the last event.
/// - Texts are what stands in the output where the event says it does.
/// - Markup and structural tokens reach neither texts nor arguments.
/// - The arguments of a complete call are a JSON object.
pub(crate) fn check(plan: &Plan, finish: Finish, text: &str) {
    let whole = read_spelled(plan, finish, text, [text]);
    check_parts(&whole, plan, text);
    assert_eq!(read_by_character(plan, finish, text), whole, "by character: {text:?} with {plan:?}");
    // All places of a short text, and some of a long one: as many as can be read in the time of a few long ones.
    let places: Vec<usize> = text.char_indices().map(|(at, _)| at).collect();
    let step = places.len() / (8 * 1024 / text.len().max(1)).clamp(4, 48) + 1;
    for at in places.iter().skip(text.len() % step).step_by(step) {
        let halves = read_spelled(plan, finish, text, [&text[..*at], &text[*at..]]);
        assert_eq!(halves, whole, "cut at {at}: {text:?} with {plan:?}");
    }
    let units = units(text);
    if may_be_about_tokens(&whole, plan, &units) {
        return;
    }
    assert_eq!(read_units(plan, finish, text, &units), whole, "by unit: {text:?} with {plan:?}");
    let ids = |unit: &Unit| match unit {
        Unit::Text(text) => TOKENIZERS[0].encode_text(text),
        Unit::Special(special) => TOKENIZERS[0].special_id(*special).into_iter().collect(),
    };
    let has_ids = |unit: &Unit| matches!(unit, Unit::Text(_)) || !ids(unit).is_empty();
    if units.iter().all(has_ids) {
        let ids: Vec<TokenId> = units.iter().flat_map(ids).collect();
        assert_eq!(read_ids(plan, finish, &ids), whole, "by id: {text:?} with {plan:?}");
    }
}

/// Renders calls as a message of the history, and reads them back as if the model had just made them.
pub(crate) fn check_round_trip(message: &AssistantMessage) {
    for (profile, tokenizer) in PROFILES.iter().zip(&*TOKENIZERS) {
        for thinking in [Thinking::Off, Thinking::default()] {
            round_trip(profile, tokenizer, message, thinking);
        }
    }
}

fn round_trip(profile: &Profile, tokenizer: &Tokenizer, message: &AssistantMessage, thinking: Thinking) {
    let calls = message.calls.clone().unwrap_or_default();
    let tools = calls.iter().map(|call| Tool::function(&*call.name, None, Json::Object(Object::new())));
    let conversation = Conversation {
        messages: vec![Message::User { content: "u".into() }, Message::Assistant(message.clone())],
        tools: tools.collect(),
        thinking,
        response_format: ResponseFormat::Text,
        ..Conversation::default()
    };
    let prompt = profile.render(&conversation);
    let mut segments = prompt.segments().skip_while(|s| *s != Segment::Special(Special::Assistant)).skip(1);
    let start = match segments.next() {
        Some(Segment::Special(Special::ThinkStart)) => Start::Reasoning,
        Some(Segment::Special(Special::ThinkEnd)) => Start::Content,
        other => panic!("a turn starts with {other:?}"),
    };
    let units: Vec<Unit> = segments
        .take_while(|segment| *segment != Segment::Special(Special::Eos))
        .map(|segment| match segment {
            Segment::Text(text) => Unit::Text(text.to_owned()),
            Segment::Special(special) => Unit::Special(special),
        })
        .collect();
    let ids = tokenizer.encode(&prompt);
    let position = |role| ids.iter().position(|id| tokenizer.special_role(*id) == Some(role));
    let from = position(Special::Assistant).expect("a turn of the model") + 2;
    let to = position(Special::Eos).expect("the turn ends");

    let mut expected = Vec::new();
    if start == Start::Reasoning
        && let Some(reasoning) = message.reasoning.as_ref().filter(|text| !text.is_empty())
    {
        expected.push(Part::Reasoning(reasoning.clone()));
    }
    if !message.content.is_empty() {
        expected.push(Part::Content(message.content.clone()));
    }
    let plan =
        Plan { start, tools: Some(calls.iter().map(|call| call.name.clone()).collect()), ..Plan::default() };
    let source: String = units.iter().map(Unit::spelling).collect();
    for seen in
        [read_units(&plan, Finish::Stop, &source, &units), read_ids(&plan, Finish::Stop, &ids[from..to])]
    {
        let (texts, found): (Vec<Part>, Vec<Part>) =
            seen.parts.into_iter().partition(|part| !matches!(part, Part::Call { .. }));
        assert_eq!(texts, expected, "{source}");
        assert_eq!(found.len(), calls.len(), "{source}");
        for (found, call) in found.iter().zip(&calls) {
            let Part::Call { name, arguments, complete } = found else { unreachable!("they are calls") };
            assert!(complete, "{source}");
            assert_eq!(*name, call.name);
            let arguments = Json::parse(arguments.as_bytes()).expect("complete arguments are JSON");
            assert_eq!(arguments, Json::Object(call.arguments.clone()), "{source}");
        }
        let reason = if calls.is_empty() { StopReason::End } else { StopReason::ToolCalls };
        assert_eq!(seen.stop, (reason, None));
        assert_eq!(seen.warnings, [], "{source}");
    }
}

/// Makes a message out of `data`, and reads it back: fields are separated by NUL, calls by SOH. The first field is
/// the reasoning, the second the answer; a call's first field is its name, and pairs of name and value follow.
pub(crate) fn round_trip_bytes(data: &[u8]) {
    let text = String::from_utf8_lossy(data);
    let mut parts = text.split('\u{1}');
    let mut texts = parts.next().unwrap_or_default().split('\0');
    let clean = |text: Option<&str>| text.unwrap_or_default().trim_matches('\n').to_owned();
    let (reasoning, content) = (clean(texts.next()), clean(texts.next()));
    let name = |text: &str| text.replace('"', "'");
    let calls = parts.map(|call| {
        let mut fields = call.split('\0');
        let name_of_call = name(fields.next().unwrap_or_default());
        let mut arguments = Object::new();
        while let (Some(key), Some(value)) = (fields.next(), fields.next()) {
            let value = Json::parse(value.as_bytes()).unwrap_or_else(|_| value.into());
            arguments.insert(name(key), value);
        }
        Call { id: String::new(), name: name_of_call, arguments }
    });
    let calls: Vec<Call> = calls.take(8).collect();
    check_round_trip(&AssistantMessage {
        content,
        reasoning: Some(reasoning),
        calls: (!calls.is_empty()).then_some(calls),
        prefix: false,
    });
}

/// The plan and the finish that three bytes choose.
pub(crate) fn plan(start: u8, stops: u8, rest: u8) -> (Plan, Finish) {
    const STOPS: [&[&str]; 8] = [
        &[],
        &["\n"],
        &["DSML", "<"],
        &["ab", "bc", "abcd"],
        &["。", "é</", "<｜ref"],
        &["}", ", "],
        &["invoke", "\n\n"],
        &["", "aab", "</think>"],
    ];
    const STARTS: [Start; 5] =
        [Start::Reasoning, Start::InReasoning, Start::Content, Start::InContent, Start::Calls];
    const FINISHES: [Finish; 4] = [Finish::Stop, Finish::Length, Finish::ContentFilter, Finish::Unknown];
    let chosen = STOPS[usize::from(stops) % STOPS.len()];
    let tools = vec!["f".to_owned(), "get_weather".to_owned()];
    let plan = Plan {
        start: STARTS[usize::from(start) % STARTS.len()],
        tools: (rest & 3 != 3).then_some(tools),
        types: if rest & 128 == 0 { BTreeMap::new() } else { types() },
        json: rest & 12 == 12,
        stops: chosen.iter().map(|&stop| stop.to_owned()).collect(),
        stop_ids: Vec::new(),
        keep_stop: rest & 16 != 0,
        single_call: rest & 96 == 96,
    };
    (plan, FINISHES[usize::from(start / 5) % FINISHES.len()])
}

/// Parameters that cannot be strings.
fn types() -> BTreeMap<String, BTreeMap<String, JsonTypes>> {
    let types =
        [("a", &["object", "integer"][..]), ("b c", &["array", "null"]), ("p0", &["number", "object"])];
    let types = types.map(|(name, types)| (name.to_owned(), JsonTypes::from_names(types.iter().copied())));
    BTreeMap::from([("f".to_owned(), BTreeMap::from(types))])
}

impl Unit {
    fn spelling(&self) -> &str {
        match self {
            Self::Text(text) => text,
            Self::Special(special) => special.spelling(),
        }
    }
}

/// The text cut at spellings of special tokens, from the left.
pub(crate) fn units(text: &str) -> Vec<Unit> {
    let mut units = Vec::new();
    let mut plain = String::new();
    let mut rest = text;
    while let Some(character) = rest.chars().next() {
        let may_begin = matches!(character, '<' | '｜');
        let special = Special::ALL.iter().find(|special| may_begin && rest.starts_with(special.spelling()));
        if let Some(&special) = special {
            if !plain.is_empty() {
                units.push(Unit::Text(std::mem::take(&mut plain)));
            }
            units.push(Unit::Special(special));
            rest = &rest[special.spelling().len()..];
        } else {
            plain.push(character);
            rest = &rest[character.len_utf8()..];
        }
    }
    if !plain.is_empty() {
        units.push(Unit::Text(plain));
    }
    units
}

/// The ids of an output in which special tokens are spelled, without those that the vocabulary lacks.
pub(crate) fn ids(text: &str) -> Vec<TokenId> {
    let ids = |unit| match unit {
        Unit::Text(text) => TOKENIZERS[0].encode_text(&text),
        Unit::Special(special) => TOKENIZERS[0].special_id(special).into_iter().collect(),
    };
    units(text).into_iter().flat_map(ids).collect()
}

/// Reads a long output in one piece and character by character, without the checks that take longer.
pub(crate) fn read_whole_and_by_character(plan: &Plan, finish: Finish, text: &str) -> Seen {
    let whole = read_spelled(plan, finish, text, [text]);
    assert!(read_by_character(plan, finish, text) == whole, "a long output depends on how it is cut");
    whole
}

fn read_by_character(plan: &Plan, finish: Finish, text: &str) -> Seen {
    let mut observer = Observer::new(Some(text));
    let mut parser = Parser::new(plan.clone());
    let mut buffer = [0; 4];
    for character in text.chars() {
        parser.spelled(character.encode_utf8(&mut buffer), &mut |event| observer.event(event));
    }
    parser.finish(finish, &mut |event| observer.event(event));
    observer.seen()
}

fn read_spelled<const N: usize>(plan: &Plan, finish: Finish, source: &str, pieces: [&str; N]) -> Seen {
    let mut observer = Observer::new(Some(source));
    let mut parser = Parser::new(plan.clone());
    for piece in pieces {
        parser.spelled(piece, &mut |event| observer.event(event));
    }
    parser.finish(finish, &mut |event| observer.event(event));
    observer.seen()
}

fn read_units(plan: &Plan, finish: Finish, source: &str, units: &[Unit]) -> Seen {
    let mut observer = Observer::new(Some(source));
    let mut parser = Parser::new(plan.clone());
    for unit in units {
        match unit {
            Unit::Text(text) => parser.text(text, &mut |event| observer.event(event)),
            Unit::Special(special) => parser.special(*special, &mut |event| observer.event(event)),
        }
    }
    parser.finish(finish, &mut |event| observer.event(event));
    observer.seen()
}

pub(crate) fn read_ids(plan: &Plan, finish: Finish, ids: &[TokenId]) -> Seen {
    let mut observer = Observer::new(None);
    let mut parser = Parser::new(plan.clone());
    let mut detokenizer = TOKENIZERS[0].detokenizer();
    let pass = |parser: &mut Parser, observer: &mut Observer<'_>, piece: Piece<'_>| match piece {
        Piece::Text(text) => parser.text(text, &mut |event| observer.event(event)),
        Piece::Special(special) => parser.special(special, &mut |event| observer.event(event)),
        Piece::Added(id) => {
            let spelling = TOKENIZERS[0].added_spelling(id).unwrap_or_default();
            parser.foreign(spelling, &mut |event| observer.event(event));
        }
    };
    for &id in ids {
        detokenizer.push(id, |piece| pass(&mut parser, &mut observer, piece));
    }
    detokenizer.finish(|piece| pass(&mut parser, &mut observer, piece));
    parser.finish(finish, &mut |event| observer.event(event));
    observer.seen()
}

/// Checks the order of events and gathers them.
struct Observer<'s> {
    source: Option<&'s str>,
    parts: Vec<Part>,
    calls: usize,
    is_open: bool,
    stop: Option<(StopReason, Option<String>)>,
    warnings: Vec<(OutputWarningKind, u64)>,
}

impl<'s> Observer<'s> {
    fn new(source: Option<&'s str>) -> Self {
        Self { source, parts: Vec::new(), calls: 0, is_open: false, stop: None, warnings: Vec::new() }
    }

    fn event(&mut self, event: Event<'_>) {
        assert!(self.stop.is_none(), "{event:?} behind the stop");
        match event {
            Event::Reasoning { text, at } => {
                self.check_text(text, at);
                match self.parts.last_mut() {
                    Some(Part::Reasoning(whole)) => whole.push_str(text),
                    _ => self.parts.push(Part::Reasoning(text.to_owned())),
                }
            }
            Event::Content { text, at } => {
                self.check_text(text, at);
                match self.parts.last_mut() {
                    Some(Part::Content(whole)) => whole.push_str(text),
                    _ => self.parts.push(Part::Content(text.to_owned())),
                }
            }
            Event::CallStart { index, name } => {
                assert!(!self.is_open, "a call inside a call");
                assert_eq!(index, self.calls, "calls are numbered in order");
                self.calls += 1;
                self.is_open = true;
                let (name, arguments) = (name.to_owned(), String::new());
                self.parts.push(Part::Call { name, arguments, complete: false });
            }
            Event::CallArguments { index, json } => {
                assert!(self.is_open && index + 1 == self.calls, "arguments outside of their call");
                assert!(!json.is_empty(), "an empty piece of arguments");
                if let Some(Part::Call { arguments, .. }) = self.parts.last_mut() {
                    arguments.push_str(json);
                }
            }
            Event::CallEnd { index, complete: ended } => {
                assert!(self.is_open && index + 1 == self.calls, "the end of another call");
                self.is_open = false;
                if let Some(Part::Call { complete, .. }) = self.parts.last_mut() {
                    *complete = ended;
                }
            }
            Event::Warning(warning) => self.warnings.push((warning.kind, warning.at)),
            Event::Stop { reason, sequence } => {
                assert!(!self.is_open, "the output stops inside a call");
                self.stop = Some((reason, sequence.map(str::to_owned)));
            }
        }
    }

    fn check_text(&self, text: &str, at: u64) {
        assert!(!text.is_empty(), "an empty text");
        assert!(!self.is_open, "text inside a call");
        if let Some(source) = self.source {
            let at = usize::try_from(at).expect("texts are small");
            assert_eq!(source.get(at..at + text.len()), Some(text), "not what stands at {at} of {source:?}");
        }
    }

    fn seen(self) -> Seen {
        let stop = self.stop.expect("an output ends with a stop");
        Seen { parts: self.parts, stop, warnings: self.warnings }
    }
}

/// Special tokens that text in a value or a JSON answer may spell.
fn is_text_in_values(special: Special) -> bool {
    !matches!(special, Special::Dsml | Special::Eos) && !Special::GROUNDING.contains(&special)
}

/// Whether a value or a JSON answer may spell special tokens, which are left out there when they come as tokens.
fn may_be_about_tokens(seen: &Seen, plan: &Plan, units: &[Unit]) -> bool {
    let spelled = |unit: &Unit| match unit {
        Unit::Special(special) if is_text_in_values(*special) => Some(special.spelling()),
        _ => None,
    };
    let spellings: Vec<&str> = units.iter().filter_map(spelled).collect();
    let shows = |part: &Part| match part {
        Part::Call { arguments, .. } => spellings.iter().any(|spelling| arguments.contains(spelling)),
        _ => false,
    };
    // Calls are not shown without tools.
    let hides = plan.tools.is_none() || plan.json;
    !spellings.is_empty() && (hides || seen.parts.iter().any(shows))
}

fn check_parts(seen: &Seen, plan: &Plan, text: &str) {
    // Two halves of a spelling around something that is left out are nobody's markup.
    let may_form_spelling = |unit: &Unit| match unit {
        Unit::Text(text) => ["｜", "<t", "</t", "hink"].iter().any(|piece| text.contains(piece)),
        Unit::Special(_) => false,
    };
    let checks_spellings = !units(text).iter().any(may_form_spelling);
    for part in &seen.parts {
        let shown = match part {
            Part::Reasoning(text) | Part::Content(text) => text,
            Part::Call { arguments, complete, .. } => {
                if *complete {
                    let parsed = Json::parse(arguments.as_bytes());
                    assert!(matches!(parsed, Ok(Json::Object(_))), "{arguments} in {text:?}");
                }
                arguments
            }
        };
        if checks_spellings {
            let spells_values = matches!(part, Part::Call { .. }) || plan.json;
            let forbidden = Special::ALL.iter().filter(|special| !Special::GROUNDING.contains(special));
            for special in forbidden.filter(|special| !(spells_values && is_text_in_values(**special))) {
                assert!(!shown.contains(special.spelling()), "{special} in {shown:?} of {text:?}");
            }
        }
    }
}

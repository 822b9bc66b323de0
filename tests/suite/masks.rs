//! Masks: what they allow, in any way that it can be written and cut.

use deepseek_codec::constraint::Constraint;
use deepseek_codec::grammar::{Compiled, Compiler, Layout, Matcher, Order, Whitespace, is_allowed};
use deepseek_codec::json::Json;
use deepseek_codec::model::PROFILES;
use deepseek_codec::output::Start;
use deepseek_codec::token::TokenId;
use deepseek_codec::tokenizer::Tokenizer;
use std::sync::{Arc, LazyLock};

pub(crate) struct Setup {
    pub(crate) tokenizer: Tokenizer,
    pub(crate) compiler: Compiler,
}

pub(crate) static SETUP: LazyLock<Setup> = LazyLock::new(|| {
    let tokenizer = PROFILES[1].tokenizer();
    Setup { compiler: Compiler::new(&tokenizer), tokenizer }
});

pub(crate) fn compile(schema: &Json, layout: Layout) -> Arc<Compiled> {
    let constraint = Constraint::Json { schema: Some(schema.clone()) };
    constraint.compile(Start::Content, PROFILES[1], &SETUP.compiler, layout).unwrap()
}

pub(crate) fn cases() -> Vec<Json> {
    let text = include_str!("../../fixtures/grammar/schemas.json");
    Json::parse(text.as_bytes()).unwrap().as_array().unwrap().to_vec()
}

fn texts<'c>(case: &'c Json, key: &str) -> impl Iterator<Item = &'c str> {
    case.get(key).and_then(Json::as_array).unwrap().iter().filter_map(Json::as_str)
}

/// Whether the tokens are allowed one after the other, by the mask and by `accept`, and may then end.
pub(crate) fn accepts(compiled: &Arc<Compiled>, tokens: &[TokenId]) -> bool {
    let mut matcher = compiled.matcher();
    let mut mask = vec![0; compiled.mask_words()];
    for token in tokens {
        matcher.fill_mask(&mut mask);
        let allowed = is_allowed(&mask, *token);
        assert_eq!(matcher.accept(*token).is_ok(), allowed, "{token} in {matcher:?}");
        if !allowed {
            return false;
        }
    }
    matcher.fill_mask(&mut mask);
    assert_eq!(is_allowed(&mask, compiled.stops()[0]), matcher.is_complete());
    matcher.is_complete()
}

impl Setup {
    /// The token that is one byte.
    fn single(&self, byte: u8) -> Option<TokenId> {
        (3..259).map(TokenId).find(|id| self.tokenizer.token_bytes(*id) == Some(&[byte]))
    }
}

/// One token for each byte: the first 256 tokens are the bytes.
pub(crate) fn bytes(text: &str) -> Vec<TokenId> {
    text.bytes().map(|byte| SETUP.single(byte).unwrap()).collect()
}

#[test]
fn texts_are_accepted_as_their_case_says_however_they_are_cut() {
    for case in cases() {
        let name = case.get("name").and_then(Json::as_str).unwrap();
        let compiled = compile(case.get("schema").unwrap(), Layout::default());
        for (key, expected) in [("accepts", true), ("rejects", false)] {
            for text in texts(&case, key) {
                assert_eq!(
                    accepts(&compiled, &SETUP.tokenizer.encode_text(text)),
                    expected,
                    "{name}: {text}"
                );
                assert_eq!(accepts(&compiled, &bytes(text)), expected, "{name}: {text}, byte by byte");
            }
        }
    }
}

#[test]
fn no_token_leads_to_where_all_is_used_up() {
    let cases = Json::parse(include_bytes!("../../fixtures/grammar/left.json")).unwrap();
    for case in cases.as_array().unwrap() {
        let compiled = compile(case.get("schema").unwrap(), Layout::default());
        let after = case.get("after").and_then(Json::as_str).unwrap();
        let mut matcher = compiled.matcher();
        for token in bytes(after) {
            matcher.accept(token).unwrap();
        }
        let mut mask = vec![0; compiled.mask_words()];
        matcher.fill_mask(&mut mask);
        let slow = slow_mask(&mut matcher, SETUP.tokenizer.len());
        assert_eq!(differing(&mask, &slow), [""; 0], "after {after:?}");
        for token in (0..=255_u8).flat_map(|byte| SETUP.single(byte)).filter(|id| is_allowed(&mask, *id)) {
            let mut next = vec![0; mask.len()];
            matcher.accept(token).unwrap();
            matcher.fill_mask(&mut next);
            matcher.rollback(1);
            assert!(next.iter().any(|word| *word != 0), "nothing may come after {after:?} and {token}");
        }
        for (key, expected) in [("allows", true), ("refuses", false)] {
            for text in texts(case, key) {
                let tokens = SETUP.tokenizer.encode_text(text);
                let allowed = match tokens[..] {
                    [token] => is_allowed(&mask, token),
                    _ => matcher.clone().try_accept(&tokens) == tokens.len(),
                };
                assert_eq!(allowed, expected, "{text:?} after {after:?}");
            }
        }
    }
}

#[test]
fn in_the_order_of_the_schema_no_key_comes_too_late() {
    let layout = Layout { order: Order::Schema, ..Layout::default() };
    for (schema, after, allowed, refused) in [
        (
            r#"{"type": "object", "properties": {"a": {"type": "null"}, "b": {"type": "null"}}, "additionalProperties": false, "minProperties": 2}"#,
            "{\"",
            "a",
            "b",
        ),
        (
            r#"{"type": "object", "properties": {"a": {"type": "null"}, "b": {"type": "null"}}, "additionalProperties": false, "dependentRequired": {"b": ["a"]}}"#,
            "{\"",
            "a",
            "b",
        ),
        (
            r#"{"type": "object", "properties": {"a": {"type": "null"}, "b": {"type": "null"}}, "additionalProperties": false, "required": ["a"]}"#,
            "{\"",
            "a",
            "b",
        ),
        (
            r#"{"type": "object", "properties": {"a": {"type": "null"}, "b": {"type": "null"}}, "additionalProperties": false, "dependentRequired": {"b": ["a"]}}"#,
            "{\"a\":null,\"",
            "b",
            "a",
        ),
    ] {
        let compiled = compile(&Json::parse(schema.as_bytes()).unwrap(), layout);
        let mut matcher = compiled.matcher();
        assert_eq!(matcher.try_accept(&bytes(after)), after.len());
        let mut mask = vec![0; compiled.mask_words()];
        matcher.fill_mask(&mut mask);
        assert!(is_allowed(&mask, bytes(allowed)[0]), "{schema}");
        assert!(!is_allowed(&mask, bytes(refused)[0]), "{schema}");
    }
}

/// The mask, made by trying every token.
fn slow_mask(matcher: &mut Matcher, tokens: usize) -> Vec<u32> {
    let mut mask = vec![0; matcher.mask_words()];
    for id in 0..tokens as u32 {
        if matcher.accept(TokenId(id)).is_ok() {
            matcher.rollback(1);
            mask[id as usize / 32] |= 1 << (id % 32);
        }
    }
    mask
}

/// The first tokens that only one of two masks allows.
fn differing(a: &[u32], b: &[u32]) -> Vec<String> {
    let ids = (0..SETUP.tokenizer.len() as u32).map(TokenId);
    ids.filter(|id| is_allowed(a, *id) != is_allowed(b, *id))
        .take(5)
        .map(|id| format!("{id} {:?}, allowed: {}", SETUP.tokenizer.decode(&[id]), is_allowed(a, id)))
        .collect()
}

#[test]
fn a_mask_allows_just_the_tokens_that_are_accepted_and_going_back_restores_it() {
    let tokens = SETUP.tokenizer.len();
    for case in cases() {
        let name = case.get("name").and_then(Json::as_str).unwrap();
        let compiled = compile(case.get("schema").unwrap(), Layout::default());
        let mut matcher = compiled.matcher();
        let mut mask = vec![0; compiled.mask_words()];
        for text in texts(&case, "accepts") {
            let ids = SETUP.tokenizer.encode_text(text);
            let mut masks = Vec::new();
            for (at, id) in ids.iter().enumerate() {
                matcher.fill_mask(&mut mask);
                // A few places of each text are enough; together they are some hundred.
                if at % 5 == ids.len() % 5 {
                    let slow = slow_mask(&mut matcher, tokens);
                    assert_eq!(differing(&mask, &slow), [""; 0], "{name}: {text} at {at}");
                }
                masks.push(mask.clone());
                matcher.accept(*id).unwrap();
            }
            for expected in masks.iter().rev() {
                matcher.rollback(1);
                matcher.fill_mask(&mut mask);
                assert_eq!(differing(&mask, expected), [""; 0], "{name}: {text}");
            }
            let mut rows = vec![0; compiled.mask_words() * (ids.len() + 1)];
            assert_eq!(matcher.fill_draft_masks(&ids, &mut rows), ids.len());
            for (row, expected) in rows.chunks_exact(compiled.mask_words()).zip(&masks) {
                assert_eq!(differing(row, expected), [""; 0], "{name}: {text}");
            }
        }
    }
}

#[test]
fn layouts_bound_white_space_and_order() {
    let schema = Json::parse(br#"{"type": "object", "properties": {"b": {"type": "array", "items": {"type": "null"}}, "a": {"type": "null"}}, "required": ["a"], "additionalProperties": {"type": "null"}}"#).unwrap();
    let with = |whitespace, order| compile(&schema, Layout { whitespace, order });
    use deepseek_codec::grammar::Order;
    let check = |compiled: &Arc<Compiled>, text: &str| {
        let both = [SETUP.tokenizer.encode_text(text), bytes(text)].map(|ids| accepts(compiled, &ids));
        assert_eq!(both[0], both[1], "{text}");
        both[0]
    };
    let compact = with(Whitespace::Compact, Order::Any);
    assert!(check(&compact, r#"{"a":null,"b":[null,null]}"#));
    assert!(!check(&compact, r#"{"a": null}"#) && !check(&compact, r#" {"a":null}"#));
    let spaced = with(Whitespace::Spaced, Order::Any);
    assert!(check(&spaced, r#"{"a": null, "b": [null, null]}"#));
    for text in [r#"{"a":null}"#, r#"{"a":  null}"#, r#"{"a": null,"b": []}"#, r#"{ "a": null}"#] {
        assert!(!check(&spaced, text), "{text}");
    }
    let bounded = with(Whitespace::AtMost(3), Order::Any);
    assert!(check(&bounded, "{\n \"a\": \n null}"));
    assert!(!check(&bounded, "{    \"a\": null}"));
    let ordered = with(Whitespace::Any, Order::Schema);
    assert!(check(&ordered, r#"{"b": [], "a": null, "x": null}"#) && check(&ordered, r#"{"a": null}"#));
    assert!(!check(&ordered, r#"{"a": null, "b": []}"#) && !check(&ordered, r#"{"x": null, "a": null}"#));
}

#[test]
fn forced_tokens_are_the_only_way_on() {
    let schema = Json::parse(br#"{"type": "object", "properties": {"temperature_celsius": {"const": "unknown"}}, "required": ["temperature_celsius"], "additionalProperties": false}"#).unwrap();
    let compiled = compile(&schema, Layout { whitespace: Whitespace::Compact, ..Layout::default() });
    let mut matcher = compiled.matcher();
    let mut forced = Vec::new();
    matcher.forced(&mut forced);
    assert_eq!(SETUP.tokenizer.decode(&forced), r#"{"temperature_celsius":"unknown"}"#);
    assert_eq!(matcher.try_accept(&forced), forced.len());
    assert!(matcher.is_complete());
    forced.clear();
    matcher.forced(&mut forced);
    assert!(forced.is_empty());
}

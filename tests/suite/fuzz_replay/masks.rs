//! Properties of masks, for any schema and any regular expression.

use std::sync::{Arc, LazyLock};

use deepseek_codec::constraint::Constraint;
use deepseek_codec::grammar::{Compiled, Compiler, Layout, Whitespace, is_allowed};
use deepseek_codec::json::Json;
use deepseek_codec::model::PROFILES;
use deepseek_codec::output::Start;
use deepseek_codec::token::TokenId;

static COMPILER: LazyLock<Compiler> = LazyLock::new(|| Compiler::new(&PROFILES[1].tokenizer()));

/// How many tokens a walk takes at most.
const LONGEST_WALK: usize = 60;

/// The first byte chooses the walk; the rest is a schema.
pub(crate) fn schema_to_mask(data: &[u8]) {
    let Some((&choice, schema)) = data.split_first() else { return };
    let Ok(schema) = Json::parse(schema) else { return };
    let constraint = Constraint::Json { schema: Some(schema) };
    let layout = Layout { whitespace: Whitespace::AtMost(u16::from(choice % 3)), ..Layout::default() };
    if let Ok(compiled) = constraint.compile(Start::Content, PROFILES[1], &COMPILER, layout)
        && let Some(text) = walk(&compiled, choice)
    {
        let json = Json::parse(text.as_bytes());
        assert!(json.is_ok(), "{text:?} is not JSON");
    }
}

/// The first byte chooses the walk; the rest is an expression.
pub(crate) fn regex_to_mask(data: &[u8]) {
    let Some((&choice, regex)) = data.split_first() else { return };
    let Ok(regex) = std::str::from_utf8(regex) else { return };
    let constraint = Constraint::Regex(regex.to_owned());
    if let Ok(compiled) = constraint.compile(Start::Content, PROFILES[1], &COMPILER, Layout::default()) {
        walk(&compiled, choice);
    }
}

/// Walks through masks and checks each: some token is allowed, a token that is allowed is accepted, one that is not is
/// refused, and going back and on again comes to the same mask. Returns the text if it came to an end.
fn walk(compiled: &Arc<Compiled>, choice: u8) -> Option<String> {
    let tokenizer = PROFILES[1].tokenizer();
    let mut matcher = compiled.matcher();
    let (mut mask, mut again) = (vec![0; compiled.mask_words()], vec![0; compiled.mask_words()]);
    let mut ids = Vec::new();
    let mut state = u64::from(choice) + 1;
    let mut random = |below: usize| {
        state = state.wrapping_mul(0x5851_F42D_4C95_7F2D).wrapping_add(0x1405_7B7E_F767_814F);
        (state >> 33) as usize % below
    };
    for _ in 0..LONGEST_WALK {
        matcher.fill_mask(&mut mask);
        let stop = compiled.stops()[0];
        assert_eq!(is_allowed(&mask, stop), matcher.is_complete());
        if matcher.is_complete() {
            return Some(tokenizer.decode(&ids));
        }
        let allowed: Vec<u32> =
            (0..tokenizer.len() as u32).filter(|id| is_allowed(&mask, TokenId(*id))).collect();
        assert!(!allowed.is_empty(), "no token is allowed after {:?}", tokenizer.decode(&ids));
        // Those with the lowest ids are single bytes, among them those that end things.
        let next = match random(3) {
            0 => allowed[random(allowed.len())],
            _ => allowed[random(allowed.len().min(8))],
        };
        let other = TokenId(random(tokenizer.len()) as u32);
        let accepted = matcher.accept(other).is_ok();
        assert_eq!(accepted, is_allowed(&mask, other), "{other} after {:?}", tokenizer.decode(&ids));
        matcher.rollback(usize::from(accepted));
        matcher.accept(TokenId(next)).expect("it is allowed");
        matcher.rollback(1);
        matcher.fill_mask(&mut again);
        assert!(mask == again, "going back changes the mask after {:?}", tokenizer.decode(&ids));
        matcher.accept(TokenId(next)).expect("it is allowed");
        ids.push(TokenId(next));
    }
    None
}

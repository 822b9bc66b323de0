//! Random walks through masks.

use deepseek_codec::grammar::{Compiled, Layout, Matcher, is_allowed};
use deepseek_codec::json::Json;
use deepseek_codec::token::TokenId;
use proptest::prelude::*;
use std::sync::{Arc, LazyLock};

use crate::masks::{SETUP, accepts, bytes, cases, compile};

/// The fixtures' schemas, compiled.
static COMPILED: LazyLock<Vec<(String, Arc<Compiled>)>> = LazyLock::new(|| {
    let compiled = |case: &Json| {
        let name = case.get("name").and_then(Json::as_str).unwrap().to_owned();
        (name, compile(case.get("schema").unwrap(), Layout::default()))
    };
    cases().iter().map(compiled).collect()
});

/// Steps after which a walk closes what it can, and after which it gives up.
const LATE: usize = 30;
const LONGEST: usize = 300;

/// A stream of numbers from a seed (xorshift64*).
struct Dice(u64);

impl Dice {
    fn below(&mut self, n: usize) -> usize {
        self.0 ^= self.0 >> 12;
        self.0 ^= self.0 << 25;
        self.0 ^= self.0 >> 27;
        (self.0.wrapping_mul(0x2545_F491_4F6C_DD1D) >> 33) as usize % n
    }

    fn pick(&mut self, tokens: &[TokenId]) -> TokenId {
        tokens[self.below(tokens.len())]
    }
}

/// Single bytes, short tokens that hold a quote, and a share of the others, with those that are half characters.
static TRIED: LazyLock<Vec<TokenId>> = LazyLock::new(|| {
    let ids = (0..SETUP.tokenizer.len() as u32).map(TokenId);
    let is_tried = |id: &TokenId| {
        let bytes = SETUP.tokenizer.token_bytes(*id).unwrap_or_default();
        let is_half = std::str::from_utf8(bytes).is_err();
        match bytes {
            [_] => true,
            [_, b'"'] | [_, b'"', _] | [_, _, b'"'] => true,
            _ => id.0.is_multiple_of(101) || is_half && id.0.is_multiple_of(7),
        }
    };
    ids.filter(is_tried).collect()
});

/// The mask says of each token what `accept` says, and going back leaves no trace.
fn agree(matcher: &mut Matcher, mask: &[u32], name: &str, text: &str) {
    for token in TRIED.iter() {
        let accepted = matcher.accept(*token).is_ok();
        if accepted {
            matcher.rollback(1);
        }
        let token_bytes = SETUP.tokenizer.token_bytes(*token);
        assert_eq!(accepted, is_allowed(mask, *token), "{name}: {token_bytes:?} after {text:?}");
    }
    let mut again = vec![0; mask.len()];
    matcher.fill_mask(&mut again);
    assert!(mask == again, "{name}: another mask after going back, after {text:?}");
}

/// A token that the mask allows. Late in a walk one that closes something, if there is one.
fn choose(mask: &[u32], late: bool, dice: &mut Dice) -> TokenId {
    let closers = bytes("\"}],").into_iter().find(|id| is_allowed(mask, *id));
    if let Some(closer) = closers
        && dice.below(4) > if late { 0 } else { 2 }
    {
        return closer;
    }
    let allowed: Vec<TokenId> =
        (0..SETUP.tokenizer.len() as u32).map(TokenId).filter(|id| is_allowed(mask, *id)).collect();
    assert!(!allowed.is_empty(), "no token may come");
    let singles: Vec<TokenId> = TRIED.iter().copied().filter(|id| is_allowed(mask, *id)).collect();
    if singles.is_empty() || dice.below(2) == 0 { dice.pick(&allowed) } else { dice.pick(&singles) }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 150, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn walks_end_in_json_that_can_be_cut_in_any_way_and_taken_back(case in 0..COMPILED.len(), seed in 1..u64::MAX) {
        let (name, compiled) = &COMPILED[case];
        let stop = compiled.stops()[0];
        let mut dice = Dice(seed);
        let mut matcher = compiled.matcher();
        let mut mask = vec![0; compiled.mask_words()];
        let (mut tokens, mut masks) = (Vec::new(), Vec::new());
        for step in 0..LONGEST {
            matcher.fill_mask(&mut mask);
            let text = SETUP.tokenizer.decode(&tokens);
            prop_assert!(mask.iter().any(|word| *word != 0), "{name}: no token may come after {text:?}");
            if step % 8 == seed as usize % 8 {
                agree(&mut matcher, &mask, name, &text);
            }
            masks.push(mask.clone());
            if matcher.is_complete() && (step > LATE || dice.below(4) == 0) {
                break;
            }
            let token = choose(&mask, step > LATE, &mut dice);
            if token == stop {
                break;
            }
            prop_assert!(matcher.accept(token).is_ok(), "{name}: {token} after {text:?}");
            tokens.push(token);
        }
        if matcher.is_complete() {
            let text = SETUP.tokenizer.decode(&tokens);
            prop_assert!(Json::parse(text.as_bytes()).is_ok(), "{name}: {text:?}");
            prop_assert!(accepts(compiled, &SETUP.tokenizer.encode_text(&text)), "{name}: {text:?}, cut anew");
            prop_assert!(accepts(compiled, &bytes(&text)), "{name}: {text:?}, byte by byte");
        }
        // Some steps back, and forward again.
        let back = dice.below(tokens.len() + 1);
        matcher.rollback(back);
        for (token, expected) in tokens.iter().zip(&masks).skip(tokens.len() - back) {
            matcher.fill_mask(&mut mask);
            prop_assert!(&mask == expected, "{name}: another mask after going back");
            prop_assert!(matcher.accept(*token).is_ok());
        }
    }
}

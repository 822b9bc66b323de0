//! Random walks through masks.

use std::sync::Arc;

use deepseek_codec::grammar::{Compiled, is_allowed};
use deepseek_codec::token::TokenId;

use crate::dice::Dice;
use crate::sides::Masks;

pub enum Walk {
    /// A complete text.
    Complete(String),
    /// The walk was longer than it may be.
    Unfinished,
    /// No token may come, and the text is not complete.
    DeadEnd(String),
    /// The mask and `accept` differ after this text, on this token.
    Disagrees(String, TokenId),
}

/// Steps after which a walk tries to end, and after which it gives up.
const LATE: usize = 40;
const LONGEST: usize = 600;

/// Walks until the text is complete. Short strings and few members are preferred, so that walks end.
pub fn walk(masks: &Masks, compiled: &Arc<Compiled>, dice: &mut Dice) -> Walk {
    let mut matcher = compiled.matcher();
    let mut mask = vec![0; compiled.mask_words()];
    let mut tokens = Vec::new();
    for step in 0..LONGEST {
        matcher.fill_mask(&mut mask);
        let text = |tokens: &[TokenId]| {
            let bytes = tokens.iter().flat_map(|id| masks.tokenizer.token_bytes(*id).unwrap_or_default());
            let bytes: Vec<u8> = bytes.copied().collect();
            // Half a character at the end of what is not complete is shown as its bytes.
            String::from_utf8(bytes).unwrap_or_else(|error| error.as_bytes().escape_ascii().to_string())
        };
        if matcher.is_complete() && (step > LATE || dice.once_in(3)) {
            return Walk::Complete(text(&tokens));
        }
        let Some(token) = choose(masks, &mask, step > LATE, dice) else {
            let only_stop = compiled.stops().iter().any(|stop| is_allowed(&mask, *stop));
            return if only_stop { Walk::Complete(text(&tokens)) } else { Walk::DeadEnd(text(&tokens)) };
        };
        // A token that is not allowed must not be accepted either.
        let other = TokenId(dice.below(masks.tokenizer.len()) as u32);
        if !is_allowed(&mask, other) && matcher.accept(other).is_ok() {
            return Walk::Disagrees(text(&tokens) + " (accepted)", other);
        }
        if matcher.accept(token).is_err() {
            return Walk::Disagrees(text(&tokens) + " (allowed)", token);
        }
        tokens.push(token);
    }
    Walk::Unfinished
}

/// An allowed token that is not a stop token.
fn choose(masks: &Masks, mask: &[u32], late: bool, dice: &mut Dice) -> Option<TokenId> {
    let byte = |byte: u8| Some(masks.bytes[usize::from(byte)]).filter(|id| is_allowed(mask, *id));
    if if late { !dice.once_in(4) } else { dice.once_in(4) } {
        let closer = b"\"}],".iter().find_map(|closer| byte(*closer));
        if closer.is_some() {
            return closer;
        }
    }
    if dice.once_in(2) {
        let singles: Vec<TokenId> = (0x21..0x7F).filter_map(byte).filter(|id| is_text(masks, *id)).collect();
        if !singles.is_empty() {
            return Some(*dice.pick(&singles));
        }
    }
    let allowed: Vec<TokenId> = mask
        .iter()
        .enumerate()
        .flat_map(|(at, word)| {
            (0..32).filter(move |bit| word >> bit & 1 == 1).map(move |bit| TokenId(at as u32 * 32 + bit))
        })
        .filter(|id| is_text(masks, *id))
        .collect();
    // White space is allowed nearly everywhere; a walk of nothing else shows little.
    let blank = |id: TokenId| {
        masks.tokenizer.token_bytes(id).is_some_and(|bytes| bytes.iter().all(u8::is_ascii_whitespace))
    };
    let mut chosen = *allowed.get(dice.below(allowed.len()))?;
    for _ in 0..8 {
        if !blank(chosen) {
            break;
        }
        chosen = *dice.pick(&allowed);
    }
    Some(chosen)
}

fn is_text(masks: &Masks, id: TokenId) -> bool {
    masks.tokenizer.token_bytes(id).is_some()
}

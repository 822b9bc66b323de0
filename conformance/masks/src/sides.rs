//! The two sides: our masks, and what `jsonschema` says.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;

use deepseek_codec::constraint::{Constraint, ConstraintError};
use deepseek_codec::grammar::{Compiled, Compiler, Layout, is_allowed};
use deepseek_codec::json::Json;
use deepseek_codec::model::PROFILES;
use deepseek_codec::output::Start;
use deepseek_codec::token::TokenId;
use deepseek_codec::tokenizer::Tokenizer;
use serde_json::Value;

use crate::dice::Dice;

/// Our side.
pub struct Masks {
    pub tokenizer: Tokenizer,
    pub compiler: Compiler,
    /// The token of each byte.
    pub bytes: Vec<TokenId>,
}

/// How an accepted text came to be accepted, or not.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Verdict {
    Accepted,
    Rejected,
    /// The mask says otherwise than `accept`.
    Disagrees,
}

impl Masks {
    pub fn new() -> Self {
        let tokenizer = PROFILES[PROFILES.len() - 1].tokenizer();
        let single = |byte: u8| {
            (0..tokenizer.len() as u32).map(TokenId).find(|id| tokenizer.token_bytes(*id) == Some(&[byte]))
        };
        let bytes = (0..=255).map(|byte| single(byte).expect("every byte has a token")).collect();
        Self { compiler: Compiler::new(&tokenizer), tokenizer, bytes }
    }

    pub fn compile(&self, schema: &Value) -> Result<Arc<Compiled>, ConstraintError> {
        self.compile_json(&Json::from(schema.clone()), Layout::default())
    }

    pub fn compile_json(&self, schema: &Json, layout: Layout) -> Result<Arc<Compiled>, ConstraintError> {
        let constraint = Constraint::Json { schema: Some(schema.clone()) };
        constraint.compile(Start::Content, PROFILES[PROFILES.len() - 1], &self.compiler, layout)
    }

    /// The text's tokens: as the tokenizer cuts it, or byte by byte.
    pub fn tokens(&self, text: &str, dice: &mut Dice) -> Vec<TokenId> {
        if dice.once_in(4) {
            return text.bytes().map(|byte| self.bytes[usize::from(byte)]).collect();
        }
        self.tokenizer.encode_text(text)
    }

    /// Runs the tokens. One in four times, the mask is looked at before each.
    pub fn verdict(&self, compiled: &Arc<Compiled>, tokens: &[TokenId], dice: &mut Dice) -> Verdict {
        let mut matcher = compiled.matcher();
        let mut mask = vec![0; compiled.mask_words()];
        let looks = dice.once_in(4);
        for token in tokens {
            if looks {
                matcher.fill_mask(&mut mask);
            }
            let accepted = matcher.accept(*token).is_ok();
            if looks && accepted != is_allowed(&mask, *token) {
                return Verdict::Disagrees;
            }
            if !accepted {
                return Verdict::Rejected;
            }
        }
        if matcher.is_complete() { Verdict::Accepted } else { Verdict::Rejected }
    }
}

/// The other side. `None` if the crate refuses the schema.
pub fn validator(schema: &Value) -> Option<jsonschema::Validator> {
    let mut schema = schema.clone();
    schema.sort_all_objects();
    catch_unwind(AssertUnwindSafe(|| {
        jsonschema::options().offline().should_validate_formats(true).build(&schema).ok()
    }))
    .ok()
    .flatten()
}

/// Whether an instance is valid. Keys are sorted, since the crate compares constants in the order of their keys where
/// serde_json keeps that.
pub fn is_valid(validator: &jsonschema::Validator, instance: &Value) -> bool {
    let mut instance = instance.clone();
    instance.sort_all_objects();
    catch_unwind(AssertUnwindSafe(|| validator.is_valid(&instance))).unwrap_or(false)
}

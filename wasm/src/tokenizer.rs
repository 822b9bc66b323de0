//! Text to ids and back.

use deepseek_codec::inspect::spelled_ids;
use deepseek_codec::prompt::Prompt;
use deepseek_codec::token::{Special, TokenId};
use deepseek_codec::tokenizer;
use wasm_bindgen::prelude::*;

use crate::failure::Failure;
use crate::options::profile;
use crate::vocabulary;

/// The tokenizer of a model version.
#[wasm_bindgen]
pub struct Tokenizer(tokenizer::Tokenizer);

#[wasm_bindgen]
impl Tokenizer {
    /// The tokenizer of the model called `model`.
    #[wasm_bindgen(constructor)]
    pub fn new(model: &str) -> Result<Self, Failure> {
        Ok(Self(vocabulary::tokenizer(profile(model)?)?))
    }

    /// The ids of plain text.
    #[must_use]
    pub fn encode(&self, text: &str) -> Vec<u32> {
        numbers(self.0.encode_text(text))
    }

    /// The ids of an output that is written down with its special tokens spelled.
    #[wasm_bindgen(js_name = encodeSpelled)]
    #[must_use]
    pub fn encode_spelled(&self, text: &str) -> Vec<u32> {
        numbers(spelled_ids(&self.0, text))
    }

    /// The number of ids of plain text.
    #[must_use]
    pub fn count(&self, text: &str) -> usize {
        self.0.count(&Prompt::plain(text))
    }

    /// The text of ids.
    #[must_use]
    pub fn decode(&self, ids: &[u32]) -> String {
        let ids: Vec<TokenId> = ids.iter().copied().map(TokenId).collect();
        self.0.decode(&ids)
    }

    /// The bytes of an ordinary token.
    #[wasm_bindgen(js_name = tokenBytes)]
    #[must_use]
    pub fn token_bytes(&self, id: u32) -> Option<Vec<u8>> {
        self.0.token_bytes(TokenId(id)).map(<[u8]>::to_vec)
    }

    /// The spelling of an added token.
    #[must_use]
    pub fn spelling(&self, id: u32) -> Option<String> {
        self.0.added_spelling(TokenId(id)).map(str::to_owned)
    }

    /// The id of the special token that is spelled so.
    #[wasm_bindgen(js_name = specialId)]
    #[must_use]
    pub fn special_id(&self, spelling: &str) -> Option<u32> {
        let role = Special::ALL.iter().find(|role| role.spelling() == spelling)?;
        self.0.special_id(*role).map(|id| id.0)
    }

    /// One more than the greatest id.
    #[wasm_bindgen(getter)]
    #[must_use]
    pub fn length(&self) -> usize {
        self.0.len()
    }
}

/// Ids as JavaScript gets them.
pub(crate) fn numbers(ids: Vec<TokenId>) -> Vec<u32> {
    ids.into_iter().map(u32::from).collect()
}

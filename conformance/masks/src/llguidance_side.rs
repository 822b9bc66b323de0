//! llguidance over the same vocabulary.

use std::sync::Arc;

use deepseek_codec::token::{Special, TokenId};
use deepseek_codec::tokenizer::Tokenizer;
use llguidance::api::TopLevelGrammar;
use llguidance::{Matcher, ParserFactory};
use serde_json::Value;
use toktrie::{TokEnv, TokRxInfo, TokTrie, TokenizerEnv};

struct Environment {
    trie: TokTrie,
    tokenizer: Tokenizer,
}

impl TokenizerEnv for Environment {
    fn tok_trie(&self) -> &TokTrie {
        &self.trie
    }

    fn tokenize_bytes(&self, bytes: &[u8]) -> Vec<u32> {
        match std::str::from_utf8(bytes) {
            Ok(text) => self.tokenizer.encode_text(text).into_iter().map(|id| id.0).collect(),
            Err(_) => self.trie.greedy_tokenize(bytes),
        }
    }
}

/// Its environment: the trie of the vocabulary and the slices for JSON. Every added token counts as special, since
/// none of them may stand for text.
pub fn factory(tokenizer: &Tokenizer) -> ParserFactory {
    let words: Vec<Vec<u8>> = (0..tokenizer.len() as u32)
        .map(|id| match tokenizer.token_bytes(TokenId(id)) {
            Some(bytes) => bytes.to_vec(),
            None => {
                let mut word = vec![TokTrie::SPECIAL_TOKEN_MARKER];
                word.extend(tokenizer.added_spelling(TokenId(id)).unwrap_or_default().bytes());
                word
            }
        })
        .collect();
    let end = tokenizer.special_id(Special::Eos).expect("the vocabulary has an end token").0;
    let trie = TokTrie::from(&TokRxInfo::new(words.len() as u32, end), &words);
    let environment: TokEnv = Arc::new(Environment { trie, tokenizer: tokenizer.clone() });
    let mut factory = ParserFactory::new_simple(&environment).expect("the slices are regular expressions");
    factory.quiet();
    factory
}

pub fn compile(factory: &ParserFactory, schema: Value) -> Result<Matcher, String> {
    let parser = factory
        .create_parser(TopLevelGrammar::from_json_schema(schema))
        .map_err(|error| error.to_string())?;
    let matcher = Matcher::new(Ok(parser));
    match matcher.get_error() {
        None => Ok(matcher),
        Some(error) => Err(error),
    }
}

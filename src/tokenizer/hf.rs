//! Other vocabularies: wraps a tokenizer of Hugging Face's library (feature `hf`).
//!
//! For engines that hold a [`tokenizers::Tokenizer`] already, and models whose pre-tokenizer is not this family's.
//! Ids are the library's, and so is the speed; everything else behaves like any [`Tokenizer`]:
//! special tokens come from a prompt's cuts alone, and ids become text in the same way.
//!
//! This is the one module whose interface names another crate's type. [`tokenizers`] is exported again, so that
//! callers can be sure to have the same version.

#[cfg(test)]
mod tests;

use std::sync::Arc;

pub use tokenizers;
use tokenizers::{DecoderWrapper, Model, ModelWrapper};

use super::encode::Sink;
use super::load::{self, LoadError, LoadErrorKind};
use super::tables::{ID_LIMIT, Words};
use super::{Tokenizer, Vocabulary};
use crate::token::{Special, TokenId};

/// Wraps a tokenizer, and binds each role to the added token with the given spelling.
///
/// The tokenizer's truncation, padding and post-processing are left out, and its added tokens, special or not,
/// are kept out of plain text. Its model must be byte-level BPE without dropout. Where the vocabulary has no token for a
/// byte (vocabularies are trained that lack some control characters), that byte is left out of what is encoded.
///
/// ```
/// use deepseek_codec::token::Special;
/// use deepseek_codec::tokenizer::hf::{tokenizers, wrap};
///
/// # fn load(path: &str) -> Result<(), Box<dyn std::error::Error + Send + Sync>> {
/// let theirs = tokenizers::Tokenizer::from_file(path)?;
/// let ours = wrap(&theirs, &[(Special::User, "<｜User｜>"), (Special::Assistant, "<｜Assistant｜>")])?;
/// assert!(ours.encode_text("<｜User｜>").len() > 1);
/// # Ok(())
/// # }
/// ```
///
/// # Errors
/// When the model is another one, when it makes an added token of plain text, or when a spelling is not among the
/// added tokens.
pub fn wrap(tokenizer: &tokenizers::Tokenizer, bindings: &[(Special, &str)]) -> Result<Tokenizer, LoadError> {
    wrap_with(tokenizer, bindings.iter().map(|(role, spelling)| (*role, std::slice::from_ref(spelling))))
}

/// Wraps a tokenizer like [`wrap`], and binds the roles of a model version: each to the first of its spellings that is an
/// added token.
///
/// # Errors
/// As [`wrap`].
pub fn wrap_for(tokenizer: &tokenizers::Tokenizer, vocabulary: &Vocabulary) -> Result<Tokenizer, LoadError> {
    wrap_with(tokenizer, vocabulary.specials.iter().map(|special| (special.role, special.spellings)))
}

fn wrap_with<'s>(
    tokenizer: &tokenizers::Tokenizer,
    bindings: impl IntoIterator<Item = (Special, &'s [&'s str])>,
) -> Result<Tokenizer, LoadError> {
    let ModelWrapper::BPE(model) = tokenizer.get_model() else {
        return Err(LoadError::new(LoadErrorKind::Model, "its model is not BPE"));
    };
    if model.dropout.is_some_and(|dropout| dropout > 0.0) {
        return Err(LoadError::new(LoadErrorKind::Model, "its model drops merges at random"));
    }
    if !tokenizer.get_decoder().is_some_and(is_byte_level) {
        return Err(LoadError::new(LoadErrorKind::Model, "its decoder is not byte-level"));
    }
    let mut added: Vec<(u32, String)> =
        tokenizer.get_added_tokens_decoder().into_iter().map(|(id, token)| (id, token.content)).collect();
    added.sort_unstable();
    // A model makes a token of a text, whatever stands around it, only if it makes it of the token's own spelling.
    for (id, spelling) in &added {
        let tokens = model.tokenize(spelling).unwrap_or_default();
        if tokens.iter().any(|token| token.id == *id) {
            let message = format!("its model makes the added token {spelling:?} of text");
            return Err(LoadError::new(LoadErrorKind::AddedTokens, message));
        }
    }
    let is_added = |id: u32| added.binary_search_by_key(&id, |token| token.0).is_ok();
    let vocab = model.get_vocab();
    let mut by_id: Vec<&str> = Vec::new();
    for (spelling, id) in vocab.iter().filter(|(_, id)| !is_added(**id)) {
        if *id >= ID_LIMIT {
            let message = format!("the id {id} of {spelling:?} is not below {ID_LIMIT}");
            return Err(LoadError::new(LoadErrorKind::Vocabulary, message));
        }
        if by_id.len() <= *id as usize {
            by_id.resize(*id as usize + 1, "");
        }
        by_id[*id as usize] = spelling;
    }
    // Only the tokens' bytes are needed of the tables.
    let tables = load::tables_of(&by_id, Vec::new(), Words::None)?;
    let mut bound = load::File::new(tables, added).bind(bindings)?;
    // The token for what is unknown is an added one, as a rule, and text must never become that.
    let mut model = model.clone();
    model.unk_token = None;
    let mut bare = tokenizers::Tokenizer::new(model);
    bare.with_pre_tokenizer(tokenizer.get_pre_tokenizer().cloned());
    bare.with_normalizer(tokenizer.get_normalizer().cloned())
        .map_err(|error| LoadError::new(LoadErrorKind::Normalizer, error))?;
    bound.wrapped = Some(Arc::new(Wrapped(bare)));
    Ok(bound)
}

fn is_byte_level(decoder: &DecoderWrapper) -> bool {
    match decoder {
        DecoderWrapper::ByteLevel(_) => true,
        DecoderWrapper::Sequence(steps) => matches!(steps.get_decoders(), [DecoderWrapper::ByteLevel(_)]),
        _ => false,
    }
}

/// A tokenizer without added tokens.
pub(super) struct Wrapped(tokenizers::Tokenizer);

impl Wrapped {
    /// Gives the ids of a text to a sink. Where the library gives up on a text (its expressions have a limit of
    /// steps), each half is encoded on its own.
    pub(super) fn encode(&self, text: &str, sink: &mut impl Sink) {
        if let Ok(encoding) = self.0.encode_fast(text, false) {
            encoding.get_ids().iter().for_each(|id| sink.push(TokenId(*id)));
            return;
        }
        let half = text.ceil_char_boundary(text.len() / 2);
        if half < text.len() {
            self.encode(&text[..half], sink);
            self.encode(&text[half..], sink);
        }
    }
}

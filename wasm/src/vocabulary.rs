//! The tokenizers of the models, each made once.

use std::cell::RefCell;

#[cfg(not(feature = "vocab"))]
use deepseek_codec::model::PROFILES;
use deepseek_codec::model::Profile;
#[cfg(not(feature = "vocab"))]
use deepseek_codec::tokenizer::BaseVocabulary;
use deepseek_codec::tokenizer::Tokenizer;
#[cfg(not(feature = "vocab"))]
use wasm_bindgen::prelude::*;

use crate::failure::Failure;

thread_local! {
    static TOKENIZERS: RefCell<Vec<(&'static Profile, Tokenizer)>> = const { RefCell::new(Vec::new()) };
}

/// The tokenizer of a model version.
pub(crate) fn tokenizer(profile: &'static Profile) -> Result<Tokenizer, Failure> {
    let known = TOKENIZERS.with_borrow(|known| {
        known.iter().find(|(other, _)| *other == profile).map(|(_, tokenizer)| tokenizer.clone())
    });
    if let Some(tokenizer) = known {
        return Ok(tokenizer);
    }
    #[cfg(feature = "vocab")]
    {
        let tokenizer = profile.tokenizer();
        keep(profile, &tokenizer);
        Ok(tokenizer)
    }
    #[cfg(not(feature = "vocab"))]
    Err(Failure::new("vocabulary", "", format!("no vocabulary is loaded for {}", profile.name())))
}

/// Uses `tokenizer` for a model version from now on.
fn keep(profile: &'static Profile, tokenizer: &Tokenizer) {
    TOKENIZERS.with_borrow_mut(|known| {
        known.retain(|(other, _)| *other != profile);
        known.push((profile, tokenizer.clone()));
    });
}

/// Takes the vocabulary of all models from the bytes of the package's `vocabulary.bin`.
#[cfg(not(feature = "vocab"))]
#[wasm_bindgen(js_name = loadVocabulary)]
pub fn load_vocabulary(bytes: &[u8]) -> Result<(), Failure> {
    let base = BaseVocabulary::read(bytes).map_err(|error| refused(&error))?;
    for &profile in PROFILES {
        keep(profile, &base.tokenizer(profile.vocabulary()));
    }
    Ok(())
}

/// Takes the vocabulary of one model from the bytes of a Hugging Face `tokenizer.json`.
#[cfg(not(feature = "vocab"))]
#[wasm_bindgen(js_name = loadTokenizerJson)]
pub fn load_tokenizer_json(bytes: &[u8], model: &str) -> Result<(), Failure> {
    let profile = crate::options::profile(model)?;
    let tokenizer = profile.load_tokenizer(bytes).map_err(|error| refused(&error))?;
    keep(profile, &tokenizer);
    Ok(())
}

#[cfg(not(feature = "vocab"))]
fn refused(error: &deepseek_codec::tokenizer::LoadError) -> Failure {
    Failure::new("vocabulary", "", error.to_string())
}

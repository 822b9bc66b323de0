//! `deepseek-codec` for JavaScript: requests to prompts and ids, generated ids or text to events and responses, schemas
//! to masks.
//!
//! Everything here translates values between JavaScript and the library, and decides nothing. What JavaScript gets as
//! objects comes from the library as JSON; ids and masks are typed arrays. The package's types, `npm/types.d.ts`, say
//! what each function takes.

use deepseek_codec::json::Json;
use deepseek_codec::model::PROFILES;
use wasm_bindgen::prelude::*;

mod convert;
mod failure;
#[cfg(feature = "masks")]
mod masks;
mod options;
mod request;
mod stream;
mod tokenizer;
mod vocabulary;

/// The version of this package.
#[wasm_bindgen]
#[must_use]
pub fn version() -> String {
    env!("CARGO_PKG_VERSION").to_owned()
}

/// Every model version, oldest first: its names and what it can take.
#[wasm_bindgen]
#[must_use]
pub fn models() -> JsValue {
    let models = PROFILES.iter().map(|profile| {
        let can = profile.capabilities();
        Json::from([
            ("name", profile.name().into()),
            ("names", Json::Array(profile.names().map(Json::from).collect())),
            ("images", can.images.into()),
            ("midConversationSystem", can.mid_conversation_system.into()),
            ("qualifiedNames", can.qualified_names.into()),
        ])
    });
    convert::to_js(&Json::Array(models.collect()))
}

//! What holds for any bytes. The fuzz targets in `fuzz/` look for bytes for which it does not.

use std::sync::LazyLock;

use deepseek_codec::json::{Json, LoneSurrogates, Number, Object, Style};
use deepseek_codec::model::{PROFILES, Profile};
use deepseek_codec::prompt::{Prompt, Segment};
use deepseek_codec::protocol::{Api, Lowered, Options, Policy, lower, lower_json};
use deepseek_codec::token::{Special, TokenId};
use deepseek_codec::tokenizer::Tokenizer;

static TOKENIZERS: LazyLock<Vec<Tokenizer>> =
    LazyLock::new(|| PROFILES.iter().map(|p| p.tokenizer()).collect());

/// Lowers, renders and encodes a request: `data` is one byte that chooses the API (`0` Chat, `1` Responses, `2`
/// Messages), then the body. Whatever model the request names, every version serves it.
///
/// - Nothing panics.
/// - The special ids of the prompt are the special tokens that the template wrote, and no others: a request in
///   which no text spells a special token gets the same ones, but for grounding tokens in what the model said.
/// - The ids spell the prompt.
/// - What the strict policy accepts, the lenient one accepts with the same prompt.
pub(crate) fn encode_request(data: &[u8]) {
    let Some((&selector, body)) = data.split_first() else { return };
    let api = Api::ALL[usize::from(selector) % Api::ALL.len()];
    let Ok((json, _)) = Json::parse_with(body, LoneSurrogates::Replace) else {
        for policy in [Policy::Strict, Policy::Lenient] {
            assert!(lower(api, body, &Options::new(policy)).is_err(), "a body that is not JSON was accepted");
        }
        return;
    };
    let model = json.get("model").and_then(Json::as_str).unwrap_or_default();
    for (&profile, tokenizer) in PROFILES.iter().zip(&*TOKENIZERS) {
        let options = |policy| Options::new(policy).with_model(model, profile);
        let strict = lower(api, body, &options(Policy::Strict)).map(|lowered| render(&lowered));
        let lenient = lower(api, body, &options(Policy::Lenient));
        if let Ok(strict) = &strict {
            let lenient = lenient.as_ref().expect("lenient accepts what strict accepts");
            if !has_billing_header(&json) {
                assert_eq!(strict, &render(lenient), "the policies differ for {}", profile.name());
            }
        }
        let Ok(lowered) = lenient else { continue };
        let prompt = render(&lowered);
        check_ids(&prompt, tokenizer);
        check_images(&lowered, &prompt, profile);
        check_specials(api, &json, &prompt, &options(Policy::Lenient));
    }
}

/// Reads JSON.
///
/// - Nothing panics, and exactly what `serde_json` takes for JSON is JSON.
/// - What is read, written and read again is the same, in every style, but for the last digit of a float: floats
///   are read as the official conversion reads them, which is not always the nearest double.
/// - Replacing lone surrogates changes nothing where there are none.
pub(super) fn parse_json(data: &[u8]) {
    let parsed = Json::parse(data);
    assert_eq!(parsed.is_ok(), serde_json::from_slice::<serde_json::Value>(data).is_ok());
    let replaced = Json::parse_with(data, LoneSurrogates::Replace);
    if let Ok((json, places)) = &replaced {
        assert_eq!(places.is_empty(), parsed.is_ok(), "replaced at {places:?}");
        for style in [Style::Compact, Style::Spaced, Style::Python] {
            let text = json.text(style);
            let again = Json::parse(text.as_bytes()).expect("what was written is JSON");
            assert!(is_close(&again, json), "{text}");
        }
    }
    if let Ok(json) = parsed {
        assert_eq!(replaced, Ok((json, Vec::new())));
    }
}

fn is_close(one: &Json, other: &Json) -> bool {
    match (one, other) {
        (Json::Number(Number::Float(one)), Json::Number(Number::Float(other))) => {
            (one - other).abs() <= one.abs() * 2.0 * f64::EPSILON
        }
        (Json::Array(one), Json::Array(other)) => {
            one.len() == other.len() && one.iter().zip(other).all(|(one, other)| is_close(one, other))
        }
        (Json::Object(one), Json::Object(other)) => {
            one.len() == other.len()
                && one
                    .iter()
                    .zip(other.iter())
                    .all(|(one, other)| one.0 == other.0 && is_close(one.1, other.1))
        }
        (one, other) => one == other,
    }
}

fn render(lowered: &Lowered) -> Prompt {
    lowered.profile.render(&lowered.conversation)
}

fn check_ids(prompt: &Prompt, tokenizer: &Tokenizer) {
    let ids = tokenizer.encode(prompt);
    let written: Vec<Option<Special>> = prompt.specials().map(|(_, role)| Some(role)).collect();
    let encoded: Vec<Option<Special>> = ids
        .iter()
        .filter(|id| tokenizer.token_bytes(**id).is_none())
        .map(|id| tokenizer.special_role(*id))
        .collect();
    assert_eq!(encoded, written, "special ids");
    assert_eq!(bytes(&ids, tokenizer), plain_bytes(prompt), "the ids spell another text");
}

/// The bytes of the ordinary tokens, with a NUL pair for each special one.
fn bytes(ids: &[TokenId], tokenizer: &Tokenizer) -> Vec<u8> {
    ids.iter().flat_map(|id| tokenizer.token_bytes(*id).unwrap_or(b"\0\0")).copied().collect()
}

fn plain_bytes(prompt: &Prompt) -> Vec<u8> {
    let segment = |segment| match segment {
        Segment::Special(_) => b"\0\0".to_vec(),
        Segment::Text(text) => text.as_bytes().to_vec(),
    };
    prompt.segments().flat_map(segment).collect()
}

fn check_images(lowered: &Lowered, prompt: &Prompt, profile: &Profile) {
    let placeholders = prompt.specials().filter(|(_, role)| *role == Special::Image).count();
    assert_eq!(profile.images(&lowered.conversation).len(), placeholders, "images");
}

fn check_specials(api: Api, json: &Json, prompt: &Prompt, options: &Options) {
    let text = json.to_string();
    if STAND_INS.iter().any(|(_, stand_in)| text.contains(stand_in)) {
        return; // Two texts could become the same.
    }
    let Ok(without) = lower_json(api, despelled(json), options) else { return };
    assert_eq!(
        template_roles(prompt),
        template_roles(&render(&without)),
        "text of the request became a special token"
    );
}

/// The special tokens that cannot come from what the model said earlier.
fn template_roles(prompt: &Prompt) -> Vec<Special> {
    prompt.specials().map(|(_, role)| role).filter(|role| !Special::GROUNDING.contains(role)).collect()
}

/// What every spelling of a special token contains, and something as long that none does.
const STAND_INS: [(&str, &str); 2] = [("｜", "│"), ("think>", "thinK>")];

/// The same request, in which no text spells a special token.
fn despelled(json: &Json) -> Json {
    match json {
        Json::String(text) => Json::String(without_spellings(text)),
        Json::Array(elements) => Json::Array(elements.iter().map(despelled).collect()),
        Json::Object(members) => {
            let members = members.iter().map(|(key, value)| (without_spellings(key), despelled(value)));
            Json::Object(Object::from_iter(members))
        }
        other => other.clone(),
    }
}

fn without_spellings(text: &str) -> String {
    STAND_INS.iter().fold(text.to_owned(), |text, (spelling, stand_in)| text.replace(spelling, stand_in))
}

/// Whether the request may hold a billing header, which the lenient policy removes in more places.
fn has_billing_header(json: &Json) -> bool {
    json.to_string().to_lowercase().contains("x-anthropic-billing-header")
}

//! From a body to what is to be generated.

use axum::http::HeaderValue;
use deepseek_codec::engine::{Masks, Session, SessionError, SessionOptions};
use deepseek_codec::json::Json;
use deepseek_codec::protocol::{Api, Failure, Lowered, RequestError, StreamOptions, lower, lower_json};
use deepseek_codec::token::TokenId;
use deepseek_codec::tokenizer::block_hashes;

use crate::refusal::Refusal;
use crate::state::{Gateway, now};

/// A request that can be answered.
pub struct Prepared {
    /// What it means.
    pub lowered: Lowered,
    /// One for each answer.
    pub sessions: Vec<Session>,
    /// Hashes of the prompt's blocks.
    pub prefix: Option<HeaderValue>,
    /// Whether its masks had been compiled before; nothing if it has none.
    pub had_masks: Option<bool>,
    /// What of its schemas the masks do not enforce.
    pub left_out: usize,
}

/// Reads a request for an answer. What it does is work for a processor: up to a second for the largest bodies.
///
/// # Errors
///
/// If the request is refused.
pub fn prepare(gateway: &Gateway, api: Api, body: &[u8], id: &str) -> Result<Prepared, Refusal> {
    let lowered = lower(api, body, gateway.options(api))?;
    let limits = &gateway.config.limits;
    let answers = lowered.sampling.n;
    if answers > limits.answers {
        let message = format!("n: {answers} answers are asked for; at most {} are given.", limits.answers);
        return Err(Refusal::failure(Failure::Body, message));
    }
    if !gateway.engine.takes_images() && !lowered.profile.images(&lowered.conversation).is_empty() {
        return Err(Refusal::failure(Failure::Body, "The engine behind this gateway takes no images."));
    }
    let (masks, had_masks, left_out) = match gateway.masks(lowered.profile) {
        None => (Masks::None, None, 0),
        Some(cache) => {
            let cached = cache.get(&lowered).map_err(SessionError::Constraint).map_err(refused)?;
            let masks = cached.masks();
            let had = (!matches!(masks, Masks::None)).then_some(cached.was_kept);
            (masks, had, cached.left_out.len())
        }
    };
    let tokenizer = gateway.tokenizer(lowered.profile);
    let sessions: Result<Vec<Session>, Refusal> = (0..answers)
        .map(|index| {
            let stream = StreamOptions {
                created: now(),
                seed: gateway.number(),
                dialect: gateway.config.dialect(api),
                index,
                ..StreamOptions::new(id)
            };
            let options = SessionOptions {
                stream,
                context_limit: limits.context,
                ..SessionOptions::new(id, masks.clone())
            };
            Session::new(&lowered, tokenizer, options).map_err(refused)
        })
        .collect();
    let sessions = sessions?;
    let prefix = sessions.first().and_then(|session| prefix_header(gateway, session.prompt()));
    Ok(Prepared { lowered, sessions, prefix, had_masks, left_out })
}

fn refused(error: SessionError) -> Refusal {
    match error {
        SessionError::Request(error) => error.into(),
        other => Refusal::failure(Failure::Body, format!("The answer's form cannot be enforced: {other}")),
    }
}

/// The number of tokens of a request's prompt.
///
/// # Errors
///
/// If the request is refused.
pub fn count(gateway: &Gateway, api: Api, body: &[u8]) -> Result<u64, Refusal> {
    let lowered = lower(api, body, gateway.options(api))?;
    let prompt = lowered.profile.render(&lowered.conversation);
    Ok(gateway.tokenizer(lowered.profile).count(&prompt) as u64)
}

/// The hashes of the prompt's first blocks, for routers that know what engines have in their caches.
fn prefix_header(gateway: &Gateway, prompt: &[TokenId]) -> Option<HeaderValue> {
    use std::fmt::Write;

    let settings = &gateway.config.prefix;
    let mut text = String::new();
    for hash in block_hashes(prompt, settings.block).take(settings.most) {
        let comma = if text.is_empty() { "" } else { "," };
        let _ = write!(text, "{comma}{hash:016x}");
    }
    if text.is_empty() { None } else { HeaderValue::try_from(text).ok() }
}

/// The ids of a text, `prompt` or `text`, or those of a request's prompt.
///
/// # Errors
///
/// If the body is neither.
pub fn tokenize(gateway: &Gateway, body: &[u8]) -> Result<Vec<TokenId>, Refusal> {
    let json = Json::parse(body).map_err(RequestError::from)?;
    let api = Api::detect(&json).unwrap_or(Api::Chat);
    let text = json.get("prompt").or_else(|| json.get("text")).and_then(Json::as_str);
    if let Some(text) = text {
        let model = json.get("model").and_then(Json::as_str);
        let profile = model.map(|model| gateway.options(Api::Chat).models.get(model)).transpose()?;
        let profile = profile.unwrap_or_else(|| gateway.latest());
        return Ok(gateway.tokenizer(profile).encode_text(text));
    }
    let lowered = lower_json(api, json, gateway.options(api))?;
    let prompt = lowered.profile.render(&lowered.conversation);
    Ok(gateway.tokenizer(lowered.profile).encode(&prompt))
}

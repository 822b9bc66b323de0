//! vLLM's `/v1/completions`, with ids instead of texts.

use std::collections::VecDeque;

use deepseek_codec::engine::Step;
use deepseek_codec::json::{Json, Object};
use deepseek_codec::output::Finish;
use deepseek_codec::protocol::TokenLogprob;
use deepseek_codec::token::TokenId;

use super::{Shape, float, single, small};
use crate::engine::{Next, Order};

pub(super) fn request(order: Order<'_>, model: Option<&str>, shape: Option<Shape>) -> Json {
    let sampling = order.sampling();
    let prompt = order.session.prompt().iter().map(|id| id.0.into()).collect();
    let mut request = Object::from([
        ("prompt", Json::Array(prompt)),
        ("max_tokens", order.session.tokens_left().into()),
        ("temperature", single(sampling.temperature)),
        ("top_p", single(sampling.top_p)),
        ("stream", true.into()),
        ("stream_options", [("include_usage", true.into())].into()),
        ("return_token_ids", true.into()),
        ("add_special_tokens", false.into()),
        ("skip_special_tokens", false.into()),
    ]);
    if let Some(model) = model {
        request.insert("model", model.into());
    }
    if let Some(seed) = sampling.seed {
        request.insert("seed", seed.into());
    }
    if sampling.logprobs {
        request.insert("logprobs", u32::from(sampling.top_logprobs.unwrap_or(0)).into());
        request.insert("return_tokens_as_token_ids", true.into());
    }
    let shape = shape.map(|shape| match shape {
        Shape::Schema(schema) => ("json", schema),
        Shape::Regex(regex) => ("regex", regex.into()),
        Shape::Tag(tag) => ("structural_tag", tag.to_string().into()),
    });
    if let Some(shape) = shape {
        request.insert("structured_outputs", [shape].into());
    }
    request.into()
}

/// Reads an event. The last tokens are held back until the usage came, which stands in an event behind them.
pub(super) fn read(
    event: &Json,
    ready: &mut VecDeque<Next>,
    held: &mut VecDeque<Next>,
) -> Result<(), String> {
    let cached = event.get("usage").and_then(|usage| usage.get("prompt_tokens_details"));
    let cached = cached.and_then(|details| details.get("cached_tokens")).and_then(small);
    if let Some(cached) = cached.filter(|cached| *cached > 0) {
        ready.push_back(Next::Cached(cached.into()));
    }
    let choice = event.get("choices").and_then(Json::as_array).ok_or("no choices")?.first();
    let Some(choice) = choice else {
        ready.append(held);
        return Ok(());
    };
    let finish = choice.get("finish_reason").and_then(Json::as_str);
    let out = if finish.is_some() { held } else { ready };
    let ids = choice.get("token_ids").and_then(Json::as_array).unwrap_or_default();
    let entries = |name: &str| {
        let entries = choice.get("logprobs").and_then(|logprobs| logprobs.get(name));
        entries.and_then(Json::as_array).unwrap_or_default()
    };
    let (chosen, top) = (entries("token_logprobs"), entries("top_logprobs"));
    for (at, id) in ids.iter().enumerate() {
        let id = TokenId(small(id).ok_or_else(|| format!("the id {id}"))?);
        let logprob = chosen.get(at).map(|logprob| TokenLogprob {
            logprob: float(logprob),
            top: top.get(at).and_then(Json::as_object).map_or_else(Vec::new, alternatives),
        });
        out.push_back(Next::Token(Step { id, logprob }));
    }
    match finish {
        None => {}
        Some("stop") => out.push_back(Next::End(Finish::Stop)),
        Some("length") => out.push_back(Next::End(Finish::Length)),
        Some(other) => return Err(format!("the end {other}")),
    }
    Ok(())
}

/// The tokens that might have come: `{"token_id:5": -0.1}`.
fn alternatives(entries: &Object) -> Vec<(TokenId, f32)> {
    let alternative = |(name, logprob): (&str, &Json)| {
        Some((TokenId(name.strip_prefix("token_id:")?.parse().ok()?), float(logprob)))
    };
    entries.iter().filter_map(alternative).collect()
}

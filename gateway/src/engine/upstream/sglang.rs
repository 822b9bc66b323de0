//! SGLang's native `/generate`.

use std::collections::VecDeque;

use deepseek_codec::conversation::ImageSource;
use deepseek_codec::engine::Step;
use deepseek_codec::json::{Json, Object};
use deepseek_codec::output::Finish;
use deepseek_codec::protocol::TokenLogprob;
use deepseek_codec::token::TokenId;

use super::{Shape, float, single, small};
use crate::engine::{Next, Order};

pub(super) fn request(order: Order<'_>, shape: Option<Shape>) -> Json {
    let sampling = order.sampling();
    let mut params = Object::from([
        ("max_new_tokens", order.session.tokens_left().into()),
        ("temperature", single(sampling.temperature)),
        ("top_p", single(sampling.top_p)),
        ("skip_special_tokens", false.into()),
    ]);
    if let Some(seed) = sampling.seed {
        params.insert("sampling_seed", seed.into());
    }
    let is_shaped = shape.is_some();
    match shape {
        None => {}
        // All three are texts.
        Some(Shape::Schema(schema)) => params.insert("json_schema", schema.to_string().into()),
        Some(Shape::Regex(regex)) => params.insert("regex", regex.into()),
        Some(Shape::Tag(tag)) => params.insert("structural_tag", tag.to_string().into()),
    }
    let prompt = order.session.prompt().iter().map(|id| id.0.into()).collect();
    let mut request = Object::from([
        ("input_ids", Json::Array(prompt)),
        ("sampling_params", params.into()),
        ("stream", true.into()),
    ]);
    let images = order.lowered.profile.images(&order.lowered.conversation);
    if !images.is_empty() {
        let url = |source: &ImageSource| match source {
            ImageSource::Url(url) | ImageSource::Data(url) => Json::from(url.as_str()),
        };
        request.insert("image_data", Json::Array(images.iter().map(|image| url(&image.source)).collect()));
    }
    if sampling.logprobs {
        request.insert("return_logprob", true.into());
        request.insert("top_logprobs_num", u32::from(sampling.top_logprobs.unwrap_or(0)).into());
    }
    // The server holds to the shape only what follows the reasoning, if it knows of reasoning.
    if is_shaped && order.lowered.conversation.thinking.is_on() {
        request.insert("require_reasoning", true.into());
    }
    request.into()
}

pub(super) fn read(event: &Json, seen: &mut usize, ready: &mut VecDeque<Next>) -> Result<(), String> {
    let meta = event.get("meta_info").ok_or("no meta_info")?;
    let ids = event.get("output_ids").and_then(Json::as_array).ok_or("no output_ids")?;
    let number = |name: &str| meta.get(name).and_then(small);
    if *seen == 0
        && let Some(cached) = number("cached_tokens").filter(|cached| *cached > 0)
    {
        ready.push_back(Next::Cached(cached.into()));
    }
    // By the server's settings, an event has all ids or the new ones: as many as were generated, or fewer.
    let has_all = number("completion_tokens").is_none_or(|all| ids.len() == all as usize);
    let new = if has_all { ids.get(*seen..).unwrap_or_default() } else { ids };
    // The same goes for their probabilities, which end with those of the new ids in any case.
    let logprobs = |name: &str| {
        let entries = meta.get(name).and_then(Json::as_array).unwrap_or_default();
        &entries[entries.len().saturating_sub(new.len())..]
    };
    let (chosen, top) = (logprobs("output_token_logprobs"), logprobs("output_top_logprobs"));
    for (at, id) in new.iter().enumerate() {
        let id = TokenId(small(id).ok_or_else(|| format!("the id {id}"))?);
        let logprob = chosen.get(at).and_then(pair).map(|(_, logprob)| TokenLogprob {
            logprob,
            top: top.get(at).and_then(Json::as_array).unwrap_or_default().iter().filter_map(pair).collect(),
        });
        ready.push_back(Next::Token(Step { id, logprob }));
    }
    *seen += new.len();
    match meta.get("finish_reason").and_then(|reason| reason.get("type")).and_then(Json::as_str) {
        None => {}
        Some("stop") => ready.push_back(Next::End(Finish::Stop)),
        Some("length") => ready.push_back(Next::End(Finish::Length)),
        Some(other) => return Err(format!("the end {other}")),
    }
    Ok(())
}

/// A log probability and its id: `[logprob, id, text]`.
fn pair(entry: &Json) -> Option<(TokenId, f32)> {
    let [logprob, id, ..] = entry.as_array()? else { return None };
    Some((TokenId(small(id)?), float(logprob)))
}

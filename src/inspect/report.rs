//! A request that was accepted, as JSON.

use crate::constraint::Constraint;
use crate::json::{Json, Number};
use crate::protocol::{Lowered, Warning};

use super::View;

/// All about a request that was accepted: the prompt with the places of its special tokens in bytes, the ids, and the
/// [`settings`].
#[must_use]
pub fn report(view: View<'_>) -> Json {
    let View { lowered, prompt, tokenizer } = view;
    let special = prompt.display_specials().map(|(start, end, special)| {
        Json::Array(vec![(start as u64).into(), (end as u64).into(), special.spelling().into()])
    });
    let ids = tokenizer.encode(prompt).into_iter().map(|id| id.0.into());
    let front = [
        ("status", 200_u32.into()),
        ("model", lowered.profile.name().into()),
        ("prompt", prompt.to_string().into()),
        ("special", Json::Array(special.collect())),
        ("ids", Json::Array(ids.collect())),
    ];
    let front = front.into_iter().map(|(key, value)| (key.to_owned(), value));
    Json::Object(front.chain(members(lowered)).collect())
}

/// What of a request is not in its prompt: how many images it has, how tokens are sampled, what ends the answer, and
/// the warnings.
#[must_use]
pub fn settings(lowered: &Lowered) -> Json {
    Json::Object(members(lowered).into_iter().collect())
}

fn members(lowered: &Lowered) -> [(String, Json); 6] {
    [
        ("images", (lowered.profile.images(&lowered.conversation).len() as u64).into()),
        ("thinking", lowered.conversation.thinking.is_on().into()),
        ("stream", lowered.stream.into()),
        ("sampling", sampling(lowered)),
        ("stops", Json::Array(lowered.stops.iter().map(|stop| stop.as_str().into()).collect())),
        ("warnings", Json::Array(lowered.warnings.iter().map(warning).collect())),
    ]
    .map(|(key, value)| (key.to_owned(), value))
}

fn sampling(lowered: &Lowered) -> Json {
    let sampling = &lowered.sampling;
    let constraint = Constraint::of(&lowered.conversation).map(|constraint| {
        Json::from([("kind", constraint.kind().into()), ("schema", constraint.schema_text().into())])
    });
    Json::from([
        ("max_tokens", sampling.max_tokens.into()),
        ("temperature", number(sampling.temperature)),
        ("top_p", number(sampling.top_p)),
        ("logprobs", sampling.logprobs.into()),
        ("top_logprobs", sampling.top_logprobs.map(u32::from).into()),
        ("seed", sampling.seed.into()),
        ("n", sampling.n.into()),
        ("constraint", constraint.into()),
    ])
}

/// A single-precision number as the double that it is.
fn number(value: f32) -> Json {
    Json::Number(Number::Float(f64::from(value)))
}

fn warning(warning: &Warning) -> Json {
    Json::from([
        ("kind", warning.kind.as_str().into()),
        ("path", warning.path.as_str().into()),
        ("message", warning.message.as_str().into()),
    ])
}

//! Sampling parameters: their ranges, and the model's own rules.

use crate::conversation::Conversation;
use crate::model::TopP;

use super::{Context, ErrorKind, RequestError, WarningKind};

/// How tokens are chosen, as resolved from a request.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Sampling {
    /// The most tokens to generate; see [`Lowered::max_tokens`](super::Lowered::max_tokens) for the default.
    pub max_tokens: Option<u32>,
    /// The temperature, from 0 to 2; always 1 while thinking.
    pub temperature: f32,
    /// The share of probability to sample from, above 0 up to 1, by the model's own rule.
    pub top_p: f32,
    /// Whether the log probability of each token is reported.
    pub logprobs: bool,
    /// How many alternatives are reported for each token, from 0 to 20.
    pub top_logprobs: Option<u8>,
    /// The seed, below 2^63.
    pub seed: Option<u64>,
    /// How many answers are asked for. The official API serves one.
    pub n: u32,
}

/// Sampling parameters as a request has them. Fields are checked in declaration order.
#[derive(Debug, Default)]
pub(super) struct Requested {
    pub(super) n: Option<u8>,
    pub(super) presence_penalty: Option<f32>,
    pub(super) frequency_penalty: Option<f32>,
    pub(super) temperature: Option<f32>,
    pub(super) top_p: Option<f32>,
    pub(super) logprobs: Option<bool>,
    pub(super) top_logprobs: Option<u8>,
    pub(super) max_tokens: Option<u32>,
    pub(super) seed: Option<u64>,
    /// The name of `max_tokens` in this API.
    pub(super) max_tokens_field: &'static str,
    /// Whether too many tokens count as the most possible.
    pub(super) clamps_max_tokens: bool,
}

impl Requested {
    /// Checks the parameters and applies the model's rules for `conversation`.
    pub(super) fn resolve(
        self,
        context: &mut Context<'_>,
        conversation: &Conversation,
    ) -> Result<Sampling, RequestError> {
        let refuse = |path: &str, message: String| Err(RequestError::new(ErrorKind::Sampling, path, message));
        let out_of_range = |name: &str, range: &str| {
            refuse(name, format!("Invalid {name} value, the valid range of {name} is {range}"))
        };
        if let Some(n) = self.n.filter(|&n| n != 1) {
            let refusal = || {
                let message = "Invalid n value (currently only n = 1 is supported)";
                RequestError::new(ErrorKind::Sampling, "n", message)
            };
            if n == 0 {
                return Err(refusal());
            }
            context.accept(
                WarningKind::SeveralAnswers,
                "n",
                format!("{n} answers are asked for"),
                refusal,
            )?;
        }
        for (name, value) in
            [("presence_penalty", self.presence_penalty), ("frequency_penalty", self.frequency_penalty)]
        {
            let Some(value) = value else { continue };
            if !(-2.0..=2.0).contains(&value) {
                return out_of_range(name, "[-2, 2]");
            }
            if value != 0.0 {
                context.note(WarningKind::Ignored, name, "penalties have no effect");
            }
        }
        if self.temperature.is_some_and(|value| !(0.0..=2.0).contains(&value)) {
            return out_of_range("temperature", "[0, 2]");
        }
        if self.top_p.is_some_and(|value| !(value > 0.0 && value <= 1.0)) {
            return out_of_range("top_p", "(0, 1.0]");
        }
        let logprobs = self.logprobs == Some(true);
        if let Some(top_logprobs) = self.top_logprobs {
            if !logprobs {
                let message = "Invalid top_logprobs and logprobs value, logprobs must be set to true if top_logprobs \
                               is used.";
                return refuse("top_logprobs", message.to_owned());
            }
            if top_logprobs > 20 {
                let message = "Invalid top_logprobs value, the valid range of top_logprobs is [0, 20].";
                return refuse("top_logprobs", message.to_owned());
            }
        }
        let bound = context.options.max_tokens_bound;
        let max_tokens = match self.max_tokens {
            Some(max_tokens) if self.clamps_max_tokens && max_tokens > bound => {
                context.note(
                    WarningKind::Ignored,
                    self.max_tokens_field,
                    format!("{bound} is the most possible"),
                );
                Some(bound)
            }
            max_tokens => max_tokens,
        };
        if max_tokens.is_some_and(|max_tokens| !(1..=bound).contains(&max_tokens)) {
            let message = format!("Invalid max_tokens value, the valid range of max_tokens is [1, {bound}]");
            return refuse(self.max_tokens_field, message);
        }
        if self.seed.is_some_and(|seed| seed >= 1 << 63) {
            return out_of_range("seed", "[0, 2^63)");
        }
        let thinking = conversation.thinking.is_on();
        let tools = conversation.offers_tools();
        Ok(Sampling {
            max_tokens,
            temperature: if thinking { 1.0 } else { self.temperature.unwrap_or(1.0) },
            top_p: context.profile.top_p(TopP { requested: self.top_p, thinking, tools }),
            logprobs,
            top_logprobs: self.top_logprobs,
            seed: self.seed,
            n: self.n.map_or(1, u32::from),
        })
    }
}

/// The most stop sequences of a request.
const MAX_STOPS: usize = 16;

/// Checks a list of stop sequences; `field` is its name in this API.
pub(super) fn check_stops(stops: &[String], field: &str) -> Result<(), RequestError> {
    if stops.len() > MAX_STOPS {
        let message = format!("Stop string array too long: {}", stops.len());
        return Err(RequestError::new(ErrorKind::Stop, field, message));
    }
    match stops.iter().position(String::is_empty) {
        Some(index) => Err(empty_stop(format!("{field}[{index}]"), format_args!("stop[{index}]"))),
        None => Ok(()),
    }
}

/// Checks a single stop sequence.
pub(super) fn check_stop(stop: &str, field: &str) -> Result<(), RequestError> {
    if stop.is_empty() { Err(empty_stop(field.to_owned(), format_args!("stop"))) } else { Ok(()) }
}

fn empty_stop(path: String, name: std::fmt::Arguments<'_>) -> RequestError {
    let message = format!(
        "Invalid '{name}': empty string. Expected a string with minimum length 1, but got an empty string instead."
    );
    RequestError::new(ErrorKind::Stop, path, message)
}

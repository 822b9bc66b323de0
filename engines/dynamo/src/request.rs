//! Between Dynamo's requests and this crate's words for them.

use std::sync::Arc;

use deepseek_codec::constraint::Constraint;
use deepseek_codec::json::Json;
use deepseek_codec::output::{Plan, Start};
use deepseek_codec::protocol::{Lowered, Sampling};
use deepseek_codec::token::{Special, TokenId};
use deepseek_codec::tokenizer::Tokenizer;
use dynamo_backend_common::{
    BackendError, DynamoError, GuidedDecodingOptions, OutputOptions, PreprocessedRequest, SamplingOptions,
    StopConditions,
};

use crate::failed;

fn refused(message: impl Into<String>) -> DynamoError {
    failed(BackendError::InvalidArgument, message)
}

/// A request that was lowered, as a Dynamo worker takes it, with its ids. What the answer has to look like becomes guided
/// decoding: `json`, `regex`, and for calls of tools a structural tag, which says less than masks do.
///
/// # Errors
///
/// If Dynamo's own builder refuses the request.
pub fn preprocessed(
    lowered: &Lowered,
    ids: &[TokenId],
    tokenizer: &Tokenizer,
    model: &str,
) -> Result<PreprocessedRequest, DynamoError> {
    let sampling = &lowered.sampling;
    let start = Plan::of(&lowered.conversation, &lowered.stops).start;
    let guided = match Constraint::of(&lowered.conversation) {
        Some(Constraint::Json { schema }) => Some(GuidedDecodingOptions {
            json: Some(schema.map_or_else(|| serde_json::json!({"type": "object"}), Into::into)),
            ..GuidedDecodingOptions::default()
        }),
        Some(Constraint::Regex(regex)) => {
            Some(GuidedDecodingOptions { regex: Some(regex), ..GuidedDecodingOptions::default() })
        }
        Some(constraint @ (Constraint::Tools { .. } | Constraint::StructuralTag(_))) => {
            Some(GuidedDecodingOptions {
                structural_tag: Some(constraint.structural_tag(start, lowered.profile).into()),
                ..GuidedDecodingOptions::default()
            })
        }
        None => None,
    };
    PreprocessedRequest::builder()
        .model(model.to_owned())
        .token_ids(Arc::new(ids.iter().map(|id| id.0).collect::<Vec<u32>>()))
        .eos_token_ids(tokenizer.special_id(Special::Eos).into_iter().map(|id| id.0).collect())
        .stop_conditions(StopConditions {
            max_tokens: sampling.max_tokens,
            stop: (!lowered.stops.is_empty()).then(|| lowered.stops.clone()),
            ..StopConditions::default()
        })
        .sampling_options(SamplingOptions {
            temperature: Some(sampling.temperature),
            top_p: Some(sampling.top_p),
            // Seeds are below 2^63.
            seed: sampling.seed.map(|seed| seed as i64),
            guided_decoding: guided,
            ..SamplingOptions::default()
        })
        .output_options(OutputOptions {
            logprobs: sampling.logprobs.then(|| sampling.top_logprobs.unwrap_or(0).into()),
            ..OutputOptions::default()
        })
        .build()
        .map_err(|error| refused(error.to_string()))
}

/// The prompt's ids.
pub(crate) fn prompt(request: &PreprocessedRequest) -> Result<Vec<TokenId>, DynamoError> {
    if request.prompt_embeds.is_some() || request.multi_modal_data.is_some() {
        return Err(refused("prompts are ids here"));
    }
    if request.token_ids.is_empty() {
        return Err(refused("the prompt is empty"));
    }
    Ok(request.token_ids.iter().copied().map(TokenId).collect())
}

/// How tokens are chosen.
pub(crate) fn sampling(request: &PreprocessedRequest) -> Result<Sampling, DynamoError> {
    let options = &request.sampling_options;
    if options.n.is_some_and(|n| n > 1) || options.use_beam_search == Some(true) {
        return Err(refused("one answer to a request"));
    }
    Ok(Sampling {
        max_tokens: request.stop_conditions.max_tokens,
        temperature: options.temperature.unwrap_or(1.0),
        top_p: options.top_p.unwrap_or(1.0),
        logprobs: request.output_options.logprobs.is_some(),
        top_logprobs: request.output_options.logprobs.map(|top| top.min(20) as u8),
        seed: options.seed.map(i64::cast_unsigned),
        n: 1,
    })
}

/// What the answer must look like.
pub(crate) fn constraint(request: &PreprocessedRequest) -> Result<Option<Constraint>, DynamoError> {
    let Some(guided) = &request.sampling_options.guided_decoding else { return Ok(None) };
    if guided.grammar.is_some() {
        return Err(refused("EBNF is not read: json, regex, choice and structural_tag are"));
    }
    if guided.whitespace_pattern.is_some() {
        return Err(refused("the white space between JSON's tokens cannot be chosen"));
    }
    if let Some(tag) = guided.structural_tag.as_ref().filter(|tag| !tag.is_null()) {
        return Ok(Some(Constraint::StructuralTag(json(tag)?)));
    }
    if let Some(schema) = guided.json.as_ref().filter(|schema| !schema.is_null()) {
        return Ok(Some(Constraint::Json { schema: Some(json(schema)?) }));
    }
    if let Some(choices) = &guided.choice {
        let choices: Vec<String> = choices.iter().map(|choice| literal(choice)).collect();
        return Ok(Some(Constraint::Regex(format!("({})", choices.join("|")))));
    }
    Ok(guided.regex.clone().map(Constraint::Regex))
}

/// JSON, which may stand in a string.
fn json(value: &serde_json::Value) -> Result<Json, DynamoError> {
    match value.as_str() {
        Some(text) => Json::parse(text.as_bytes()).map_err(|error| refused(error.to_string())),
        None => Ok(Json::from(value.clone())),
    }
}

/// An expression that matches a text and nothing else.
fn literal(text: &str) -> String {
    let mut expression = String::new();
    for char in text.chars() {
        if "\\.+*?()|[]{}^$/-".contains(char) {
            expression.push('\\');
        }
        expression.push(char);
    }
    expression
}

/// Where the answer begins, by the prompt's last tokens.
pub(crate) fn start(prompt: &[TokenId], tokenizer: &Tokenizer) -> Start {
    let mut last = prompt.iter().rev().map(|id| tokenizer.special_role(*id));
    let turn = [Special::ThinkStart, Special::ThinkEnd, Special::Assistant];
    let at = last.position(|role| role.is_some_and(|role| turn.contains(&role)));
    match at.map(|at| (at, tokenizer.special_role(prompt[prompt.len() - 1 - at]))) {
        Some((0, Some(Special::ThinkStart))) => Start::Reasoning,
        Some((_, Some(Special::ThinkStart))) => Start::InReasoning,
        _ => Start::Content,
    }
}

/// The ids that end an answer, and whether they are part of it.
pub(crate) fn ends(request: &PreprocessedRequest, tokenizer: &Tokenizer) -> Vec<(TokenId, bool)> {
    let stop = &request.stop_conditions;
    if stop.ignore_eos == Some(true) {
        return Vec::new();
    }
    let given = |ids: &Option<Vec<u32>>, is_visible: bool| {
        ids.iter().flatten().map(move |id| (TokenId(*id), is_visible)).collect::<Vec<_>>()
    };
    let mut ends = given(&stop.stop_token_ids_visible, true);
    ends.extend(given(&stop.stop_token_ids, false));
    ends.extend(given(&stop.stop_token_ids_hidden, false));
    ends.extend(request.eos_token_ids.iter().map(|id| (TokenId(*id), false)));
    ends.extend(tokenizer.special_id(Special::Eos).map(|id| (id, false)));
    ends
}

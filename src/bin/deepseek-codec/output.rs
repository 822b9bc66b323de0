//! The output side of a job: chunks of generated text or tokens become events and a response.

use deepseek_codec::json::{Json, Number};
use deepseek_codec::output::{Finish, OutputWarning};
use deepseek_codec::protocol::{Api, Chunk, Dialect, Lowered, Stream, StreamOptions, TokenLogprob, chat};
use deepseek_codec::token::TokenId;

/// What a job's output became.
pub(crate) struct Output {
    pub(crate) members: [(String, Json); 2],
    pub(crate) warnings: Vec<Json>,
}

/// The answers to a request for several: `outputs` are lists of chunks.
pub(crate) fn run_all(
    job: &Json,
    lowered: &Lowered,
    outputs: &[Json],
    dialect: Dialect,
) -> Result<Output, String> {
    let mut answers = Vec::new();
    let mut responses = Vec::new();
    let mut warnings = Vec::new();
    for (index, chunks) in outputs.iter().enumerate() {
        let chunks = chunks.as_array().ok_or("an output is not a list of chunks")?;
        let index = u32::try_from(index).map_err(|_| "too many outputs")?;
        let [(_, events), (_, response)] = {
            let output = run(job, lowered, chunks, dialect, index)?;
            warnings.extend(output.warnings);
            output.members
        };
        responses.push(response);
        answers.push(events);
    }
    let response = match lowered.api {
        Api::Chat => chat::join_choices(responses).unwrap_or_default(),
        Api::Responses | Api::Messages => Json::Array(responses),
    };
    Ok(Output {
        members: [("events".to_owned(), Json::Array(answers)), ("response".to_owned(), response)],
        warnings,
    })
}

pub(crate) fn run(
    job: &Json,
    lowered: &Lowered,
    chunks: &[Json],
    dialect: Dialect,
    index: u32,
) -> Result<Output, String> {
    let number = |json: Option<&Json>| match json {
        Some(Json::Number(number)) => number.as_u64().unwrap_or(0),
        _ => 0,
    };
    let usage = |key: &str| number(job.get("usage").and_then(|usage| usage.get(key)));
    let options = StreamOptions {
        created: number(job.get("created")),
        seed: number(job.get("seed")).wrapping_add(u64::from(index)),
        dialect,
        prompt_tokens: usage("prompt_tokens"),
        cached_tokens: usage("cached_tokens"),
        index,
        ..StreamOptions::new(job.get("response_id").and_then(Json::as_str).unwrap_or("resp-1"))
    };
    let finish = match job.get("finish") {
        None => Finish::Stop,
        Some(finish) => match finish.as_str() {
            Some("stop") => Finish::Stop,
            Some("length") => Finish::Length,
            Some("content_filter") => Finish::ContentFilter,
            None => Finish::Unknown,
            Some(other) => return Err(format!("unknown finish {other}")),
        },
    };
    let mut stream = lowered.stream(&lowered.profile.tokenizer(), options);
    let mut events = Vec::new();
    stream.start(&mut events);
    for chunk in chunks {
        push(&mut stream, chunk, &mut events)?;
    }
    match job.get("finish").and_then(|finish| finish.get("error")).and_then(Json::as_str) {
        Some(error) => stream.fail(error, &mut events),
        None => stream.finish(finish, &mut events),
    }
    let events = events.iter().filter(|chunk| chunk.data != "[DONE]").map(event_json).collect();
    Ok(Output {
        members: [("events".to_owned(), Json::Array(events)), ("response".to_owned(), stream.response())],
        warnings: stream.warnings().iter().map(warning_json).collect(),
    })
}

fn push(stream: &mut Stream, chunk: &Json, events: &mut Vec<Chunk>) -> Result<(), String> {
    if let Some(text) = chunk.get("text").and_then(Json::as_str) {
        stream.push_text(text, 1, events);
        return Ok(());
    }
    let Some(tokens) = chunk.get("tokens").and_then(Json::as_array) else {
        return Err("a chunk has neither `text` nor `tokens`".to_owned());
    };
    let logprobs = chunk.get("logprobs").and_then(Json::as_array);
    for (index, token) in tokens.iter().enumerate() {
        let logprob = logprobs.and_then(|logprobs| logprobs.get(index)).map(read_logprob).transpose()?;
        stream.push_id(read_id(token)?, logprob.as_ref(), &mut *events);
    }
    Ok(())
}

fn read_id(json: &Json) -> Result<TokenId, String> {
    match json {
        Json::Number(number) => number.as_u64().and_then(|id| u32::try_from(id).ok()).map(TokenId),
        _ => None,
    }
    .ok_or_else(|| format!("not a token id: {json}"))
}

#[allow(clippy::cast_possible_truncation)]
fn read_logprob(json: &Json) -> Result<TokenLogprob, String> {
    let single = |json: Option<&Json>| match json {
        Some(Json::Number(number)) => Ok(Number::as_f64(*number) as f32),
        other => Err(format!("not a log probability: {}", other.unwrap_or(&Json::Null))),
    };
    let top = json.get("top").and_then(Json::as_array).unwrap_or_default().iter().map(|entry| {
        match entry.as_array() {
            Some([id, logprob]) => Ok((read_id(id)?, single(Some(logprob))?)),
            _ => Err(format!("not a token with its log probability: {entry}")),
        }
    });
    Ok(TokenLogprob { logprob: single(json.get("logprob"))?, top: top.collect::<Result<_, _>>()? })
}

fn event_json(chunk: &Chunk) -> Json {
    let data = Json::parse(chunk.data.as_bytes()).unwrap_or_else(|_| chunk.data.as_str().into());
    Json::from([("event", chunk.event.into()), ("data", data)])
}

fn warning_json(warning: &OutputWarning) -> Json {
    Json::from([
        ("kind", warning.kind.as_str().into()),
        ("path", format!("output[{}]", warning.at).into()),
        ("message", warning.kind.as_str().replace('_', " ").into()),
    ])
}

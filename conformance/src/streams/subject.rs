//! This project's side.

use deepseek_codec::protocol::{Options, Policy, StreamOptions, lower};

use super::Input;
use super::arrival::{self, Chunk};
use super::events::{Event, Run};

/// What both sides are told.
pub const RESPONSE_ID: &str = "resp-1";
pub const PROMPT_TOKENS: u64 = 20;
pub const CACHED_TOKENS: u64 = 8;

/// Runs an input through this project.
pub fn run(input: &Input) -> Result<Run, String> {
    let body = input.request.to_string();
    let lowered = lower(input.api, body.as_bytes(), &Options::new(Policy::Lenient))
        .map_err(|error| error.message().to_owned())?;
    let tokenizer = arrival::tokenizer(lowered.profile.name());
    let options = StreamOptions {
        prompt_tokens: PROMPT_TOKENS,
        cached_tokens: CACHED_TOKENS,
        ..StreamOptions::new(RESPONSE_ID)
    };
    let mut stream = lowered.stream(tokenizer, options);
    let mut sent = Vec::new();
    stream.start(&mut sent);
    for chunk in arrival::chunks(input, tokenizer) {
        match chunk {
            Chunk::Text(text) => stream.push_text(&text, 1, &mut sent),
            Chunk::Ids(ids) => ids.into_iter().for_each(|id| stream.push_id(id, None, &mut sent)),
        }
    }
    stream.finish(input.finish, &mut sent);
    let mut events = Vec::new();
    for chunk in sent.iter().filter(|chunk| chunk.data != "[DONE]") {
        let data = serde_json::from_str(&chunk.data).map_err(|error| format!("{}: {error}", chunk.data))?;
        events.push(Event { name: chunk.event.map(str::to_owned), data });
    }
    Run::new(input.api, events, stream.response().into(), stream.warnings().to_vec())
}

//! The reference's side: its stream processor, fed as a service would feed it.

use std::pin::pin;
use std::task::{Context, Poll, Waker};

use deepseek_codec::model::Profile;
use deepseek_codec::output::Finish;
use deepseek_codec::protocol::Api;
use deepseek_codec::token::TokenId;
use deepseek_codec::tokenizer::Tokenizer;
use deepseek_recipe::anthropic::MessagesRequest;
use deepseek_recipe::openai::{ChatCompletionRequest, ResponsesRequest};
use deepseek_recipe::request::ProtocolRequest;
use deepseek_recipe::response::{Accumulate, ProtocolResponse};
use deepseek_recipe::stream::{
    ChunkGenerator, InferenceChunk, InferenceFinishReason, PromptUsage, StreamProcessor, StreamTokenizer,
};
use serde::Serialize;
use serde::de::DeserializeOwned;
use tokio_stream::Stream;

use super::Input;
use super::arrival::{self, Chunk};
use super::events::{Event, Run};
use super::subject::{CACHED_TOKENS, PROMPT_TOKENS, RESPONSE_ID};
use crate::reference::options;

/// Runs an input through the reference.
pub fn run(input: &Input) -> Result<Run, String> {
    match input.api {
        Api::Chat => run_as::<ChatCompletionRequest>(input),
        Api::Responses => run_as::<ResponsesRequest>(input),
        Api::Messages => run_as::<MessagesRequest>(input),
    }
}

fn run_as<R>(input: &Input) -> Result<Run, String>
where
    R: ProtocolRequest + DeserializeOwned,
    <<R::Response as ProtocolResponse>::ChunkGenerator as ChunkGenerator>::Chunk: Serialize + Send,
{
    let request: R = serde_json::from_value(input.request.clone()).map_err(|error| error.to_string())?;
    let request = request.convert(options()).map_err(|error| error.into_error_response().error.message)?;
    let model = input.request["model"].as_str().unwrap_or_default().to_owned();
    let profile = Profile::by_name(&model).ok_or("a model that has a profile")?;
    let tokenizer = arrival::tokenizer(profile.name());
    let chunks = inference(arrival::chunks(input, tokenizer), input.finish);
    let generator = R::chunk_generator(&request, RESPONSE_ID.to_owned(), model.clone());
    let processor = StreamProcessor::new(generator, request.parsing_options.clone())
        .with_tokenizer(OurTokenizer(tokenizer.clone()));
    let mut response =
        R::Response::new(RESPONSE_ID.to_owned(), model, 0, PROMPT_TOKENS as usize, CACHED_TOKENS as usize);
    let mut events = Vec::new();
    for chunk in collect(processor.into_protocol_stream(tokio_stream::iter(chunks))) {
        let chunk = chunk.map_err(|error| error.to_string())?;
        let name = R::Response::sse_event_name(&chunk).map(str::to_owned);
        let data = serde_json::to_value(&chunk).map_err(|error| error.to_string())?;
        events.push(Event { name, data });
        response.accumulate(chunk);
    }
    let response = serde_json::to_value(&response).map_err(|error| error.to_string())?;
    Run::new(input.api, events, response, Vec::new())
}

/// The chunks as an engine's. An engine that does not say why it stopped just ends.
fn inference(chunks: Vec<Chunk>, finish: Finish) -> Vec<InferenceChunk> {
    let prompt_usage = PromptUsage {
        prompt_tokens: PROMPT_TOKENS as usize,
        prompt_cache_hit_tokens: CACHED_TOKENS as usize,
    };
    let mut all = vec![InferenceChunk::Ready { system_fingerprint: None, prompt_usage }];
    all.extend(chunks.into_iter().map(|chunk| match chunk {
        Chunk::Text(content) => InferenceChunk::Text { content, token_count: 1 },
        Chunk::Ids(ids) => {
            let token_ids = ids.into_iter().map(u32::from).collect();
            InferenceChunk::Tokens { token_ids, logprobs: None }
        }
    }));
    let finish_reason = match finish {
        Finish::Stop => InferenceFinishReason::Stop,
        Finish::Length => InferenceFinishReason::Length,
        Finish::ContentFilter => InferenceFinishReason::ContentFilter,
        Finish::Unknown => return all,
    };
    all.push(InferenceChunk::Finish { finish_reason });
    all
}

/// Everything that a stream yields which waits for nothing: where it pauses, it wants to be asked again.
pub fn collect<T>(stream: impl Stream<Item = T>) -> Vec<T> {
    let mut stream = pin!(stream);
    let mut context = Context::from_waker(Waker::noop());
    let mut items = Vec::new();
    loop {
        match stream.as_mut().poll_next(&mut context) {
            Poll::Ready(Some(item)) => items.push(item),
            Poll::Ready(None) => return items,
            Poll::Pending => {}
        }
    }
}

/// This project's tokenizer for the reference, so that a comparison of streams needs no tokenizer file. That both
/// tokenizers give the same ids and bytes is compared elsewhere.
pub struct OurTokenizer(pub Tokenizer);

impl StreamTokenizer for OurTokenizer {
    fn decode_ids(&self, ids: &[u32], skip_special_tokens: bool) -> Result<String, String> {
        let is_kept = |id: &TokenId| !(skip_special_tokens && self.0.token_bytes(*id).is_none());
        Ok(self.0.decode(&ids.iter().map(|&id| TokenId(id)).filter(is_kept).collect::<Vec<_>>()))
    }

    fn count_tokens(&self, text: &str) -> Option<usize> {
        Some(self.0.encode_text(text).len())
    }

    fn is_special_token(&self, id: u32) -> bool {
        self.0.token_bytes(TokenId(id)).is_none()
    }
}

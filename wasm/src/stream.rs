//! Generated ids or text to events and responses.

use deepseek_codec::json::Json;
use deepseek_codec::output::Finish;
use deepseek_codec::protocol::{self, Chunk, EventSink, StreamOptions, TokenLogprob};
use deepseek_codec::token::TokenId;
use wasm_bindgen::prelude::*;

use crate::convert::{from_js, parse_text, to_js};
use crate::failure::Failure;
use crate::options::{DIALECTS, Fields};
use crate::request::Request;

/// Turns a model's output into events while it arrives.
#[wasm_bindgen]
pub struct Stream {
    stream: protocol::Stream,
    /// Whether events are text.
    sse: bool,
}

const OPTIONS: &[&str] =
    &["id", "created", "seed", "dialect", "promptTokens", "cachedTokens", "index", "systemFingerprint"];

impl Stream {
    pub(crate) fn new(request: &Request, options: &JsValue, sse: bool) -> Result<Self, Failure> {
        let fields = Fields::read(options, OPTIONS)?;
        let tokenizer = request.tokenizer()?;
        let prompt_tokens = match fields.number("promptTokens")? {
            Some(tokens) => tokens,
            None => request.count()? as u64,
        };
        let options = StreamOptions {
            created: fields.number("created")?.unwrap_or(0),
            seed: fields.number("seed")?.unwrap_or(0),
            dialect: fields.choice("dialect", DIALECTS)?.unwrap_or(request.dialect()),
            prompt_tokens,
            cached_tokens: fields.number("cachedTokens")?.unwrap_or(0),
            index: u32::try_from(fields.number("index")?.unwrap_or(0)).unwrap_or(u32::MAX),
            system_fingerprint: fields.text("systemFingerprint")?.map(str::to_owned),
            ..StreamOptions::new(fields.text("id")?.unwrap_or("resp-1"))
        };
        Ok(Self { stream: request.lowered.stream(&tokenizer, options), sse })
    }

    /// An empty list of events, in the form that the caller asked for.
    const fn out(&self) -> Out {
        if self.sse { Out::Sse(String::new()) } else { Out::Events(Vec::new()) }
    }
}

#[wasm_bindgen]
impl Stream {
    /// The events that open the response, unless they were sent.
    pub fn start(&mut self) -> JsValue {
        let mut out = self.out();
        self.stream.start(out.sink());
        out.into()
    }

    /// Takes generated ids, with their log probabilities if the request asks for them.
    #[wasm_bindgen(js_name = pushIds)]
    pub fn push_ids(&mut self, ids: &[u32], logprobs: &JsValue) -> Result<JsValue, Failure> {
        let logprobs = match from_js(logprobs)? {
            Json::Array(list) => list.iter().map(logprob).collect::<Result<Vec<_>, _>>()?,
            Json::Null => Vec::new(),
            _ => return Err(Failure::option("logprobs", "logprobs are a list".to_owned())),
        };
        let mut out = self.out();
        for (index, id) in ids.iter().enumerate() {
            self.stream.push_id(TokenId(*id), logprobs.get(index), out.sink());
        }
        Ok(out.into())
    }

    /// Takes generated text that `tokens` tokens made.
    #[wasm_bindgen(js_name = pushText)]
    pub fn push_text(&mut self, text: &str, tokens: u32) -> JsValue {
        let mut out = self.out();
        self.stream.push_text(text, tokens.into(), out.sink());
        out.into()
    }

    /// Ends the response: the engine stopped, because of `reason`.
    pub fn finish(&mut self, reason: Option<String>) -> Result<JsValue, Failure> {
        let finish = match reason.as_deref() {
            None | Some("stop") => Finish::Stop,
            Some("length") => Finish::Length,
            Some("content_filter") => Finish::ContentFilter,
            Some("unknown") => Finish::Unknown,
            Some(other) => return Err(Failure::option("reason", format!("unknown finish {other}"))),
        };
        let mut out = self.out();
        self.stream.finish(finish, out.sink());
        Ok(out.into())
    }

    /// Ends the response with an error of the engine.
    pub fn fail(&mut self, message: &str) -> JsValue {
        let mut out = self.out();
        self.stream.fail(message, out.sink());
        out.into()
    }

    /// What keeps a silent connection open.
    #[must_use]
    pub fn ping(&self) -> String {
        String::from_utf8_lossy(self.stream.ping()).into_owned()
    }

    /// Whether the output has ended, so that the engine can stop.
    #[wasm_bindgen(getter)]
    #[must_use]
    pub fn ended(&self) -> bool {
        self.stream.has_ended()
    }

    /// The complete response so far.
    #[must_use]
    pub fn response(&self) -> JsValue {
        to_js(&self.stream.response())
    }

    /// What was wrong with the output so far.
    #[must_use]
    pub fn warnings(&self) -> JsValue {
        let warnings =
            self.stream.warnings().iter().map(|warning| {
                Json::from([("kind", warning.kind.as_str().into()), ("at", warning.at.into())])
            });
        to_js(&Json::Array(warnings.collect()))
    }

    /// Tokens used so far.
    #[must_use]
    pub fn usage(&self) -> JsValue {
        let usage = self.stream.usage();
        to_js(&Json::from([
            ("prompt", usage.prompt.into()),
            ("cached", usage.cached.into()),
            ("completion", usage.completion.into()),
            ("reasoning", usage.reasoning.into()),
        ]))
    }
}

/// Events on their way to JavaScript.
enum Out {
    Events(Vec<Chunk>),
    Sse(String),
}

impl Out {
    fn sink(&mut self) -> EventSink<'_> {
        match self {
            Self::Events(chunks) => chunks.into(),
            Self::Sse(text) => text.into(),
        }
    }
}

impl From<Out> for JsValue {
    fn from(out: Out) -> Self {
        match out {
            Out::Sse(text) => text.into(),
            Out::Events(chunks) => parse_text(&events_text(&chunks)),
        }
    }
}

/// A list of `{"event", "data"}`. The data is JSON text already, but for the mark of the end.
fn events_text(chunks: &[Chunk]) -> String {
    let mut text = String::from("[");
    for (index, chunk) in chunks.iter().enumerate() {
        text.push_str(if index > 0 { ",{" } else { "{" });
        if let Some(event) = chunk.event {
            text.push_str("\"event\":\"");
            text.push_str(event);
            text.push_str("\",");
        }
        text.push_str("\"data\":");
        text.push_str(if chunk.data == "[DONE]" { "\"[DONE]\"" } else { &chunk.data });
        text.push('}');
    }
    text.push(']');
    text
}

/// `{"logprob": …, "top": [[id, logprob], …]}`.
fn logprob(json: &Json) -> Result<TokenLogprob, Failure> {
    let refused = || Failure::option("logprobs", format!("not a log probability: {json}"));
    let single = |json: Option<&Json>| match json {
        #[allow(clippy::cast_possible_truncation)]
        Some(Json::Number(number)) => Some(number.as_f64() as f32),
        _ => None,
    };
    let top = json.get("top").and_then(Json::as_array).unwrap_or_default().iter().map(|entry| {
        let [Json::Number(id), value] = entry.as_array()? else { return None };
        Some((TokenId(u32::try_from(id.as_u64()?).ok()?), single(Some(value))?))
    });
    let top = top.collect::<Option<Vec<_>>>().ok_or_else(refused)?;
    Ok(TokenLogprob { logprob: single(json.get("logprob")).ok_or_else(refused)?, top })
}

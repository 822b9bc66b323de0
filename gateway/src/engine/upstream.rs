//! Engines that are servers: SGLang by its native `/generate`, vLLM by `/v1/completions`. Ids go there and come back.
//!
//! The forms are those of SGLang's `GenerateReqInput` and `SamplingParams` (`docs/basic_usage/sampling_params.md`,
//! `srt/managers/io_struct.py`, `srt/managers/tokenizer_manager.py`) and of vLLM's `CompletionRequest` and
//! `CompletionStreamResponse` (`vllm/entrypoints/openai/completion/protocol.py`).
//!
//! What an answer has to look like goes along as the engine's own parameter. A dropped sequence closes its connection,
//! upon which both engines stop generating.

mod events;
mod sglang;
mod vllm;

use std::collections::VecDeque;
use std::time::Duration;

use axum::body::Bytes;
use deepseek_codec::constraint::Constraint;
use deepseek_codec::engine::LogitMask;
use deepseek_codec::json::Json;
use deepseek_codec::output::{Plan, Start};
use http_body_util::{BodyExt, Full, Limited};
use hyper::body::Incoming;
use hyper::{Request, header};
use hyper_util::client::legacy::Client;
use hyper_util::client::legacy::connect::HttpConnector;
use hyper_util::rt::TokioExecutor;

use self::events::Events;
use super::{EngineError, EngineErrorKind, Next, Order};
use crate::config::{ConfigError, EngineConfig};
use crate::routes::PREFIX_HEADER;

/// How long connecting may take.
const CONNECTING: Duration = Duration::from_secs(10);
/// How much of an error's text is read.
const ERROR_BYTES: usize = 4096;

/// What speaks how.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// SGLang.
    Sglang,
    /// vLLM.
    Vllm,
}

/// A server that generates.
#[derive(Debug)]
pub struct Upstream {
    kind: Kind,
    address: String,
    model: Option<String>,
    key: Option<String>,
    /// Whether it holds only what follows the reasoning to a grammar.
    knows_reasoning: bool,
    /// Whether what it says of its errors is logged: it may repeat prompts.
    shows_texts: bool,
    client: Client<HttpConnector, Full<Bytes>>,
}

/// A sequence that a server generates.
#[derive(Debug)]
pub struct Sequence {
    kind: Kind,
    shows_texts: bool,
    body: Incoming,
    events: Events,
    ready: VecDeque<Next>,
    /// What came with the end, until it is known what comes behind the end.
    held: VecDeque<Next>,
    /// How many tokens came.
    seen: usize,
    has_ended: bool,
}

impl Upstream {
    /// The server that the settings name. `shows_texts` says whether the texts of its errors may be logged.
    ///
    /// # Errors
    ///
    /// If there is no address, or it is not `http://…`.
    pub fn new(kind: Kind, config: &EngineConfig, shows_texts: bool) -> Result<Self, ConfigError> {
        let missing = || {
            ConfigError(format!("the engine `{}` needs an address, http://host:port", config.kind.as_str()))
        };
        let url = config.url.as_deref().ok_or_else(missing)?;
        if !url.starts_with("http://") {
            return Err(ConfigError(format!("{url}: the engine's address has to begin with http://")));
        }
        let mut connector = HttpConnector::new();
        connector.set_connect_timeout(Some(CONNECTING));
        connector.set_nodelay(true);
        Ok(Self {
            kind,
            address: url.trim_end_matches('/').to_owned(),
            model: config.model.clone(),
            key: config.key.clone(),
            knows_reasoning: config.knows_reasoning,
            shows_texts,
            client: Client::builder(TokioExecutor::new()).build(connector),
        })
    }

    pub(super) const fn kind(&self) -> Kind {
        self.kind
    }

    pub(super) async fn start(&self, order: Order<'_>) -> Result<Sequence, EngineError> {
        let (path, body) = match self.kind {
            Kind::Sglang => ("/generate", sglang::request(order, self.constraint(order))),
            Kind::Vllm => {
                ("/v1/completions", vllm::request(order, self.model.as_deref(), self.constraint(order)))
            }
        };
        let mut request = Request::post(format!("{}{path}", self.address))
            .header(header::CONTENT_TYPE, "application/json")
            .header(header::ACCEPT, "text/event-stream");
        if let Some(key) = &self.key {
            request = request.header(header::AUTHORIZATION, format!("Bearer {key}"));
        }
        if let Some(prefix) = order.prefix {
            request = request.header(PREFIX_HEADER, prefix);
        }
        let broken =
            |problem: &dyn std::fmt::Display| EngineError::failed(format!("{}: {problem}", self.address));
        let request = request.body(Full::from(body.to_string())).map_err(|error| broken(&error))?;
        let response = self.client.request(request).await.map_err(|error| broken(&error))?;
        let status = response.status();
        if status.is_success() {
            return Ok(Sequence {
                kind: self.kind,
                shows_texts: self.shows_texts,
                body: response.into_body(),
                events: Events::default(),
                ready: VecDeque::new(),
                held: VecDeque::new(),
                seen: 0,
                has_ended: false,
            });
        }
        let mut text = String::new();
        if self.shows_texts
            && let Ok(body) = Limited::new(response.into_body(), ERROR_BYTES).collect().await
        {
            text = String::from_utf8_lossy(&body.to_bytes()).into_owned();
        }
        let kind = match status.as_u16() {
            429 | 503 => EngineErrorKind::Overloaded,
            408 | 504 => EngineErrorKind::Timeout,
            _ => EngineErrorKind::Failed,
        };
        Err(EngineError { kind, detail: format!("{}: {status}: {text}", self.address) })
    }

    /// What the answer has to look like; nothing if that is free.
    fn constraint(&self, order: Order<'_>) -> Option<Shape> {
        let conversation = &order.lowered.conversation;
        let constraint = Constraint::of(conversation)?;
        let start = match Plan::of(conversation, &order.lowered.stops).start {
            Start::Reasoning | Start::InReasoning if self.knows_reasoning => Start::Content,
            start => start,
        };
        let is_whole = matches!(start, Start::Content | Start::InContent);
        Some(match constraint {
            Constraint::Json { schema } if is_whole => {
                Shape::Schema(schema.unwrap_or_else(|| Json::from([("type", "object".into())])))
            }
            Constraint::Regex(regex) if is_whole => Shape::Regex(regex),
            constraint => Shape::Tag(constraint.structural_tag(start, order.lowered.profile)),
        })
    }
}

/// What an answer has to look like, in the ways that engines can be told.
enum Shape {
    Schema(Json),
    Regex(String),
    Tag(Json),
}

impl Sequence {
    pub(super) async fn next(&mut self, _: Option<LogitMask<'_>>) -> Result<Next, EngineError> {
        loop {
            if let Some(next) = self.ready.pop_front() {
                return Ok(next);
            }
            if self.has_ended {
                return Err(EngineError::failed("the engine's stream ended before its answer"));
            }
            match self.body.frame().await {
                None => self.end(),
                Some(Err(error)) => {
                    return Err(EngineError::failed(format!("the engine's stream broke: {error}")));
                }
                Some(Ok(frame)) => {
                    if let Ok(data) = frame.into_data() {
                        self.read(&data)?;
                    }
                }
            }
        }
    }

    fn end(&mut self) {
        self.has_ended = true;
        self.ready.append(&mut self.held);
    }

    fn read(&mut self, data: &[u8]) -> Result<(), EngineError> {
        self.events.push(data)?;
        while let Some(event) = self.events.next() {
            if event == b"[DONE]" {
                self.end();
                continue;
            }
            let strange = |problem: &dyn std::fmt::Display| {
                EngineError::failed(format!("the engine's stream is not understood: {problem}"))
            };
            let event = Json::parse(&event).map_err(|error| strange(&error))?;
            if let Some(error) = event.get("error").filter(|error| **error != Json::Null) {
                let text = if self.shows_texts { error.to_string() } else { "in its stream".to_owned() };
                return Err(EngineError::failed(format!("the engine's own error: {text}")));
            }
            let seen = &mut self.seen;
            match self.kind {
                Kind::Sglang => sglang::read(&event, seen, &mut self.ready),
                Kind::Vllm => vllm::read(&event, &mut self.ready, &mut self.held),
            }
            .map_err(|problem| strange(&problem))?;
        }
        Ok(())
    }
}

/// An integer below 2^32, such as an id.
fn small(json: &Json) -> Option<u32> {
    match json {
        Json::Number(number) => u32::try_from(number.as_u64()?).ok(),
        _ => None,
    }
}

/// A number that may be missing.
fn float(json: &Json) -> f32 {
    match json {
        Json::Number(number) => number.as_f64() as f32,
        _ => f32::NEG_INFINITY,
    }
}

/// A number with the digits that single precision has.
fn single(value: f32) -> Json {
    Json::parse(value.to_string().as_bytes()).unwrap_or_default()
}

//! The addresses, and what stands behind each.

use std::sync::Arc;
use std::time::Instant;

use axum::Router;
use axum::body::{Body, Bytes};
use axum::extract::{DefaultBodyLimit, Request, State};
use axum::http::{HeaderMap, HeaderValue, StatusCode, header};
use axum::response::Response;
use axum::routing::{get, post};
use deepseek_codec::json::{Json, Object};
use deepseek_codec::protocol::{Api, Dialect, Failure, count_response};
use tokio::time::timeout;

use crate::answer::Answer;
use crate::body;
use crate::config::seconds;
use crate::engine::{EngineError, EngineErrorKind, Order};
use crate::metrics::{About, Outcome, Record};
use crate::refusal::{Refusal, json};
use crate::request::{self, Prepared};
use crate::state::{Gateway, Permit};

type Shared = State<Arc<Gateway>>;

/// All addresses.
pub fn router(gateway: Arc<Gateway>) -> Router {
    let chat = post(|state: Shared, request: Request| generate(state, Api::Chat, request));
    let responses = post(|state: Shared, request: Request| generate(state, Api::Responses, request));
    let messages = post(|state: Shared, request: Request| generate(state, Api::Messages, request));
    let tokens = |api| post(move |state: Shared, request: Request| count(state, api, request));
    let models = get(models);
    Router::new()
        .route("/v1/chat/completions", chat.clone())
        .route("/v1/responses", responses.clone())
        .route("/v1/messages", messages.clone())
        .route("/v1/messages/count_tokens", tokens(Api::Messages))
        .route("/v1/responses/input_tokens", tokens(Api::Responses))
        // What the official API has without a version, and below a folder.
        .route("/chat/completions", chat)
        .route("/responses", responses)
        .route("/anthropic/v1/messages", messages)
        .route("/anthropic/v1/messages/count_tokens", tokens(Api::Messages))
        .route("/tokenize", post(tokenize))
        .route("/v1/models", models.clone())
        .route("/v1/models/{name}", models)
        .route("/health", get(|| async { "ok\n" }))
        .route("/metrics", get(metrics))
        .fallback(|state: Shared, request: Request| refuse_address(state, request, Failure::NotFound))
        .method_not_allowed_fallback(|state: Shared, request: Request| {
            refuse_address(state, request, Failure::Method)
        })
        // Bodies are limited where they are read.
        .layer(DefaultBodyLimit::disable())
        .with_state(gateway)
}

/// The API whose form an address's errors have.
fn api_of(path: &str, headers: &HeaderMap) -> Api {
    if path.contains("/messages") || headers.contains_key("anthropic-version") {
        Api::Messages
    } else if path.contains("/responses") {
        Api::Responses
    } else {
        Api::Chat
    }
}

async fn refuse_address(State(gateway): Shared, request: Request, failure: Failure) -> Response {
    let api = api_of(request.uri().path(), request.headers());
    let message = match failure {
        Failure::Method => "This address does not take this method.",
        _ => "There is nothing at this address.",
    };
    body::discard(&mut request.into_body(), &gateway.config.limits).await;
    answer_with(&gateway, "other", api, "", Err(Refusal::failure(failure, message)))
}

/// A response with the headers that all have, counted.
fn answer_with(
    gateway: &Gateway,
    route: &'static str,
    api: Api,
    id: &str,
    result: Result<Response, Refusal>,
) -> Response {
    let dialect = gateway.config.dialect(api);
    let mut response = result.unwrap_or_else(|refusal| {
        let status = refusal.status(api, dialect);
        let reason = match &refusal {
            Refusal::Request(error) => error.kind().as_str(),
            Refusal::Failure(failure, _) => failure.as_str(),
        };
        let place = match &refusal {
            Refusal::Request(error) => error.path(),
            Refusal::Failure(..) => "",
        };
        tracing::info!(id, route, status, reason, place, "refused");
        refusal.response(api, dialect)
    });
    gateway.metrics.response(route, response.status().as_u16());
    if let Ok(id) = HeaderValue::try_from(id) {
        // OpenAI's clients look for the one, Anthropic's for the other.
        response.headers_mut().insert("x-request-id", id.clone());
        response.headers_mut().insert("request-id", id);
    }
    response
}

/// Answers a request for an answer.
async fn generate(State(gateway): Shared, api: Api, request: Request) -> Response {
    let prefix = match api {
        Api::Chat => "chatcmpl-",
        Api::Responses => "resp_",
        Api::Messages => "msg_",
    };
    let id = format!("{prefix}{:016x}{:016x}", gateway.number(), gateway.number());
    let result = try_generate(&gateway, api, request, &id).await;
    answer_with(&gateway, api.as_str(), api, &id, result)
}

async fn try_generate(
    gateway: &Arc<Gateway>,
    api: Api,
    request: Request,
    id: &str,
) -> Result<Response, Refusal> {
    let begun = Instant::now();
    let (key, permit, body) = admitted(gateway, api, request).await?;
    if gateway.config.log.texts {
        tracing::info!(id, body = %String::from_utf8_lossy(&body), "request");
    }
    let prepared = {
        let (gateway, id) = (gateway.clone(), id.to_owned());
        on_processor(move || request::prepare(&gateway, api, &body, &id)).await?
    };
    let Prepared { lowered, sessions, prefix, had_masks, left_out } = prepared;
    let about = About {
        id: id.to_owned(),
        route: api.as_str(),
        key: key.map_or_else(String::new, |key| gateway.config.keys[key].name.clone()),
        model: lowered.model.clone(),
        stream: lowered.stream,
        answers: sessions.len(),
        prompt_tokens: sessions.first().map_or(0, |session| session.prompt().len()),
        warnings: lowered.warnings.len(),
        had_masks,
        left_out,
    };
    let mut record = Record::new(gateway.clone(), about, begun);
    let mut parts = Vec::with_capacity(sessions.len());
    for (index, session) in sessions.into_iter().enumerate() {
        let tokenizer = gateway.tokenizer(lowered.profile);
        let order = Order { lowered: &lowered, tokenizer, session: &session, index, prefix: prefix.as_ref() };
        let begun = timeout(seconds(gateway.config.limits.first_token_seconds), gateway.engine.start(order));
        let late = |_| EngineError { kind: EngineErrorKind::Timeout, detail: "the start is late".to_owned() };
        match begun.await.map_err(late).and_then(|begun| begun) {
            Ok(sequence) => parts.push((session, sequence)),
            Err(error) => {
                record.end(Outcome::Failed(error.to_string()));
                return Err(failed(&error));
            }
        }
    }
    let answer = Answer::new(parts, lowered.stream, &gateway.config.limits, record, permit);
    let mut response = if lowered.stream {
        let mut response = Response::new(answer.into_body());
        let headers = response.headers_mut();
        headers.insert(header::CONTENT_TYPE, HeaderValue::from_static("text/event-stream"));
        headers.insert(header::CACHE_CONTROL, HeaderValue::from_static("no-cache"));
        // Proxies that gather a response before they pass it on are asked not to.
        headers.insert("x-accel-buffering", HeaderValue::from_static("no"));
        response
    } else {
        json(StatusCode::OK, &answer.complete().await.map_err(|error| failed(&error))?)
    };
    if let Some(prefix) = prefix {
        response.headers_mut().insert(PREFIX_HEADER, prefix);
    }
    Ok(response)
}

/// The header with the hashes of a prompt's blocks.
pub const PREFIX_HEADER: &str = "x-prefix-block-hashes";

fn failed(error: &EngineError) -> Refusal {
    let failure = match error.kind {
        EngineErrorKind::Overloaded => Failure::Overloaded,
        EngineErrorKind::Timeout => Failure::Timeout,
        EngineErrorKind::Failed => Failure::Server,
    };
    Refusal::failure(failure, error.told())
}

/// Answers a request that asks how many tokens it has.
async fn count(State(gateway): Shared, api: Api, request: Request) -> Response {
    let result = async {
        let (_, _permit, body) = admitted(&gateway, api, request).await?;
        let counting = gateway.clone();
        let tokens = on_processor(move || request::count(&counting, api, &body)).await?;
        Ok(json(StatusCode::OK, &count_response(api, tokens)))
    };
    let result = result.await;
    answer_with(&gateway, "count", api, &format!("req_{:016x}", gateway.number()), result)
}

/// Answers with the ids of a text (`prompt` or `text`), or of the prompt of a request.
async fn tokenize(State(gateway): Shared, request: Request) -> Response {
    let api = api_of("", request.headers());
    let result = async {
        let (_, _permit, body) = admitted(&gateway, Api::Chat, request).await?;
        let worker = gateway.clone();
        let ids = on_processor(move || request::tokenize(&worker, &body)).await?;
        let body = Json::from([
            ("count", (ids.len() as u64).into()),
            ("max_model_len", gateway.config.limits.context.into()),
            ("tokens", Json::Array(ids.iter().map(|id| id.0.into()).collect())),
        ]);
        Ok(json(StatusCode::OK, &body))
    };
    let result = result.await;
    answer_with(&gateway, "tokenize", api, &format!("req_{:016x}", gateway.number()), result)
}

/// The key, the permit and the body of a request that may be answered.
async fn admitted(
    gateway: &Gateway,
    api: Api,
    request: Request,
) -> Result<(Option<usize>, Permit, Bytes), Refusal> {
    let limits = &gateway.config.limits;
    let (parts, mut body) = request.into_parts();
    let result = match admission(gateway, api, &parts.headers) {
        Ok((key, permit)) => body::read(&mut body, limits).await.map(|body| (key, permit, body)),
        Err(refusal) => Err(refusal),
    };
    if result.is_err() {
        body::discard(&mut body, limits).await;
    }
    result
}

/// The key and the permit of a request, by what its head says.
fn admission(gateway: &Gateway, api: Api, headers: &HeaderMap) -> Result<(Option<usize>, Permit), Refusal> {
    let key = gateway.key(headers)?;
    if !gateway.config.route(api).on {
        return Err(Refusal::failure(Failure::NotFound, "This API is switched off here."));
    }
    if headers.get(header::CONTENT_ENCODING).is_some_and(|encoding| encoding != "identity") {
        return Err(Refusal::failure(Failure::Body, "Compressed bodies are not read."));
    }
    let limits = &gateway.config.limits;
    let said = headers.get(header::CONTENT_LENGTH).and_then(|length| length.to_str().ok()?.parse().ok());
    if said.is_some_and(|length: u64| length > limits.body_bytes as u64) {
        return Err(body::too_large(limits));
    }
    Ok((key, gateway.admit(key)?))
}

/// Runs work for a processor where it holds up nobody.
async fn on_processor<T: Send + 'static>(
    work: impl FnOnce() -> Result<T, Refusal> + Send + 'static,
) -> Result<T, Refusal> {
    let done = tokio::task::spawn_blocking(work).await;
    done.unwrap_or_else(|error| {
        tracing::error!(%error, "a request broke its thread");
        Err(Refusal::failure(Failure::Server, "The server failed."))
    })
}

async fn metrics(State(gateway): Shared) -> Response {
    let mut response = Response::new(Body::from(gateway.metrics.text()));
    let kind = HeaderValue::from_static("text/plain; version=0.0.4");
    response.headers_mut().insert(header::CONTENT_TYPE, kind);
    response
}

/// The models' names, or one of them, in the form of the API that asks.
async fn models(State(gateway): Shared, request: Request) -> Response {
    let api = api_of("", request.headers());
    let result = gateway.key(request.headers()).and_then(|_| {
        let models = &gateway.options(api).models;
        let path = request.uri().path();
        let Some(name) = path.strip_prefix("/v1/models/") else {
            let models: Vec<Json> = models.iter().map(|(name, _)| model_json(&gateway, api, name)).collect();
            let mut list = Object::from([("object", "list".into())]);
            if api == Api::Messages {
                let id = |model: Option<&Json>| model.and_then(|model| model.get("id")).cloned();
                list = Object::from([
                    ("has_more", false.into()),
                    ("first_id", id(models.first()).unwrap_or_default()),
                    ("last_id", id(models.last()).unwrap_or_default()),
                ]);
            }
            list.insert("data", Json::Array(models));
            return Ok(json(StatusCode::OK, &list.into()));
        };
        match models.get(name) {
            Ok(_) => Ok(json(StatusCode::OK, &model_json(&gateway, api, name))),
            Err(error) => Err(Refusal::failure(Failure::NotFound, error.message())),
        }
    });
    answer_with(&gateway, "models", api, "", result)
}

fn model_json(gateway: &Gateway, api: Api, name: &str) -> Json {
    let mut model = if api == Api::Messages && gateway.config.dialect(api) == Dialect::Vendor {
        Object::from([
            ("type", "model".into()),
            ("id", name.into()),
            ("display_name", name.into()),
            ("created_at", "1970-01-01T00:00:00Z".into()),
        ])
    } else {
        Object::from([
            ("id", name.into()),
            ("object", "model".into()),
            ("created", 0_u64.into()),
            ("owned_by", "deepseek".into()),
        ])
    };
    model.insert("engine", gateway.engine.name().into());
    if let Some(loaded) = gateway.engine.loaded() {
        model.insert("loaded", loaded.into());
    }
    if let Some(caveat) = gateway.engine.caveat() {
        model.insert("caveat", caveat.into());
    }
    model.into()
}

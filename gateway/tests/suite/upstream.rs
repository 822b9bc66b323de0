//! Servers that generate: what they are sent, and what becomes of what they send. `fixtures/upstream.jsonl` has the
//! cases, `fixtures/upstream_schemas.json` what their published schemas let them take.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use axum::Router;
use axum::body::{Body, Bytes};
use axum::extract::{Request, State};
use axum::http::StatusCode;
use axum::response::Response;
use deepseek_codec::json::Json;
use deepseek_codec_gateway::config::{EngineConfig, EngineKind};
use deepseek_codec_gateway::engine::Engine;
use deepseek_codec_gateway::engine::upstream::{Kind, Upstream};
use futures_util::stream;
use http_body_util::BodyExt;
use tokio::net::TcpListener;
use tokio::sync::oneshot;

use crate::server::{Server, fixture};

/// A server that answers as a case says, and keeps what it was asked.
struct Fake {
    address: String,
    seen: Arc<Mutex<Vec<(String, String, Json)>>>,
    /// Ends when the connection of a stream is dropped.
    dropped: Option<oneshot::Receiver<()>>,
}

#[derive(Clone)]
struct Script {
    status: u16,
    chunks: Vec<Json>,
    seen: Arc<Mutex<Vec<(String, String, Json)>>>,
    dropped: Arc<Mutex<Option<oneshot::Sender<()>>>>,
}

async fn reply(State(script): State<Script>, request: Request) -> Response {
    let path = request.uri().path().to_owned();
    let headers =
        request.headers().iter().map(|(name, value)| format!("{name}: {}\n", value.to_str().unwrap()));
    let headers: String = headers.collect();
    let body = request.into_body().collect().await.unwrap().to_bytes();
    script.seen.lock().unwrap().push((path, headers, Json::parse(&body).unwrap()));
    // Is sent, or dropped with the stream.
    let dropped = script.dropped.lock().unwrap().take();
    let chunks = stream::unfold((script.chunks.into_iter(), dropped), |(mut chunks, dropped)| async move {
        loop {
            let text = match chunks.next()? {
                Json::Number(millis) => {
                    tokio::time::sleep(Duration::from_secs_f64(millis.as_f64() / 1e3)).await;
                    continue;
                }
                Json::Null => return Some((Err(std::io::Error::other("cut")), (chunks, dropped))),
                Json::String(text) => text,
                event => format!("data: {event}\n\n"),
            };
            return Some((Ok(Bytes::from(text)), (chunks, dropped)));
        }
    });
    let mut response = Response::new(Body::from_stream(chunks));
    *response.status_mut() = StatusCode::from_u16(script.status).unwrap();
    response
}

impl Fake {
    async fn start(status: u16, chunks: Vec<Json>) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = format!("http://{}", listener.local_addr().unwrap());
        let seen = Arc::default();
        let (sender, dropped) = oneshot::channel();
        let script =
            Script { status, chunks, seen: Arc::clone(&seen), dropped: Arc::new(Mutex::new(Some(sender))) };
        let app: Router = Router::new().fallback(reply).with_state(script);
        tokio::spawn(async move { axum::serve(listener, app).await });
        Self { address, seen, dropped: Some(dropped) }
    }
}

fn kind(name: &str) -> Kind {
    match name {
        "sglang" => Kind::Sglang,
        "vllm" => Kind::Vllm,
        other => panic!("{other}"),
    }
}

fn engine(name: &str, fake: &Fake, knows_reasoning: bool) -> Engine {
    let config = EngineConfig {
        kind: EngineKind::Sglang,
        url: Some(fake.address.clone()),
        model: Some("served".to_owned()),
        key: Some("sk-engine".to_owned()),
        knows_reasoning,
        ..EngineConfig::default()
    };
    Engine::Upstream(Upstream::new(kind(name), &config, false).unwrap())
}

/// Whether a request has only what the published schema takes.
fn check(schema: &Json, part: &str, value: &Json) {
    let names = schema.get(part).unwrap_or_else(|| panic!("no schema of {part:?}"));
    for (name, value) in value.as_object().unwrap().iter() {
        let wanted =
            names.get(name).and_then(Json::as_str).unwrap_or_else(|| panic!("{part:?} has no {name}"));
        let is_id = |id: &Json| matches!(id, Json::Number(number) if number.as_u64().is_some());
        let fits = match value {
            Json::String(_) => wanted == "string",
            Json::Bool(_) => wanted == "boolean",
            Json::Number(_) => wanted == "number",
            Json::Object(_) => wanted == "object",
            Json::Array(ids) => wanted == "array" || (wanted == "ids" && ids.iter().all(is_id)),
            Json::Null => false,
        };
        assert!(fits, "{name}: {value} is no {wanted}");
        if wanted == "object" && name != "json" {
            check(schema, name, value);
        }
    }
}

/// Whether `value` has all that `wanted` has.
fn has(value: &Json, wanted: &Json) -> bool {
    match wanted {
        Json::Object(members) => members.iter().all(|(name, wanted)| match value.get(name) {
            None => *wanted == Json::Null,
            Some(value) => has(value, wanted),
        }),
        wanted => value == wanted,
    }
}

#[tokio::test]
async fn engines_are_asked_and_read() {
    let schemas = Json::parse(fixture("upstream_schemas.json").as_bytes()).unwrap();
    for line in fixture("upstream.jsonl").lines().filter(|line| !line.starts_with('#')) {
        let case = Json::parse(line.as_bytes()).unwrap_or_else(|error| panic!("{line}: {error}"));
        let get = |name: &str| case.get(name).and_then(Json::as_str);
        let (name, kind) = (get("name").unwrap(), get("engine").unwrap());
        let status = match case.get("reply") {
            Some(Json::Number(status)) => status.as_u64().unwrap() as u16,
            _ => 200,
        };
        let chunks = case.get("chunks").and_then(Json::as_array).unwrap_or_default().to_vec();
        let fake = Fake::start(status, chunks).await;
        let knows_reasoning = case.get("knows_reasoning") == Some(&Json::Bool(true));
        let settings = get("settings").unwrap_or_default();
        let server = Server::with(settings, engine(kind, &fake, knows_reasoning)).await;
        let path = get("path").unwrap_or("/v1/chat/completions");
        let reply = server.post(path, &case.get("body").unwrap().to_string()).await;
        let status = case.get("status").map_or_else(|| "200".to_owned(), Json::to_string);
        assert_eq!(reply.status.to_string(), status, "{name}: {}", reply.body);
        let mut left = reply.body.as_str();
        for wanted in case.get("want").and_then(Json::as_array).unwrap_or_default() {
            let wanted = wanted.as_str().unwrap();
            let at = left.find(wanted).unwrap_or_else(|| panic!("{name}: no {wanted:?} in {left}"));
            left = &left[at + wanted.len()..];
        }
        for unwanted in ["127.0.0.1", "sk-engine"] {
            assert!(!reply.body.contains(unwanted), "{name}: {}", reply.body);
        }
        for (path, headers, body) in &*fake.seen.lock().unwrap() {
            let wanted = if kind == "sglang" { "/generate" } else { "/v1/completions" };
            assert_eq!(path, wanted, "{name}");
            assert!(headers.contains("authorization: Bearer sk-engine"), "{name}: {headers}");
            check(schemas.get(kind).unwrap(), "", body);
            if let Some(sent) = case.get("sent") {
                assert!(has(body, sent), "{name}: {body} is not {sent}");
            }
        }
        let seeds = case.get("seeds").and_then(Json::as_array).unwrap_or_default();
        for (wanted, (.., body)) in seeds.iter().zip(&*fake.seen.lock().unwrap()) {
            assert_eq!(
                body.get("sampling_params").unwrap_or(body).get("sampling_seed"),
                Some(wanted),
                "{name}"
            );
        }
        let calls = case.get("calls").map_or_else(|| "1".to_owned(), Json::to_string);
        assert_eq!(fake.seen.lock().unwrap().len().to_string(), calls, "{name}");
    }
}

#[tokio::test]
async fn an_engine_that_is_not_there_is_an_error() {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let config = EngineConfig {
        url: Some(format!("http://{}", listener.local_addr().unwrap())),
        ..EngineConfig::default()
    };
    drop(listener);
    let server = Server::with("", Engine::Upstream(Upstream::new(Kind::Vllm, &config, false).unwrap())).await;
    let reply = server.post("/v1/chat/completions", &crate::server::chat("Hi")).await;
    assert_eq!(reply.status, 500, "{}", reply.body);
    assert!(reply.body.contains("The engine failed."), "{}", reply.body);
    for url in [None, Some("https://x"), Some("x:1")] {
        let config = EngineConfig { url: url.map(str::to_owned), ..EngineConfig::default() };
        assert!(Upstream::new(Kind::Vllm, &config, false).is_err());
    }
}

#[tokio::test]
async fn a_client_that_goes_away_closes_the_connection_to_the_engine() {
    for (kind, event) in [
        (
            "sglang",
            r#"{"output_ids": [19923], "meta_info": {"completion_tokens": 1, "finish_reason": null}}"#,
        ),
        ("vllm", r#"{"choices": [{"index": 0, "text": "", "token_ids": [19923]}]}"#),
    ] {
        let event = Json::parse(event.as_bytes()).unwrap();
        let mut fake = Fake::start(200, vec![event, Json::parse(b"60000").unwrap()]).await;
        let server = Server::with("", engine(kind, &fake, false)).await;
        let mut response = server.open("/v1/chat/completions", &crate::server::chat("Hi")).await;
        let mut text = String::new();
        while !text.contains("Hello") {
            let frame = response.body_mut().frame().await.unwrap().unwrap();
            text.push_str(std::str::from_utf8(&frame.into_data().unwrap()).unwrap());
        }
        drop(response);
        let dropped = tokio::time::timeout(Duration::from_secs(20), fake.dropped.take().unwrap()).await;
        assert!(dropped.unwrap().is_err(), "the sender is dropped with the stream");
        server.until("gateway_active_answers", 0.0).await;
    }
}

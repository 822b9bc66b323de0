//! A server inside the test, and a client.

use std::net::SocketAddr;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use axum::body::Bytes;
use deepseek_codec_gateway::config::Config;
use deepseek_codec_gateway::engine::Engine;
use deepseek_codec_gateway::engine::script::Script;
use deepseek_codec_gateway::server::serve;
use deepseek_codec_gateway::state::Gateway;
use http_body_util::{BodyExt, Full};
use hyper::body::Incoming;
use hyper::{Request, Response};
use hyper_util::client::legacy::Client;
use hyper_util::client::legacy::connect::HttpConnector;
use hyper_util::rt::TokioExecutor;
use tokio::net::TcpListener;
use tokio::sync::oneshot;
use tokio::task::JoinHandle;

/// A running server. It ends with the test's runtime.
pub(crate) struct Server {
    pub(crate) address: SocketAddr,
    pub(crate) gateway: Arc<Gateway>,
    stop: Option<oneshot::Sender<()>>,
    done: JoinHandle<()>,
    client: Client<HttpConnector, Full<Bytes>>,
}

/// A response, read to its end.
#[derive(Debug)]
pub(crate) struct Reply {
    pub(crate) status: u16,
    pub(crate) headers: hyper::HeaderMap,
    pub(crate) body: String,
}

/// The text of a fixture.
pub(crate) fn fixture(name: &str) -> String {
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures").join(name);
    std::fs::read_to_string(&file).unwrap_or_else(|error| panic!("{}: {error}", file.display()))
}

impl Server {
    /// A server with these settings, over the script of the fixtures.
    pub(crate) async fn start(settings: &str) -> Self {
        let engine = Engine::Script(Script::parse(&fixture("script.jsonl")).unwrap());
        Self::with(settings, engine).await
    }

    pub(crate) async fn with(settings: &str, engine: Engine) -> Self {
        let gateway = Arc::new(Gateway::new(Config::parse(settings).unwrap(), engine).unwrap());
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        let (stop, stopped) = oneshot::channel();
        let shutdown = async {
            let _ = stopped.await;
        };
        let done = tokio::spawn(serve(listener, gateway.clone(), shutdown));
        let client = Client::builder(TokioExecutor::new()).build_http();
        Self { address, gateway, stop: Some(stop), done, client }
    }

    pub(crate) fn request(
        &self,
        method: &str,
        path: &str,
        headers: &[(&str, &str)],
        body: &str,
    ) -> Request<Full<Bytes>> {
        let mut request = Request::builder().method(method).uri(format!("http://{}{path}", self.address));
        for (name, value) in headers {
            request = request.header(*name, *value);
        }
        request.body(Full::from(body.to_owned())).unwrap()
    }

    /// A response whose body has not come yet.
    pub(crate) async fn open(&self, path: &str, body: &str) -> Response<Incoming> {
        self.client.request(self.request("POST", path, &[], body)).await.unwrap()
    }

    pub(crate) async fn send(&self, method: &str, path: &str, headers: &[(&str, &str)], body: &str) -> Reply {
        let response = self.client.request(self.request(method, path, headers, body)).await.unwrap();
        read(response).await
    }

    pub(crate) async fn post(&self, path: &str, body: &str) -> Reply {
        self.send("POST", path, &[], body).await
    }

    /// A line of `/metrics`.
    pub(crate) async fn metric(&self, name: &str) -> f64 {
        let text = self.send("GET", "/metrics", &[], "").await.body;
        let line = text.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(' '));
        line.unwrap_or_else(|| panic!("no {name} in {text}")).parse().unwrap()
    }

    /// Waits until a line of `/metrics` has a value. There is no sign of it from outside.
    pub(crate) async fn until(&self, name: &str, value: f64) {
        for _ in 0..1000 {
            if self.metric(name).await == value {
                return;
            }
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
        panic!("{name} is {}, not {value}", self.metric(name).await);
    }

    /// Tells the server to end.
    pub(crate) fn stop(&mut self) {
        self.stop.take().unwrap().send(()).unwrap();
    }

    /// Waits for its end.
    pub(crate) async fn ended(self) {
        drop(self.client);
        tokio::time::timeout(Duration::from_secs(30), self.done).await.unwrap().unwrap();
    }
}

pub(crate) async fn read(response: Response<Incoming>) -> Reply {
    let (parts, body) = response.into_parts();
    let body = body.collect().await.unwrap().to_bytes();
    let body = String::from_utf8(body.to_vec()).unwrap();
    Reply { status: parts.status.as_u16(), headers: parts.headers, body }
}

/// A streamed Chat Completions request without thinking.
pub(crate) fn chat(text: &str) -> String {
    format!(
        r#"{{"model": "deepseek-v4-pro", "stream": true, "thinking": {{"type": "disabled"}},
            "messages": [{{"role": "user", "content": "{text}"}}]}}"#
    )
}

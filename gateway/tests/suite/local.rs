//! Engines inside the program, here one of the test's own.

use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use deepseek_codec::engine::{Engine, LogitMask, Step};
use deepseek_codec::protocol::Sampling;
use deepseek_codec::token::TokenId;
use deepseek_codec_gateway::engine::local::Local;
use deepseek_codec_gateway::engine::{About, Engine as Gateway, EngineError};

use crate::server::{Server, chat};

/// Says `Hello` until it breaks.
struct Parrot {
    breaks_after: usize,
    running: Arc<AtomicUsize>,
}

#[derive(Debug)]
struct Broken(&'static str);

impl fmt::Display for Broken {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.0)
    }
}

impl std::error::Error for Broken {}

impl Engine for Parrot {
    type Sequence = usize;
    type Error = Broken;

    fn start(&mut self, _: &[TokenId], sampling: &Sampling) -> Result<usize, Broken> {
        if sampling.seed == Some(404) {
            return Err(Broken("no such seed"));
        }
        self.running.fetch_add(1, Ordering::SeqCst);
        Ok(0)
    }

    fn step(&mut self, said: &mut usize, _: Option<LogitMask<'_>>) -> Result<Step, Broken> {
        *said += 1;
        std::thread::sleep(Duration::from_millis(1));
        if *said > self.breaks_after { Err(Broken("it is hoarse")) } else { Ok(TokenId(19923).into()) }
    }

    fn stop(&mut self, _: usize) {
        self.running.fetch_sub(1, Ordering::SeqCst);
    }
}

async fn server(breaks_after: usize) -> (Server, Arc<AtomicUsize>) {
    let running = Arc::new(AtomicUsize::new(0));
    let counter = running.clone();
    let local = Local::new(2, move |profile| {
        if profile.names().any(|name| name == "deepseek-flash") {
            return Err(EngineError::failed("only one model is here"));
        }
        Ok(Parrot { breaks_after, running: counter.clone() })
    });
    (Server::with("", Gateway::Local(local, About { name: "parrot", ..About::default() })).await, running)
}

async fn until_idle(running: &AtomicUsize) {
    for _ in 0..1000 {
        if running.load(Ordering::SeqCst) == 0 {
            return;
        }
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
    panic!("{} sequences run", running.load(Ordering::SeqCst));
}

const CHAT: &str = "/v1/chat/completions";

#[tokio::test]
async fn sequences_are_stopped_however_they_end() {
    let (server, running) = server(usize::MAX).await;
    let limited = chat("Hi").replace("\"stream\"", "\"n\": 3, \"max_tokens\": 4, \"stream\"");
    let reply = server.post(CHAT, &limited).await;
    assert_eq!(reply.body.matches("Hello").count(), 12, "{}", reply.body);
    until_idle(&running).await;

    let stopped = chat("Hi").replace("\"stream\"", "\"stop\": \"HelloHello\", \"stream\"");
    let reply = server.post(CHAT, &stopped).await;
    assert!(reply.body.contains("\"finish_reason\":\"stop\""), "{}", reply.body);
    until_idle(&running).await;

    drop(server.open(CHAT, &chat("Hi")).await);
    until_idle(&running).await;
    server.until("gateway_active_answers", 0.0).await;
}

#[tokio::test]
async fn failures_end_one_answer_and_no_more() {
    let (server, running) = server(3).await;
    let reply = server.post(CHAT, &chat("Hi")).await;
    assert_eq!(reply.body.matches("Hello").count(), 3);
    assert!(reply.body.contains("The engine failed.") && !reply.body.contains("hoarse"), "{}", reply.body);
    until_idle(&running).await;

    let refused = chat("Hi").replace("\"stream\"", "\"seed\": 404, \"stream\"");
    assert_eq!(server.post(CHAT, &refused).await.status, 500);
    let unknown = chat("Hi").replace("deepseek-v4-pro", "deepseek-flash");
    assert_eq!(server.post(CHAT, &unknown).await.status, 500);

    let short = chat("Hi").replace("\"stream\"", "\"max_tokens\": 2, \"stream\"");
    assert!(server.post(CHAT, &short).await.body.contains("\"finish_reason\":\"length\""));
    until_idle(&running).await;
}

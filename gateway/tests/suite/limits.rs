//! What is too much, and too long.

use std::time::{Duration, Instant};

use http_body_util::BodyExt;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;

use crate::server::{Server, chat, read};

const CHAT: &str = "/v1/chat/completions";

#[tokio::test]
async fn requests_beyond_the_limit_are_refused_until_one_ends() {
    let server = Server::start("[limits]\nrequests = 2").await;
    let mut open = Vec::new();
    for _ in 0..2 {
        let mut response = server.open(CHAT, &chat("Count for long")).await;
        response.body_mut().frame().await.unwrap().unwrap();
        open.push(response);
    }
    let refused = server.post(CHAT, &chat("Hi")).await;
    assert_eq!((refused.status, refused.headers["retry-after"].to_str().unwrap()), (503, "1"));
    let messages =
        r#"{"model": "deepseek-flash", "max_tokens": 9, "messages": [{"role": "user", "content": "Hi"}]}"#;
    let refused = server.post("/v1/messages", messages).await;
    assert_eq!(refused.status, 529);
    assert!(refused.body.contains("overloaded_error"), "{}", refused.body);
    drop(open.pop());
    server.until("gateway_active_answers", 1.0).await;
    assert_eq!(server.post(CHAT, &chat("Hi")).await.status, 200);
}

#[tokio::test]
async fn a_key_has_a_limit_of_its_own() {
    let settings = "keys = [{ name = \"a\", key = \"A\" }, { name = \"b\", key = \"B\" }]\n[limits]\nrequests_per_key = 1";
    let server = Server::start(settings).await;
    let ask = |key: &'static str, text: &'static str| {
        let server = &server;
        async move { server.send("POST", CHAT, &[("authorization", key)], &chat(text)).await }
    };
    let (slow, others) = tokio::join!(ask("Bearer A", "Be silent"), async {
        server.until("gateway_active_answers", 1.0).await;
        (ask("Bearer A", "Hi").await, ask("bearer B", "Hi").await.status)
    });
    assert_eq!((slow.status, others.0.status, others.1), (200, 429, 200));
    assert!(others.0.body.contains("rate_limit_exceeded"), "{}", others.0.body);
}

#[tokio::test]
async fn silence_is_broken_by_signs_of_life() {
    let server = Server::start("[limits]\nping_seconds = 0.1").await;
    let reply = server.post(CHAT, &chat("Be silent")).await;
    assert!(reply.body.contains(": keep-alive\n\n"), "{}", reply.body);
    assert!(reply.body.contains("Late") && reply.body.ends_with("data: [DONE]\n\n"));
    let messages = r#"{"model": "deepseek-v4-pro", "max_tokens": 9, "stream": true, "thinking": {"type": "disabled"},
        "messages": [{"role": "user", "content": "Be silent"}]}"#;
    let reply = server.post("/v1/messages", messages).await;
    assert!(reply.body.starts_with("event: message_start"), "{}", reply.body);
    assert!(reply.body.matches("event: ping\n").count() >= 3, "{}", reply.body);
}

#[tokio::test]
async fn an_engine_that_says_nothing_is_given_up() {
    let server = Server::start("[limits]\nfirst_token_seconds = 0.1").await;
    let streamed = server.post(CHAT, &chat("Be silent")).await;
    assert_eq!(streamed.status, 200);
    assert!(streamed.body.contains("The engine took too long."), "{}", streamed.body);
    assert!(streamed.body.ends_with("data: [DONE]\n\n"));
    let complete = server.post(CHAT, &chat("Be silent").replace("true", "false")).await;
    assert_eq!(complete.status, 504, "{}", complete.body);
    assert_eq!(server.metric("gateway_failed_total").await, 2.0);
}

#[tokio::test]
async fn an_answer_that_takes_too_long_is_given_up() {
    let server = Server::start("[limits]\nanswer_seconds = 0.3").await;
    let reply = server.post(CHAT, &chat("Count slowly")).await;
    assert!(reply.body.contains("The engine took too long."), "{}", reply.body);
    let server = Server::start("[limits]\ntoken_seconds = 0.001").await;
    let reply = server.post(CHAT, &chat("Count slowly")).await;
    assert!(reply.body.contains("The engine took too long."), "{}", reply.body);
}

#[tokio::test]
async fn bodies_without_a_length_are_limited_too() {
    let server = Server::start("[limits]\nbody_bytes = 1000").await;
    let mut stream = TcpStream::connect(server.address).await.unwrap();
    let head = format!("POST {CHAT} HTTP/1.1\r\nhost: x\r\ntransfer-encoding: chunked\r\n\r\n");
    stream.write_all(head.as_bytes()).await.unwrap();
    for _ in 0..20 {
        let _ = stream.write_all(format!("64\r\n{}\r\n", " ".repeat(100)).as_bytes()).await;
    }
    let mut reply = vec![0; 4096];
    let read = stream.read(&mut reply).await.unwrap();
    let reply = String::from_utf8_lossy(&reply[..read]);
    assert!(reply.starts_with("HTTP/1.1 413"), "{reply}");
    let said = server.post(CHAT, &" ".repeat(1001)).await;
    assert_eq!(said.status, 413, "{}", said.body);
}

#[tokio::test]
async fn slow_heads_and_bodies_are_given_up() {
    let server = Server::start("[limits]\nhead_seconds = 0.2\nbody_seconds = 0.2").await;
    let answer = |head: &'static str| {
        let address = server.address;
        async move {
            let mut stream = TcpStream::connect(address).await.unwrap();
            stream.write_all(head.as_bytes()).await.unwrap();
            let mut reply = String::new();
            let begun = Instant::now();
            let read = tokio::time::timeout(Duration::from_secs(20), stream.read_to_string(&mut reply)).await;
            assert!(read.is_ok(), "the connection is still open after {:?}", begun.elapsed());
            reply
        }
    };
    let (head, body) = tokio::join!(
        answer("POST /v1/chat/completions HTTP/1.1\r\nhost:"),
        answer("POST /v1/chat/completions HTTP/1.1\r\nhost: x\r\ncontent-length: 100\r\n\r\n{")
    );
    assert!(!head.starts_with("HTTP/1.1 2"), "{head}");
    assert!(body.starts_with("HTTP/1.1 408"), "{body}");
}

#[tokio::test]
async fn connections_beyond_the_limit_wait() {
    let server = Server::start("[limits]\nconnections = 1\nhead_seconds = 30").await;
    let first = TcpStream::connect(server.address).await.unwrap();
    let health = server.send("GET", "/health", &[], "");
    let waited = tokio::time::timeout(Duration::from_millis(200), health).await;
    assert!(waited.is_err(), "there is one connection already");
    drop(first);
    assert_eq!(server.send("GET", "/health", &[], "").await.status, 200);
}

#[tokio::test]
async fn masks_are_compiled_once() {
    let server = Server::start("[masks]\nkept = 1").await;
    let body = |name: &str| {
        format!(
            r#"{{"model": "deepseek-v4-pro", "thinking": {{"type": "disabled"}},
                "messages": [{{"role": "user", "content": "Describe a person as json"}}],
                "response_format": {{"type": "json_schema", "json_schema": {{"name": "person", "schema":
                {{"type": "object", "properties": {{"{name}": {{"type": "string"}}}}}}}}}}}}"#
        )
    };
    for name in ["name", "name", "other", "name"] {
        let reply = server.post(CHAT, &body(name)).await;
        assert_eq!(reply.status, 200, "{}", reply.body);
    }
    assert_eq!(server.metric("gateway_masks_compiled_total").await, 3.0);
    assert_eq!(server.metric("gateway_masks_kept_total").await, 1.0);
}

#[tokio::test]
async fn one_answer_that_fails_ends_all_of_them() {
    let server = Server::start("").await;
    let body = chat("Fail on the way").replace("\"stream\"", "\"n\": 3, \"stream\"");
    let reply = read(server.open(CHAT, &body).await).await;
    assert_eq!(reply.body.matches("\"error\":{").count(), 1, "{}", reply.body);
    assert_eq!(reply.body.matches("[DONE]").count(), 1);
    server.until("gateway_active_answers", 0.0).await;
}

#[tokio::test]
async fn a_client_that_takes_nothing_is_given_up() {
    let server = Server::start("[limits]\nwrite_seconds = 0.3").await;
    let body = chat("Go on and on").replace("\"stream\"", "\"n\": 8, \"stream\"");
    let mut stream = TcpStream::connect(server.address).await.unwrap();
    let head = format!("POST {CHAT} HTTP/1.1\r\nhost: x\r\ncontent-length: {}\r\n\r\n{body}", body.len());
    stream.write_all(head.as_bytes()).await.unwrap();
    // It fills what the system keeps for the connection, and then waits.
    server.until("gateway_cancelled_total", 1.0).await;
    assert_eq!(server.metric("gateway_active_answers").await, 0.0);
    drop(stream);
}

#[tokio::test]
async fn refusals_reach_clients_that_send_all_before_they_read() {
    let server =
        Server::start("keys = [{ name = \"a\", key = \"A\" }]\n[limits]\nbody_bytes = 4000000").await;
    let ask = |path: &'static str, key: &'static str, length: usize| {
        let address = server.address;
        async move {
            let mut stream = TcpStream::connect(address).await.unwrap();
            let head =
                format!("POST {path} HTTP/1.1\r\nhost: x\r\nconnection: close\r\nx-api-key: {key}\r\n");
            stream.write_all(format!("{head}content-length: {length}\r\n\r\n").as_bytes()).await.unwrap();
            for _ in 0..length / 1000 {
                stream.write_all(&[b' '; 1000]).await.unwrap();
            }
            let mut reply = String::new();
            stream.read_to_string(&mut reply).await.unwrap();
            reply.lines().next().unwrap_or_default().to_owned()
        }
    };
    let replies =
        tokio::join!(ask(CHAT, "B", 3_000_000), ask(CHAT, "A", 7_000_000), ask("/nowhere", "A", 3_000_000));
    let statuses = [replies.0, replies.1, replies.2].map(|line| line.split(' ').nth(1).unwrap().to_owned());
    assert_eq!(statuses, ["401", "413", "404"]);
}

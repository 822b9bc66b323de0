//! The end of the server.

use http_body_util::BodyExt;

use crate::server::{Server, chat, read};

#[tokio::test]
async fn answers_on_their_way_are_finished() {
    let mut server = Server::start("").await;
    let mut response = server.open("/v1/chat/completions", &chat("Count slowly")).await;
    response.body_mut().frame().await.unwrap().unwrap();
    let gateway = server.gateway.clone();
    let address = server.address;
    server.stop();
    let reply = read(response).await;
    assert!(reply.body.ends_with("data: [DONE]\n\n"), "{}", reply.body);
    assert_eq!(reply.body.matches(" one").count(), 400);
    server.ended().await;
    assert!(gateway.metrics.text().contains("gateway_active_answers 0"));
    assert!(tokio::net::TcpStream::connect(address).await.is_err(), "nobody listens any more");
}

#[tokio::test]
async fn answers_that_take_too_long_are_cut_off() {
    let mut server = Server::start("[limits]\nshutdown_seconds = 0.1").await;
    let mut response = server.open("/v1/chat/completions", &chat("Count slowly")).await;
    response.body_mut().frame().await.unwrap().unwrap();
    server.stop();
    // What ends is the wait for connections; the program ends with it, and the connections with the program.
    server.ended().await;
}

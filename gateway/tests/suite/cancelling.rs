//! Clients that go away.

use http_body_util::BodyExt;

use crate::server::{Server, chat};

#[tokio::test]
async fn a_client_that_goes_away_ends_the_generation() {
    let server = Server::start("").await;
    let mut response = server.open("/v1/chat/completions", &chat("Count for long")).await;
    for _ in 0..3 {
        response.body_mut().frame().await.unwrap().unwrap();
    }
    assert_eq!(server.metric("gateway_active_answers").await, 1.0);
    drop(response);
    server.until("gateway_active_answers", 0.0).await;
    assert_eq!(server.metric("gateway_cancelled_total").await, 1.0);
    assert!(server.metric("gateway_completion_tokens_total").await < 6000.0);
}

#[tokio::test]
async fn a_client_that_goes_away_before_a_complete_answer_ends_it_too() {
    let server = Server::start("").await;
    let body = chat("Count for long").replace("\"stream\": true", "\"stream\": false");
    // Half a minute is left to see that it is on its way.
    tokio::select! {
        reply = server.post("/v1/chat/completions", &body) => panic!("{}", reply.body),
        () = server.until("gateway_active_answers", 1.0) => {}
    }
    server.until("gateway_active_answers", 0.0).await;
    assert_eq!(server.metric("gateway_cancelled_total").await, 1.0);
}

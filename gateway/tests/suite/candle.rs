//! The engine that needs nothing: what it says means nothing, and has the form that was asked for.

use deepseek_codec::json::Json;
use deepseek_codec_gateway::config::Config;
use deepseek_codec_gateway::flags::engine;

use crate::server::Server;

async fn server() -> Server {
    Server::with("", engine(&Config::default()).unwrap()).await
}

pub(crate) const PLACE: &str = r#"{"type": "object", "required": ["city", "rain"], "additionalProperties": false, "properties": {
    "city": {"enum": ["Paris", "Rome"]}, "rain": {"type": "integer", "minimum": 0, "maximum": 9}}}"#;

/// Whether a text is a place.
pub(crate) fn check(text: &str) {
    let place = Json::parse(text.as_bytes()).unwrap_or_else(|error| panic!("{text}: {error}"));
    let city = place.get("city").and_then(Json::as_str);
    assert!(matches!(city, Some("Paris" | "Rome")), "{text}");
    // To a schema, 3.000 is an integer.
    let Some(Json::Number(rain)) = place.get("rain") else { panic!("{text}") };
    assert!((0.0..=9.0).contains(&rain.as_f64()) && rain.as_f64().fract() == 0.0, "{text}");
}

#[tokio::test]
async fn every_api_gets_the_form_that_it_asked_for() {
    let server = server().await;
    assert_eq!((server.gateway.engine.name(), server.gateway.engine.caveat().is_some()), ("candle", true));
    let models = server.send("GET", "/v1/models", &[], "").await.body;
    assert!(models.contains("a tiny model of random weights"), "{models}");

    let body = format!(
        r#"{{"model": "deepseek-v4-pro", "thinking": {{"type": "disabled"}}, "n": 2, "seed": 1, "max_tokens": 2000,
            "messages": [{{"role": "user", "content": "json"}}],
            "response_format": {{"type": "json_schema", "json_schema": {{"name": "place", "schema": {PLACE}}}}}}}"#
    );
    let reply = server.post("/v1/chat/completions", &body).await;
    assert_eq!(reply.status, 200, "{}", reply.body);
    let reply = Json::parse(reply.body.as_bytes()).unwrap();
    let choices = reply.get("choices").and_then(Json::as_array).unwrap();
    assert_eq!(choices.len(), 2);
    for choice in choices {
        check(
            choice.get("message").and_then(|message| message.get("content")).and_then(Json::as_str).unwrap(),
        );
    }

    let body = r#"{"model": "deepseek-flash", "reasoning": {"effort": "none"}, "max_output_tokens": 500,
        "input": "Which part?", "text": {"format": {"type": "regex", "regex": "[A-Z]{3}-[0-9]{4}"}}}"#;
    let reply = server.post("/v1/responses", body).await.body;
    let text = Json::parse(reply.as_bytes()).unwrap();
    let item = text.get("output").and_then(Json::as_array).unwrap().last().unwrap();
    let part =
        item.get("content").and_then(Json::as_array).unwrap()[0].get("text").and_then(Json::as_str).unwrap();
    assert!(part.len() == 8 && part.as_bytes()[3] == b'-', "{part}");

    let body = format!(
        r#"{{"model": "deepseek-v4-pro", "thinking": {{"type": "disabled"}}, "max_tokens": 2000,
            "messages": [{{"role": "user", "content": "Rain?"}}], "tools": [{{"name": "rain", "input_schema": {PLACE}}}],
            "tool_choice": {{"type": "tool", "name": "rain", "disable_parallel_tool_use": true}}}}"#
    );
    let reply = server.post("/v1/messages", &body).await;
    let reply = Json::parse(reply.body.as_bytes()).unwrap();
    let calls = reply.get("content").and_then(Json::as_array).unwrap();
    assert_eq!(calls.len(), 1, "{reply}");
    check(&calls[0].get("input").unwrap().to_string());
}

#[tokio::test]
async fn plain_answers_come_to_an_end_and_can_be_cancelled() {
    let server = server().await;
    let body = r#"{"model": "deepseek-flash", "stream": true, "max_tokens": 40, "messages": [{"role": "user", "content": "Hi"}]}"#;
    let reply = server.post("/v1/chat/completions", body).await;
    assert!(reply.body.ends_with("data: [DONE]\n\n"), "{}", reply.body);
    let endless = body.replace("40", "100000");
    drop(server.open("/v1/chat/completions", &endless).await);
    server.until("gateway_active_answers", 0.0).await;
}

//! Requests and what comes of them: `fixtures/cases/`.

use deepseek_codec::json::Json;

use crate::server::{Server, fixture};

/// Runs a file of cases against one server. Its first line has the settings; each other line a request, its status,
/// and texts that the response has to have, in this order (`want`), or not to have (`without`).
async fn run(file: &str) {
    let text = fixture(&format!("cases/{file}.jsonl"));
    let lines = text.lines().filter(|line| !line.starts_with('#'));
    let mut lines =
        lines.map(|line| Json::parse(line.as_bytes()).unwrap_or_else(|error| panic!("{line}: {error}")));
    let settings = lines.next().unwrap();
    let server = Server::start(settings.get("settings").and_then(Json::as_str).unwrap()).await;
    let mut count = 0;
    for case in lines {
        let get = |name: &str| case.get(name).and_then(Json::as_str);
        let name = get("name").unwrap();
        let body = match case.get("body") {
            Some(Json::String(text)) => text.clone(),
            Some(body) => body.to_string(),
            None => String::new(),
        };
        let headers: Vec<(String, String)> =
            case.get("headers").and_then(Json::as_object).map_or_else(Vec::new, |headers| {
                headers
                    .iter()
                    .map(|(name, value)| (name.to_owned(), value.as_str().unwrap().to_owned()))
                    .collect()
            });
        let headers: Vec<(&str, &str)> =
            headers.iter().map(|(name, value)| (name.as_str(), value.as_str())).collect();
        let method = get("method").unwrap_or("POST");
        let reply = server.send(method, get("path").unwrap(), &headers, &body).await;
        let status = case.get("status").unwrap().to_string();
        assert_eq!(reply.status.to_string(), status, "{name}: {}", reply.body);
        let headers: String = reply
            .headers
            .iter()
            .map(|(name, value)| format!("{name}: {}\n", value.to_str().unwrap()))
            .collect();
        let mut left = format!("{headers}\n{}", reply.body);
        for wanted in case.get("want").and_then(Json::as_array).unwrap_or_default() {
            let wanted = wanted.as_str().unwrap();
            let at = left.find(wanted).unwrap_or_else(|| panic!("{name}: no {wanted:?} in {left}"));
            left.drain(..at + wanted.len());
        }
        for unwanted in case.get("without").and_then(Json::as_array).unwrap_or_default() {
            let unwanted = unwanted.as_str().unwrap();
            assert!(!reply.body.contains(unwanted), "{name}: {unwanted:?} in {}", reply.body);
        }
        if let Some(end) = get("end") {
            assert!(left.ends_with(end), "{name}: {left:?} does not end with {end:?}");
        }
        count += 1;
    }
    assert!(count > 0, "{file} has no cases");
    assert_eq!(server.metric("gateway_active_answers").await, 0.0, "{file}");
}

#[tokio::test]
async fn answers() {
    run("answers").await;
}

#[tokio::test]
async fn refusals() {
    run("refusals").await;
}

#[tokio::test]
async fn keys() {
    run("keys").await;
}

#[tokio::test]
async fn settings() {
    run("settings").await;
}

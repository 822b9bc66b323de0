//! The hashes of a prompt's blocks.

use std::num::NonZeroUsize;

use deepseek_codec::json::Json;
use deepseek_codec::token::TokenId;
use deepseek_codec::tokenizer::block_hashes;

use crate::server::{Server, chat};

/// The hashes that an answer tells, and those of the ids that `/tokenize` tells.
async fn hashes(server: &Server, text: &str) -> (Vec<String>, Vec<String>) {
    let body = chat(text);
    let reply = server.post("/v1/chat/completions", &body).await;
    let told = reply.headers.get("x-prefix-block-hashes").map_or("", |value| value.to_str().unwrap());
    let ids = Json::parse(server.post("/tokenize", &body).await.body.as_bytes()).unwrap();
    let ids = ids.get("tokens").and_then(Json::as_array).unwrap().iter().map(|id| match id {
        Json::Number(id) => TokenId(id.as_u64().unwrap() as u32),
        other => panic!("{other}"),
    });
    let ids: Vec<TokenId> = ids.collect();
    let block = NonZeroUsize::new(4).unwrap();
    let made = block_hashes(&ids, block).take(3).map(|hash| format!("{hash:016x}")).collect();
    (told.split(',').filter(|hash| !hash.is_empty()).map(str::to_owned).collect(), made)
}

#[tokio::test]
async fn prompts_that_begin_alike_have_the_same_first_hashes() {
    let server = Server::start("[prefix]\nblock = 4\nmost = 3").await;
    let (one, made) = hashes(&server, "one two three four five six seven eight nine ten").await;
    assert_eq!((one.len(), &one), (3, &made));
    let (other, made) = hashes(&server, "one two three four five six eleven twelve").await;
    assert_eq!(other, made);
    assert_eq!(one[..2], other[..2]);
    assert_ne!(one[2], other[2]);
    let (short, made) = hashes(&server, "Hi").await;
    assert_eq!((short.len(), short), (1, made));
}

#[tokio::test]
async fn hashes_can_be_left_out() {
    let server = Server::start("[prefix]\nblock = 4\nmost = 0").await;
    assert!(hashes(&server, "one two three four five six").await.0.is_empty());
}

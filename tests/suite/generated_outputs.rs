//! Generated outputs of a model, as `conformance export-streams` writes them: the bytes that clients get for each, in files
//! of fixtures/output/generated. How they compare with the reference's was found when the cases were written.

use deepseek_codec::json::Json;
use deepseek_codec::output::Finish;
use deepseek_codec::protocol::{Api, Dialect, Options, Policy, lower};
use deepseek_codec::token::TokenId;

use crate::{fixture, stream};

#[test]
fn generated_outputs() {
    let cases = fixture::lines("output/generated.jsonl");
    assert!(cases.len() >= 300, "{} cases", cases.len());
    for case in cases {
        insta::with_settings!({
            snapshot_path => concat!(env!("CARGO_MANIFEST_DIR"), "/fixtures/output/generated"),
            prepend_module_to_snapshot => false,
            omit_expression => true,
        }, {
            insta::assert_snapshot!(fixture::text(&case, "id"), shown(&case));
        });
    }
}

/// What clients get, and that what they gather is the complete response.
fn shown(case: &Json) -> String {
    let api = Api::by_name(fixture::text(case, "protocol")).unwrap();
    let body = case.get("request").unwrap().to_string();
    let lowered = lower(api, body.as_bytes(), &Options::new(Policy::Lenient)).unwrap();
    let mut stream = lowered.stream(&lowered.profile.tokenizer(), stream::options(Dialect::Deepseek));
    let mut chunks = Vec::new();
    stream.start(&mut chunks);
    for chunk in case.get("chunks").and_then(Json::as_array).unwrap() {
        match chunk.as_str() {
            Some(text) => stream.push_text(text, 1, &mut chunks),
            None => ids(chunk).for_each(|id| stream.push_id(id, None, &mut chunks)),
        }
    }
    stream.finish(
        match fixture::text(case, "finish") {
            "stop" => Finish::Stop,
            "length" => Finish::Length,
            "content_filter" => Finish::ContentFilter,
            _ => Finish::Unknown,
        },
        &mut chunks,
    );
    let id = fixture::text(case, "id");
    assert_eq!(stream::gather(api, Dialect::Deepseek, &chunks), stream::response(&stream), "{id}");
    let mut bytes = Vec::new();
    chunks.iter().for_each(|chunk| chunk.write_sse(&mut bytes));
    let sent = String::from_utf8(bytes).unwrap();
    format!(
        "{} {}, {}\n\n{sent}{}",
        api.as_str(),
        fixture::text(case, "class"),
        fixture::text(case, "reference"),
        stream::conclusion(api, &stream)
    )
}

fn ids(chunk: &Json) -> impl Iterator<Item = TokenId> {
    let ids = chunk.as_array().unwrap().iter();
    ids.map(|id| match id {
        Json::Number(number) => TokenId(number.as_u64().unwrap().try_into().unwrap()),
        other => panic!("no id: {other}"),
    })
}

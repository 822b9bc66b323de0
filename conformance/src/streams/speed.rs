//! How long it takes from ids to server-sent event bytes: this project and the reference in one process, one thread,
//! one id at a time.

use std::fmt::Write;
use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};

use deepseek_codec::model::Profile;
use deepseek_codec::output::{Finish, Parser, Plan};
use deepseek_codec::protocol::{Api, Lowered, Options, Policy, StreamOptions, lower};
use deepseek_codec::token::{Special, TokenId};
use deepseek_codec::tokenizer::Tokenizer;
use deepseek_recipe::anthropic::MessagesRequest;
use deepseek_recipe::openai::{ChatCompletionRequest, ResponsesRequest};
use deepseek_recipe::request::{ConversationRequest, ProtocolRequest};
use deepseek_recipe::response::ProtocolResponse;
use deepseek_recipe::stream::{
    ChunkGenerator, InferenceChunk, InferenceFinishReason, PromptUsage, StreamProcessor,
};
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::{Value, json};

use super::reference::{OurTokenizer, collect};
use crate::reference::options;

const MODEL: &str = "deepseek-v4-pro";

/// The tables for BENCHMARKS.md. The reference runs with its own tokenizer if there is a file, and with ours.
pub fn report(tokenizer_file: Option<&Path>) -> Result<String, String> {
    let tokenizer = Profile::by_name(MODEL).ok_or("a profile")?.tokenizer();
    let theirs = match tokenizer_file {
        Some(path) => {
            let tokenizer = tokenizers::Tokenizer::from_file(path).map_err(|error| error.to_string())?;
            Some(Tokens::Theirs(Arc::new(tokenizer)))
        }
        None => None,
    };
    let mut out = String::from(
        "| output | API | deepseek-codec | deepseek-recipe 0.2.0 | | with our tokenizer | |\n| --- | --- | ---: | ---: | ---: | ---: | ---: |\n",
    );
    let answers =
        [("4,000-token answer", answer(&tokenizer)), ("100 KB argument", large_argument(&tokenizer))];
    for (name, ids) in &answers {
        for api in Api::ALL {
            let mine = ours(api, &tokenizer, ids)?;
            let adapted = reference(api, ids, &Tokens::Ours(tokenizer.clone()))?;
            let native = match &theirs {
                Some(theirs) => Some(reference(api, ids, theirs)?),
                None => None,
            };
            let per_token = |time: Duration| format!("{:.3} µs", time.as_secs_f64() * 1e6 / ids.len() as f64);
            let compared = |theirs: Duration| {
                format!("{} | {:.1}x", per_token(theirs), theirs.as_secs_f64() / mine.as_secs_f64())
            };
            let _ = writeln!(
                out,
                "| {name} ({} tokens) | {} | {} | {} | {} |",
                ids.len(),
                api.as_str(),
                per_token(mine),
                native.map_or("- | -".to_owned(), compared),
                compared(adapted)
            );
        }
    }
    out.push_str(&linear(&tokenizer));
    Ok(out)
}

/// Reasoning, an answer and two calls: 4,000 tokens.
fn answer(tokenizer: &Tokenizer) -> Vec<TokenId> {
    const PROSE: &str = "The function reads the whole file, so memory grows with its size; a reader that keeps one \
        buffer would do. I will look at `src/reader.rs` first, then at the tests that cover it.\n\n";
    const CODE: &str = "fn main() {\n    let text = std::fs::read_to_string(\"a.txt\").unwrap();\n    \
        println!(\"{}\", text.len());\n}\n";
    let text = |sample: &str, count: usize| -> Vec<TokenId> {
        let repeated = sample.repeat(count / 20 + 2);
        tokenizer.encode_text(&repeated).into_iter().take(count).collect()
    };
    let special = |role| tokenizer.special_id(role).expect("the vocabulary has it");
    let mut ids = text(PROSE, 1600);
    ids.push(special(Special::ThinkEnd));
    ids.extend(text(PROSE, 1400));
    let tag = |ids: &mut Vec<TokenId>, before: &str, behind: &str| {
        ids.extend(tokenizer.encode_text(before));
        ids.push(special(Special::Dsml));
        ids.extend(tokenizer.encode_text(behind));
    };
    tag(&mut ids, "\n\n<", "tool_calls>\n");
    for call in 0..2 {
        tag(&mut ids, "<", "invoke name=\"write_file\">\n");
        tag(&mut ids, "<", "parameter name=\"path\" string=\"true\">");
        ids.extend(tokenizer.encode_text("src/main.rs"));
        tag(&mut ids, "</", "parameter>\n");
        tag(&mut ids, "<", "parameter name=\"content\" string=\"true\">");
        let left = if call == 0 { 440 } else { 4000 - ids.len() - 17 };
        ids.extend(text(CODE, left));
        tag(&mut ids, "</", "parameter>\n");
        tag(&mut ids, "</", "invoke>\n");
    }
    tag(&mut ids, "</", "tool_calls>");
    ids
}

/// One call with one argument of 100 KB.
fn large_argument(tokenizer: &Tokenizer) -> Vec<TokenId> {
    let special = |role| tokenizer.special_id(role).expect("the vocabulary has it");
    let line = "    \"key\": [1, 2, 3], // a comment about \\ and \"quotes\"\n";
    let value = line.repeat(100 * 1024 / line.len() + 1);
    let mut ids = vec![special(Special::ThinkEnd)];
    let dsml = special(Special::Dsml);
    for (before, behind) in [
        ("\n\n<", "tool_calls>\n"),
        ("<", "invoke name=\"write_file\">\n"),
        ("<", "parameter name=\"content\" string=\"true\">"),
        (&*format!("{value}</"), "parameter>\n"),
        ("</", "invoke>\n"),
        ("</", "tool_calls>"),
    ] {
        ids.extend(tokenizer.encode_text(before));
        ids.push(dsml);
        ids.extend(tokenizer.encode_text(behind));
    }
    ids
}

fn request(api: Api) -> Value {
    let parameters = json!({"type": "object", "properties": {}});
    let question = json!([{"role": "user", "content": "Write it."}]);
    match api {
        Api::Chat => json!({
            "model": MODEL, "stream": true, "messages": question,
            "tools": [{"type": "function", "function": {"name": "write_file", "parameters": parameters}}],
        }),
        Api::Responses => json!({
            "model": MODEL, "stream": true, "input": question, "reasoning": {"effort": "high"},
            "tools": [{"type": "function", "name": "write_file", "parameters": parameters}],
        }),
        Api::Messages => json!({
            "model": MODEL, "stream": true, "messages": question, "max_tokens": 100_000,
            "thinking": {"type": "enabled"},
            "tools": [{"name": "write_file", "input_schema": parameters}],
        }),
    }
}

/// How long a run takes, by the processor's clock of the thread, which ticks slowly: the best of three rounds of many.
fn shortest(mut run: impl FnMut() -> usize) -> Duration {
    const ROUND: Duration = Duration::from_millis(150);
    let mut shortest = Duration::MAX;
    for _ in 0..3 {
        let start = processor_time();
        let mut runs = 0;
        while runs < 2 || processor_time() - start < ROUND {
            assert!(run() > 0, "bytes are sent");
            runs += 1;
        }
        shortest = shortest.min((processor_time() - start) / runs);
    }
    shortest
}

/// How long this thread has run, as Linux tells it; elsewhere the time that has passed.
fn processor_time() -> Duration {
    static BEGAN: std::sync::LazyLock<Instant> = std::sync::LazyLock::new(Instant::now);
    let text = std::fs::read_to_string("/proc/thread-self/schedstat").unwrap_or_default();
    let nanoseconds = text.split(' ').next().and_then(|number| number.parse().ok());
    nanoseconds.map_or_else(|| BEGAN.elapsed(), Duration::from_nanos)
}

fn ours(api: Api, tokenizer: &Tokenizer, ids: &[TokenId]) -> Result<Duration, String> {
    let lowered: Lowered = lower(api, request(api).to_string().as_bytes(), &Options::new(Policy::Lenient))
        .map_err(|error| error.message().to_owned())?;
    Ok(shortest(|| {
        let mut stream = lowered.stream(tokenizer, StreamOptions::new("resp-1"));
        let (mut sse, mut sent) = (String::new(), 0);
        for &id in ids {
            sse.clear();
            stream.push_id(id, None, &mut sse);
            sent += std::hint::black_box(&sse).len();
        }
        sse.clear();
        stream.finish(Finish::Stop, &mut sse);
        sent + std::hint::black_box(&sse).len()
    }))
}

/// The tokenizer that the reference runs with.
#[derive(Clone)]
enum Tokens {
    Ours(Tokenizer),
    Theirs(Arc<tokenizers::Tokenizer>),
}

fn reference(api: Api, ids: &[TokenId], tokens: &Tokens) -> Result<Duration, String> {
    match api {
        Api::Chat => reference_as::<ChatCompletionRequest>(api, ids, tokens),
        Api::Responses => reference_as::<ResponsesRequest>(api, ids, tokens),
        Api::Messages => reference_as::<MessagesRequest>(api, ids, tokens),
    }
}

fn reference_as<R>(api: Api, ids: &[TokenId], tokens: &Tokens) -> Result<Duration, String>
where
    R: ProtocolRequest + DeserializeOwned,
    <<R::Response as ProtocolResponse>::ChunkGenerator as ChunkGenerator>::Chunk: Serialize + Send,
{
    let request: R = serde_json::from_value(request(api)).map_err(|error| error.to_string())?;
    let request: ConversationRequest =
        request.convert(options()).map_err(|error| error.into_error_response().error.message)?;
    Ok(shortest(|| {
        let generator = R::chunk_generator(&request, "resp-1".to_owned(), MODEL.to_owned());
        let processor = StreamProcessor::new(generator, request.parsing_options.clone());
        let processor = match tokens.clone() {
            Tokens::Ours(tokenizer) => processor.with_tokenizer(OurTokenizer(tokenizer)),
            Tokens::Theirs(tokenizer) => processor.with_tokenizer(tokenizer),
        };
        let mut chunks =
            vec![InferenceChunk::Ready { system_fingerprint: None, prompt_usage: PromptUsage::default() }];
        chunks.extend(ids.iter().map(|id| InferenceChunk::Tokens { token_ids: vec![id.0], logprobs: None }));
        chunks.push(InferenceChunk::Finish { finish_reason: InferenceFinishReason::Stop });
        let mut sent = 0;
        for chunk in collect(processor.into_protocol_stream(tokio_stream::iter(chunks))) {
            let Ok(chunk) = chunk else { return 0 };
            let mut sse = Vec::new();
            if let Some(name) = R::Response::sse_event_name(&chunk) {
                sse.extend_from_slice(b"event: ");
                sse.extend_from_slice(name.as_bytes());
                sse.push(b'\n');
            }
            sse.extend_from_slice(b"data: ");
            if serde_json::to_writer(&mut sse, &chunk).is_err() {
                return 0;
            }
            sse.extend_from_slice(b"\n\n");
            sent += std::hint::black_box(&sse).len();
        }
        sent
    }))
}

/// The parser alone on outputs that cost quadratic time if something is looked at again for each piece.
fn linear(tokenizer: &Tokenizer) -> String {
    let plan = Plan { tools: Some(vec!["f".to_owned()]), ..Plan::default() };
    let spelled = |text: &str| {
        shortest(|| {
            let mut events = 0;
            let mut parser = Parser::new(plan.clone());
            parser.spelled(text, &mut |_| events += 1);
            parser.finish(Finish::Stop, &mut |_| events += 1);
            events
        })
    };
    let parameters = |count: usize| {
        let parameter = "<｜DSML｜parameter name=\"a\" string=\"true\">x</｜DSML｜parameter>\n";
        format!("<｜DSML｜tool_calls><｜DSML｜invoke name=\"f\">{}", parameter.repeat(count))
    };
    let markup = |bytes: usize| "<｜DSML｜".repeat(bytes / "<｜DSML｜".len());
    let tag = |bytes: usize| format!("<｜DSML｜parameter name=\"{}", "x".repeat(bytes));
    let undecodable = |count: usize| {
        let lone = (0..512).map(TokenId).find(|&id| tokenizer.token_bytes(id) == Some(&[0x80]));
        let ids = vec![lone.expect("a token for each byte"); count];
        shortest(|| {
            let mut stream = Vec::new();
            let mut detokenizer = tokenizer.detokenizer();
            let mut parser = Parser::new(plan.clone());
            for &id in &ids {
                detokenizer.push(id, |piece| {
                    if let deepseek_codec::tokenizer::Piece::Text(text) = piece {
                        parser.text(text, &mut |_| stream.push(()));
                    }
                });
            }
            stream.len()
        })
    };
    let mut out = String::from("\n| output | a quarter | half | all |\n| --- | ---: | ---: | ---: |\n");
    let mut row = |name: &str, times: [Duration; 3]| {
        let [quarter, half, all] = times.map(|time| format!("{:.2} ms", time.as_secs_f64() * 1e3));
        let _ = writeln!(out, "| {name} | {quarter} | {half} | {all} |");
    };
    row("20,000 parameters in one chunk", [5_000, 10_000, 20_000].map(|count| spelled(&parameters(count))));
    row("1 MB of unclosed markup", [18, 19, 20].map(|bits| spelled(&markup(1 << bits))));
    row("1 MB in one unclosed tag", [18, 19, 20].map(|bits| spelled(&tag(1 << bits))));
    row("100,000 undecodable tokens", [25_000, 50_000, 100_000].map(undecodable));
    out
}

//! `cargo bench --bench tokenizer`: the tokenizer alone, on a long request of a coding tool.
//!
//! A plain program without a framework: each line is the best of several rounds by the clock on the wall.
//! `conformance/tokenizers` compares with other libraries.

#![allow(clippy::print_stdout, reason = "a program that reports")]

use std::time::Instant;

use deepseek_codec::prompt::Prompt;
use deepseek_codec::tokenizer::{EncodeCache, Tokenizer, Vocabulary};

static BARE: Vocabulary = Vocabulary { specials: &[], renamed: &[] };
const ROUNDS: usize = 20;

fn main() {
    let text = include_str!("../fixtures/requests/agent.json");
    let start = Instant::now();
    let tokenizer = Tokenizer::embedded(&BARE);
    println!("load the embedded vocabulary: {:.1} ms", start.elapsed().as_secs_f64() * 1e3);

    let start = Instant::now();
    let ids = tokenizer.encode_text(text);
    report("encode, first call", start.elapsed().as_secs_f64(), text.len(), ids.len());
    best("encode again", text.len(), ids.len(), || tokenizer.encode_text(text).len());
    let prompt = Prompt::plain(text);
    best("count", text.len(), ids.len(), || tokenizer.count(&prompt));
    let cache = EncodeCache::new(64 << 20);
    best("encode with a cache that has it", text.len(), ids.len(), || {
        tokenizer.encode_with(&prompt, &cache).len()
    });
    #[cfg(feature = "parallel")]
    best("encode in parallel", text.len(), ids.len(), || tokenizer.encode_parallel(&prompt).len());
    best("detokenize", text.len(), ids.len(), || {
        let mut detokenizer = tokenizer.detokenizer();
        let mut pieces = 0;
        ids.iter().for_each(|id| detokenizer.push(*id, |_| pieces += 1));
        pieces
    });

    for unit in ["a", " ", "\n", "中", "qzjxkvbw"] {
        let run = unit.repeat(100_000 / unit.len());
        let name = format!("encode 100 KB of {unit:?}");
        best(&name, run.len(), tokenizer.encode_text(&run).len(), || tokenizer.encode_text(&run).len());
    }
}

fn best(name: &str, bytes: usize, ids: usize, work: impl Fn() -> usize) {
    let seconds = (0..ROUNDS).map(|_| {
        let start = Instant::now();
        std::hint::black_box(work());
        start.elapsed().as_secs_f64()
    });
    report(name, seconds.fold(f64::INFINITY, f64::min), bytes, ids);
}

fn report(name: &str, seconds: f64, bytes: usize, ids: usize) {
    let (megabytes, nanoseconds) = (bytes as f64 / seconds / 1e6, seconds * 1e9 / ids as f64);
    println!("{name}: {megabytes:.0} MB/s, {nanoseconds:.1} ns a token");
}

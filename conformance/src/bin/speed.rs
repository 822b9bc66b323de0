//! A whole request, from the bytes of its body to ids: this crate and the official conversion.
//!
//!     cargo run --release --bin speed -- tokenizer.json BODY
//!
//! One thread each, by the clock on the wall; the first time and the best of several.

use std::path::Path;
use std::time::Instant;

use conformance::outcome::Outcome;
use conformance::reference::Reference;
use conformance::subject::Subject;
use deepseek_codec::protocol::Api;

const ROUNDS: usize = 10;

fn main() {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let [tokenizer, body] = args.as_slice() else { panic!("a tokenizer.json, and a Messages body") };
    let body = std::fs::read_to_string(body).expect("the body is text");
    let (reference, subject) = (Reference::load(Path::new(tokenizer)).expect("it loads"), Subject::default());

    let (ids, ours) = measure(|| subject.lenient(Api::Messages, &body, true).0);
    let (expected, theirs) = measure(|| reference.run(Api::Messages, &body, true));
    assert!(ids == expected, "ids differ");
    println!("{} bytes, {} ids", body.len(), ids.len());
    println!("first time: deepseek-codec {:.2} ms, deepseek-recipe {:.1} ms", ours.0, theirs.0);
    println!("best of {ROUNDS}: deepseek-codec {:.2} ms, deepseek-recipe {:.1} ms", ours.1, theirs.1);
}

/// The ids, and the milliseconds of the first and of the best run.
fn measure(run: impl Fn() -> Outcome) -> (Vec<u32>, (f64, f64)) {
    let mut times = Vec::new();
    let mut ids = None;
    for _ in 0..ROUNDS {
        let start = Instant::now();
        let Outcome::Accepted(accepted) = run() else { panic!("the request is refused") };
        times.push(start.elapsed().as_secs_f64() * 1e3);
        ids = accepted.ids;
    }
    (ids.expect("both tokenize"), (times[0], times.iter().copied().fold(f64::INFINITY, f64::min)))
}

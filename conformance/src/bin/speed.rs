//! A whole request, from the bytes of its body to ids: this crate and the official conversion.
//!
//!     cargo run --release --bin speed -- tokenizer.json BODY
//!
//! Both do this and nothing else, one thread each, by the clock on the wall; the first time and the best of several.

use std::path::Path;
use std::time::Instant;

use conformance::reference::Reference;
use deepseek_codec::model::PROFILES;
use deepseek_codec::protocol::{self, Api, Options, Policy};

const ROUNDS: usize = 20;

fn main() {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let [tokenizer, body] = args.as_slice() else { panic!("a tokenizer.json, and a Messages body") };
    let body = std::fs::read(body).expect("the body can be read");
    let reference = Reference::load(Path::new(tokenizer)).expect("it loads");
    let options = Options::new(Policy::Lenient);
    // Both have loaded their tokenizers.
    PROFILES.iter().for_each(|profile| drop(profile.tokenizer()));

    let (ids, ours) = measure(|| {
        let request = protocol::lower(Api::Messages, &body, &options).expect("the body is a request");
        request.profile.tokenizer().encode(&request.profile.render(&request.conversation))
    });
    let (expected, theirs) = measure(|| reference.messages_ids(&body));
    assert!(ids.iter().map(|id| id.0).eq(expected), "ids differ");
    println!("{} bytes, {} ids", body.len(), ids.len());
    println!("first time: deepseek-codec {:.2} ms, deepseek-recipe {:.1} ms", ours.0, theirs.0);
    println!("best of {ROUNDS}: deepseek-codec {:.2} ms, deepseek-recipe {:.1} ms", ours.1, theirs.1);
}

/// What was made, and the milliseconds of the first and of the best time.
fn measure<T>(run: impl Fn() -> T) -> (T, (f64, f64)) {
    let mut times = Vec::new();
    let mut made = None;
    for _ in 0..ROUNDS {
        let start = Instant::now();
        let one = run();
        times.push(start.elapsed().as_secs_f64() * 1e3);
        made = Some(one);
    }
    (made.expect("there is a round"), (times[0], times.iter().copied().fold(f64::INFINITY, f64::min)))
}

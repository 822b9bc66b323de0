//! Side by side: this crate, fastokens and Hugging Face `tokenizers`.
//!
//!     cargo run --release --bin speed -- tokenizer.json FILE...
//!
//! Each figure comes from processes of its own that do one thing with one library, so that no library finds the
//! caches that another one filled; the libraries take turns, and the best of [`ROUNDS`] counts. Time is the
//! processor's of one thread, except where several threads work. Ids are compared.

use std::path::Path;
use std::process::Command;

use tokenizers_conformance::measure::{self, LIBRARIES, OURS};

const ROUNDS: usize = 5;

fn main() {
    let args: Vec<String> = std::env::args().skip(1).collect();
    if let [flag, library, what, rest @ ..] = args.as_slice()
        && flag == "--measure"
    {
        return measure::run(library, what, Path::new(&rest[0]), rest.get(1).map(String::as_str));
    }
    let [tokenizer, files @ ..] = args.as_slice() else { panic!("a tokenizer.json, and files") };

    println!("| load | ms | MB resident after it |\n| --- | --- | --- |");
    for library in LIBRARIES.into_iter().chain(["deepseek-codec from tokenizer.json"]) {
        let runs: Vec<Vec<f64>> = (0..ROUNDS).map(|_| child(library, "load", tokenizer, None)).collect();
        println!("| {library} | {:.1} | {:.0} |", best(&runs, 0, f64::min), best(&runs, 1, f64::min));
    }
    for (what, title) in [
        ("first", "the first 300 KB of the process, MB/s"),
        ("unseen32", "32 KB never seen, after warm-up on other text, MB/s"),
        ("unseen300", "300 KB never seen, after warm-up on other text, MB/s"),
    ] {
        println!("\n| {title} | bytes a token | {} |", LIBRARIES.join(" | "));
        println!("| --- | --- |{}", " --- |".repeat(LIBRARIES.len()));
        for file in files {
            let mut runs = LIBRARIES.map(|_| Vec::new());
            for _ in 0..ROUNDS {
                for (library, runs) in LIBRARIES.iter().zip(&mut runs) {
                    runs.push(child(library, what, tokenizer, Some(file)));
                }
            }
            // Bytes a token, and a hash of the ids.
            let same = |at: usize| runs.iter().flatten().all(|run| run[at] == runs[0][0][at]);
            assert!(what != "first" || same(1) && same(2), "ids differ");
            let name = Path::new(file).file_stem().unwrap_or_default().to_string_lossy();
            print!("| {name} | {:.2} |", runs[0][0][1]);
            runs.iter().for_each(|runs| print!(" {:.1} |", best(runs, 0, f64::max)));
            println!();
        }
    }
    println!("\n| a token to text | ns |\n| --- | --- |");
    for library in ["deepseek-codec", "tokenizers"] {
        let runs: Vec<_> =
            (0..ROUNDS).map(|_| child(library, "decode", tokenizer, Some(&files[0]))).collect();
        println!("| {library} | {:.1} |", best(&runs, 0, f64::min));
    }
    for (what, title) in [
        ("threads", "one 300 KB text: µs with one thread, with all, and how many these are"),
        (
            "turn",
            "a conversation of 300 KB: µs cold, with 2 KB more and a cache, and that with a new list of ids",
        ),
        ("growth", "ns a byte at 1 KB, 10 KB, 100 KB, 1 MB, 4 MB, 16 MB"),
    ] {
        let runs: Vec<_> = (0..ROUNDS).map(|_| child(OURS, what, tokenizer, Some(&files[0]))).collect();
        let figures: Vec<String> =
            (0..runs[0].len()).map(|at| format!("{:.1}", best(&runs, at, f64::min))).collect();
        println!("\n{title}: {}", figures.join(", "));
    }
}

/// The numbers that one process prints.
fn child(library: &str, what: &str, tokenizer: &str, file: Option<&str>) -> Vec<f64> {
    let program = std::env::current_exe().expect("this program has a path");
    let output = Command::new(program)
        .args(["--measure", library, what, tokenizer])
        .args(file)
        .output()
        .expect("this program runs itself");
    let text = String::from_utf8_lossy(&output.stdout);
    let numbers: Vec<f64> = text.split_whitespace().filter_map(|number| number.parse().ok()).collect();
    assert!(!numbers.is_empty(), "{library} {what}: {}", String::from_utf8_lossy(&output.stderr));
    numbers
}

fn best(runs: &[Vec<f64>], at: usize, better: fn(f64, f64) -> f64) -> f64 {
    runs.iter().map(|run| run[at]).reduce(better).unwrap_or_default()
}

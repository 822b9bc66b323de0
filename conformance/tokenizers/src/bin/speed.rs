//! Side by side: this crate, fastokens and Hugging Face `tokenizers`, one thread, same inputs.
//!
//!     cargo run --release --bin speed -- tokenizer.json FILE...
//!
//! The first half of each file is encoded to warm up, then each piece of 32 KB of the second half once by each
//! library in turn, so that no library has seen it before; the table gives the median of the pieces' speeds in
//! MB/s, by the processor's clock of the process. (A machine that is busy with other work still slows all of
//! them, by the caches it takes.) Ids are compared on the way.

use std::path::{Path, PathBuf};

use deepseek_codec::token::TokenId;
use deepseek_codec::tokenizer::Tokenizer;
use tokenizers_conformance::{BARE, reference};

const PIECE: usize = 32 << 10;

fn main() {
    let mut args = std::env::args().skip(1);
    let file = PathBuf::from(args.next().expect("the path of a tokenizer.json"));
    // One thread for all.
    rayon::ThreadPoolBuilder::new().num_threads(1).build_global().expect("no pool was made before");

    let start = now();
    let ours = Tokenizer::embedded(&BARE);
    println!("load: deepseek-codec, embedded {:.1} ms", (now() - start) * 1e3);
    let start = now();
    let json = std::fs::read(&file).expect("the tokenizer file can be read");
    Tokenizer::from_json(&json, &[]).expect("it is of this family");
    println!("load: deepseek-codec, tokenizer.json {:.1} ms", (now() - start) * 1e3);
    let start = now();
    let fast = fastokens::Tokenizer::from_file(&file).expect("fastokens loads it");
    println!("load: fastokens {:.1} ms", (now() - start) * 1e3);
    let start = now();
    let slow = reference(&file);
    println!("load: tokenizers {:.1} ms", (now() - start) * 1e3);

    println!("| text | bytes a token | deepseek-codec | fastokens 0.3.5 | tokenizers 0.23.2 |");
    println!("| --- | --- | --- | --- | --- |");
    for path in args {
        let text = std::fs::read_to_string(&path).expect("the file is text");
        let pieces = pieces(&text);
        let (warm, fresh) = pieces.split_at(pieces.len() / 2);
        for piece in warm {
            std::hint::black_box((
                ours.encode_text(piece),
                fast.encode_ordinary(piece).expect("any text encodes"),
            ));
        }
        let (mut codec, mut peer, mut hf) = (Vec::new(), Vec::new(), Vec::new());
        let (mut bytes, mut tokens) = (0, 0);
        for piece in fresh {
            let ids = timed(&mut codec, piece, || ours.encode_text(piece));
            let other = timed(&mut peer, piece, || fast.encode_ordinary(piece).expect("any text encodes"));
            let expected =
                timed(&mut hf, piece, || slow.encode_fast(*piece, false).expect("any text encodes"));
            assert!(numbers(&ids) == expected.get_ids() && other == expected.get_ids(), "ids differ");
            bytes += piece.len();
            tokens += ids.len();
        }
        // Slow, and it would empty the caches for the others.
        for piece in fresh.iter().take(6) {
            let expected =
                timed(&mut hf, piece, || slow.encode_fast(*piece, false).expect("any text encodes"));
            assert!(numbers(&ours.encode_text(piece)) == expected.get_ids(), "ids differ");
        }
        let name = Path::new(&path).file_stem().unwrap_or_default().to_string_lossy();
        let (codec, peer, hf) = (median(codec), median(peer), median(hf));
        println!("| {name} | {:.2} | {codec:.0} | {peer:.0} | {hf:.1} |", bytes as f64 / tokens as f64);
    }
}

/// Runs an encoder, and notes its speed in MB/s.
fn timed<T>(speeds: &mut Vec<f64>, piece: &str, encode: impl FnOnce() -> T) -> T {
    let start = now();
    let ids = std::hint::black_box(encode());
    speeds.push(piece.len() as f64 / (now() - start) / 1e6);
    ids
}

fn numbers(ids: &[TokenId]) -> Vec<u32> {
    ids.iter().map(|id| id.0).collect()
}

fn pieces(text: &str) -> Vec<&str> {
    let (mut pieces, mut rest) = (Vec::new(), text);
    while rest.len() > PIECE {
        let at = (0..=PIECE).rev().find(|at| rest.is_char_boundary(*at)).unwrap_or(PIECE);
        let (piece, after) = rest.split_at(at);
        pieces.push(piece);
        rest = after;
    }
    pieces
}

fn median(mut speeds: Vec<f64>) -> f64 {
    speeds.sort_by(f64::total_cmp);
    speeds.get(speeds.len() / 2).copied().unwrap_or_default()
}

/// Seconds by the processor's clock of this process.
fn now() -> f64 {
    let mut time = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    // SAFETY: the clock exists, and the pointer is to a timespec.
    unsafe { libc::clock_gettime(libc::CLOCK_PROCESS_CPUTIME_ID, &raw mut time) };
    time.tv_sec as f64 + time.tv_nsec as f64 * 1e-9
}

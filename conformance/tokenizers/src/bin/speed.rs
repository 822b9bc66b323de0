//! Side by side: this crate, fastokens and Hugging Face `tokenizers`, one thread, same inputs.
//!
//!     cargo run --release --bin speed -- tokenizer.json FILE...
//!
//! The first half of each file is encoded to warm up, then the second half in pieces of 32 KB; the table gives
//! the median of the pieces' speeds, the best of five rounds, in MB/s by the processor's clock of the process (a
//! machine that is busy with other work still slows all by the caches it takes). Ids are compared on the way.
//! With more files of one kind, name the kind by the file.

use std::path::{Path, PathBuf};

use deepseek_codec::token::TokenId;
use deepseek_codec::tokenizer::Tokenizer;
use tokenizers_conformance::{BARE, reference};

const PIECE: usize = 32 << 10;
const ROUNDS: usize = 5;

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

    println!(
        "| text | bytes a token | deepseek-codec | fastokens 0.3.5 | tokenizers 0.23.2 |\n| --- | --- | --- | --- | --- |"
    );
    for path in args {
        let text = std::fs::read_to_string(&path).expect("the file is text");
        let pieces = pieces(&text);
        let (warm, fresh) = pieces.split_at(pieces.len() / 2);
        let ids = |text: &str| numbers(&ours.encode_text(text));
        for piece in fresh {
            let expected = slow.encode_fast(*piece, false).expect("any text encodes").get_ids().to_vec();
            assert!(
                ids(piece) == expected && fast.encode_ordinary(piece).expect("any text encodes") == expected
            );
        }
        let (mut codec, mut peer) = (0.0_f64, 0.0_f64);
        for _ in 0..ROUNDS {
            codec = codec.max(median(warm, fresh, |text| ours.encode_text(text).len()));
            peer =
                peer.max(median(warm, fresh, |text| fast.encode_ordinary(text).map_or(0, |ids| ids.len())));
        }
        let few = &fresh[..fresh.len().min(8)];
        let hf = median(&[], few, |text| slow.encode_fast(text, false).map_or(0, |ids| ids.len()));
        let tokens: usize = fresh.iter().map(|piece| ours.encode_text(piece).len()).sum();
        let bytes: usize = fresh.iter().map(|piece| piece.len()).sum();
        let name = Path::new(&path).file_stem().unwrap_or_default().to_string_lossy();
        println!("| {name} | {:.2} | {codec:.0} | {peer:.0} | {hf:.1} |", bytes as f64 / tokens as f64);
    }
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

fn median(warm: &[&str], fresh: &[&str], encode: impl Fn(&str) -> usize) -> f64 {
    warm.iter().for_each(|piece| _ = std::hint::black_box(encode(piece)));
    let mut speeds: Vec<f64> = fresh
        .iter()
        .map(|piece| {
            let start = now();
            std::hint::black_box(encode(piece));
            piece.len() as f64 / (now() - start) / 1e6
        })
        .collect();
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

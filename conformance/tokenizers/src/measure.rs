//! One figure of one library.

use std::hint::black_box;
use std::path::Path;
use std::time::Instant;

use deepseek_codec::prompt::Prompt;
use deepseek_codec::token::TokenId;
use deepseek_codec::tokenizer::{EncodeCache, Tokenizer};

use crate::{BARE, reference};

pub const OURS: &str = "deepseek-codec";
pub const LIBRARIES: [&str; 3] = [OURS, "fastokens", "tokenizers"];

type Encode = Box<dyn Fn(&str) -> Vec<u32>>;

/// Measures, and prints the numbers.
pub fn run(library: &str, what: &str, tokenizer: &Path, file: Option<&str>) {
    let text = file.map(|file| std::fs::read_to_string(file).expect("the file is text")).unwrap_or_default();
    match what {
        "load" => {
            let start = now();
            let kept = load(library, tokenizer);
            println!("{} {}", (now() - start) * 1e3, resident());
            drop(black_box(kept));
        }
        "first" => {
            let text = &text[..text.floor_char_boundary(300_000)];
            let encode = load(library, tokenizer);
            let start = now();
            let ids = encode(text);
            let seconds = now() - start;
            let hash =
                ids.iter().fold(0u64, |hash, id| (hash ^ u64::from(*id)).wrapping_mul(0x100_0000_01B3));
            let bytes_a_token = text.len() as f64 / ids.len() as f64;
            println!("{} {bytes_a_token} {}", text.len() as f64 / seconds / 1e6, hash >> 20);
        }
        "unseen32" => unseen(&load(library, tokenizer), &text, 32 << 10, library),
        "unseen300" => unseen(&load(library, tokenizer), &text, 300_000, library),
        "decode" => decode(library, tokenizer, &text),
        "threads" => threads(&text),
        "turn" => turn(&text),
        "growth" => growth(&text),
        _ => panic!("{what} is not measured"),
    }
}

fn load(library: &str, tokenizer: &Path) -> Encode {
    // One thread for all.
    let numbers = |ids: Vec<TokenId>| ids.into_iter().map(|id| id.0).collect();
    match library {
        OURS => {
            let ours = Tokenizer::embedded(&BARE);
            Box::new(move |text| numbers(ours.encode_text(text)))
        }
        "fastokens" => {
            rayon::ThreadPoolBuilder::new().num_threads(1).build_global().expect("no pool was made before");
            let theirs = fastokens::Tokenizer::from_file(tokenizer).expect("fastokens loads it");
            Box::new(move |text| theirs.encode_ordinary(text).expect("any text encodes"))
        }
        "tokenizers" => {
            let theirs = reference(tokenizer);
            Box::new(move |text| {
                theirs.encode_fast(text, false).expect("any text encodes").get_ids().to_vec()
            })
        }
        _ => {
            let json = std::fs::read(tokenizer).expect("the tokenizer file can be read");
            let ours = Tokenizer::from_json(&json, &[]).expect("it is of this family");
            Box::new(move |text| numbers(ours.encode_text(text)))
        }
    }
}

/// The first half warms up, then each piece of the second half is encoded once; the median counts.
fn unseen(encode: &Encode, text: &str, size: usize, library: &str) {
    let pieces = pieces(text, size);
    let (warm, fresh) = pieces.split_at(pieces.len() / 2);
    let few = if library == "tokenizers" { 4 } else { usize::MAX };
    for piece in warm.iter().take(few) {
        black_box(encode(piece));
    }
    let (mut bytes, mut tokens) = (0, 0);
    let mut speeds: Vec<f64> = fresh
        .iter()
        .take(few)
        .map(|piece| {
            let start = now();
            let ids = black_box(encode(piece));
            let speed = piece.len() as f64 / (now() - start) / 1e6;
            (bytes, tokens) = (bytes + piece.len(), tokens + ids.len());
            speed
        })
        .collect();
    speeds.sort_by(f64::total_cmp);
    println!("{} {}", speeds[speeds.len() / 2], bytes as f64 / tokens as f64);
}

fn decode(library: &str, tokenizer: &Path, text: &str) {
    let text = &text[..text.floor_char_boundary(300_000)];
    let ours = Tokenizer::embedded(&BARE);
    let ids = ours.encode_text(text);
    let theirs = (library != OURS).then(|| reference(tokenizer));
    let mut best = f64::INFINITY;
    for _ in 0..3 {
        let mut out = String::with_capacity(text.len());
        let start = now();
        if let Some(theirs) = &theirs {
            let mut stream = theirs.decode_stream(false);
            for id in &ids {
                out.extend(stream.step(id.0).expect("any id decodes"));
            }
        } else {
            let mut stream = ours.detokenizer();
            let mut give = |piece: deepseek_codec::tokenizer::Piece<'_>| {
                if let deepseek_codec::tokenizer::Piece::Text(part) = piece {
                    out.push_str(part);
                }
            };
            ids.iter().for_each(|id| stream.push(*id, &mut give));
        }
        best = best.min(now() - start);
        assert_eq!(out, text);
    }
    println!("{}", best * 1e9 / ids.len() as f64);
}

fn threads(text: &str) {
    let ours = Tokenizer::embedded(&BARE);
    let prompt = Prompt::plain(&text[..text.floor_char_boundary(300_000)]);
    let best = |work: &dyn Fn() -> usize| {
        (0..40)
            .map(|_| {
                let start = Instant::now();
                black_box(work());
                start.elapsed().as_secs_f64() * 1e6
            })
            .fold(f64::INFINITY, f64::min)
    };
    let one = best(&|| ours.encode(&prompt).len());
    let all = best(&|| ours.encode_parallel(&prompt).len());
    println!("{one} {all} {}", rayon::current_num_threads());
}

/// Cold is a text that this thread has not seen, after warm-up on another one. The list of ids is kept, as by a server;
/// last comes the second figure with a new list.
fn turn(text: &str) {
    let ours = Tokenizer::embedded(&BARE);
    let cache = EncodeCache::new(64 << 20);
    let (warm, rest) = text.split_at(text.floor_char_boundary(300_000));
    black_box(ours.encode_text(warm));
    let (mut cold, mut next, mut new_list) = (f64::INFINITY, f64::INFINITY, f64::INFINITY);
    let mut ids = vec![TokenId(0); 200_000];
    for known in pieces(rest, 310_000) {
        let (before, after) = known.split_at(known.floor_char_boundary(300_000));
        let first = Prompt::plain(before);
        let second = Prompt::plain(format!("{before}{}", &after[..after.floor_char_boundary(2_000)]));
        let mut time = |prompt: &Prompt, cache: &EncodeCache| {
            ids.clear();
            let start = now();
            ours.encode_with_into(prompt, cache, black_box(&mut ids));
            (now() - start) * 1e6
        };
        cold = cold.min(time(&first, &cache));
        next = next.min(time(&second, &cache));
        assert!(ids == ours.encode(&second));
        let cache = EncodeCache::new(64 << 20);
        black_box(ours.encode_with(&first, &cache));
        let start = now();
        black_box(ours.encode_with(&second, &cache));
        new_list = new_list.min((now() - start) * 1e6);
    }
    println!("{cold} {next} {new_list}");
}

fn growth(text: &str) {
    let ours = Tokenizer::embedded(&BARE);
    let long = text.repeat(16_000_000 / text.len() + 2);
    black_box(ours.encode_text(&text[..text.floor_char_boundary(300_000)]));
    for size in [1_000, 10_000, 100_000, 1_000_000, 4_000_000, 16_000_000] {
        let best = (0..3).map(|round| {
            let from = long.floor_char_boundary(300_000 * round);
            let piece = &long[from..long.floor_char_boundary(from + size)];
            let start = now();
            black_box(ours.encode_text(piece));
            (now() - start) * 1e9 / piece.len() as f64
        });
        print!("{} ", best.fold(f64::INFINITY, f64::min));
    }
    println!();
}

fn pieces(mut rest: &str, size: usize) -> Vec<&str> {
    let mut pieces = Vec::new();
    while rest.len() > size {
        let (piece, after) = rest.split_at(rest.floor_char_boundary(size));
        pieces.push(piece);
        rest = after;
    }
    pieces
}

/// Megabytes that this process has in memory.
fn resident() -> f64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:")).unwrap_or_default();
    line.split_whitespace().next().and_then(|kilobytes| kilobytes.parse::<f64>().ok()).unwrap_or_default()
        / 1024.0
}

/// Seconds by the processor's clock of this process.
fn now() -> f64 {
    let mut time = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    // SAFETY: the clock exists, and the pointer is to a timespec.
    unsafe { libc::clock_gettime(libc::CLOCK_PROCESS_CPUTIME_ID, &raw mut time) };
    time.tv_sec as f64 + time.tv_nsec as f64 * 1e-9
}

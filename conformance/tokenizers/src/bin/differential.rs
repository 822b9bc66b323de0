//! Compares ids with Hugging Face `tokenizers`.
//!
//!     cargo run --release --bin differential -- tokenizer.json [MEGABYTES] [SEED] [FILE...]
//!
//! Generated text of all kinds, every single character, and the texts of the files; by the embedded vocabulary
//! and by the one loaded from the file. Exits with 1 at the first difference.

use std::path::PathBuf;

use deepseek_codec::prompt::Prompt;
use deepseek_codec::token::TokenId;
use deepseek_codec::tokenizer::{EncodeCache, Tokenizer};
use tokenizers_conformance::{BARE, KINDS, Numbers, reference, text};

fn main() {
    let mut args = std::env::args().skip(1);
    let file = PathBuf::from(args.next().expect("the path of a tokenizer.json"));
    let megabytes: usize = args.next().map_or(8, |arg| arg.parse().expect("a number of megabytes"));
    let seed: u64 = args.next().map_or(1, |arg| arg.parse().expect("a seed"));

    let reference = reference(&file);
    let embedded = Tokenizer::embedded(&BARE);
    let json = std::fs::read(&file).expect("the tokenizer file can be read");
    let loaded = Tokenizer::from_json(&json, &[]).expect("it is of this family");
    let cache = EncodeCache::new(8 << 20);
    let mut check = Check { reference, embedded, loaded, cache, bytes: 0, ids: 0 };

    for char in '\0'..=char::MAX {
        check.text(&String::from(char));
    }
    println!("every character: equal");
    for path in args {
        check.text(&std::fs::read_to_string(&path).expect("the file is text"));
        println!("{path}: equal");
    }
    let mut numbers = Numbers(seed);
    let until = check.bytes + megabytes * 1_000_000;
    while check.bytes < until {
        for kind in KINDS {
            let len = [1, 30, 300, 3000, 30_000][numbers.below(5)];
            let text = text(kind, len, &mut numbers, &check.embedded);
            check.text(&text);
        }
    }
    println!("{} bytes, {} ids: equal", check.bytes, check.ids);
}

struct Check {
    reference: tokenizers::Tokenizer,
    embedded: Tokenizer,
    loaded: Tokenizer,
    cache: EncodeCache,
    bytes: usize,
    ids: usize,
}

impl Check {
    fn text(&mut self, text: &str) {
        let encoding = self.reference.encode_fast(text, false).expect("the reference encodes any text");
        let expected: Vec<TokenId> = encoding.get_ids().iter().map(|id| TokenId(*id)).collect();
        let prompt = Prompt::plain(text);
        let ways = [
            ("embedded", self.embedded.encode_text(text)),
            ("loaded", self.loaded.encode_text(text)),
            ("cached", self.embedded.encode_with(&prompt, &self.cache)),
            ("parallel", self.embedded.encode_parallel(&prompt)),
        ];
        for (way, ids) in ways {
            if ids != expected {
                println!("{way}: {text:?}\n  expected {expected:?}\n  got      {ids:?}");
                std::process::exit(1);
            }
        }
        assert_eq!(self.embedded.count(&prompt), expected.len());
        assert_eq!(self.embedded.decode(&expected), text);
        self.bytes += text.len();
        self.ids += expected.len();
    }
}

#![no_main]

#[path = "../../tests/suite/fuzz_replay/tokens.rs"]
#[allow(dead_code)]
mod tokens;

libfuzzer_sys::fuzz_target!(|data: &[u8]| tokens::detokenize(data));

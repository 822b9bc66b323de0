//! All integration tests in one binary.

mod fuzz_replay;
mod tokenizer;

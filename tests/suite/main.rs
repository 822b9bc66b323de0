//! All integration tests in one binary.

mod fixture;
mod fuzz_replay;
mod golden;
mod tokenizer;

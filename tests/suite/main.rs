//! All integration tests in one binary.

mod bad_requests;
mod fixture;
mod fuzz_replay;
mod golden;
mod lenient;
mod tokenizer;

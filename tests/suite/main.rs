//! All integration tests in one binary.

mod bad_requests;
#[cfg(feature = "cli")]
mod cli;
mod fixture;
mod fuzz_replay;
mod generated;
mod golden;
mod hostile;
mod lenient;
mod tokenizer;

//! All integration tests in one binary.

// The lint spares test functions, but not what they call.
#![allow(clippy::unwrap_used)]

mod bad_requests;
#[cfg(feature = "cli")]
mod cli;
mod fixture;
mod fuzz_replay;
mod generated;
mod generated_outputs;
mod golden;
mod hostile;
mod injection;
mod lenient;
mod mask_walks;
mod masks;
mod output;
mod stream;
mod structural_tag;
mod tokenizer;
mod tool_masks;
#[cfg(feature = "validate")]
mod validate;

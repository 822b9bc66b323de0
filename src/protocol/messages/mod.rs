//! Anthropic Messages, as the official DeepSeek API takes it.

mod blocks;
mod lower;
mod request;

pub use request::*;

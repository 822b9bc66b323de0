//! Anthropic Messages, as the official DeepSeek API takes it.

mod blocks;
mod history;
mod lower;
mod request;

pub use request::*;

//! Anthropic Messages, as the official DeepSeek API takes it.

mod blocks;
mod history;
mod lower;
mod request;
mod stream;

pub use request::*;
pub(super) use stream::Writer;

//! OpenAI Responses, as the official DeepSeek API takes it.

mod items;
mod lower;
mod request;
mod tools;

pub use lower::Echo;
pub use request::*;

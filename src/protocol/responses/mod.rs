//! OpenAI Responses, as the official DeepSeek API takes it.

mod items;
mod lower;
mod object;
mod request;
mod stream;
mod tools;

pub use lower::Echo;
pub use request::*;
pub(super) use stream::Writer;

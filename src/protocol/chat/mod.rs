//! OpenAI Chat Completions, as the official DeepSeek API takes it.

mod content;
mod lower;
mod request;
mod stream;

pub(super) use content::{BILLING_HEADER, strip_billing_header};
pub(super) use lower::mentions_json;
pub use request::*;
pub(super) use stream::Writer;
pub use stream::join_choices;

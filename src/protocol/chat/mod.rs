//! OpenAI Chat Completions, as the official DeepSeek API takes it.

mod choices;
mod content;
mod lower;
mod request;
mod stream;

pub use choices::Choices;
pub(super) use content::{BILLING_HEADER, strip_billing_header};
pub(super) use lower::mentions_json;
pub use request::*;
pub(super) use stream::Writer;
pub use stream::join_choices;

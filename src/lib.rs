//! deepseek-codec
pub mod json;
pub mod token;
pub mod prompt;
pub mod tokenizer;
pub mod conversation;
pub mod schema;
pub mod model;
pub mod constraint;
pub mod protocol;

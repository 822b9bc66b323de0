//! JSON Schemas of tools and response formats, before they become grammars.
//!
//! [`meta`] decides whether a value is a JSON Schema at all, and [`strict`] turns a schema of a strict tool or a
//! strict response format into the form the model was trained on. Both refuse what the official conversion
//! refuses, in its words.

pub mod meta;
mod pointer;
pub mod strict;
#[cfg(test)]
mod tests;
pub mod values;

//! Whether a value is a valid JSON Schema.

use std::fmt;

use super::pointer::Pointer;
use crate::json::Json;

mod apply;
pub(in crate::schema) mod drafts;
mod form;
mod pattern;
mod plain;
pub(in crate::schema) mod registry;
mod rules;
pub(in crate::schema) mod uri;
pub(in crate::schema) mod walk;

use drafts::Draft;

/// What is wrong with a schema.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MetaError {
    message: String,
    pointer: String,
}

impl MetaError {
    fn at(pointer: &Pointer, message: String) -> Self {
        Self { message, pointer: pointer.as_str().to_owned() }
    }

    /// The fault in the words of the official conversion.
    #[must_use]
    pub fn message(&self) -> &str {
        &self.message
    }

    /// The JSON pointer of the faulty value.
    #[must_use]
    pub fn pointer(&self) -> &str {
        &self.pointer
    }
}

impl fmt::Display for MetaError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

impl std::error::Error for MetaError {}

/// Checks that `schema` is a JSON Schema.
///
/// # Errors
///
/// The first fault.
pub fn check(schema: &Json) -> Result<(), MetaError> {
    let draft = walk::own_draft(Draft::Draft202012, schema);
    if matches!(schema, Json::Bool(_)) {
        return Ok(());
    }
    if plain::is_plain(draft, schema) { Ok(()) } else { check_wholly(draft, schema) }
}

fn check_wholly(draft: Draft, schema: &Json) -> Result<(), MetaError> {
    rules::check(draft, schema).map_err(|fault| {
        let mut pointer = Pointer::default();
        for step in fault.steps.iter().rev() {
            pointer.enter_step(*step);
        }
        MetaError::at(&pointer, fault.message())
    })?;
    apply::check(draft, schema)
}

//! Whether a value is a valid JSON Schema.

use std::fmt;

use crate::json::Json;

/// What is wrong with a schema.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MetaError {
    message: String,
    pointer: String,
}

impl MetaError {
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
    if matches!(schema, Json::Object(_) | Json::Bool(_)) {
        return Ok(());
    }
    Err(MetaError {
        message: format!(r#"{schema} is not of types "boolean", "object""#),
        pointer: String::new(),
    })
}

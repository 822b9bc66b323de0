//! Strict schemas.

use std::fmt;

use crate::json::Json;

/// Where a strict schema stands: the two places differ in their rules for the top level and in their messages.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Top {
    /// The parameters of a function tool.
    Parameters,
    /// The schema of a response format.
    Response,
}

/// A strict schema in its two forms.
#[derive(Debug, Clone, PartialEq)]
pub struct Normalized {
    /// What the prompt shows.
    pub prompt: Json,
    /// What the output is held to.
    pub enforced: Json,
}

/// Why a schema cannot be strict.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StrictError {
    message: String,
    places: Vec<(String, String)>,
}

impl StrictError {
    /// The fault in the words of the official conversion, with their prefix.
    #[must_use]
    pub fn message(&self) -> &str {
        &self.message
    }

    /// Every place that strict mode does not support: its JSON pointer and what is wrong there.
    #[must_use]
    pub fn places(&self) -> &[(String, String)] {
        &self.places
    }
}

impl fmt::Display for StrictError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

impl std::error::Error for StrictError {}

/// Makes `schema` strict.
///
/// # Errors
///
/// The schema uses something strict mode does not support.
pub fn normalize(schema: &Json, _top: Top) -> Result<Normalized, StrictError> {
    Ok(Normalized { prompt: schema.clone(), enforced: schema.clone() })
}

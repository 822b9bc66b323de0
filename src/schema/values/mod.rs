//! What a JSON Schema allows, worked out into [`Values`]: unions of alternatives that need no further logic.
//!
//! The meaning is that of the crate `jsonschema`, with the formats of the standard checked. The way there:
//!
//! 1. A place in an instance has a set of *goals*: schemas that a value there must satisfy or must not
//!    (`goal`). Sets are interned, and each is a value of the result, so recursion through references ends.
//! 2. A goal becomes a union of alternatives per JSON type (`union`), by one function per keyword
//!    (`keyword`); goals that hold together multiply. Nothing below the place is looked into: what an alternative
//!    says about a member or an item is again a set of goals.
//! 3. Alternatives take the form of [`Values`] (`object`, `array`); keys that several patterns match are split
//!    into classes.
//! 4. What has no instance is found as a least fixpoint and taken out (`settle`).

use crate::grammar::value::Values;
use crate::json::Json;

mod array;
mod error;
mod exclude;
mod goal;
mod items;
mod keyword;
mod members;
mod object;
mod quick;
mod sets;
mod settle;
mod shapes;
#[cfg(test)]
mod tests;
mod union;

pub use error::{Relaxed, SchemaError, SchemaErrorKind};

/// How schemas are compiled.
#[derive(Debug, Clone, Default)]
pub struct Options {
    /// What becomes of keywords that cannot be enforced.
    pub relax: Relax,
    /// What a schema may cost.
    pub limits: Limits,
}

/// What becomes of keywords that cannot be enforced.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Relax {
    /// They are errors.
    #[default]
    Nothing,
    /// They are left out and listed.
    Listed,
}

/// What a schema may cost. Each limit has its [`SchemaErrorKind::Limit`].
#[derive(Debug, Clone)]
pub struct Limits {
    /// How many different places (sets of goals) a schema may have.
    pub values: usize,
    /// How many alternatives one place may have per JSON type, and how many classes of keys an object.
    pub alternatives: usize,
    /// How deep schemas that apply to the same place may be nested, references included.
    pub depth: usize,
    /// How many steps of work in all; one takes about 50 ns.
    pub work: u64,
    /// What one set of strings may cost.
    pub language: crate::grammar::language::Limits,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            values: 20_000,
            alternatives: 256,
            depth: 100,
            work: 2_000_000,
            language: crate::grammar::language::Limits::default(),
        }
    }
}

/// Works out what `schema` allows. Also returns what was left out, and the keywords that no draft knows.
///
/// # Errors
///
/// A [`SchemaError`] if the schema is malformed, refers to another document, allows nothing, costs more than the
/// limits, or, unless it is to be relaxed, has a keyword that cannot be enforced where it stands.
pub fn compile(schema: &Json, options: &Options) -> Result<(Values, Vec<Relaxed>), SchemaError> {
    let mut compiler = goal::Compiler::new(schema, options);
    match compiler.run() {
        Ok(values) => {
            let relaxed = compiler.listed();
            Ok((values, relaxed))
        }
        Err(fault) => Err(compiler.error(fault)),
    }
}

//! Why a schema is refused.

use std::fmt;

/// A schema that has no mask.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SchemaError {
    /// The JSON pointer of the schema.
    pub pointer: String,
    /// The keyword in it; empty if it is the schema as a whole.
    pub keyword: String,
    /// The kind of fault.
    pub kind: SchemaErrorKind,
    /// The fault in words.
    pub detail: String,
}

/// The kinds of faults.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SchemaErrorKind {
    /// A keyword's value has the wrong form.
    Malformed,
    /// A reference leads nowhere, into another document, or only to itself.
    Reference,
    /// The combination cannot be enforced.
    Unsupported,
    /// No instance is valid.
    Unsatisfiable,
    /// It costs more than a limit allows.
    Limit,
}

/// A keyword that is not enforced.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Relaxed {
    /// The JSON pointer of the schema.
    pub pointer: String,
    /// The keyword in it.
    pub keyword: String,
    /// Why it is not enforced.
    pub reason: String,
}

impl fmt::Display for SchemaError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let what = match self.kind {
            SchemaErrorKind::Malformed => "malformed",
            SchemaErrorKind::Reference => "reference",
            SchemaErrorKind::Unsupported => "unsupported",
            SchemaErrorKind::Unsatisfiable => "unsatisfiable",
            SchemaErrorKind::Limit => "limit",
        };
        write!(f, "schema at '{}': {what}: {}", self.pointer, self.detail)?;
        if !self.keyword.is_empty() {
            write!(f, " ({})", self.keyword)?;
        }
        Ok(())
    }
}

impl std::error::Error for SchemaError {}

/// A fault on its way up: its place is the address of a value in the schema until someone asks for a pointer.
#[derive(Debug)]
pub(super) struct Fault {
    pub(super) cause: Cause,
    pub(super) detail: String,
    /// The schema and its keyword, once known.
    pub(super) place: Option<(usize, &'static str)>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Cause {
    Malformed,
    Reference,
    Unsupported,
    Unsatisfiable,
    Limit,
    /// More alternatives, classes or states than allowed. A relaxed schema goes on without them.
    Crowded,
    /// What is asked for is being worked out already. An endless reference, unless it was only a question of
    /// whether two schemas exclude each other.
    Loop,
}

pub(super) type Outcome<T> = Result<T, Fault>;

impl Fault {
    pub(super) fn new(cause: Cause, detail: impl Into<String>) -> Self {
        Self { cause, detail: detail.into(), place: None }
    }

    pub(super) fn unsupported(detail: impl Into<String>) -> Self {
        Self::new(Cause::Unsupported, detail)
    }

    pub(super) fn malformed(detail: impl Into<String>) -> Self {
        Self::new(Cause::Malformed, detail)
    }

    /// The same fault, at a keyword of a schema unless its place is known already.
    pub(super) fn at(mut self, schema: usize, keyword: &'static str) -> Self {
        self.place.get_or_insert((schema, keyword));
        self
    }

    pub(super) const fn kind(&self) -> SchemaErrorKind {
        match self.cause {
            Cause::Malformed => SchemaErrorKind::Malformed,
            Cause::Reference | Cause::Loop => SchemaErrorKind::Reference,
            Cause::Unsupported => SchemaErrorKind::Unsupported,
            Cause::Unsatisfiable => SchemaErrorKind::Unsatisfiable,
            Cause::Limit | Cause::Crowded => SchemaErrorKind::Limit,
        }
    }

    /// Whether a relaxed schema goes on without what failed.
    pub(super) const fn can_be_relaxed(&self) -> bool {
        matches!(self.cause, Cause::Unsupported | Cause::Crowded)
    }
}

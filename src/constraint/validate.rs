//! Whether an answer that was generated without a mask keeps to its constraint.

use std::fmt;
use std::sync::Arc;

use serde_json::Value;

use super::Constraint;
use crate::json::Json;

/// Validates JSON answers and arguments of calls against their schemas, with the standard's formats.
///
/// It is made once for a constraint, and cheap to clone.
#[derive(Debug, Clone)]
pub struct Validator {
    schemas: Arc<Schemas>,
}

#[derive(Debug, Default)]
struct Schemas {
    answer: Option<jsonschema::Validator>,
    tools: Vec<(String, jsonschema::Validator)>,
}

/// One way in which a value does not follow its schema.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Violation {
    /// Where: the JSON pointer of a part of the value; empty for all of it.
    pub instance_path: String,
    /// The keyword of the schema; empty if the text is not JSON.
    pub keyword: String,
    /// What is wrong, for people.
    pub message: String,
}

impl fmt::Display for Violation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "at '{}': {}", self.instance_path, self.message)?;
        if !self.keyword.is_empty() {
            write!(f, " ({})", self.keyword)?;
        }
        Ok(())
    }
}

/// A schema that cannot be validated against: it is not valid itself, or refers to another document.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct InvalidSchema {
    /// The tool, unless it is the schema of the answer.
    pub tool: Option<String>,
    /// What is wrong.
    pub message: String,
}

impl fmt::Display for InvalidSchema {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.tool {
            Some(tool) => write!(f, "tool {tool}: {}", self.message),
            None => f.write_str(&self.message),
        }
    }
}

impl std::error::Error for InvalidSchema {}

/// How many violations of one value are reported.
const MOST_VIOLATIONS: usize = 32;

impl Validator {
    /// The validator of a constraint. Regular expressions and structural tags are not looked at.
    ///
    /// # Errors
    ///
    /// If a schema is not valid or refers to another document.
    pub fn new(constraint: &Constraint) -> Result<Self, InvalidSchema> {
        let mut schemas = Schemas::default();
        match constraint {
            Constraint::Json { schema: Some(schema) } => schemas.answer = Some(build(schema, None)?),
            Constraint::Json { schema: None } | Constraint::Regex(_) | Constraint::StructuralTag(_) => {}
            Constraint::Tools { tools, .. } => {
                for tool in tools {
                    schemas.tools.push((tool.name.clone(), build(tool.schema(), Some(&tool.name))?));
                }
            }
        }
        Ok(Self { schemas: Arc::new(schemas) })
    }

    /// Whether an answer has a schema.
    #[must_use]
    pub fn has_answer(&self) -> bool {
        self.schemas.answer.is_some()
    }

    /// What is wrong with a complete answer: nothing if it has no schema. At most 32 violations.
    #[must_use]
    pub fn answer(&self, text: &str) -> Vec<Violation> {
        self.schemas.answer.as_ref().map_or_else(Vec::new, |schema| violations(schema, text))
    }

    /// What is wrong with the arguments of a complete call: nothing if there is no such tool. At most 32 violations.
    #[must_use]
    pub fn call(&self, tool: &str, arguments: &str) -> Vec<Violation> {
        let schema = self.schemas.tools.iter().find(|(name, _)| name == tool);
        schema.map_or_else(Vec::new, |(_, schema)| violations(schema, arguments))
    }
}

fn build(schema: &Json, tool: Option<&str>) -> Result<jsonschema::Validator, InvalidSchema> {
    jsonschema::options()
        .offline()
        .should_validate_formats(true)
        .build(&sorted(schema.clone()))
        .map_err(|error| InvalidSchema { tool: tool.map(str::to_owned), message: error.to_string() })
}

/// The value with its keys in order: where serde_json keeps another one, constants with other orders would differ.
fn sorted(json: Json) -> Value {
    let mut value = Value::from(json);
    value.sort_all_objects();
    value
}

fn violations(schema: &jsonschema::Validator, text: &str) -> Vec<Violation> {
    let instance = match Json::parse(text.as_bytes()) {
        Ok(instance) => sorted(instance),
        Err(error) => {
            let message = format!("not JSON: {error}");
            return vec![Violation { instance_path: String::new(), keyword: String::new(), message }];
        }
    };
    let violation = |error: jsonschema::ValidationError<'_>| Violation {
        instance_path: error.instance_path().to_string(),
        keyword: error.kind().keyword().to_owned(),
        message: error.to_string(),
    };
    schema.iter_errors(&instance).take(MOST_VIOLATIONS).map(violation).collect()
}

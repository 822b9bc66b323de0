//! Constraints as masks.

use std::collections::HashMap;
use std::fmt;
use std::sync::Arc;

use super::Constraint;
use super::structural_tag::read::{self, TagError};
use crate::conversation::{ParallelToolCalls, Tool};
use crate::grammar::language::{Language, LanguageError, Limits};
use crate::grammar::value::{ObjectId, ValueId, Values};
use crate::grammar::{
    CompileError, Compiled, Compiler, Expr, Grammar, GrammarError, Layout, Members, RuleId,
};
use crate::model::{Dsml, Profile};
use crate::output::Start;
use crate::schema::values::{self, Relax, Relaxed, SchemaError, SchemaErrorKind};
use crate::token::Special;

/// The rules around calls.
const DSML_GRAMMAR: &str = include_str!("../../grammars/dsml.gram");

/// Why a constraint has no mask.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub enum ConstraintError {
    /// The schema of the answer, or of the named tool.
    Schema {
        /// The tool.
        tool: Option<String>,
        /// What is wrong.
        error: SchemaError,
    },
    /// The regular expression, or keys that cannot be told apart within the limits.
    Language(LanguageError),
    /// The rules.
    Grammar(GrammarError),
    /// The tool cannot be called: its schema allows no object, or wants a parameter whose name holds a quotation
    /// mark, which markup cannot write.
    Tool(String),
    /// A call is required, and there is no tool.
    NoTool,
    /// No text matches the regular expression.
    NoText,
    /// The structural tag.
    Tag(TagError),
}

impl ConstraintError {
    /// Whether the constraint is well-formed, but beyond what masks can enforce.
    #[must_use]
    pub fn is_unsupported(&self) -> bool {
        match self {
            Self::Schema { error, .. } => {
                matches!(error.kind, SchemaErrorKind::Unsupported | SchemaErrorKind::Limit)
            }
            Self::Tag(error) => error.is_unsupported,
            Self::Language(LanguageError::Syntax { .. }) | Self::NoText => false,
            Self::Language(_) | Self::Grammar(_) | Self::Tool(_) | Self::NoTool => true,
        }
    }
}

impl fmt::Display for ConstraintError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Schema { tool: None, error } => error.fmt(f),
            Self::Schema { tool: Some(tool), error } => write!(f, "tool {tool}: {error}"),
            Self::Language(error) => error.fmt(f),
            Self::Grammar(error) => error.fmt(f),
            Self::Tool(tool) => write!(f, "tool {tool} cannot be called: nothing satisfies its parameters"),
            Self::Tag(error) => error.fmt(f),
            Self::NoTool => f.write_str("a call is required, but there is no tool"),
            Self::NoText => f.write_str("no text matches the regular expression"),
        }
    }
}

impl std::error::Error for ConstraintError {}

impl From<LanguageError> for ConstraintError {
    fn from(error: LanguageError) -> Self {
        Self::Language(error)
    }
}

impl From<CompileError> for ConstraintError {
    fn from(error: CompileError) -> Self {
        match error {
            CompileError::Language(error) => Self::Language(error),
            CompileError::Grammar(error) => Self::Grammar(error),
        }
    }
}

/// A demand of a schema that a mask does not enforce ([`Constraint::compile_relaxed`]).
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LeftOut {
    /// The tool; nothing if it is the answer's schema.
    pub tool: Option<String>,
    /// The demand.
    pub demand: Relaxed,
}

impl fmt::Display for LeftOut {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(tool) = &self.tool {
            write!(f, "tool {tool}: ")?;
        }
        let Relaxed { pointer, keyword, reason } = &self.demand;
        write!(f, "schema at '{pointer}': {keyword} is not enforced: {reason}")
    }
}

impl Constraint {
    /// Compiles the masks of an output that begins at `start` and is written for `profile`.
    ///
    /// # Errors
    ///
    /// If a schema, a regular expression or a tool cannot be enforced.
    pub fn compile(
        &self,
        start: Start,
        profile: &Profile,
        compiler: &Compiler,
        layout: Layout,
    ) -> Result<Arc<Compiled>, ConstraintError> {
        self.compile_with(&mut Schemas::default(), start, profile, compiler, layout)
    }

    /// As [`compile`](Self::compile), but leaves out what of a schema cannot be enforced, and lists it. What is then
    /// generated may break these demands; the feature `validate` tells.
    ///
    /// # Errors
    ///
    /// If a schema is malformed or has no instance, or an expression or a tool cannot be enforced.
    pub fn compile_relaxed(
        &self,
        start: Start,
        profile: &Profile,
        compiler: &Compiler,
        layout: Layout,
    ) -> Result<(Arc<Compiled>, Vec<LeftOut>), ConstraintError> {
        let mut schemas = Schemas { relax: Relax::Listed, left_out: Vec::new() };
        let compiled = self.compile_with(&mut schemas, start, profile, compiler, layout)?;
        Ok((compiled, schemas.left_out))
    }

    fn compile_with(
        &self,
        schemas: &mut Schemas,
        start: Start,
        profile: &Profile,
        compiler: &Compiler,
        layout: Layout,
    ) -> Result<Arc<Compiled>, ConstraintError> {
        let reasons = matches!(start, Start::Reasoning | Start::InReasoning);
        match self {
            Self::Json { schema } => {
                let values = match schema {
                    None => any_object(),
                    Some(schema) => schemas.values(schema, None)?,
                };
                if !reasons {
                    return Ok(compiler.compile(&values, layout)?);
                }
                let root = values.root;
                Ok(compiler.compile_rules(&after_reasoning(Expr::Json(root)), &values, layout)?)
            }
            Self::Regex(regex) => {
                let language = Language::whole(regex, &Limits::default())?;
                if language.is_empty() {
                    return Err(ConstraintError::NoText);
                }
                let word = Expr::Word(language);
                let grammar = if reasons { after_reasoning(word) } else { Grammar { rules: vec![word] } };
                Ok(compiler.compile_rules(&grammar, &Values::new(), layout)?)
            }
            Self::StructuralTag(tag) => {
                let mut values = Values::new();
                let expr = read::read(tag, profile, schemas, &mut values)?;
                let whole = !reasons || read::ends_reasoning(tag);
                let grammar = if whole { Grammar { rules: vec![expr] } } else { after_reasoning(expr) };
                Ok(compiler.compile_rules(&grammar, &values, layout)?)
            }
            Self::Tools { tools, required, parallel } => {
                let mut values = Values::new();
                let mut calls = Vec::with_capacity(tools.len());
                for tool in tools {
                    let parameters = schemas.values(tool.schema(), Some(&tool.name))?;
                    calls.push(call(tool, &parameters, profile.dsml(), &mut values)?);
                }
                if *required && calls.is_empty() {
                    return Err(ConstraintError::NoTool);
                }
                let max = (*parallel == ParallelToolCalls::Forbidden).then_some(1);
                let calls = Expr::Repeat { of: Box::new(Expr::Choice(calls)), min: 1, max };
                let first = match (start, required) {
                    (Start::Calls, _) => "forced",
                    (_, true) if reasons => "reasoned-call",
                    (_, true) => "call",
                    (_, false) if reasons => "reasoned-or-call",
                    (_, false) => "answer-or-call",
                };
                let grammar = dsml(first, calls, profile.dsml());
                Ok(compiler.compile_rules(&grammar, &values, layout)?)
            }
        }
    }
}

/// Any JSON object: what the mode `json_object` promises.
fn any_object() -> Values {
    let mut values = Values::new();
    let object = crate::grammar::value::Value { objects: vec![ObjectId(0)], ..Default::default() };
    values.values.push(object);
    values.root = ValueId(2);
    values
}

/// How schemas are compiled, and what of them was left out.
#[derive(Default)]
pub(super) struct Schemas {
    relax: Relax,
    left_out: Vec<LeftOut>,
}

impl Schemas {
    pub(super) fn values(
        &mut self,
        schema: &crate::json::Json,
        tool: Option<&str>,
    ) -> Result<Values, ConstraintError> {
        let options = values::Options { relax: self.relax, ..Default::default() };
        let tool = tool.map(str::to_owned);
        match values::compile(schema, &options) {
            Ok((values, relaxed)) => {
                let left_out = |demand| LeftOut { tool: tool.clone(), demand };
                self.left_out.extend(relaxed.into_iter().map(left_out));
                Ok(values)
            }
            Err(error) => Err(ConstraintError::Schema { tool, error }),
        }
    }
}

fn after_reasoning(answer: Expr) -> Grammar {
    let rest = Expr::Sequence(vec![Expr::Rule(RuleId(1)), Expr::Special(Special::ThinkEnd), answer]);
    Grammar { rules: vec![rest, Expr::Word(Language::any())] }
}

/// The rules of `dsml.gram`, with the rule `first` in front.
fn dsml(first: &str, calls: Expr, markup: &Dsml) -> Grammar {
    let holes = HashMap::from([("calls", calls), ("block", Expr::Text(markup.block.to_owned()))]);
    let source = format!("turn = {first}\n{DSML_GRAMMAR}");
    match Grammar::parse(&source, &holes, &Limits::default()) {
        Ok(grammar) => grammar,
        Err(error) => unreachable!("grammars/dsml.gram: {error}"),
    }
}

/// A call of `tool`; its parameters become part of `values`.
fn call(
    tool: &Tool,
    parameters: &Values,
    markup: &Dsml,
    values: &mut Values,
) -> Result<Expr, ConstraintError> {
    let shapes = shapes(parameters, markup, values);
    if shapes.is_empty() {
        return Err(ConstraintError::Tool(tool.name.clone()));
    }
    let mut parts = tag("<", markup.invoke);
    parts.push(text(&format!(" name=\"{}\">\n", tool.name)));
    parts.push(Expr::Choice(shapes));
    if markup.empty_line_in_bare_call {
        // Calls without parameters are written with an empty line.
        parts.push(Expr::Repeat { of: Box::new(text("\n")), min: 0, max: Some(1) });
    }
    parts.extend(tag("</", markup.invoke));
    parts.push(text(">\n"));
    Ok(Expr::Sequence(parts))
}

/// The objects among `parameters`, with their members in markup; they become part of `values`.
pub(super) fn shapes(parameters: &Values, markup: &Dsml, values: &mut Values) -> Vec<Expr> {
    let root = values.append(parameters);
    let objects = values.values[root.0 as usize].objects.clone();
    let mut shapes = Vec::new();
    for object in objects {
        if !drop_unwritable(&mut values.objects[object.0 as usize]) {
            continue;
        }
        let mut open = tag("<", markup.parameter);
        open.push(text(" name=\""));
        let mut close = tag("</", markup.parameter);
        close.push(text(">\n"));
        shapes.push(Expr::Members(Box::new(Members {
            object,
            open: Expr::Sequence(open),
            string: text(" string=\"true\">"),
            other: text(" string=\"false\">"),
            close: Expr::Sequence(close),
        })));
    }
    shapes
}

fn text(text: &str) -> Expr {
    Expr::Text(text.to_owned())
}

fn tag(open: &str, name: &str) -> Vec<Expr> {
    vec![text(open), Expr::Special(Special::Dsml), text(name)]
}

/// Forbids keys that markup cannot write. Returns whether objects are left.
fn drop_unwritable(object: &mut crate::grammar::value::Object) -> bool {
    for property in &mut object.properties {
        if property.name.contains('"') {
            if property.required {
                return false;
            }
            (property.value, property.witness) = (ValueId::NEVER, ValueId::NEVER);
        }
    }
    true
}

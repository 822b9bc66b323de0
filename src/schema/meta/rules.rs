//! Checking a schema against the rows of its draft.

use std::cmp::Ordering;
use std::collections::HashSet;

use super::drafts::Draft;
use super::{form, pattern, uri, walk};
use crate::json::{Json, Number, Object};
use crate::schema::pointer::Step;

/// What the value of a keyword has to be.
#[derive(Debug, Clone, Copy)]
pub(super) enum Rule {
    Anything,
    /// A string.
    Text,
    /// A string that this pattern, one of those below, describes.
    Matching(&'static str),
    /// `$id`: a string with no fragment but an empty one.
    Identifier,
    Uri,
    UriReference,
    /// A regular expression.
    Pattern,
    Flag,
    Numeric,
    /// A number above zero.
    Positive,
    /// A non-negative integer.
    Size,
    /// An array.
    List,
    /// An array of different strings.
    Names,
    /// The same, not empty.
    SomeNames,
    /// One or several of the seven types.
    TypeNames,
    Schema,
    FlagOrSchema,
    /// An array of schemas, not empty.
    Schemas,
    SchemaOrSchemas,
    SchemasByName,
    /// The same with regular expressions as names.
    SchemasByPattern,
    /// Schemas or arrays of names, which must not be empty if this is set, by name.
    Dependencies(bool),
    NamesByName,
    /// Booleans by name.
    Flags,
}

pub(super) const TYPE_NAMES: [&str; 7] =
    ["array", "boolean", "integer", "null", "number", "object", "string"];

/// A broken rule. The path to its place is collected, innermost step first, while the error passes up.
pub(super) struct Fault<'s> {
    pub(super) steps: Vec<Step<'s>>,
    subject: Subject<'s>,
    what: What,
}

enum Subject<'s> {
    Value(&'s Json),
    Name(&'s str),
}

enum What {
    NotOfType(&'static str),
    NotOfTypes,
    NoBranch,
    NoItems,
    Repeats,
    BelowZero,
    NotAboveZero,
    NoMatch(&'static str),
    NotA(&'static str),
    Requires(&'static str),
}

impl Fault<'_> {
    pub(super) fn message(&self) -> String {
        let subject = match self.subject {
            Subject::Value(value) => value.to_string(),
            Subject::Name(name) => Json::from(name).to_string(),
        };
        match self.what {
            What::NotOfType(name) => format!("{subject} is not of type \"{name}\""),
            What::NotOfTypes => format!("{subject} is not of types \"boolean\", \"object\""),
            What::NoBranch => {
                format!("{subject} is not valid under any of the schemas listed in the 'anyOf' keyword")
            }
            What::NoItems => format!("{subject} has less than 1 item"),
            What::Repeats => format!("{subject} has non-unique elements"),
            What::BelowZero => format!("{subject} is less than the minimum of 0"),
            What::NotAboveZero => format!("{subject} is less than or equal to the minimum of 0"),
            What::NoMatch(pattern) => format!("{subject} does not match \"{pattern}\""),
            What::NotA(format) => format!("{subject} is not a \"{format}\""),
            What::Requires(property) => format!("\"{property}\" is a required property"),
        }
    }
}

type Checked<'s> = Result<(), Fault<'s>>;

fn fault(value: &Json, what: What) -> Checked<'_> {
    Err(Fault { steps: Vec::new(), subject: Subject::Value(value), what })
}

fn at<'s>(step: impl FnOnce() -> Step<'s>, checked: Checked<'s>) -> Checked<'s> {
    checked.map_err(|mut fault| {
        fault.steps.push(step());
        fault
    })
}

/// Checks `schema` against the meta-schema of `draft`.
///
/// A schema inside it with an identifier and a `$schema` of its own is checked against that one, afterwards.
pub(super) fn check(draft: Draft, schema: &Json) -> Checked<'_> {
    let mut foreign = Vec::new();
    if schema.as_object().is_some_and(|members| members.iter().any(|(_, value)| names_a_draft(value))) {
        walk::foreign(draft, draft, schema, &mut foreign);
    }
    let addresses = foreign.iter().map(|(_, schema)| address(schema)).collect();
    Checker { draft, foreign: addresses }.schema(schema)?;
    foreign.into_iter().try_for_each(|(draft, schema)| check(draft, schema))
}

fn names_a_draft(value: &Json) -> bool {
    match value {
        Json::Array(elements) => elements.iter().any(names_a_draft),
        Json::Object(members) => members.iter().any(|(key, value)| key == "$schema" || names_a_draft(value)),
        _ => false,
    }
}

fn address(schema: &Json) -> usize {
    std::ptr::from_ref(schema) as usize
}

struct Checker {
    draft: Draft,
    /// Schemas of other drafts, by address. They count as valid here.
    foreign: HashSet<usize>,
}

impl Checker {
    fn schema<'s>(&self, schema: &'s Json) -> Checked<'s> {
        let members = match schema {
            Json::Object(members) => members,
            Json::Bool(_) if self.draft != Draft::Draft4 => return Ok(()),
            _ if self.draft == Draft::Draft4 => return fault(schema, What::NotOfType("object")),
            _ => return fault(schema, What::NotOfTypes),
        };
        if self.foreign.contains(&address(schema)) {
            return Ok(());
        }
        for group in self.draft.groups() {
            if group.follows_members(members.len()) {
                for (key, value) in members.iter() {
                    if let Some(rule) = group.rule(key) {
                        at(|| Step::Key(key), self.rule(rule, value))?;
                    }
                }
            } else {
                for (key, rule) in group.0 {
                    if let Some(value) = members.get(key) {
                        at(|| Step::Key(key), self.rule(*rule, value))?;
                    }
                }
            }
        }
        if self.draft == Draft::Draft4 {
            for (bound, limit) in [("exclusiveMaximum", "maximum"), ("exclusiveMinimum", "minimum")] {
                if members.get(bound).is_some() && members.get(limit).is_none() {
                    return fault(schema, What::Requires(limit));
                }
            }
        }
        Ok(())
    }

    fn rule<'s>(&self, rule: Rule, value: &'s Json) -> Checked<'s> {
        match rule {
            Rule::Anything => Ok(()),
            Rule::Text => text(value).map(|_| ()),
            Rule::Matching(pattern) => {
                if is_anchor(text(value)?, pattern) {
                    Ok(())
                } else {
                    fault(value, What::NoMatch(pattern))
                }
            }
            Rule::Identifier => {
                let id = text(value)?;
                if id.strip_suffix('#').unwrap_or(id).contains('#') {
                    return fault(value, What::NoMatch("^[^#]*#?$"));
                }
                Ok(())
            }
            Rule::Uri => format(value, "uri", uri::is_uri),
            Rule::UriReference => format(value, "uri-reference", uri::is_reference),
            Rule::Pattern => format(value, "regex", pattern::is_valid),
            Rule::Flag => match value {
                Json::Bool(_) => Ok(()),
                _ => fault(value, What::NotOfType("boolean")),
            },
            Rule::Numeric => number(value).map(|_| ()),
            Rule::Positive => {
                if number(value)?.as_f64() > 0.0 {
                    Ok(())
                } else {
                    fault(value, What::NotAboveZero)
                }
            }
            Rule::Size => self.size(value),
            Rule::List => array(value).map(|_| ()),
            Rule::Names => names(value, false),
            Rule::SomeNames => names(value, true),
            Rule::TypeNames => types(value),
            Rule::Schema => self.schema(value),
            Rule::FlagOrSchema => {
                if matches!(value, Json::Bool(_)) || self.schema(value).is_ok() {
                    return Ok(());
                }
                fault(value, What::NoBranch)
            }
            Rule::Schemas => self.schemas(value),
            Rule::SchemaOrSchemas => {
                let valid = if value.as_array().is_some() { self.schemas(value) } else { self.schema(value) };
                valid.or_else(|_| fault(value, What::NoBranch))
            }
            Rule::SchemasByName => by_name(object(value)?, |schema| self.schema(schema)),
            Rule::SchemasByPattern => {
                let schemas = object(value)?;
                by_name(schemas, |schema| self.schema(schema))?;
                match schemas.iter().find(|(name, _)| !pattern::is_valid(name)) {
                    Some((name, _)) => Err(Fault {
                        steps: Vec::new(),
                        subject: Subject::Name(name),
                        what: What::NotA("regex"),
                    }),
                    None => Ok(()),
                }
            }
            Rule::Dependencies(some) => by_name(object(value)?, |value| {
                let valid = if value.as_array().is_some() { names(value, some) } else { self.schema(value) };
                valid.or_else(|_| fault(value, What::NoBranch))
            }),
            Rule::NamesByName => by_name(object(value)?, |value| names(value, false)),
            Rule::Flags => by_name(object(value)?, |value| self.rule(Rule::Flag, value)),
        }
    }

    fn schemas<'s>(&self, value: &'s Json) -> Checked<'s> {
        let schemas = array(value)?;
        if schemas.is_empty() {
            return fault(value, What::NoItems);
        }
        schemas
            .iter()
            .enumerate()
            .try_for_each(|(index, schema)| at(|| Step::Index(index), self.schema(schema)))
    }

    fn size<'s>(&self, value: &'s Json) -> Checked<'s> {
        let Json::Number(number) = value else {
            return fault(value, What::NotOfType("integer"));
        };
        match number {
            Number::Float(n) if !form::is_integer(self.draft, *n) => fault(value, What::NotOfType("integer")),
            _ if number.as_f64() < 0.0 => fault(value, What::BelowZero),
            _ => Ok(()),
        }
    }
}

fn text(value: &Json) -> Result<&str, Fault<'_>> {
    value.as_str().ok_or(Fault {
        steps: Vec::new(),
        subject: Subject::Value(value),
        what: What::NotOfType("string"),
    })
}

fn number(value: &Json) -> Result<Number, Fault<'_>> {
    match value {
        Json::Number(number) => Ok(*number),
        _ => {
            Err(Fault { steps: Vec::new(), subject: Subject::Value(value), what: What::NotOfType("number") })
        }
    }
}

fn array(value: &Json) -> Result<&[Json], Fault<'_>> {
    value.as_array().ok_or(Fault {
        steps: Vec::new(),
        subject: Subject::Value(value),
        what: What::NotOfType("array"),
    })
}

fn object(value: &Json) -> Result<&Object, Fault<'_>> {
    value.as_object().ok_or(Fault {
        steps: Vec::new(),
        subject: Subject::Value(value),
        what: What::NotOfType("object"),
    })
}

fn format<'s>(value: &'s Json, name: &'static str, is_valid: fn(&str) -> bool) -> Checked<'s> {
    if is_valid(text(value)?) { Ok(()) } else { fault(value, What::NotA(name)) }
}

fn by_name<'s>(members: &'s Object, check: impl Fn(&'s Json) -> Checked<'s>) -> Checked<'s> {
    members.iter().try_for_each(|(name, value)| at(|| Step::Key(name), check(value)))
}

fn names(value: &Json, some: bool) -> Checked<'_> {
    let names = array(value)?;
    if some && names.is_empty() {
        return fault(value, What::NoItems);
    }
    if !are_different(names) {
        return fault(value, What::Repeats);
    }
    names.iter().enumerate().try_for_each(|(index, name)| at(|| Step::Index(index), text(name).map(|_| ())))
}

fn types(value: &Json) -> Checked<'_> {
    let is_type = |name: &Json| name.as_str().is_some_and(|name| TYPE_NAMES.contains(&name));
    let valid = match value {
        Json::Array(names) => !names.is_empty() && names.iter().all(is_type) && are_different(names),
        name => is_type(name),
    };
    if valid { Ok(()) } else { fault(value, What::NoBranch) }
}

/// Whether `name` fits one of the two patterns for anchors.
fn is_anchor(name: &str, pattern: &str) -> bool {
    let underscore_first = pattern.starts_with("^[A-Za-z_]");
    name.bytes().enumerate().all(|(index, byte)| match byte {
        b'A'..=b'Z' | b'a'..=b'z' => true,
        b'_' => index > 0 || underscore_first,
        b'-' | b'0'..=b'9' | b'.' => index > 0,
        b':' => index > 0 && !underscore_first,
        _ => false,
    }) && !name.is_empty()
}

/// Whether no two elements are equal as JSON values.
pub(super) fn are_different(elements: &[Json]) -> bool {
    let mut sorted: Vec<&Json> = elements.iter().collect();
    sorted.sort_unstable_by(|a, b| order(a, b));
    sorted.windows(2).all(|pair| order(pair[0], pair[1]) != Ordering::Equal)
}

/// Some total order of JSON values in which numbers are compared by value and objects without regard to the order
/// of their members.
fn order(a: &Json, b: &Json) -> Ordering {
    const fn rank(value: &Json) -> u8 {
        match value {
            Json::Null => 0,
            Json::Bool(_) => 1,
            Json::Number(_) => 2,
            Json::String(_) => 3,
            Json::Array(_) => 4,
            Json::Object(_) => 5,
        }
    }
    fn integer(number: Number) -> Option<i128> {
        match number {
            Number::Unsigned(n) => Some(n.into()),
            Number::Negative(n) => Some(n.into()),
            #[allow(clippy::cast_possible_truncation)]
            Number::Float(n) if n.fract() == 0.0 && n.abs() < 1e30 => Some(n as i128),
            Number::Float(_) => None,
        }
    }
    match (a, b) {
        (Json::Bool(a), Json::Bool(b)) => a.cmp(b),
        (Json::Number(a), Json::Number(b)) => match (integer(*a), integer(*b)) {
            (Some(a), Some(b)) => a.cmp(&b),
            // An integer and a fraction differ by value or, if both round to one double, by kind.
            (a_integer, b_integer) => {
                a.as_f64().total_cmp(&b.as_f64()).then(a_integer.is_some().cmp(&b_integer.is_some()))
            }
        },
        (Json::String(a), Json::String(b)) => a.cmp(b),
        (Json::Array(a), Json::Array(b)) => {
            let differing = a.iter().zip(b).map(|(a, b)| order(a, b)).find(|order| order.is_ne());
            differing.unwrap_or_else(|| a.len().cmp(&b.len()))
        }
        (Json::Object(a), Json::Object(b)) => {
            let sorted = |members: &'_ Object| {
                let mut members: Vec<(String, Json)> = members.clone().into_iter().collect();
                members.sort_unstable_by(|(a, _), (b, _)| a.cmp(b));
                members
            };
            let (a, b) = (sorted(a), sorted(b));
            let pairs = a.iter().zip(&b);
            let differing =
                pairs.map(|(a, b)| a.0.cmp(&b.0).then_with(|| order(&a.1, &b.1))).find(|order| order.is_ne());
            differing.unwrap_or_else(|| a.len().cmp(&b.len()))
        }
        _ => rank(a).cmp(&rank(b)),
    }
}

//! The meta-schemas of the drafts, as tables: what each keyword's value has to be.
//!
//! The rows are the official meta-schemas (see fixtures/SOURCES.md) in the form the official conversion carries
//! them, which is a little laxer in places (an `enum` may be empty or repeat itself). Their order matters: it
//! decides which of several faults is the first.

use super::rules::Rule::{self, *};

/// A version of JSON Schema.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(in crate::schema) enum Draft {
    Draft4,
    Draft6,
    Draft7,
    Draft201909,
    Draft202012,
    /// Named by a `$schema` that no draft has. Checked like the newest draft.
    Unknown,
}

impl Draft {
    /// The draft that a `$schema` names.
    pub(super) fn named(uri: &str) -> Self {
        let uri = uri.trim_end_matches('#');
        let path = uri.strip_prefix("https://").or_else(|| uri.strip_prefix("http://")).unwrap_or_default();
        match path {
            "json-schema.org/draft/2020-12/schema" | "json-schema.org/schema" => Self::Draft202012,
            "json-schema.org/draft/2019-09/schema" => Self::Draft201909,
            "json-schema.org/draft-07/schema" => Self::Draft7,
            "json-schema.org/draft-06/schema" => Self::Draft6,
            "json-schema.org/draft-04/schema" => Self::Draft4,
            _ => Self::Unknown,
        }
    }

    /// Whether a `$ref` hides its siblings, identifiers are written `#name` and formats are checked.
    pub(in crate::schema) const fn is_classic(self) -> bool {
        matches!(self, Self::Draft4 | Self::Draft6 | Self::Draft7)
    }

    /// The groups of keywords, in the order in which a schema is checked against them.
    pub(super) const fn groups(self) -> &'static [Group] {
        match self {
            Self::Draft4 => &[Group(DRAFT_4)],
            Self::Draft6 => &[Group(DRAFT_6)],
            Self::Draft7 => &[Group(DRAFT_7)],
            Self::Draft201909 => &DRAFT_2019_09,
            Self::Draft202012 | Self::Unknown => &DRAFT_2020_12,
        }
    }
}

/// Keywords that are checked together.
pub(super) struct Group(pub(super) &'static [(&'static str, Rule)]);

/// From this many rows on, a group is looked up by the schema's members; below, the shorter side leads.
const MANY_ROWS: usize = 15;

impl Group {
    /// Whether the order of the schema's members, of which there are `count`, decides what is checked first.
    pub(super) const fn follows_members(&self, count: usize) -> bool {
        self.0.len() >= MANY_ROWS || count <= self.0.len()
    }

    pub(super) fn rule(&self, keyword: &str) -> Option<Rule> {
        self.0.iter().find(|(name, _)| *name == keyword).map(|(_, rule)| *rule)
    }
}

const DRAFT_4: &[(&str, Rule)] = &[
    ("id", Text),
    ("$schema", Text),
    ("title", Text),
    ("description", Text),
    ("multipleOf", Positive),
    ("maximum", Numeric),
    ("exclusiveMaximum", Flag),
    ("minimum", Numeric),
    ("exclusiveMinimum", Flag),
    ("maxLength", Size),
    ("minLength", Size),
    ("pattern", Pattern),
    ("additionalItems", FlagOrSchema),
    ("items", SchemaOrSchemas),
    ("maxItems", Size),
    ("minItems", Size),
    ("uniqueItems", Flag),
    ("maxProperties", Size),
    ("minProperties", Size),
    ("required", SomeNames),
    ("additionalProperties", FlagOrSchema),
    ("definitions", SchemasByName),
    ("properties", SchemasByName),
    ("patternProperties", SchemasByName),
    ("dependencies", Dependencies(true)),
    ("enum", List),
    ("type", TypeNames),
    ("format", Text),
    ("allOf", Schemas),
    ("anyOf", Schemas),
    ("oneOf", Schemas),
    ("not", Schema),
];

const DRAFT_6: &[(&str, Rule)] = &[
    ("$id", UriReference),
    ("$schema", Uri),
    ("$ref", UriReference),
    ("title", Text),
    ("description", Text),
    ("examples", List),
    ("multipleOf", Positive),
    ("maximum", Numeric),
    ("exclusiveMaximum", Numeric),
    ("minimum", Numeric),
    ("exclusiveMinimum", Numeric),
    ("maxLength", Size),
    ("minLength", Size),
    ("pattern", Pattern),
    ("additionalItems", Schema),
    ("items", SchemaOrSchemas),
    ("maxItems", Size),
    ("minItems", Size),
    ("uniqueItems", Flag),
    ("contains", Schema),
    ("maxProperties", Size),
    ("minProperties", Size),
    ("required", Names),
    ("additionalProperties", Schema),
    ("definitions", SchemasByName),
    ("properties", SchemasByName),
    ("patternProperties", SchemasByPattern),
    ("dependencies", Dependencies(false)),
    ("propertyNames", Schema),
    ("enum", List),
    ("type", TypeNames),
    ("format", Text),
    ("allOf", Schemas),
    ("anyOf", Schemas),
    ("oneOf", Schemas),
    ("not", Schema),
];

const DRAFT_7: &[(&str, Rule)] = &[
    ("$id", UriReference),
    ("$schema", Uri),
    ("$ref", UriReference),
    ("$comment", Text),
    ("title", Text),
    ("description", Text),
    ("readOnly", Flag),
    ("writeOnly", Flag),
    ("examples", List),
    ("multipleOf", Positive),
    ("maximum", Numeric),
    ("exclusiveMaximum", Numeric),
    ("minimum", Numeric),
    ("exclusiveMinimum", Numeric),
    ("maxLength", Size),
    ("minLength", Size),
    ("pattern", Pattern),
    ("additionalItems", Schema),
    ("items", SchemaOrSchemas),
    ("maxItems", Size),
    ("minItems", Size),
    ("uniqueItems", Flag),
    ("contains", Schema),
    ("maxProperties", Size),
    ("minProperties", Size),
    ("required", Names),
    ("additionalProperties", Schema),
    ("definitions", SchemasByName),
    ("properties", SchemasByName),
    ("patternProperties", SchemasByPattern),
    ("dependencies", Dependencies(false)),
    ("propertyNames", Schema),
    ("enum", List),
    ("type", TypeNames),
    ("format", Text),
    ("contentMediaType", Text),
    ("contentEncoding", Text),
    ("if", Schema),
    ("then", Schema),
    ("else", Schema),
    ("allOf", Schemas),
    ("anyOf", Schemas),
    ("oneOf", Schemas),
    ("not", Schema),
];

const DRAFT_2019_09: [Group; 7] = [
    Group(&[("definitions", SchemasByName), ("dependencies", Dependencies(false))]),
    Group(&[
        ("$id", Identifier),
        ("$schema", Text),
        ("$anchor", Matching(ANCHOR_2019)),
        ("$ref", Text),
        ("$recursiveRef", Text),
        ("$recursiveAnchor", Flag),
        ("$vocabulary", Flags),
        ("$comment", Text),
        ("$defs", SchemasByName),
    ]),
    Group(&[
        ("additionalItems", Schema),
        ("unevaluatedItems", Schema),
        ("items", SchemaOrSchemas),
        ("contains", Schema),
        ("additionalProperties", Schema),
        ("unevaluatedProperties", Schema),
        ("properties", SchemasByName),
        ("patternProperties", SchemasByName),
        ("dependentSchemas", SchemasByName),
        ("propertyNames", Schema),
        ("if", Schema),
        ("then", Schema),
        ("else", Schema),
        ("allOf", Schemas),
        ("anyOf", Schemas),
        ("oneOf", Schemas),
        ("not", Schema),
    ]),
    Group(VALIDATION),
    META_DATA,
    Group(&[("format", Text)]),
    CONTENT,
];

const DRAFT_2020_12: [Group; 8] = [
    Group(&[
        ("definitions", SchemasByName),
        ("dependencies", Dependencies(false)),
        ("$recursiveAnchor", Matching(ANCHOR_2020)),
        ("$recursiveRef", Text),
    ]),
    Group(&[
        ("$id", Identifier),
        ("$schema", Text),
        ("$ref", Text),
        ("$anchor", Matching(ANCHOR_2020)),
        ("$dynamicRef", Text),
        ("$dynamicAnchor", Matching(ANCHOR_2020)),
        ("$vocabulary", Flags),
        ("$comment", Text),
        ("$defs", SchemasByName),
    ]),
    Group(&[
        ("prefixItems", Schemas),
        ("items", Schema),
        ("contains", Schema),
        ("additionalProperties", Schema),
        ("properties", SchemasByName),
        ("patternProperties", SchemasByName),
        ("dependentSchemas", SchemasByName),
        ("propertyNames", Schema),
        ("if", Schema),
        ("then", Schema),
        ("else", Schema),
        ("allOf", Schemas),
        ("anyOf", Schemas),
        ("oneOf", Schemas),
        ("not", Schema),
    ]),
    Group(&[("unevaluatedItems", Schema), ("unevaluatedProperties", Schema)]),
    Group(VALIDATION),
    META_DATA,
    Group(&[("format", Text)]),
    CONTENT,
];

const ANCHOR_2019: &str = "^[A-Za-z][-A-Za-z0-9.:_]*$";
const ANCHOR_2020: &str = "^[A-Za-z_][-A-Za-z0-9._]*$";

const VALIDATION: &[(&str, Rule)] = &[
    ("multipleOf", Positive),
    ("maximum", Numeric),
    ("exclusiveMaximum", Numeric),
    ("minimum", Numeric),
    ("exclusiveMinimum", Numeric),
    ("maxLength", Size),
    ("minLength", Size),
    ("pattern", Text),
    ("maxItems", Size),
    ("minItems", Size),
    ("uniqueItems", Flag),
    ("maxContains", Size),
    ("minContains", Size),
    ("maxProperties", Size),
    ("minProperties", Size),
    ("required", Names),
    ("dependentRequired", NamesByName),
    ("const", Anything),
    ("enum", List),
    ("type", TypeNames),
];

const META_DATA: Group = Group(&[
    ("title", Text),
    ("description", Text),
    ("default", Anything),
    ("deprecated", Flag),
    ("readOnly", Flag),
    ("writeOnly", Flag),
    ("examples", List),
]);

const CONTENT: Group =
    Group(&[("contentMediaType", Text), ("contentEncoding", Text), ("contentSchema", Schema)]);

//! The keywords: what each asserts, and what its opposite is.

use super::error::{Fault, Outcome};
use super::goal::{Compiler, Site};
use super::union::Union;
use crate::json::{Json, Number, Object};
use crate::schema::meta::drafts::Draft;

mod applied;
mod arrays;
mod numbers;
mod objects;
mod sizes;
mod strings;
mod unevaluated;
mod values;

use sizes::{Arrays, Objects};

/// A keyword.
struct Keyword {
    name: &'static str,
    /// The first and the last draft that has it.
    drafts: (Draft, Draft),
    stage: Stage,
    /// Which values it says something about.
    kind: Kind,
    /// Leaves those of the alternatives that satisfy the keyword.
    assert: Assert,
    /// What does not satisfy it.
    refute: Refute,
}

/// What becomes of asserting a keyword,
type Applied = Outcome<()>;
/// and of its opposite.
type Refuted<'s> = Outcome<Union<'s>>;

type Assert = for<'s> fn(&mut Compiler<'s>, &Site<'s>, &'s Json, &mut Union<'s>) -> Applied;
type Refute = for<'s> fn(&mut Compiler<'s>, &Site<'s>, &'s Json) -> Refuted<'s>;

/// Keywords are applied in this order: what narrows most comes first, what multiplies comes late.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Stage {
    /// Says nothing about values, or is read by another keyword.
    Note,
    Values,
    Parts,
    All,
    Some,
    /// Of the alternatives that are left, only one may hold.
    One,
    /// Looks at what the others evaluate.
    Rest,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    Any,
    Number,
    String,
    Array,
    Object,
}

impl Kind {
    fn is_in(self, union: &Union<'_>) -> bool {
        match self {
            Self::Any => !union.is_none(),
            Self::Number => !union.numbers.is_empty(),
            Self::String => union.strings.is_some(),
            Self::Array => !union.arrays.is_empty(),
            Self::Object => !union.objects.is_empty(),
        }
    }
}

const ALL: (Draft, Draft) = (Draft::Draft4, Draft::Unknown);
const OLD: (Draft, Draft) = (Draft::Draft4, Draft::Draft201909);
const FROM_6: (Draft, Draft) = (Draft::Draft6, Draft::Unknown);
const FROM_7: (Draft, Draft) = (Draft::Draft7, Draft::Unknown);
const FROM_2019: (Draft, Draft) = (Draft::Draft201909, Draft::Unknown);
const FROM_2020: (Draft, Draft) = (Draft::Draft202012, Draft::Unknown);
const ONLY_2019: (Draft, Draft) = (Draft::Draft201909, Draft::Draft201909);
const FROM_6_TO_7: (Draft, Draft) = (Draft::Draft6, Draft::Draft7);

const fn row(
    name: &'static str,
    drafts: (Draft, Draft),
    stage: Stage,
    kind: Kind,
    assert: Assert,
    refute: Refute,
) -> Keyword {
    Keyword { name, drafts, stage, kind, assert, refute }
}

const fn note(name: &'static str) -> Keyword {
    fn assert<'s>(_: &mut Compiler<'s>, _: &Site<'s>, _: &'s Json, _: &mut Union<'s>) -> Outcome<()> {
        Ok(())
    }
    fn refute<'s>(_: &mut Compiler<'s>, _: &Site<'s>, _: &'s Json) -> Outcome<Union<'s>> {
        Ok(Union::none())
    }
    row(name, ALL, Stage::Note, Kind::Any, assert, refute)
}

/// All keywords of all drafts, sorted by name.
#[rustfmt::skip]
const KEYWORDS: &[Keyword] = &[
    note("$anchor"),
    note("$comment"),
    note("$defs"),
    note("$dynamicAnchor"),
    row("$dynamicRef", FROM_2020, Stage::All, Kind::Any, applied::dynamic_ref, applied::no_dynamic_ref),
    note("$id"),
    note("$recursiveAnchor"),
    row("$recursiveRef", ONLY_2019, Stage::All, Kind::Any, applied::dynamic_ref, applied::no_dynamic_ref),
    row("$ref", ALL, Stage::All, Kind::Any, applied::reference, applied::no_reference),
    note("$schema"),
    note("$vocabulary"),
    row("additionalItems", OLD, Stage::Parts, Kind::Array, arrays::additional, arrays::no_additional),
    row("additionalProperties", ALL, Stage::Parts, Kind::Object, objects::additional, objects::no_additional),
    row("allOf", ALL, Stage::All, Kind::Any, applied::all_of, applied::no_all_of),
    row("anyOf", ALL, Stage::Some, Kind::Any, applied::any_of, applied::no_any_of),
    row("const", FROM_6, Stage::Values, Kind::Any, values::constant, values::no_constant),
    row("contains", FROM_6, Stage::Parts, Kind::Array, arrays::contains, arrays::no_contains),
    row("contentEncoding", FROM_6_TO_7, Stage::Parts, Kind::String, strings::encoding, strings::no_encoding),
    row("contentMediaType", FROM_6_TO_7, Stage::Parts, Kind::String, strings::media_type, strings::no_media_type),
    note("contentSchema"),
    note("default"),
    note("definitions"),
    row("dependencies", ALL, Stage::Some, Kind::Object, objects::dependencies, objects::no_dependencies),
    row("dependentRequired", FROM_2019, Stage::Parts, Kind::Object, objects::dependencies, objects::no_dependencies),
    row("dependentSchemas", FROM_2019, Stage::Some, Kind::Object, objects::dependencies, objects::no_dependencies),
    note("deprecated"),
    note("description"),
    note("else"),
    row("enum", ALL, Stage::Values, Kind::Any, values::listed, values::not_listed),
    note("examples"),
    row("exclusiveMaximum", FROM_6, Stage::Parts, Kind::Number, numbers::below, numbers::not_below),
    row("exclusiveMinimum", FROM_6, Stage::Parts, Kind::Number, numbers::above, numbers::not_above),
    row("format", ALL, Stage::Parts, Kind::String, strings::format, strings::no_format),
    note("id"),
    row("if", FROM_7, Stage::Some, Kind::Any, applied::condition, applied::no_condition),
    row("items", ALL, Stage::Parts, Kind::Array, arrays::items, arrays::no_items),
    note("maxContains"),
    row("maxItems", ALL, Stage::Parts, Kind::Array, sizes::at_most::<Arrays>, sizes::more_than::<Arrays>),
    row("maxLength", ALL, Stage::Parts, Kind::String, strings::at_most, strings::longer_than),
    row("maxProperties", ALL, Stage::Parts, Kind::Object, sizes::at_most::<Objects>, sizes::more_than::<Objects>),
    row("maximum", ALL, Stage::Parts, Kind::Number, numbers::maximum, numbers::beyond_maximum),
    note("minContains"),
    row("minItems", ALL, Stage::Parts, Kind::Array, sizes::at_least::<Arrays>, sizes::fewer_than::<Arrays>),
    row("minLength", ALL, Stage::Parts, Kind::String, strings::at_least, strings::shorter_than),
    row("minProperties", ALL, Stage::Parts, Kind::Object, sizes::at_least::<Objects>, sizes::fewer_than::<Objects>),
    row("minimum", ALL, Stage::Parts, Kind::Number, numbers::minimum, numbers::beyond_minimum),
    row("multipleOf", ALL, Stage::Parts, Kind::Number, numbers::multiple, numbers::no_multiple),
    row("not", ALL, Stage::Some, Kind::Any, applied::not, applied::not_not),
    row("oneOf", ALL, Stage::One, Kind::Any, applied::one_of, applied::no_one_of),
    row("pattern", ALL, Stage::Parts, Kind::String, strings::pattern, strings::no_pattern),
    row("patternProperties", ALL, Stage::Parts, Kind::Object, objects::patterns, objects::no_patterns),
    row("prefixItems", FROM_2020, Stage::Parts, Kind::Array, arrays::prefix, arrays::no_prefix),
    row("properties", ALL, Stage::Parts, Kind::Object, objects::properties, objects::no_properties),
    row("propertyNames", FROM_6, Stage::Parts, Kind::Object, objects::names, objects::no_names),
    note("readOnly"),
    row("required", ALL, Stage::Parts, Kind::Object, objects::required, objects::not_required),
    note("then"),
    note("title"),
    row("type", ALL, Stage::Values, Kind::Any, values::types, values::other_types),
    row("unevaluatedItems", FROM_2019, Stage::Rest, Kind::Array, unevaluated::items, unevaluated::no_items),
    row("unevaluatedProperties", FROM_2019, Stage::Rest, Kind::Object, unevaluated::properties, unevaluated::no_properties),
    row("uniqueItems", ALL, Stage::Parts, Kind::Array, arrays::unique, arrays::not_unique),
    note("writeOnly"),
];

fn keyword(name: &str) -> Option<&'static Keyword> {
    KEYWORDS.binary_search_by(|row| row.name.cmp(name)).ok().map(|at| &KEYWORDS[at])
}

/// The reference of a schema that says nothing else.
pub(super) fn plain_reference(draft: Draft, schema: &Json) -> Option<&str> {
    let members = schema.as_object()?;
    let reference = members.get("$ref")?.as_str()?;
    let is_note = |name: &str| {
        name == "$ref"
            || keyword(name).is_some_and(|row| row.stage == Stage::Note && !matches!(name, "$id" | "id"))
    };
    (draft.is_classic() || members.iter().all(|(name, _)| is_note(name))).then_some(reference)
}

/// The keywords that count in a schema, in the order in which they are applied.
fn rows<'s>(compiler: &mut Compiler<'s>, site: &Site<'s>) -> Vec<(&'static Keyword, &'s Json)> {
    let mut rows = Vec::with_capacity(site.members.len());
    if site.draft.is_classic()
        && let Some(target) = site.members.get("$ref")
        && let Some(row) = keyword("$ref")
    {
        return vec![(row, target)];
    }
    for (name, value) in site.members.iter() {
        match keyword(name) {
            None => compiler.note(site.address(), name, "no draft has this keyword".to_owned()),
            Some(row) if row.stage == Stage::Note => {}
            Some(row) if (row.drafts.0..=row.drafts.1).contains(&site.draft) => rows.push((row, value)),
            Some(row) if is_read_by_another(site, row) => {}
            Some(row) => {
                compiler.note(site.address(), row.name, "the draft does not have this keyword".to_owned());
            }
        }
    }
    rows.sort_by_key(|(row, _)| row.stage);
    rows
}

/// The oldest draft has flags beside the bounds.
fn is_read_by_another(site: &Site<'_>, row: &Keyword) -> bool {
    site.draft == Draft::Draft4 && matches!(row.name, "exclusiveMaximum" | "exclusiveMinimum")
}

impl<'s> Compiler<'s> {
    /// What is valid under a schema.
    pub(super) fn assert(&mut self, site: &Site<'s>, tracked: bool) -> Outcome<Union<'s>> {
        let rows = rows(self, site);
        self.spend(rows.len())?;
        // What is evaluated matters inside a schema that looks at it, and to whoever asked.
        let is_looking = rows.last().is_some_and(|(row, _)| row.stage == Stage::Rest);
        let site = Site { tracked: tracked || is_looking, ..site.clone() };
        let mut left = Union::any();
        for (row, value) in rows {
            if !row.kind.is_in(&left) {
                continue;
            }
            if let Err(fault) = (row.assert)(self, &site, value, &mut left) {
                self.relax(fault.at(site.address(), row.name))?;
            }
        }
        if is_looking && !tracked {
            left.forget_evaluated();
        }
        Ok(left)
    }

    /// What is not valid under a schema.
    pub(super) fn refute(&mut self, site: &Site<'s>) -> Outcome<Union<'s>> {
        let mut some = Union::none();
        for (row, value) in rows(self, site) {
            let refuted = (row.refute)(self, site, value);
            if let Err(fault) = refuted.and_then(|union| some.or(&union, self)) {
                self.relax(fault.at(site.address(), row.name))?;
                return Ok(Union::any());
            }
        }
        Ok(some)
    }
}

/// The lower bound of a size.
fn size_from(value: &Json) -> Outcome<u32> {
    match whole(value)? {
        size if size >= f64::from(u32::MAX) => Ok(u32::MAX),
        #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)]
        size => Ok(size as u32),
    }
}

/// The upper bound of a size; none if it is out of reach.
fn size_to(value: &Json) -> Outcome<Option<u32>> {
    Ok(Some(size_from(value)?).filter(|size| *size < u32::MAX))
}

fn whole(value: &Json) -> Outcome<f64> {
    match value {
        Json::Number(number) if number.as_f64() >= 0.0 && number.as_f64().fract() == 0.0 => {
            Ok(number.as_f64())
        }
        _ => Err(Fault::malformed("not a size")),
    }
}

fn number(value: &Json) -> Outcome<Number> {
    match value {
        Json::Number(number) => Ok(*number),
        _ => Err(Fault::malformed("not a number")),
    }
}

fn text(value: &Json) -> Outcome<&str> {
    value.as_str().ok_or_else(|| Fault::malformed("not a string"))
}

fn list(value: &Json) -> Outcome<&[Json]> {
    value.as_array().ok_or_else(|| Fault::malformed("not an array"))
}

fn by_name(value: &Json) -> Outcome<&Object> {
    value.as_object().ok_or_else(|| Fault::malformed("not an object"))
}

/// A list of strings.
fn names(value: &Json) -> Outcome<Vec<&str>> {
    list(value)?.iter().map(text).collect()
}

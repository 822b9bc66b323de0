//! `type`, `enum`, `const`.

use super::{list, text};
use crate::grammar::number::NumberSet;
use crate::grammar::value::ValueId;
use crate::json::Json;
use crate::schema::meta::drafts::Draft;
use crate::schema::values::error::{Fault, Outcome};
use crate::schema::values::goal::{Compiler, Site};
use crate::schema::values::items::Items;
use crate::schema::values::members::{Members, Rules};
use crate::schema::values::union::{Union, add_number};

#[derive(Default)]
struct Types {
    null: bool,
    boolean: bool,
    integer: bool,
    number: bool,
    string: bool,
    array: bool,
    object: bool,
}

fn named(value: &Json) -> Outcome<Types> {
    let mut types = Types::default();
    let names = match value {
        Json::Array(names) => &names[..],
        one => std::slice::from_ref(one),
    };
    for name in names {
        let flag = match text(name)? {
            "null" => &mut types.null,
            "boolean" => &mut types.boolean,
            "integer" => &mut types.integer,
            "number" => &mut types.number,
            "string" => &mut types.string,
            "array" => &mut types.array,
            "object" => &mut types.object,
            other => return Err(Fault::malformed(format!("'{other}' is no type"))),
        };
        *flag = true;
    }
    Ok(types)
}

pub(super) fn types<'s>(
    compiler: &mut Compiler<'s>,
    site: &Site<'s>,
    value: &'s Json,
    left: &mut Union<'s>,
) -> Outcome<()> {
    let types = named(value)?;
    left.null &= types.null;
    left.yes &= types.boolean;
    left.no &= types.boolean;
    if !types.number {
        left.numbers = if types.integer {
            Union::of_numbers(vec![integers(site)]).and(left, compiler)?.numbers
        } else {
            Vec::new()
        };
    }
    if !types.string {
        left.strings = None;
    }
    if !types.array {
        left.arrays.clear();
    }
    if !types.object {
        left.objects.clear();
    }
    Ok(())
}

pub(super) fn other_types<'s>(
    compiler: &mut Compiler<'s>,
    site: &Site<'s>,
    value: &'s Json,
) -> Outcome<Union<'s>> {
    let types = named(value)?;
    let mut left = Union::any();
    left.null = !types.null;
    left.yes = !types.boolean;
    left.no = !types.boolean;
    if types.number {
        left.numbers.clear();
    } else if types.integer {
        left.numbers = compiler.not_number(&integers(site))?;
    }
    if types.string {
        left.strings = None;
    }
    if types.array {
        left.arrays.clear();
    }
    if types.object {
        left.objects.clear();
    }
    Ok(left)
}

/// The integers as the draft has them: in the oldest one, what is written with a point or an exponent is none.
fn integers(site: &Site<'_>) -> NumberSet {
    if site.draft == Draft::Draft4 { NumberSet::plain_integers() } else { NumberSet::integers() }
}

pub(super) fn listed<'s>(
    compiler: &mut Compiler<'s>,
    _: &Site<'s>,
    value: &'s Json,
    left: &mut Union<'s>,
) -> Outcome<()> {
    let values: Vec<&Json> = list(value)?.iter().collect();
    *left = compiler.listed_values(&values)?.and(left, compiler)?;
    Ok(())
}

pub(super) fn not_listed<'s>(
    compiler: &mut Compiler<'s>,
    _: &Site<'s>,
    value: &'s Json,
) -> Outcome<Union<'s>> {
    let values: Vec<&Json> = list(value)?.iter().collect();
    compiler.unlisted_values(&values)
}

pub(super) fn constant<'s>(
    compiler: &mut Compiler<'s>,
    _: &Site<'s>,
    value: &'s Json,
    left: &mut Union<'s>,
) -> Outcome<()> {
    *left = compiler.listed_values(&[value])?.and(left, compiler)?;
    Ok(())
}

pub(super) fn no_constant<'s>(
    compiler: &mut Compiler<'s>,
    _: &Site<'s>,
    value: &'s Json,
) -> Outcome<Union<'s>> {
    compiler.unlisted_values(&[value])
}

impl<'s> Compiler<'s> {
    /// Just these values.
    pub(in crate::schema::values) fn listed_values(&mut self, values: &[&'s Json]) -> Outcome<Union<'s>> {
        let mut union = Union::none();
        let mut words = Vec::new();
        self.spend(values.len())?;
        for value in values {
            match value {
                Json::Null => union.null = true,
                Json::Bool(true) => union.yes = true,
                Json::Bool(false) => union.no = true,
                Json::Number(number) => add_number(&mut union.numbers, &NumberSet::one((*number).into())),
                Json::String(text) => words.push(text.as_str()),
                Json::Array(elements) => {
                    let prefix =
                        elements.iter().map(|element| self.equal(element)).collect::<Outcome<_>>()?;
                    let items = exactly(prefix)?;
                    union.or(&Union::of_arrays([items]), self)?;
                }
                Json::Object(members) => {
                    let mut rules = Rules { rest: Some(ValueId::NEVER), ..Rules::default() };
                    let mut required = Vec::with_capacity(members.len());
                    for (key, value) in members.iter() {
                        rules.named.push((key, self.equal(value)?));
                        required.push(key);
                    }
                    let members = Members { required, ..Members::ruled(rules) };
                    union.or(&Union::of_objects([members]), self)?;
                }
            }
        }
        if !words.is_empty() {
            union.strings = Some(self.words(&words)?);
        }
        Ok(union)
    }

    /// All but these values.
    pub(in crate::schema::values) fn unlisted_values(&mut self, values: &[&'s Json]) -> Outcome<Union<'s>> {
        let mut left = Union::any();
        let mut words = Vec::new();
        let mut numbers = Vec::new();
        self.spend(values.len())?;
        for value in values {
            match value {
                Json::Null => left.null = false,
                Json::Bool(true) => left.yes = false,
                Json::Bool(false) => left.no = false,
                Json::Number(number) => numbers.push(*number),
                Json::String(text) => words.push(text.as_str()),
                Json::Array(elements) => {
                    let other = self.other_array(elements)?;
                    let other = Union { arrays: other.arrays, ..Union::any() };
                    left = left.and(&other, self)?;
                }
                Json::Object(members) => {
                    let mut others = Vec::with_capacity(members.len() * 2 + 1);
                    for (key, value) in members.iter() {
                        others.push(Members::without(key));
                        let equal = self.equal(value)?;
                        others.push(Members::with(key, self.negated(equal)?));
                    }
                    // With all of the keys there, one more key is the only way left to be different.
                    let more = u32::try_from(members.len()).unwrap_or(u32::MAX).saturating_add(1);
                    others.push(Members { min: more, ..Members::default() });
                    let other = Union { objects: Union::of_objects(others).objects, ..Union::any() };
                    left = left.and(&other, self)?;
                }
            }
        }
        if !words.is_empty() {
            let words = self.words(&words)?;
            let others = self.not_strings(&words)?;
            left.strings = (!others.is_empty()).then_some(others);
        }
        if !numbers.is_empty() {
            left.numbers = vec![self.other_numbers(&numbers)?];
        }
        Ok(left)
    }

    fn other_array(&mut self, elements: &'s [Json]) -> Outcome<Union<'s>> {
        let count = u32::try_from(elements.len()).map_err(|_| Fault::unsupported("a long array"))?;
        let mut others = vec![Items { min: count + 1, ..Items::default() }];
        if let Some(max) = count.checked_sub(1) {
            others.push(Items { max: Some(max), ..Items::default() });
        }
        for (index, element) in elements.iter().enumerate() {
            let equal = self.equal(element)?;
            let mut prefix = vec![ValueId::ANY; index];
            prefix.push(self.negated(equal)?);
            #[allow(clippy::cast_possible_truncation)]
            others.push(Items { min: index as u32 + 1, prefix, ..Items::default() });
        }
        self.spend(elements.len() * elements.len() / 8)?;
        Ok(Union::of_arrays(others))
    }
}

/// Arrays of just these items.
fn exactly(prefix: Vec<ValueId>) -> Outcome<Items> {
    let count = u32::try_from(prefix.len()).map_err(|_| Fault::unsupported("a long array"))?;
    Ok(Items { prefix, rest: ValueId::NEVER, min: count, max: Some(count), ..Items::default() })
}

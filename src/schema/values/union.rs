//! Unions of alternatives: what one place may hold, before anything below it is looked into.

use std::rc::Rc;

use super::error::{Cause, Fault, Outcome};
use super::goal::Compiler;
use super::items::{EvaluatedItems, Items};
use super::members::Members;
use super::sets::is_any_number;
use crate::grammar::language::Language;
use crate::grammar::number::NumberSet;

/// A union of alternatives.
#[derive(Debug, Clone)]
pub(super) struct Union<'s> {
    pub(super) null: bool,
    pub(super) yes: bool,
    pub(super) no: bool,
    /// Sets that are not empty.
    pub(super) numbers: Vec<NumberSet>,
    /// Not empty.
    pub(super) strings: Option<Language>,
    pub(super) arrays: Vec<Rc<Items>>,
    pub(super) objects: Vec<Rc<Members<'s>>>,
}

impl<'s> Union<'s> {
    pub(super) const fn none() -> Self {
        Self {
            null: false,
            yes: false,
            no: false,
            numbers: Vec::new(),
            strings: None,
            arrays: Vec::new(),
            objects: Vec::new(),
        }
    }

    pub(super) fn any() -> Self {
        Self {
            null: true,
            yes: true,
            no: true,
            numbers: vec![NumberSet::any()],
            strings: Some(Language::any()),
            arrays: vec![Rc::new(Items::default())],
            objects: vec![Rc::new(Members::default())],
        }
    }

    pub(super) fn of_objects(objects: impl IntoIterator<Item = Members<'s>>) -> Self {
        Self { objects: objects.into_iter().map(Rc::new).collect(), ..Self::none() }
    }

    pub(super) fn of_arrays(arrays: impl IntoIterator<Item = Items>) -> Self {
        Self { arrays: arrays.into_iter().map(Rc::new).collect(), ..Self::none() }
    }

    pub(super) fn of_strings(language: Language) -> Self {
        Self { strings: (!language.is_empty()).then_some(language), ..Self::none() }
    }

    pub(super) fn of_numbers(numbers: Vec<NumberSet>) -> Self {
        Self { numbers, ..Self::none() }
    }

    pub(super) fn is_none(&self) -> bool {
        !self.null
            && !self.yes
            && !self.no
            && self.numbers.is_empty()
            && self.strings.is_none()
            && self.arrays.is_empty()
            && self.objects.is_empty()
    }

    /// Whether some alternative remembers what it evaluates.
    pub(super) fn evaluates(&self) -> bool {
        self.objects.iter().any(|members| !members.evaluated.is_empty())
            || self.arrays.iter().any(|items| items.evaluated != EvaluatedItems::default())
    }

    /// What is in both.
    pub(super) fn and(&self, other: &Self, compiler: &mut Compiler<'s>) -> Outcome<Self> {
        let mut both = Self {
            null: self.null && other.null,
            yes: self.yes && other.yes,
            no: self.no && other.no,
            ..Self::none()
        };
        compiler.spend(4)?;
        both.numbers = and_numbers(&self.numbers, &other.numbers, compiler)?;
        if let (Some(mine), Some(others)) = (&self.strings, &other.strings) {
            both.strings = compiler.and_strings(mine, others)?;
        }
        both.arrays = and_each(&self.arrays, &other.arrays, compiler)?;
        both.objects = and_each(&self.objects, &other.objects, compiler)?;
        Ok(both)
    }

    /// Adds what is in `other`.
    pub(super) fn or(&mut self, other: &Self, compiler: &mut Compiler<'s>) -> Outcome<()> {
        compiler.spend(2)?;
        self.null |= other.null;
        self.yes |= other.yes;
        self.no |= other.no;
        for set in &other.numbers {
            add_number(&mut self.numbers, set);
        }
        self.strings = match (self.strings.take(), &other.strings) {
            (Some(mine), Some(others)) => Some(compiler.or_strings(&mine, others)?),
            (mine, others) => mine.or_else(|| others.clone()),
        };
        add_each(&mut self.arrays, &other.arrays, compiler)?;
        add_each(&mut self.objects, &other.objects, compiler)
    }
}

fn and_numbers(a: &[NumberSet], b: &[NumberSet], compiler: &mut Compiler<'_>) -> Outcome<Vec<NumberSet>> {
    if let [set] = b
        && is_any_number(set)
    {
        return Ok(a.to_vec());
    }
    let mut both = Vec::new();
    for a in a {
        for b in b {
            compiler.spend(4)?;
            let set = if is_any_number(a) { b.clone() } else { compiler.and_number(a, b)? };
            if !set.is_empty() {
                add_number(&mut both, &set);
                compiler.check_alternatives(both.len() / 8)?;
            }
        }
    }
    Ok(both)
}

pub(super) fn add_number(sets: &mut Vec<NumberSet>, set: &NumberSet) {
    if is_any_number(set) {
        sets.clear();
    }
    if !sets.contains(set) && !sets.first().is_some_and(is_any_number) {
        sets.push(set.clone());
    }
}

/// What alternatives of one JSON type have in common.
pub(super) trait Alternative<'s>: Default + PartialEq + Sized {
    /// What is in both: nothing, one alternative, or several.
    fn meet(&self, other: &Self, compiler: &mut Compiler<'s>) -> Outcome<Vec<Self>>;

    /// Whether everything in `other` is in this one, as far as that shows at once.
    fn covers(&self, other: &Self, compiler: &Compiler<'s>) -> bool;

    /// One alternative for both, where that is just as much.
    fn joined(&self, other: &Self) -> Option<Self>;
}

fn and_each<'s, T: Alternative<'s>>(
    a: &[Rc<T>],
    b: &[Rc<T>],
    compiler: &mut Compiler<'s>,
) -> Outcome<Vec<Rc<T>>> {
    let is_any = |alternatives: &[Rc<T>]| matches!(alternatives, [one] if **one == T::default());
    if is_any(a) {
        return Ok(b.to_vec());
    }
    if is_any(b) {
        return Ok(a.to_vec());
    }
    let mut both: Vec<Rc<T>> = Vec::new();
    for a in a {
        for b in b {
            compiler.spend(8)?;
            if Rc::ptr_eq(a, b) {
                add_alternative(&mut both, Rc::clone(a), compiler)?;
            } else {
                for met in a.meet(b, compiler)? {
                    add_alternative(&mut both, Rc::new(met), compiler)?;
                }
            }
        }
    }
    Ok(both)
}

fn add_each<'s, T: Alternative<'s>>(
    to: &mut Vec<Rc<T>>,
    more: &[Rc<T>],
    compiler: &mut Compiler<'s>,
) -> Outcome<()> {
    more.iter().try_for_each(|alternative| add_alternative(to, Rc::clone(alternative), compiler))
}

/// Adds an alternative; drops those that are covered by others.
fn add_alternative<'s, T: Alternative<'s>>(
    to: &mut Vec<Rc<T>>,
    mut alternative: Rc<T>,
    compiler: &mut Compiler<'s>,
) -> Outcome<()> {
    let mut joined = true;
    while joined {
        joined = false;
        compiler.spend(1 + to.len())?;
        if to.iter().any(|known| known.covers(&alternative, compiler)) {
            return Ok(());
        }
        to.retain(|known| !alternative.covers(known, compiler));
        for place in 0..to.len() {
            if let Some(both) = to[place].joined(&alternative) {
                to.remove(place);
                alternative = Rc::new(both);
                joined = true;
                break;
            }
        }
    }
    to.push(alternative);
    compiler.check_alternatives(to.len())
}

impl Compiler<'_> {
    pub(super) fn check_alternatives(&self, count: usize) -> Outcome<()> {
        if count > self.options.limits.alternatives {
            return Err(Fault::new(Cause::Crowded, "too many alternatives for one place"));
        }
        Ok(())
    }
}

//! One alternative for objects.

use std::collections::HashSet;
use std::rc::Rc;

use super::error::Outcome;
use super::goal::Compiler;
use super::items::least;
use super::union::Alternative;
use crate::grammar::language::Language;
use crate::grammar::value::ValueId;

/// One alternative for objects: everything it says holds.
#[derive(Debug, Clone, Default, PartialEq)]
pub(super) struct Members<'s> {
    pub(super) rules: Vec<Rc<Rules<'s>>>,
    /// What else single members must be, sorted by key. Never what the rules say already.
    pub(super) refined: Vec<(&'s str, ValueId)>,
    /// Keys that must be there.
    pub(super) required: Vec<&'s str>,
    /// Each key must be in all of these.
    pub(super) names: Vec<Language>,
    pub(super) min: u32,
    pub(super) max: Option<u32>,
    /// If the first key is there, so must be the second.
    pub(super) dependent: Vec<(&'s str, &'s str)>,
    /// For each of these, some key must have a value of its kind.
    pub(super) witnesses: Vec<Rc<Witness<'s>>>,
    /// The keys that are evaluated, where that is tracked.
    pub(super) evaluated: Vec<Rc<Rules<'s>>>,
}

/// What members must be, by key. `Eq` lets shared ones be equal at once.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Rules<'s> {
    pub(super) named: Vec<(&'s str, ValueId)>,
    /// For keys in a language; several may apply, also to named keys.
    pub(super) patterns: Vec<(Language, ValueId)>,
    /// For keys that are neither named nor in a language.
    pub(super) rest: Option<ValueId>,
}

/// Which keys may bear witness, and to what.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Witness<'s> {
    pub(super) keys: Keys<'s>,
    pub(super) value: ValueId,
    /// Other alternatives cover the objects that are not in this one.
    pub(super) beside: Option<Members<'s>>,
}

#[derive(Debug, Clone, PartialEq)]
pub(super) enum Keys<'s> {
    /// The keys in a language.
    In(Language),
    /// The keys not in a language.
    Outside(Language),
    /// The keys that rules know neither by name nor by pattern.
    Beyond(Rc<Rules<'s>>),
}

impl Keys<'_> {
    pub(super) fn has(&self, key: &str) -> bool {
        match self {
            Self::In(language) => language.contains(key),
            Self::Outside(language) => !language.contains(key),
            Self::Beyond(known) => !known.knows(key),
        }
    }
}

impl<'s> Members<'s> {
    pub(super) fn ruled(rules: Rules<'s>) -> Self {
        Self { rules: vec![Rc::new(rules)], ..Self::default() }
    }

    /// Objects that have `key`, with a value in `value`.
    pub(super) fn with(key: &'s str, value: ValueId) -> Self {
        let refined = if value == ValueId::ANY { Vec::new() } else { vec![(key, value)] };
        Self { refined, required: vec![key], ..Self::default() }
    }

    /// Objects that do not have `key`.
    pub(super) fn without(key: &'s str) -> Self {
        Self { refined: vec![(key, ValueId::NEVER)], ..Self::default() }
    }

    /// What the value of `key` must be.
    pub(super) fn value_of(&self, key: &str, compiler: &mut Compiler<'s>) -> Outcome<ValueId> {
        let ruled = self.ruled_value(key, compiler)?;
        match self.refined.binary_search_by(|(known, _)| (*known).cmp(key)) {
            Ok(place) => compiler.both(ruled, self.refined[place].1),
            Err(_) => Ok(ruled),
        }
    }

    /// What all but the refinements say about the value of `key`.
    fn ruled_value(&self, key: &str, compiler: &mut Compiler<'s>) -> Outcome<ValueId> {
        if self.names.iter().any(|names| !names.contains(key)) {
            return Ok(ValueId::NEVER);
        }
        let mut value = ValueId::ANY;
        for rules in &self.rules {
            value = rules.value_of(key, value, compiler)?;
        }
        Ok(value)
    }

    /// Says one thing more about the value of `key`.
    fn refine(&mut self, key: &'s str, more: ValueId, compiler: &mut Compiler<'s>) -> Outcome<()> {
        match self.refined.binary_search_by(|(known, _)| (*known).cmp(key)) {
            Ok(place) => self.refined[place].1 = compiler.both(self.refined[place].1, more)?,
            Err(place) => self.refined.insert(place, (key, more)),
        }
        Ok(())
    }

    /// Adds all that `other` says.
    fn add(&mut self, other: &Self, compiler: &mut Compiler<'s>) -> Outcome<()> {
        compiler.spend(self.rules.len() + other.rules.len() + other.required.len())?;
        merge(&mut self.rules, &other.rules);
        merge_names(&mut self.required, &other.required);
        merge(&mut self.names, &other.names);
        merge(&mut self.dependent, &other.dependent);
        merge(&mut self.evaluated, &other.evaluated);
        merge(&mut self.witnesses, &other.witnesses);
        self.min = self.min.max(other.min);
        self.max = least(self.max, other.max);
        for (key, value) in &other.refined {
            self.refine(key, *value, compiler)?;
        }
        Ok(())
    }

    /// Drops refinements that say nothing new. Whether it shows without much work that there is no such object.
    fn is_hollow(&mut self, compiler: &mut Compiler<'s>) -> Outcome<bool> {
        #[allow(clippy::cast_possible_truncation)]
        if self.max.is_some_and(|max| max < self.min || max < self.required.len() as u32) {
            return Ok(true);
        }
        for (key, more) in std::mem::take(&mut self.refined) {
            let value = self.ruled_value(key, compiler)?;
            let both = compiler.both(value, more)?;
            if compiler.is_plainly_empty(both)? {
                if self.required.contains(&key) {
                    return Ok(true);
                }
                if value != ValueId::NEVER {
                    self.refined.push((key, ValueId::NEVER));
                }
            } else if !compiler.implies(value, more)? {
                self.refined.push((key, more));
            }
        }
        if self.rules.len() < 2 && self.rules.iter().all(|rules| rules.named.len() > 1) {
            return Ok(false);
        }
        for key in &self.required {
            let value = self.value_of(key, compiler)?;
            if value == ValueId::NEVER || compiler.is_plainly_empty(value)? {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// Where all keys are known, a demand for a witness becomes one alternative for each key that may bear it.
    fn without_witness(&self, place: usize, compiler: &mut Compiler<'s>) -> Outcome<Option<Vec<Self>>> {
        let closed = |rules: &&Rc<Rules<'s>>| rules.rest == Some(ValueId::NEVER) && rules.patterns.is_empty();
        let Some(rules) = self.rules.iter().find(closed).cloned() else { return Ok(None) };
        let mut plain = self.clone();
        let witness = plain.witnesses.remove(place);
        let mut alternatives = Vec::new();
        for (key, _) in &rules.named {
            compiler.spend(2)?;
            let value = self.value_of(key, compiler)?;
            if value == ValueId::NEVER || !witness.keys.has(key) {
                continue;
            }
            let is_borne = compiler.implies(value, witness.value)?;
            let is_required = self.required.contains(key);
            if is_borne && is_required {
                return Ok(Some(vec![plain]));
            }
            let mut with_key = plain.clone();
            if !is_required {
                with_key.required.push(key);
            }
            if !is_borne {
                with_key.refine(key, witness.value, compiler)?;
            }
            if !with_key.is_hollow(compiler)? {
                alternatives.push(with_key);
            }
        }
        Ok(Some(alternatives))
    }
}

impl<'s> Alternative<'s> for Members<'s> {
    fn meet(&self, other: &Self, compiler: &mut Compiler<'s>) -> Outcome<Vec<Self>> {
        let mut both = self.clone();
        both.add(other, compiler)?;
        if both.is_hollow(compiler)? {
            return Ok(Vec::new());
        }
        if both.witnesses.is_empty() {
            return Ok(vec![both]);
        }
        let mut done = Vec::new();
        let mut open = vec![both];
        while let Some(next) = open.pop() {
            let mut is_open = false;
            for place in 0..next.witnesses.len() {
                if let Some(alternatives) = next.without_witness(place, compiler)? {
                    open.extend(alternatives);
                    compiler.check_alternatives(open.len() + done.len())?;
                    is_open = true;
                    break;
                }
            }
            if !is_open {
                done.extend(next.with_few_witnesses(compiler)?);
            }
        }
        Ok(done)
    }

    fn covers(&self, other: &Self, compiler: &Compiler<'s>) -> bool {
        let is_bounded = |max: u32| other.max.is_some_and(|others| others <= max);
        self.min <= other.min
            && self.max.is_none_or(is_bounded)
            && self.evaluated == other.evaluated
            && all_in(&self.rules, &other.rules)
            && all_in(&self.required, &other.required)
            && all_in(&self.names, &other.names)
            && all_in(&self.dependent, &other.dependent)
            && all_in(&self.witnesses, &other.witnesses)
            && self.refined.iter().all(|(key, value)| {
                let others = other.refined.binary_search_by(|(known, _)| known.cmp(key));
                others.is_ok_and(|place| compiler.is_stated(other.refined[place].1, *value))
            })
    }

    /// With a key and without it is just as well.
    fn joined(&self, other: &Self) -> Option<Self> {
        let (with, without) =
            if self.required.len() > other.required.len() { (self, other) } else { (other, self) };
        if with.required.len() != without.required.len() + 1
            || without.refined.len() != with.refined.len() + 1
        {
            return None;
        }
        let (key, _) = without.refined.iter().find(|(key, value)| {
            *value == ValueId::NEVER && with.required.contains(key) && !without.required.contains(key)
        })?;
        let mut joined = without.clone();
        joined.refined.retain(|(known, _)| known != key);
        let mut others = with.clone();
        others.required.retain(|known| known != key);
        (joined.refined == others.refined
            && all_in(&joined.required, &others.required)
            && joined.rules == others.rules
            && joined.names == others.names
            && joined.dependent == others.dependent
            && joined.witnesses == others.witnesses
            && joined.evaluated == others.evaluated
            && (joined.min, joined.max) == (others.min, others.max))
            .then_some(joined)
    }
}

impl<'s> Members<'s> {
    /// Several demands for witnesses often exclude each other beside them.
    fn with_few_witnesses(mut self, compiler: &mut Compiler<'s>) -> Outcome<Option<Self>> {
        if self.witnesses.len() < 2 {
            return Ok(Some(self));
        }
        for witness in self.witnesses.clone() {
            if let Some(beside) = &witness.beside {
                self.add(beside, compiler)?;
            }
        }
        Ok(if self.is_hollow(compiler)? { None } else { Some(self) })
    }
}

fn all_in<T: PartialEq>(some: &[T], all: &[T]) -> bool {
    some.len() <= all.len() && some.iter().all(|one| all.contains(one))
}

/// Adds what is not there yet.
pub(super) fn merge<T: PartialEq + Clone>(to: &mut Vec<T>, more: &[T]) {
    for one in more {
        if !to.contains(one) {
            to.push(one.clone());
        }
    }
}

/// Like [`merge`], for lists that may be long.
fn merge_names<'s>(to: &mut Vec<&'s str>, more: &[&'s str]) {
    const FEW: usize = 16;
    if to.len() <= FEW || more.len() <= FEW {
        merge(to, more);
    } else {
        let known: HashSet<&str> = to.iter().copied().collect();
        let new = more.iter().filter(|name| !known.contains(*name)).copied();
        to.extend(new.collect::<Vec<_>>());
    }
}

impl<'s> Rules<'s> {
    /// `value` and what the rules say about the value of `key`.
    pub(super) fn value_of(
        &self,
        key: &str,
        mut value: ValueId,
        compiler: &mut Compiler<'s>,
    ) -> Outcome<ValueId> {
        compiler.spend(1 + self.named.len() / 16 + self.patterns.len())?;
        let mut is_known = false;
        if let Some((_, named)) = self.named.iter().find(|(name, _)| *name == key) {
            value = compiler.both(value, *named)?;
            is_known = true;
        }
        for (pattern, matched) in &self.patterns {
            if pattern.contains(key) {
                value = compiler.both(value, *matched)?;
                is_known = true;
            }
        }
        match self.rest {
            Some(rest) if !is_known => compiler.both(value, rest),
            _ => Ok(value),
        }
    }

    /// Whether the rules know `key` by name or by pattern.
    pub(super) fn knows(&self, key: &str) -> bool {
        self.named.iter().any(|(name, _)| *name == key)
            || self.patterns.iter().any(|(pattern, _)| pattern.contains(key))
    }
}

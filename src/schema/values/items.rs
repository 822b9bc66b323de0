//! One alternative for arrays.

use super::error::Outcome;
use super::goal::Compiler;
use super::members::merge;
use super::union::Alternative;
use crate::grammar::value::ValueId;

/// One alternative for arrays.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Items {
    pub(super) prefix: Vec<ValueId>,
    pub(super) rest: ValueId,
    pub(super) min: u32,
    pub(super) max: Option<u32>,
    pub(super) contains: Vec<Contains>,
    pub(super) unique: bool,
    /// Which items are evaluated, where that is tracked.
    pub(super) evaluated: EvaluatedItems,
}

/// How many of the items from `from` on are of a kind.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Contains {
    pub(super) from: usize,
    pub(super) kind: ValueId,
    pub(super) min: u32,
    pub(super) max: Option<u32>,
}

#[derive(Debug, Clone, PartialEq, Default)]
pub(super) struct EvaluatedItems {
    /// So many from the first on.
    pub(super) prefix: usize,
    pub(super) all: bool,
    /// All of these kinds.
    pub(super) kinds: Vec<ValueId>,
}

impl Default for Items {
    fn default() -> Self {
        Self {
            prefix: Vec::new(),
            rest: ValueId::ANY,
            min: 0,
            max: None,
            contains: Vec::new(),
            unique: false,
            evaluated: EvaluatedItems::default(),
        }
    }
}

impl Items {
    /// What the item at `index` must be.
    pub(super) fn at(&self, index: usize) -> ValueId {
        self.prefix.get(index).copied().unwrap_or(self.rest)
    }

    fn and(&self, other: &Self, compiler: &mut Compiler<'_>) -> Outcome<Option<Self>> {
        let length = self.prefix.len().max(other.prefix.len());
        compiler.spend(length)?;
        let mut both = self.clone();
        both.prefix.clear();
        for index in 0..length {
            both.prefix.push(compiler.both(self.at(index), other.at(index))?);
        }
        both.rest = compiler.both(self.rest, other.rest)?;
        both.min = both.min.max(other.min);
        both.max = least(both.max, other.max);
        both.unique |= other.unique;
        for contains in &other.contains {
            both.demand(contains.clone());
        }
        both.evaluated.all |= other.evaluated.all;
        both.evaluated.prefix = both.evaluated.prefix.max(other.evaluated.prefix);
        merge(&mut both.evaluated.kinds, &other.evaluated.kinds);
        let first_never = both.prefix.iter().position(|id| *id == ValueId::NEVER);
        let is_hollow = both.max.is_some_and(|max| max < both.min)
            || first_never.is_some_and(|index| index < both.min as usize)
            || both.rest == ValueId::NEVER && both.prefix.len() < both.min as usize
            || both.contains.iter().any(|contains| contains.max.is_some_and(|max| max < contains.min));
        if is_hollow {
            return Ok(None);
        }
        for index in 0..length.min(both.min as usize) {
            if compiler.is_plainly_empty(both.prefix[index])? {
                return Ok(None);
            }
        }
        Ok(Some(both))
    }

    /// Adds a demand for items of a kind.
    pub(super) fn demand(&mut self, demand: Contains) {
        let same = |known: &&mut Contains| known.kind == demand.kind && known.from == demand.from;
        match self.contains.iter_mut().find(same) {
            Some(known) => {
                known.min = known.min.max(demand.min);
                known.max = least(known.max, demand.max);
            }
            None => self.contains.push(demand),
        }
    }
}

impl<'s> Alternative<'s> for Items {
    fn meet(&self, other: &Self, compiler: &mut Compiler<'s>) -> Outcome<Vec<Self>> {
        Ok(self.and(other, compiler)?.into_iter().collect())
    }

    fn covers(&self, other: &Self, compiler: &Compiler<'s>) -> bool {
        let is_bounded = |max: u32| other.max.is_some_and(|others| others <= max);
        let length = self.prefix.len().max(other.prefix.len());
        self.min <= other.min
            && self.max.is_none_or(is_bounded)
            && (other.unique || !self.unique)
            && self.evaluated == other.evaluated
            && self.contains.iter().all(|demand| other.contains.contains(demand))
            && (0..=length).all(|index| compiler.is_stated(other.at(index), self.at(index)))
    }

    fn joined(&self, _: &Self) -> Option<Self> {
        None
    }
}

/// The smaller of two upper bounds.
pub(super) fn least(a: Option<u32>, b: Option<u32>) -> Option<u32> {
    match (a, b) {
        (Some(a), Some(b)) => Some(a.min(b)),
        (a, b) => a.or(b),
    }
}

//! Whether alternatives exclude each other, as far as that shows without much work.

use super::error::{Cause, Outcome};
use super::goal::Compiler;
use super::union::{Alternative, Union};
use crate::grammar::value::ValueId;

/// How many levels of members and items are looked into.
const MAX_LEVELS: usize = 3;

/// In which JSON types two unions may have values in common.
#[derive(Debug, Default)]
#[allow(clippy::struct_excessive_bools)]
pub(super) struct Overlap {
    null: bool,
    yes: bool,
    no: bool,
    numbers: bool,
    strings: bool,
    arrays: bool,
    objects: bool,
}

impl Overlap {
    pub(super) const fn is_some(&self) -> bool {
        self.null || self.yes || self.no || self.numbers || self.strings || self.arrays || self.objects
    }

    /// `union`, with everything allowed where there is no overlap.
    pub(super) fn only<'s>(&self, union: &Union<'s>) -> Union<'s> {
        let mut only = union.clone();
        let any = Union::any();
        only.null |= !self.null;
        only.yes |= !self.yes;
        only.no |= !self.no;
        if !self.numbers {
            only.numbers = any.numbers;
        }
        if !self.strings {
            only.strings = any.strings;
        }
        if !self.arrays {
            only.arrays = any.arrays;
        }
        if !self.objects {
            only.objects = any.objects;
        }
        only
    }
}

impl<'s> Compiler<'s> {
    pub(super) fn overlap(&mut self, a: &Union<'s>, b: &Union<'s>) -> Outcome<Overlap> {
        self.spend(4)?;
        let mut overlap = Overlap {
            null: a.null && b.null,
            yes: a.yes && b.yes,
            no: a.no && b.no,
            strings: match (&a.strings, &b.strings) {
                (Some(a), Some(b)) => self.and_strings(a, b)?.is_some(),
                _ => false,
            },
            ..Overlap::default()
        };
        for a in &a.numbers {
            for b in &b.numbers {
                self.spend(2)?;
                overlap.numbers = overlap.numbers || !self.and_number(a, b)?.is_empty();
            }
        }
        for a in &a.arrays {
            for b in &b.arrays {
                overlap.arrays = overlap.arrays || !a.meet(b, self)?.is_empty();
            }
        }
        for a in &a.objects {
            for b in &b.objects {
                overlap.objects = overlap.objects || !a.meet(b, self)?.is_empty();
            }
        }
        Ok(overlap)
    }

    /// Whether it shows at once that a value has no instance. What is still being worked out may have some.
    pub(super) fn is_plainly_empty(&mut self, id: ValueId) -> Outcome<bool> {
        if !self.is_conjunction(id) || self.levels >= MAX_LEVELS {
            return Ok(id == ValueId::NEVER);
        }
        self.levels += 1;
        let union = self.union(id);
        self.levels -= 1;
        match union {
            Ok(union) => Ok(union.is_none()),
            Err(fault) if fault.cause == Cause::Limit => Err(fault),
            Err(_) => Ok(false),
        }
    }

    /// Whether all of `value` is in `more`, as far as that shows at once.
    pub(super) fn implies(&mut self, value: ValueId, more: ValueId) -> Outcome<bool> {
        if self.is_stated(value, more) {
            return Ok(true);
        }
        if let Some(known) = self.implications.get(&(value, more)) {
            return Ok(*known);
        }
        if self.levels >= MAX_LEVELS || value == ValueId::ANY || more == ValueId::NEVER {
            return Ok(false);
        }
        self.levels += 1;
        let implied = self.implied(value, more);
        self.levels -= 1;
        match implied {
            Ok(implied) => {
                self.implications.insert((value, more), implied);
                Ok(implied)
            }
            Err(fault) if fault.cause == Cause::Limit => Err(fault),
            Err(_) => Ok(false),
        }
    }

    fn implied(&mut self, value: ValueId, more: ValueId) -> Outcome<bool> {
        let value = self.union(value)?;
        if !value.arrays.is_empty() || !value.objects.is_empty() {
            return Ok(false);
        }
        let both = value.and(&*self.union(more)?, self)?;
        Ok((both.null, both.yes, both.no) == (value.null, value.yes, value.no)
            && both.numbers == value.numbers
            && both.strings == value.strings)
    }
}

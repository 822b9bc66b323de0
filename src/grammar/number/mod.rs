//! Sets of numbers, and the JSON literals of their members, read digit by digit.
//!
//! ```
//! use deepseek_codec::grammar::number::{Decimal, NumberSet};
//!
//! let percent = NumberSet::at_least(Decimal::ZERO).and(&NumberSet::at_most(Decimal::parse("100")?))?;
//! let read = |text: &str| text.bytes().try_fold(percent.start(), |state, byte| percent.next(&state, byte));
//! assert!(read("12.5").is_some_and(|state| percent.is_complete(&state)));
//! assert!(read("101").is_none());
//! # Ok::<(), deepseek_codec::grammar::number::NumberError>(())
//! ```
//!
//! # Values
//!
//! A literal stands for what a reader of JSON sees: an integer that fits 64 bits is exact, anything else is the
//! nearest double, taken as the shortest decimal that is read as this double. Bounds that exclude their value are
//! kept as bounds that include the next value. So every literal that is accepted is a member for such readers.
//!
//! # Literals
//!
//! Every member has a literal that is accepted: the plain one, and that of Python, JavaScript and Rust. In full:
//!
//! - An integer is plain digits; it may be followed by a point and zeros; one digit other than 0 may be followed by
//!   an exponent.
//! - In a set with other numbers, there may be digits after the point, and an exponent after a number with one digit
//!   other than 0 before the point. There are at most 17 digits, not counting zeros in front, and at most
//!   32 after the point; with more than 15, the literal must be the shortest of its number.
//! - Exponents have at most three digits and lie between -307 and 308. In sets of integers they have no minus.
//! - Integers have at most 38 digits, and if the set has steps or exceptions, they fit 64 bits.
//!
//! Where nothing about the set matters any more ([`NumberSet::shared`]), there may be 300 digits before and after
//! the point.

mod alive;
mod decimal;
mod run;
#[cfg(test)]
mod tests;

pub use decimal::{Decimal, NumberError};
pub use run::NumberState;

/// A set may exclude so many multiples and so many values.
const MAX_NOT_MULTIPLE_OF: usize = 8;
const MAX_EXCLUDED: usize = 1000;

/// The numbers between two bounds that are multiples of something, not multiples of other things, and none of some
/// values.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct NumberSet {
    /// The smallest and the largest number that may be in it.
    low: Decimal,
    high: Decimal,
    multiple_of: Option<Decimal>,
    /// Sorted.
    not_multiple_of: Vec<Decimal>,
    /// Sorted.
    excluded: Vec<Decimal>,
    /// Whether literals are digits only, without a point or an exponent.
    is_plain: bool,
    /// Whether a step was no integer, though the common multiple may be one: readers take the number for a double then.
    has_fractions: bool,
    /// Whether there are positive, or negative, literals; zero not counted.
    has_positive: bool,
    has_negative: bool,
    /// Whether every literal without, and with, a minus is that of a member.
    is_unbounded: [bool; 2],
}

impl NumberSet {
    /// All numbers that are doubles.
    #[must_use]
    pub fn any() -> Self {
        Self::between(Decimal::MAX.negated(), Decimal::MAX)
    }

    /// All integers.
    #[must_use]
    pub fn integers() -> Self {
        Self { multiple_of: Some(Decimal::ONE), ..Self::any() }
    }

    /// All integers, written with digits only: for readers to whom `1.0` is no integer.
    #[must_use]
    pub fn plain_integers() -> Self {
        Self { is_plain: true, ..Self::integers() }
    }

    /// `low` and everything above it.
    #[must_use]
    pub fn at_least(low: Decimal) -> Self {
        Self::between(low, Decimal::MAX)
    }

    /// Everything above `low`.
    #[must_use]
    pub fn above(low: Decimal) -> Self {
        Self::at_least(low.above())
    }

    /// `high` and everything below it.
    #[must_use]
    pub fn at_most(high: Decimal) -> Self {
        Self::between(Decimal::MAX.negated(), high)
    }

    /// Everything below `high`.
    #[must_use]
    pub fn below(high: Decimal) -> Self {
        Self::at_most(high.below())
    }

    /// Whether there are as many members as one likes, as far as a look tells.
    pub(crate) fn is_plenty(&self) -> bool {
        (self.low == Decimal::MAX.negated() || self.high == Decimal::MAX)
            && self.multiple_of.is_none_or(|step| step == Decimal::ONE)
            && self.not_multiple_of.is_empty()
    }

    /// Only `number`.
    #[must_use]
    pub fn one(number: Decimal) -> Self {
        Self::between(number, number)
    }

    /// Everything but `number`.
    #[must_use]
    pub fn all_but(number: Decimal) -> Self {
        Self { excluded: vec![number], ..Self::any() }.settled()
    }

    /// The multiples of a number, whatever its sign; for zero that is only zero.
    #[must_use]
    pub fn multiples(step: Decimal) -> Self {
        if step == Decimal::ZERO {
            return Self::one(step);
        }
        Self { multiple_of: Some(step.abs()), has_fractions: !step.is_integer(), ..Self::any() }.settled()
    }

    /// The numbers that are not multiples of a number, whatever its sign.
    #[must_use]
    pub fn not_multiples(step: Decimal) -> Self {
        if step == Decimal::ZERO {
            return Self::all_but(step);
        }
        Self { not_multiple_of: vec![step.abs()], has_fractions: !step.is_integer(), ..Self::any() }.settled()
    }

    fn between(low: Decimal, high: Decimal) -> Self {
        let set = Self {
            low: low.max(Decimal::MAX.negated()),
            high: high.min(Decimal::MAX),
            multiple_of: None,
            not_multiple_of: Vec::new(),
            excluded: Vec::new(),
            is_plain: false,
            has_fractions: false,
            has_positive: true,
            has_negative: true,
            is_unbounded: [false; 2],
        };
        set.settled()
    }

    /// Finds out whether there are literals of each sign, and whether all are members.
    fn settled(mut self) -> Self {
        self.is_unbounded = [false, true].map(|is_negative| self.has_every_literal(is_negative));
        self.has_positive = self.has_literal(false);
        self.has_negative = self.has_literal(true);
        self
    }

    /// The numbers in both.
    ///
    /// # Errors
    /// If there are too many steps or exceptions.
    pub fn and(&self, other: &Self) -> Result<Self, NumberError> {
        let multiple_of = match (self.multiple_of, other.multiple_of) {
            (Some(one), Some(two)) => Some(one.common_multiple(two)?),
            (one, two) => one.or(two),
        };
        let union = |one: &[Decimal], two: &[Decimal]| {
            let mut all = [one, two].concat();
            all.sort_unstable();
            all.dedup();
            all
        };
        let set = Self {
            low: self.low.max(other.low),
            high: self.high.min(other.high),
            multiple_of,
            not_multiple_of: union(&self.not_multiple_of, &other.not_multiple_of),
            excluded: union(&self.excluded, &other.excluded),
            is_plain: self.is_plain || other.is_plain,
            has_fractions: self.has_fractions || other.has_fractions,
            has_positive: true,
            has_negative: true,
            is_unbounded: [false; 2],
        };
        if set.not_multiple_of.len() > MAX_NOT_MULTIPLE_OF || set.excluded.len() > MAX_EXCLUDED {
            return Err(NumberError::TooLarge);
        }
        Ok(set.settled())
    }

    /// Sets that together are all numbers that are not in it, however they are written. They may overlap.
    #[must_use]
    pub fn not(&self) -> Vec<Self> {
        let range = Self::between(self.low, self.high);
        let stepped = Self { has_fractions: self.has_fractions, ..range.clone() };
        let mut sets = vec![Self::below(self.low), Self::above(self.high)];
        if let Some(step) = self.multiple_of {
            sets.push(Self { not_multiple_of: vec![step], ..stepped.clone() }.settled());
        }
        for &step in &self.not_multiple_of {
            sets.push(Self { multiple_of: Some(step), ..stepped.clone() }.settled());
        }
        sets.extend(
            self.excluded.iter().filter(|number| range.contains(number)).map(|&number| Self::one(number)),
        );
        sets.retain(|set| !set.is_empty());
        sets
    }

    /// Whether no number is in it.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        !self.has_positive && !self.has_negative && !self.contains(&Decimal::ZERO)
    }

    /// Whether all its numbers are integers because of its steps.
    #[must_use]
    pub fn is_integer(&self) -> bool {
        self.multiple_of.is_some_and(Decimal::is_integer)
    }

    /// Whether `number` is in it.
    #[must_use]
    pub fn contains(&self, number: &Decimal) -> bool {
        self.low <= *number
            && *number <= self.high
            && self.multiple_of.is_none_or(|step| number.is_multiple_of(step))
            && !self.not_multiple_of.iter().any(|&step| number.is_multiple_of(step))
            && self.excluded.binary_search(number).is_err()
    }

    /// The numbers in it, in order, if it is easily seen that there are at most `limit`.
    #[must_use]
    pub fn members(&self, limit: usize) -> Option<Vec<Decimal>> {
        if self.is_empty() {
            return Some(Vec::new());
        }
        if self.low == self.high {
            return Some(vec![self.low]);
        }
        let (unit, exponent) = self.multiple_of?.parts();
        let first = |bound: Decimal| bound.ceil(exponent).checked_add(unit - 1).map(|n| n / unit);
        let last = |bound: Decimal| bound.floor(exponent) / unit;
        let (from, to) = match (self.low.is_negative(), self.high.is_negative()) {
            (false, _) => (first(self.low)?, last(self.high)),
            (true, true) => (-last(self.low.negated()), -first(self.high.negated())?),
            (true, false) => (-last(self.low.negated()), last(self.high)),
        };
        let few = i128::try_from(limit + self.excluded.len()).ok()?.saturating_mul(64);
        if to.checked_sub(from)? > few {
            return None;
        }
        let numbers =
            (from..=to).map(|n| Decimal::new(n * unit, exponent)).filter(|number| self.contains(number));
        let members: Vec<Decimal> = numbers.take(limit + 1).collect();
        (members.len() <= limit).then_some(members)
    }

    /// Its only number, if it is easily seen that there is one.
    #[must_use]
    pub fn single(&self) -> Option<Decimal> {
        match self.members(1)?[..] {
            [number] => Some(number),
            _ => None,
        }
    }
}

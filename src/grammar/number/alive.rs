//! Whether a literal that has begun can still become that of a member.
//!
//! The completions of a literal fall into families: so many more digits before the point, an exponent of this
//! value. A family is all numbers `n · 10^exponent` for a range of `n`, so it is decided by arithmetic. Only where
//! values are excluded, or where a literal has to be the shortest of its double, some candidates are tried. They are
//! tried from the lowest on, so that a candidate that made a state alive is found again in the states that lead to it.

use super::run::{
    HIGHEST_EXPONENT, LOWEST_EXPONENT, MOST_DIGITS, MOST_INTEGER_DIGITS, MOST_PLACES, NumberState, Phase,
    SAFE_INTEGER,
};
use super::{Decimal, NumberSet};

/// So many digits are the shortest literal of their double, whatever they are.
const SAFE_DIGITS: u32 = 15;
/// Candidates that are tried for each value that is excluded. Of so many successive numbers one is not a multiple of
/// any of eight others.
const TRIES: i128 = 64;
/// The same where a candidate must also be the shortest literal of its double.
const LONG_TRIES: i128 = 256;

/// What literals a family has.
#[derive(Clone, Copy, PartialEq)]
enum Form {
    /// Plain integers.
    Integer,
    /// Others of at most [`SAFE_DIGITS`].
    Short,
    /// Others, which must be the shortest literals of their doubles.
    Long,
}

/// The first digits of a literal: `mantissa · 10^exponent` has `digits` digits.
#[derive(Clone, Copy)]
struct Head {
    mantissa: u128,
    digits: u32,
    exponent: i32,
}

impl NumberSet {
    /// Whether there is a literal of a member other than zero with this sign.
    pub(super) fn has_literal(&self, is_negative: bool) -> bool {
        let side = self.side(is_negative);
        if side.low > side.high || side.high == Decimal::ZERO {
            return false;
        }
        let integers = side.hits(1, self.largest_integer(is_negative), 0, Form::Integer);
        integers
            || !self.is_plain
                && (1..=9)
                    .any(|digit| side.ends_with_exponent(Head { mantissa: digit, digits: 1, exponent: 0 }))
            || !self.is_integer()
                && (1..=9)
                    .any(|digit| side.has_integer_part(Head { mantissa: digit, digits: 1, exponent: 0 }))
            || !self.is_integer() && side.has_leading_zeros(0)
    }

    /// Whether a state that is not free is the start of a member's literal.
    pub(super) fn is_alive(&self, state: &NumberState) -> bool {
        if self.is_complete(state) {
            return true;
        }
        let side = self.side(state.is_negative);
        if side.low > side.high && !matches!(state.phase, Phase::Start | Phase::Minus) {
            return false;
        }
        let is_integer = self.is_integer();
        let places = i32::from(state.places);
        let head = Head {
            mantissa: state.mantissa,
            digits: state.mantissa.checked_ilog10().map_or(0, |log| log + 1),
            exponent: -places,
        };
        match state.phase {
            Phase::Start => !self.is_empty(),
            Phase::Minus => self.has_negative || !self.is_plain && self.contains(&Decimal::ZERO),
            Phase::Zero => !is_integer && side.has_leading_zeros(0),
            Phase::Digit | Phase::Digits => {
                side.has_more_digits(head)
                    || !is_integer && side.has_integer_part(head)
                    || state.phase == Phase::Digit && !self.is_plain && side.ends_with_exponent(head)
            }
            Phase::Point if is_integer => {
                state.mantissa < SAFE_INTEGER && side.hits(state.mantissa, state.mantissa, 0, Form::Integer)
            }
            Phase::Point | Phase::Places if state.mantissa == 0 => {
                state.phase == Phase::Point && self.contains(&Decimal::ZERO)
                    || side.has_leading_zeros(state.places.into())
            }
            Phase::Point => head.digits < MOST_DIGITS && side.has_more_places(head),
            Phase::Places => !is_integer && side.has_more_places(head),
            Phase::DigitPoint | Phase::DigitPlaces => {
                side.has_more_places(head) || side.ends_with_exponent(head)
            }
            Phase::Letter => {
                side.has_exponent(head, 0, 3, false) || !is_integer && side.has_exponent(head, 0, 3, true)
            }
            Phase::Sign => side.has_exponent(head, 0, 3, state.has_minus_exponent),
            Phase::Exponent1 => side.has_exponent(head, state.exponent, 2, state.has_minus_exponent),
            Phase::Exponent2 => side.has_exponent(head, state.exponent, 1, state.has_minus_exponent),
            Phase::Exponent3 => false,
        }
    }

    fn side(&self, is_negative: bool) -> Side<'_> {
        let (low, high) = self.bounds(is_negative);
        Side { set: self, is_negative, low, high }
    }
}

/// The members of one sign, without their sign.
struct Side<'a> {
    set: &'a NumberSet,
    is_negative: bool,
    low: Decimal,
    high: Decimal,
}

impl Side<'_> {
    /// Whether an integer begins with `head` and has more digits.
    fn has_more_digits(&self, head: Head) -> bool {
        let largest = self.set.largest_integer(self.is_negative);
        let highest = u128::try_from(self.high.floor(0)).unwrap_or(0);
        for more in 1..=MOST_INTEGER_DIGITS.saturating_sub(head.digits) {
            let power = 10u128.pow(more);
            let from = head.mantissa * power;
            if from > largest || from > highest {
                return false;
            }
            if self.hits(from, (from + (power - 1)).min(largest), 0, Form::Integer) {
                return true;
            }
        }
        false
    }

    /// Whether a number with a point begins with the digits of `head`, after which more may stand before the point.
    fn has_integer_part(&self, head: Head) -> bool {
        let highest = u128::try_from(self.high.floor(0)).unwrap_or(u128::MAX);
        let mut least = head.mantissa;
        for more in 0..=MOST_DIGITS.saturating_sub(head.digits) {
            if least > highest {
                return false;
            }
            // With more digits before the point there is room for fewer after it.
            let power = i32::try_from(more).unwrap_or(0);
            if self.has_tail(Head { exponent: power, ..head }, MOST_PLACES, Some(-1)) {
                return true;
            }
            least = least.saturating_mul(10);
        }
        false
    }

    /// Whether a number begins with `head`, and all that may come are digits after the point.
    fn has_more_places(&self, head: Head) -> bool {
        let places = head.exponent.unsigned_abs();
        self.has_tail(head, MOST_PLACES.saturating_sub(places), None)
    }

    /// Whether some number with the first digits `head` is a member. `most` bounds the number of further digits,
    /// `last` is the highest exponent of the last digit.
    fn has_tail(&self, head: Head, most: u32, last: Option<i32>) -> bool {
        [(SAFE_DIGITS, Form::Short), (MOST_DIGITS, Form::Long)].into_iter().any(|(digits, form)| {
            let Some(more) = digits.checked_sub(head.digits) else { return false };
            let more = more.min(most);
            let exponent = head.exponent - i32::try_from(more).unwrap_or(0);
            if last.is_some_and(|last| exponent > last) {
                return false;
            }
            let power = 10u128.pow(more);
            let from = head.mantissa * power;
            self.hits(from, from + (power - 1), exponent, form)
        })
    }

    /// Whether there is a member below one with at least so many zeros after the point.
    fn has_leading_zeros(&self, zeros: u32) -> bool {
        (zeros..MOST_PLACES).any(|zeros| {
            let exponent = -i32::try_from(zeros).unwrap_or(0) - 1;
            let most = MOST_PLACES - zeros - 1;
            (1..=9).any(|digit| self.has_tail(Head { mantissa: digit, digits: 1, exponent }, most, None))
        })
    }

    /// Whether a member has the normalized digits `head`, perhaps more of them, and an exponent.
    fn ends_with_exponent(&self, head: Head) -> bool {
        let is_integer = self.set.is_integer();
        let step = self.set.multiple_of.map_or(i32::MIN, Decimal::magnitude);
        let lowest = if is_integer { 0 } else { LOWEST_EXPONENT };
        let from = self.low.magnitude().max(step).max(lowest);
        let to = self.high.magnitude().min(HIGHEST_EXPONENT);
        if from > to || head.digits > MOST_DIGITS {
            return false;
        }
        // Between the bounds every number is a member.
        if !is_integer && !self.set.is_fine() && to - from >= 2 && head.digits <= SAFE_DIGITS {
            return true;
        }
        // Most likely the digits of `head` alone are enough steps: then it is the first exponent that is tried.
        let likely = self.set.multiple_of.map_or(from, |step| step.parts().1 - head.exponent).clamp(from, to);
        (likely..=to).chain(from..likely).any(|exponent| self.has_normalized(head, exponent))
    }

    /// Whether a member has the digits `head`, perhaps more of them, and the first one stands for `10^exponent`.
    fn has_normalized(&self, head: Head, exponent: i32) -> bool {
        let head = Head { exponent: exponent + head.exponent, ..head };
        // In sets of integers there is nothing between the first digit and the exponent.
        if self.set.is_integer() {
            return self.hits(head.mantissa, head.mantissa, head.exponent, Form::Short);
        }
        self.has_tail(head, MOST_DIGITS, None)
    }

    /// Whether a member has exactly the digits `head` and an exponent that begins with `begun` and has up to `more`
    /// more digits.
    fn has_exponent(&self, head: Head, begun: u16, more: u32, is_minus: bool) -> bool {
        let mut from = i32::from(begun);
        let mut to = from;
        (0..=more).any(|_| {
            let found = (from..=to.min(HIGHEST_EXPONENT)).any(|exponent| {
                let exponent = if is_minus { -exponent } else { exponent };
                let form = if head.digits > SAFE_DIGITS { Form::Long } else { Form::Short };
                exponent >= LOWEST_EXPONENT
                    && head.digits <= MOST_DIGITS
                    && self.hits(head.mantissa, head.mantissa, exponent + head.exponent, form)
            });
            (from, to) = (from * 10, to * 10 + 9);
            found
        })
    }

    /// Whether for some `n` from `from` to `to` the number `n · 10^exponent` is a member.
    fn hits(&self, from: u128, to: u128, exponent: i32, form: Form) -> bool {
        let bound = |number: u128| i128::try_from(number).unwrap_or(i128::MAX);
        let is_long = form == Form::Long;
        let from = bound(from).max(self.low.ceil(exponent));
        let to = bound(to).min(self.high.floor(exponent));
        if from > to {
            return false;
        }
        if !is_long && !self.set.is_fine() && (exponent >= 0 || !self.set.is_integer()) {
            return true;
        }
        // Members are the multiples of `unit`, save for what is excluded.
        let unit = self.set.multiple_of.map_or(1, |step| step.period(1, exponent));
        let (first, last) = match unit {
            1 => (from, to),
            _ => (from / unit + i128::from(from % unit != 0), to / unit),
        };
        let periods: Vec<i128> =
            self.set.not_multiple_of.iter().map(|step| step.period(unit, exponent)).collect();
        let tries = if is_long { LONG_TRIES } else { TRIES };
        let tries = tries * (i128::try_from(self.set.excluded.len()).unwrap_or(0) + 1);
        (first..=last.min(first.saturating_add(tries))).any(|n| {
            let number = Decimal::new(n * unit, exponent);
            let signed = if self.is_negative { number.negated() } else { number };
            periods.iter().all(|period| n % period != 0)
                && (!is_long || number.is_shortest())
                && (self.set.excluded.is_empty() || self.set.excluded.binary_search(&signed).is_err())
                && (form == Form::Integer || self.set.is_seen(signed))
        })
    }
}

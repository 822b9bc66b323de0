//! Reading a literal byte by byte.

use super::{Decimal, NumberSet};

/// Digits of a literal that is not an integer, not counting zeros in front.
pub(super) const MOST_DIGITS: u32 = 17;
/// Digits after the point.
pub(super) const MOST_PLACES: u32 = 32;
/// Digits of an integer.
pub(super) const MOST_INTEGER_DIGITS: u32 = 38;
/// Integers below this one are doubles, also after division by ten.
pub(super) const SAFE_INTEGER: u128 = 10u128.pow(15);
pub(super) const LOWEST_EXPONENT: i32 = -307;
pub(super) const HIGHEST_EXPONENT: i32 = 308;
/// Exponents where the value does not matter: no literal is too large.
const HIGHEST_FREE_EXPONENT: u16 = 307;
/// Digits before or after the point where the value does not matter.
const MOST_FREE: u16 = 300;
/// From so many digits on any token can be read before there are [`MOST_FREE`].
const MOST_SHARED: u16 = MOST_FREE - 128;

/// How far a literal is read.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct NumberState {
    /// The digits read so far, without the point; in sets of integers without those after it. 0 if the state is
    /// free and no exponent can follow, or the digits are too many.
    pub(super) mantissa: u128,
    /// How many digits stand before the point.
    pub(super) digits: u16,
    /// How many digits stand after it.
    pub(super) places: u16,
    /// The digits of the exponent.
    pub(super) exponent: u16,
    pub(super) has_minus_exponent: bool,
    pub(super) is_negative: bool,
    /// Whether every completion is a member.
    pub(super) is_free: bool,
    pub(super) phase: Phase,
}

/// What was read last.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) enum Phase {
    Start,
    Minus,
    /// A zero in front.
    Zero,
    /// One digit other than zero.
    Digit,
    /// Several digits.
    Digits,
    /// The point, if no exponent can follow.
    Point,
    /// Digits after that.
    Places,
    /// The point after one digit other than zero, in a set of not only integers.
    DigitPoint,
    /// Digits after that.
    DigitPlaces,
    /// The letter of an exponent.
    Letter,
    /// The sign of an exponent.
    Sign,
    /// One, two and three digits of an exponent.
    Exponent1,
    Exponent2,
    Exponent3,
}

impl NumberSet {
    /// The state before the first byte.
    #[must_use]
    pub fn start(&self) -> NumberState {
        NumberState {
            mantissa: 0,
            digits: 0,
            places: 0,
            exponent: 0,
            has_minus_exponent: false,
            is_negative: false,
            is_free: self.is_unbounded == [true; 2],
            phase: Phase::Start,
        }
    }

    /// The state after one more byte, or `None` if no literal of a member begins like this.
    #[must_use]
    pub fn next(&self, state: &NumberState, byte: u8) -> Option<NumberState> {
        let is_integer = self.is_integer();
        let mut next = *state;
        next.phase = match (state.phase, byte) {
            (Phase::Start, b'-') => {
                next.is_negative = true;
                Phase::Minus
            }
            // Readers take -0 for a double, which is no integer where these are told by their form.
            (Phase::Minus, b'0') if self.is_plain => return None,
            (Phase::Start | Phase::Minus, b'0') => Phase::Zero,
            (Phase::Start | Phase::Minus, b'1'..=b'9') => Phase::Digit,
            (Phase::Digit | Phase::Digits, b'0'..=b'9') => Phase::Digits,
            (_, b'.' | b'e' | b'E') if self.is_plain => return None,
            (Phase::Digit, b'.') if !is_integer => Phase::DigitPoint,
            (Phase::Zero | Phase::Digit | Phase::Digits, b'.') => Phase::Point,
            (Phase::Point | Phase::Places, b'0') => Phase::Places,
            (Phase::Point | Phase::Places, b'1'..=b'9') if !is_integer => Phase::Places,
            (Phase::DigitPoint | Phase::DigitPlaces, b'0'..=b'9') => Phase::DigitPlaces,
            (Phase::Digit | Phase::DigitPlaces, b'e' | b'E') => Phase::Letter,
            (Phase::Letter, b'+') => Phase::Sign,
            (Phase::Letter, b'-') if !is_integer => {
                next.has_minus_exponent = true;
                Phase::Sign
            }
            (Phase::Letter | Phase::Sign, b'0'..=b'9') => Phase::Exponent1,
            (Phase::Exponent1, b'0'..=b'9') => Phase::Exponent2,
            (Phase::Exponent2, b'0'..=b'9') => Phase::Exponent3,
            _ => return None,
        };
        if byte.is_ascii_digit() {
            self.read_digit(&mut next, byte - b'0')?;
        }
        if !next.is_free && self.becomes_free(&next) {
            next.is_free = true;
        }
        // Digits that may get an exponent are kept: they tell how large it may be.
        let may_have_exponent =
            !matches!(next.phase, Phase::Zero | Phase::Digits | Phase::Point | Phase::Places);
        if next.is_free && (!may_have_exponent || next.mantissa >= 10u128.pow(MOST_DIGITS)) {
            next.mantissa = 0;
        }
        (next.is_free || self.is_alive(&next)).then_some(next)
    }

    fn read_digit(&self, state: &mut NumberState, digit: u8) -> Option<()> {
        let mut is_value = !state.is_free;
        match state.phase {
            Phase::Exponent1 | Phase::Exponent2 | Phase::Exponent3 => {
                state.exponent = state.exponent * 10 + u16::from(digit);
                let is_small = state.exponent <= HIGHEST_FREE_EXPONENT;
                let fits =
                    || state.mantissa != 0 && !state.has_minus_exponent && self.is_complete_as_double(state);
                return (!state.is_free || is_small || fits()).then_some(());
            }
            Phase::Places | Phase::DigitPlaces => {
                state.places += 1;
                is_value &= !self.is_integer();
                is_value |= state.mantissa != 0 && state.phase == Phase::DigitPlaces;
            }
            _ => {
                state.digits += 1;
                is_value |= state.phase == Phase::Digit;
            }
        }
        if state.digits > MOST_FREE || state.places > MOST_FREE {
            return None;
        }
        if is_value {
            // More digits than fit are never alive.
            state.mantissa = state.mantissa.checked_mul(10)?.checked_add(digit.into())?;
        }
        Some(())
    }

    /// Whether what was read so far is the literal of a member.
    #[must_use]
    pub fn is_complete(&self, state: &NumberState) -> bool {
        let is_integer = self.is_integer();
        match state.phase {
            Phase::Start | Phase::Minus | Phase::Point | Phase::DigitPoint | Phase::Letter | Phase::Sign => {
                false
            }
            _ if state.is_free => true,
            Phase::Zero | Phase::Digit | Phase::Digits => {
                u32::from(state.digits) <= MOST_INTEGER_DIGITS
                    && state.mantissa <= self.largest_integer(state.is_negative)
                    && self.has(state, 0)
            }
            Phase::Places if is_integer => state.mantissa < SAFE_INTEGER && self.has(state, 0),
            Phase::Places | Phase::DigitPlaces => {
                u32::from(state.places) <= MOST_PLACES && self.has_short(state, -i32::from(state.places))
            }
            Phase::Exponent1 | Phase::Exponent2 | Phase::Exponent3 => {
                let exponent = state.signed_exponent();
                (LOWEST_EXPONENT..=HIGHEST_EXPONENT).contains(&exponent)
                    && self.has_short(state, exponent - i32::from(state.places))
            }
        }
    }

    /// Whether a free literal with an exponent is no larger than the largest double.
    fn is_complete_as_double(&self, state: &NumberState) -> bool {
        let exponent = state.signed_exponent() - i32::from(state.places);
        i128::try_from(state.mantissa).is_ok_and(|mantissa| Decimal::new(mantissa, exponent) <= Decimal::MAX)
    }

    fn has(&self, state: &NumberState, exponent: i32) -> bool {
        i128::try_from(state.mantissa).is_ok_and(|mantissa| {
            self.contains(&Decimal::new(if state.is_negative { -mantissa } else { mantissa }, exponent))
        })
    }

    /// The same for a literal that is not an integer.
    fn has_short(&self, state: &NumberState, exponent: i32) -> bool {
        state.mantissa < 10u128.pow(MOST_DIGITS)
            && self.has(state, exponent)
            && i128::try_from(state.mantissa).is_ok_and(|mantissa| {
                let number = Decimal::new(if state.is_negative { -mantissa } else { mantissa }, exponent);
                number.is_shortest() && self.is_seen(number)
            })
    }

    /// Whether only the form of a literal matters from here on: every completion is that of a member.
    fn becomes_free(&self, state: &NumberState) -> bool {
        if self.is_unbounded[usize::from(state.is_negative)] {
            return true;
        }
        let (low, high) = self.bounds(state.is_negative);
        let is_endless = high >= Decimal::MAX;
        let is_within = |mantissa: u128, exponent: i32| {
            let number = |mantissa| i128::try_from(mantissa).map(|mantissa| Decimal::new(mantissa, exponent));
            number(mantissa).is_ok_and(|from| low <= from) && number(mantissa + 1).is_ok_and(|to| to <= high)
        };
        match state.phase {
            Phase::Point | Phase::Places if self.is_integer() => {
                state.mantissa < SAFE_INTEGER && self.has(state, 0)
            }
            _ if self.is_fine() => false,
            Phase::Zero => is_within(0, 0),
            Phase::Digits => {
                is_endless && i128::try_from(state.mantissa).is_ok_and(|from| low <= Decimal::new(from, 0))
            }
            Phase::Point | Phase::Places => is_within(state.mantissa, -i32::from(state.places)),
            _ => false,
        }
    }

    /// Equal for two states, of any two sets, that can be followed by the same bytes, as far as these are no more
    /// than 128 and have no digits of an exponent. `None` where that depends on the set. It is below 32.
    #[must_use]
    pub fn shared(&self, state: &NumberState) -> Option<u8> {
        let has_exponent = matches!(
            state.phase,
            Phase::Letter | Phase::Sign | Phase::Exponent1 | Phase::Exponent2 | Phase::Exponent3
        );
        let is_shared =
            state.is_free && !has_exponent && state.digits <= MOST_SHARED && state.places <= MOST_SHARED;
        let form = if self.is_plain { Phase::Letter as u8 } else { 0 };
        // Of plain integers there are only the phases before the point: they take the numbers of exponents.
        is_shared.then_some((state.phase as u8 + form) | u8::from(self.is_integer()) << 4)
    }

    /// Whether every literal of one sign is that of a member.
    pub(super) fn has_every_literal(&self, is_negative: bool) -> bool {
        let (low, high) = self.bounds(is_negative);
        !self.is_fine()
            && self.low <= Decimal::ZERO
            && self.high >= Decimal::ZERO
            && low == Decimal::ZERO
            && high >= Decimal::MAX
    }

    /// Whether more than bounds and being an integer matters.
    pub(super) fn is_fine(&self) -> bool {
        self.multiple_of.is_some_and(|step| step != Decimal::ONE)
            || !self.not_multiple_of.is_empty()
            || !self.excluded.is_empty()
    }

    /// The bounds of the members of one sign, without their sign. There are none if the first is larger.
    pub(super) fn bounds(&self, is_negative: bool) -> (Decimal, Decimal) {
        let (low, high) =
            if is_negative { (self.high.negated(), self.low.negated()) } else { (self.low, self.high) };
        (low.max(Decimal::ZERO), high)
    }

    /// Whether a number whose literal is not a plain integer is also a member as readers see it: large ones are
    /// rounded, which matters if more than bounds does. The steps of the largest are not known exactly: none is a member
    /// where steps other than 1 matter.
    pub(super) fn is_seen(&self, number: Decimal) -> bool {
        if !self.is_fine() || number.abs() <= Decimal::EXACT {
            return true;
        }
        let double = number.to_double();
        let has_steps =
            self.multiple_of.is_some_and(|step| step != Decimal::ONE) || !self.not_multiple_of.is_empty();
        (!has_steps || Decimal::is_exact(double)) && self.contains(&Decimal::of_double(double))
    }

    /// The largest plain integer: one of 64 bits if more than bounds matters, because others are rounded; a double if
    /// steps that are no integers matter, because these are compared as doubles.
    pub(super) fn largest_integer(&self, is_negative: bool) -> u128 {
        if self.has_fractions {
            return Decimal::EXACT_INTEGER;
        }
        match (self.is_fine(), is_negative) {
            (false, _) => 10u128.pow(MOST_INTEGER_DIGITS) - 1,
            (true, false) => u64::MAX.into(),
            (true, true) => i64::MIN.unsigned_abs().into(),
        }
    }
}

impl NumberState {
    /// Whether a digit that comes next belongs to the exponent.
    pub(in crate::grammar) const fn is_in_exponent(&self) -> bool {
        matches!(
            self.phase,
            Phase::Letter | Phase::Sign | Phase::Exponent1 | Phase::Exponent2 | Phase::Exponent3
        )
    }

    /// The power of ten that the digits read so far, without the point, are to be multiplied by.
    pub(in crate::grammar) fn scale(&self) -> i32 {
        self.signed_exponent() - i32::from(self.places)
    }

    /// Whether it begins with a minus sign.
    pub(in crate::grammar) const fn is_negative(&self) -> bool {
        self.is_negative
    }

    pub(super) fn signed_exponent(&self) -> i32 {
        if self.has_minus_exponent { -i32::from(self.exponent) } else { self.exponent.into() }
    }
}

//! Exact decimal numbers.

use std::cmp::Ordering;
use std::fmt;

use crate::json::Number;

/// From here on doubles are integers, and not every integer is a double.
const EXACT: f64 = 9_007_199_254_740_992.0;

/// A decimal number `mantissa · 10^exponent`. Equal numbers are equal values: the mantissa does not end in 0.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Decimal {
    mantissa: i128,
    exponent: i32,
}

/// Why there is no [`Decimal`] or no [`NumberSet`](super::NumberSet).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum NumberError {
    /// The text is not a JSON number.
    Syntax,
    /// There are more than 38 digits, an exponent beyond 1000, or too many steps and exceptions in a set.
    TooLarge,
}

impl fmt::Display for NumberError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Syntax => "not a number",
            Self::TooLarge => "the number has too many digits",
        })
    }
}

impl std::error::Error for NumberError {}

impl Decimal {
    /// Zero.
    pub const ZERO: Self = Self { mantissa: 0, exponent: 0 };
    /// The largest double.
    pub const MAX: Self = Self { mantissa: 17_976_931_348_623_157, exponent: 292 };
    /// From here on not every integer is a double.
    pub(super) const EXACT: Self = Self { mantissa: 9_007_199_254_740_992, exponent: 0 };
    /// The same.
    pub(super) const EXACT_INTEGER: u128 = 9_007_199_254_740_992;
    /// One.
    pub const ONE: Self = Self { mantissa: 1, exponent: 0 };

    pub(super) fn new(mut mantissa: i128, mut exponent: i32) -> Self {
        if mantissa == 0 {
            return Self::ZERO;
        }
        // Nearly all fit 64 bits, which divide much faster.
        if let Ok(mut short) = i64::try_from(mantissa) {
            while short % 10 == 0 {
                short /= 10;
                exponent += 1;
            }
            return Self { mantissa: short.into(), exponent };
        }
        while mantissa % 10 == 0 {
            mantissa /= 10;
            exponent += 1;
        }
        Self { mantissa, exponent }
    }

    /// Reads a JSON number exactly.
    ///
    /// # Errors
    /// If it is not one, or has more than 38 digits or an exponent beyond 1000.
    pub fn parse(text: &str) -> Result<Self, NumberError> {
        let (number, exponent) = match text.split_once(['e', 'E']) {
            Some((number, exponent)) => {
                let digits = exponent.strip_prefix(['+', '-']).unwrap_or(exponent);
                if digits.is_empty() || !digits.bytes().all(|byte| byte.is_ascii_digit()) {
                    return Err(NumberError::Syntax);
                }
                (number, exponent.parse().map_err(|_| NumberError::TooLarge)?)
            }
            None => (text, 0),
        };
        let (is_negative, digits) = match number.strip_prefix('-') {
            Some(digits) => (true, digits),
            None => (false, number),
        };
        let (whole, fraction) = digits.split_once('.').unwrap_or((digits, "0"));
        let is_number = |digits: &str| !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit());
        if !is_number(whole) || !is_number(fraction) || whole.len() > 1 && whole.starts_with('0') {
            return Err(NumberError::Syntax);
        }
        let fraction = fraction.trim_end_matches('0');
        let mut mantissa = 0i128;
        for digit in whole.bytes().chain(fraction.bytes()) {
            let digit = i128::from(digit - b'0');
            mantissa =
                mantissa.checked_mul(10).and_then(|m| m.checked_add(digit)).ok_or(NumberError::TooLarge)?;
        }
        let places = i32::try_from(fraction.len()).map_err(|_| NumberError::TooLarge)?;
        let exponent: i32 = exponent;
        if exponent.unsigned_abs() > 1000 || places > 1000 || mantissa >= 10i128.pow(38) {
            return Err(NumberError::TooLarge);
        }
        Ok(Self::new(if is_negative { -mantissa } else { mantissa }, exponent - places))
    }

    /// The number that a double stands for: the shortest decimal that is read as it, or, for large numbers, its
    /// exact value.
    pub(super) fn of_double(double: f64) -> Self {
        #[allow(clippy::cast_possible_truncation)]
        if double.abs() >= EXACT && Self::is_exact(double) {
            return Self::new(double as i128, 0);
        }
        Self::shortest(double)
    }

    /// Whether the whole value of a large double has room here.
    pub(super) const fn is_exact(double: f64) -> bool {
        double.abs() < 1e37
    }

    fn shortest(double: f64) -> Self {
        Self::parse(&format!("{double:e}")).unwrap_or(Self::ZERO)
    }

    pub(super) fn to_double(self) -> f64 {
        format!("{}e{}", self.mantissa, self.exponent).parse().unwrap_or(f64::INFINITY)
    }

    /// Whether readers of doubles see this number and no other one: it is the shortest decimal of its double.
    pub(super) fn is_shortest(self) -> bool {
        self.mantissa.unsigned_abs() < 10u128.pow(15) || Self::shortest(self.to_double()) == self
    }

    /// Whether it is an integer.
    #[must_use]
    pub const fn is_integer(self) -> bool {
        self.exponent >= 0
    }

    /// Whether it is below zero.
    #[must_use]
    pub const fn is_negative(self) -> bool {
        self.mantissa < 0
    }

    /// The number without its sign.
    #[must_use]
    pub const fn abs(self) -> Self {
        Self { mantissa: self.mantissa.abs(), exponent: self.exponent }
    }

    pub(super) const fn negated(self) -> Self {
        Self { mantissa: -self.mantissa, exponent: self.exponent }
    }

    pub(super) const fn parts(self) -> (i128, i32) {
        (self.mantissa, self.exponent)
    }

    /// The power of ten of the first digit; for zero the lowest number.
    pub(super) fn magnitude(self) -> i32 {
        let mantissa = self.mantissa.unsigned_abs();
        let digits = match u64::try_from(mantissa) {
            Ok(short) => short.checked_ilog10(),
            Err(_) => mantissa.checked_ilog10(),
        };
        digits.map_or(i32::MIN, |digits| i32::try_from(digits).unwrap_or(0) + self.exponent)
    }

    /// The next number that readers can tell from this one.
    pub(super) fn above(self) -> Self {
        let double = self.to_double();
        if double.abs() >= EXACT && self.is_integer() && self.magnitude() < 37 {
            let value = self.mantissa * 10i128.pow(self.exponent.unsigned_abs());
            return Self::new(value + 1, 0);
        }
        let next = double.next_up();
        // Nothing above the largest double is read as a number.
        if next.is_finite() { Self::of_double(next) } else { Self::new(2, 308) }
    }

    /// The number before this one that readers can tell from it.
    pub(super) fn below(self) -> Self {
        self.negated().above().negated()
    }

    /// The largest `n` with `n · 10^exponent` at most this number, which is not negative; `i128::MAX` if too large.
    pub(super) fn floor(self, exponent: i32) -> i128 {
        let shift = self.exponent - exponent;
        if shift == 0 {
            return self.mantissa;
        }
        match POWERS.get(shift.unsigned_abs() as usize) {
            Some(power) if shift >= 0 => product(self.mantissa, *power).unwrap_or(i128::MAX),
            Some(power) => quotient(self.mantissa, *power),
            None if shift >= 0 && self.mantissa != 0 => i128::MAX,
            None => 0,
        }
    }

    /// The smallest `n` with `n · 10^exponent` at least this number, which is not negative; `i128::MAX` if too
    /// large.
    pub(super) fn ceil(self, exponent: i32) -> i128 {
        let floor = self.floor(exponent);
        let is_exact = self.mantissa == 0 || self.exponent >= exponent || Self::new(floor, exponent) == self;
        if is_exact { floor } else { floor + 1 }
    }

    /// The smallest positive number that is a multiple of both, which are positive.
    pub(super) fn common_multiple(self, other: Self) -> Result<Self, NumberError> {
        let exponent = self.exponent.min(other.exponent);
        let scaled = |number: Self| {
            let power = 10i128.checked_pow((number.exponent - exponent).unsigned_abs());
            power.and_then(|power| number.mantissa.checked_mul(power)).ok_or(NumberError::TooLarge)
        };
        let (one, two) = (scaled(self)?, scaled(other)?);
        let multiple = (one / gcd(one, two)).checked_mul(two).ok_or(NumberError::TooLarge)?;
        Ok(Self::new(multiple, exponent))
    }

    /// The smallest positive `n` for which `n · unit · 10^exponent` is a multiple of this positive number;
    /// `i128::MAX` if it is too large.
    pub(super) fn period(self, unit: i128, exponent: i32) -> i128 {
        let shift = exponent - self.exponent;
        if shift < 0 {
            let power = 10i128.checked_pow(shift.unsigned_abs());
            let Some(step) = power.and_then(|power| self.mantissa.checked_mul(power)) else {
                return i128::MAX;
            };
            return quotient(step, gcd(step, unit));
        }
        let mut step = quotient(self.mantissa, gcd(self.mantissa, unit));
        for prime in [2, 5] {
            let mut left = shift;
            while left > 0 && step % prime == 0 {
                step /= prime;
                left -= 1;
            }
        }
        step
    }

    /// Whether it is a multiple of a positive number.
    #[must_use]
    pub fn is_multiple_of(self, step: Self) -> bool {
        match step.mantissa {
            _ if self.mantissa == 0 => true,
            // A power of ten: the mantissa does not end in 0.
            1 => self.exponent >= step.exponent,
            _ => step.period(self.mantissa.abs(), self.exponent) == 1,
        }
    }
}

/// The powers of ten.
const POWERS: [i128; 39] = {
    let mut powers = [1; 39];
    let mut place = 1;
    while place < powers.len() {
        powers[place] = powers[place - 1] * 10;
        place += 1;
    }
    powers
};

/// The product of two numbers that are not negative.
fn product(a: i128, b: i128) -> Option<i128> {
    match (u64::try_from(a), u64::try_from(b)) {
        // Nearly all fit 64 bits, which multiply much faster.
        (Ok(short), Ok(other)) if short.leading_zeros() + other.leading_zeros() >= 64 => {
            Some((short * other).into())
        }
        _ => a.checked_mul(b),
    }
}

/// The greatest common divisor of two numbers that are not negative.
fn gcd(mut a: i128, mut b: i128) -> i128 {
    while b != 0 {
        // Nearly all fit 64 bits, which divide much faster.
        if let (Ok(mut a), Ok(mut b)) = (u64::try_from(a), u64::try_from(b)) {
            while b != 0 {
                (a, b) = (b, a % b);
            }
            return a.into();
        }
        (a, b) = (b, a % b);
    }
    a
}

/// The quotient of two positive numbers.
fn quotient(a: i128, b: i128) -> i128 {
    match (u64::try_from(a), u64::try_from(b)) {
        (Ok(a), Ok(b)) => (a / b).into(),
        _ => a / b,
    }
}

impl From<Number> for Decimal {
    fn from(number: Number) -> Self {
        match number {
            Number::Unsigned(integer) => Self::new(integer.into(), 0),
            Number::Negative(integer) => Self::new(integer.into(), 0),
            Number::Float(double) => Self::of_double(double),
        }
    }
}

impl PartialOrd for Decimal {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Decimal {
    fn cmp(&self, other: &Self) -> Ordering {
        let signs = self.mantissa.signum().cmp(&other.mantissa.signum());
        if signs != Ordering::Equal || self.mantissa == 0 {
            return signs;
        }
        if self.exponent == other.exponent {
            return self.mantissa.cmp(&other.mantissa);
        }
        let magnitudes = self.magnitude().cmp(&other.magnitude()).then_with(|| {
            // Of equal magnitude, so the exponents differ by less than 39.
            let exponent = self.exponent.min(other.exponent);
            let digits = |number: &Self| {
                let power = 10u128.pow((number.exponent - exponent).unsigned_abs());
                number.mantissa.unsigned_abs() * power
            };
            digits(self).cmp(&digits(other))
        });
        if self.mantissa < 0 { magnitudes.reverse() } else { magnitudes }
    }
}

impl fmt::Display for Decimal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if (0..20).contains(&self.exponent) && self.magnitude() < 37 {
            write!(f, "{}", self.mantissa * 10i128.pow(self.exponent.unsigned_abs()))
        } else {
            write!(f, "{}e{}", self.mantissa, self.exponent)
        }
    }
}

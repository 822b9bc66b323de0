use fancy_regex::Regex;
use proptest::prelude::*;

use super::{Decimal, NumberError, NumberSet, NumberState};

fn number(text: &str) -> Decimal {
    Decimal::parse(text).unwrap()
}

fn read(set: &NumberSet, text: &str) -> Option<NumberState> {
    text.bytes().try_fold(set.start(), |state, byte| set.next(&state, byte))
}

fn accepts(set: &NumberSet, text: &str) -> bool {
    read(set, text).is_some_and(|state| set.is_complete(&state))
}

#[test]
fn literals_of_simple_sets() {
    let percent = NumberSet::at_least(number("0")).and(&NumberSet::at_most(number("100"))).unwrap();
    for text in ["0", "-0", "0.5", "100", "100.0", "5e-05", "1e2", "99.99999", "1.5e+1"] {
        assert!(accepts(&percent, text), "{text}");
    }
    for text in ["-1", "101", "100.5", "1e3", "00", "1.", "", "-", "1e"] {
        assert!(!accepts(&percent, text), "{text}");
    }
    let integers = NumberSet::integers().and(&percent).unwrap();
    for text in ["0", "7", "7.0", "7.000", "1e2", "1E+1", "100"] {
        assert!(accepts(&integers, text), "{text}");
    }
    for text in ["7.5", "1e3", "101", "1e-1"] {
        assert!(!accepts(&integers, text), "{text}");
    }
    let any = NumberSet::any();
    for text in ["0", "-12.25", "1e308", "123456789012345678901234567890.5", "1.7976931348623157e+308"] {
        assert!(accepts(&any, text), "{text}");
    }
    assert!(!accepts(&any, "1e999") && !accepts(&any, "1.7976931348623159e+308"));
}

#[test]
fn bounds_and_steps_are_exact() {
    // A double next to the bound, which a reader could take for the bound.
    let below = NumberSet::below(number("0.3"));
    assert!(!accepts(&below, "0.29999999999999999") && accepts(&below, "0.29999999999999993"));
    let only = NumberSet::one(number("0.30000000000000004"));
    assert!(accepts(&only, "0.30000000000000004") && read(&only, "0.31").is_none());
    assert_eq!(only.single(), Some(number("0.30000000000000004")));
    // Seventeen digits that no exponent makes the shortest of their double.
    assert!(read(&NumberSet::at_most(number("2.5")), "2.5065840302323809").is_none());
    let largest = NumberSet::above(number("18446744073709551614")).and(&NumberSet::integers()).unwrap();
    assert!(accepts(&largest, "18446744073709551615") && !accepts(&largest, "18446744073709551614"));
    let cents = NumberSet::multiples(number("0.01"));
    assert!(accepts(&cents, "1070468.14") && accepts(&cents, "3") && !accepts(&cents, "0.005"));
    assert!(accepts(&cents, "2e-2") && read(&cents, "2e-3").is_none());
    let nothing = NumberSet::at_least(number("0.1")).and(&NumberSet::at_most(number("0.9"))).unwrap();
    assert!(nothing.and(&NumberSet::integers()).unwrap().is_empty());
    let months = NumberSet::at_least(number("1")).and(&NumberSet::at_most(number("12"))).unwrap();
    let months = months.and(&NumberSet::multiples(number("5"))).unwrap();
    assert_eq!(months.members(10), Some(vec![number("5"), number("10")]));
}

#[test]
fn numbers_are_read_exactly_or_refused() {
    assert_eq!(number("1.50e1"), number("15"));
    assert_eq!(number("-0.0"), Decimal::ZERO);
    assert!(
        number("1e300") > number("9e299") && number("-2") < number("-1.5") && number("0") < number("1e-300")
    );
    for text in ["", "-", "1.", ".5", "01", "1e", "+1", "1e5.0", "0x1"] {
        assert_eq!(Decimal::parse(text), Err(NumberError::Syntax), "{text}");
    }
    assert_eq!(Decimal::parse(&"9".repeat(40)), Err(NumberError::TooLarge));
    assert_eq!(Decimal::parse("1e99999999999"), Err(NumberError::TooLarge));
}

/// A set as a list of conditions, each decided by arithmetic on scaled integers.
#[derive(Debug, Clone)]
enum Condition {
    AtLeast(&'static str),
    Above(&'static str),
    AtMost(&'static str),
    Below(&'static str),
    Multiple(&'static str),
    NotMultiple(&'static str),
    AllBut(&'static str),
}

impl Condition {
    fn set(&self) -> NumberSet {
        match self {
            Self::AtLeast(text) => NumberSet::at_least(number(text)),
            Self::Above(text) => NumberSet::above(number(text)),
            Self::AtMost(text) => NumberSet::at_most(number(text)),
            Self::Below(text) => NumberSet::below(number(text)),
            Self::Multiple(text) => NumberSet::multiples(number(text)),
            Self::NotMultiple(text) => NumberSet::not_multiples(number(text)),
            Self::AllBut(text) => NumberSet::all_but(number(text)),
        }
    }

    fn holds(&self, value: i128) -> bool {
        match self {
            Self::AtLeast(text) => value >= scaled(text),
            Self::Above(text) => value > scaled(text),
            Self::AtMost(text) => value <= scaled(text),
            Self::Below(text) => value < scaled(text),
            Self::Multiple(text) => value % scaled(text) == 0,
            Self::NotMultiple(text) => value % scaled(text) != 0,
            Self::AllBut(text) => value != scaled(text),
        }
    }
}

/// The digits after the point that values of the slow twin have.
const SCALE: usize = 18;

/// A number of at most 18 digits before and after the point, times 10^18.
fn scaled(text: &str) -> i128 {
    try_scaled(text).unwrap()
}

fn try_scaled(text: &str) -> Option<i128> {
    let (mantissa, exponent) = text.split_once(['e', 'E']).unwrap_or((text, "0"));
    let exponent: i32 = exponent.parse().ok()?;
    let digits = mantissa.trim_start_matches('-');
    let (whole, fraction) = digits.split_once('.').unwrap_or((digits, ""));
    let point = i32::try_from(whole.len()).ok()? + exponent;
    let all = format!("{whole}{fraction}");
    let mut value = 0i128;
    // The digits at 10^17 down to 10^-18; others must be zeros.
    for (index, digit) in all.bytes().enumerate() {
        let power = point - 1 - i32::try_from(index).ok()?;
        let digit = i128::from(digit - b'0');
        if digit != 0 && !(-18..18).contains(&power) {
            return None;
        }
        if digit != 0 {
            value += digit * 10i128.pow(u32::try_from(power + 18).ok()?);
        }
    }
    assert_eq!(SCALE, 18);
    Some(if mantissa.starts_with('-') { -value } else { value })
}

const NUMBERS: &[&str] =
    &["0", "1", "-1", "2.5", "10", "99", "100", "-0.5", "0.001", "1000", "-20", "0.25", "12.75", "7", "1e6"];
const STEPS: &[&str] = &["1", "2", "3", "5", "7", "10", "0.5", "0.25", "0.01", "0.3", "1000", "0.125"];

fn condition() -> impl Strategy<Value = Condition> {
    let number = || proptest::sample::select(NUMBERS);
    let step = || proptest::sample::select(STEPS);
    prop_oneof![
        2 => number().prop_map(Condition::AtLeast),
        2 => number().prop_map(Condition::AtMost),
        1 => number().prop_map(Condition::Above),
        1 => number().prop_map(Condition::Below),
        2 => step().prop_map(Condition::Multiple),
        1 => step().prop_map(Condition::NotMultiple),
        1 => number().prop_map(Condition::AllBut),
    ]
}

/// Literals near the numbers above, and almost literals.
fn literal() -> impl Strategy<Value = String> {
    let mantissa = prop_oneof![
        proptest::sample::select(NUMBERS)
            .prop_filter_map("plain", |text| (!text.contains('e')).then(|| text.to_owned())),
        "-?[0-9]{1,4}(\\.[0-9]{1,4})?",
        "-?(0|[1-9][0-9]?)\\.0{0,3}[1-9]?",
    ];
    let exponent = prop_oneof![4 => Just(String::new()), 1 => "[eE][+-]?[0-9]{1,2}"];
    let literal = (mantissa, exponent).prop_map(|(mantissa, exponent)| format!("{mantissa}{exponent}"));
    prop_oneof![9 => literal, 1 => "[-0-9.eE+]{0,6}"]
}

fn is_form(text: &str, is_integer: bool) -> bool {
    let form = if is_integer {
        r"\A-?((0|[1-9][0-9]*)(\.0+)?|[1-9][eE]\+?[0-9]{1,3})\z"
    } else {
        r"\A-?((0|[1-9][0-9]*)(\.[0-9]+)?|[1-9](\.[0-9]+)?[eE][+-]?[0-9]{1,3})\z"
    };
    Regex::new(form).unwrap().is_match(text).unwrap()
}

fn all(conditions: &[Condition]) -> NumberSet {
    conditions.iter().fold(NumberSet::any(), |set, condition| set.and(&condition.set()).unwrap())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]

    #[test]
    fn literals_are_those_of_the_slow_twin(
        conditions in proptest::collection::vec(condition(), 0..5),
        literals in proptest::collection::vec(literal(), 16),
    ) {
        let set = all(&conditions);
        let others = set.not();
        for text in &literals {
            if !is_form(text, set.is_integer()) {
                prop_assert!(!accepts(&set, text), "{} in {:?}", text, set);
                continue;
            }
            let Some(value) = try_scaled(text) else { continue };
            let expected = conditions.iter().all(|condition| condition.holds(value));
            prop_assert_eq!(accepts(&set, text), expected, "{} in {:?}", text, set);
            prop_assert_eq!(set.contains(&number(text)), expected);
            prop_assert_eq!(others.iter().any(|other| other.contains(&number(text))), !expected);
            prop_assert!(!expected || !set.is_empty());
        }
    }

    #[test]
    fn no_literal_leads_into_a_dead_end(
        conditions in proptest::collection::vec(condition(), 0..5),
        choices in proptest::collection::vec(any::<u8>(), 60),
    ) {
        let set = all(&conditions);
        let mut state = set.start();
        let mut text = String::new();
        if set.is_empty() {
            prop_assert!(b"-0123456789".iter().all(|&byte| set.next(&state, byte).is_none()));
            return Ok(());
        }
        for choice in choices {
            let ways: Vec<(u8, NumberState)> =
                b"0123456789.eE+-".iter().filter_map(|&byte| Some((byte, set.next(&state, byte)?))).collect();
            prop_assert!(set.is_complete(&state) || !ways.is_empty(), "{} in {:?}", text, set);
            if set.is_complete(&state) {
                // What is complete can be read, and is a member.
                let value: serde_json::Number = serde_json::from_str(&text).unwrap();
                let value = if value.is_f64() { Decimal::of_double(value.as_f64().unwrap()) } else { number(&text) };
                prop_assert!(set.contains(&value), "{} in {:?}", text, set);
            }
            if ways.is_empty() {
                break;
            }
            let way = ways[usize::from(choice) % ways.len()];
            text.push(char::from(way.0));
            state = way.1;
        }
    }

    #[test]
    fn shared_states_go_on_alike(
        one in proptest::collection::vec(condition(), 0..3),
        two in proptest::collection::vec(condition(), 0..3),
        starts in proptest::collection::vec(literal(), 2),
        ends in proptest::collection::vec("[0-9]{0,3}\\.?[0-9]{0,3}[eE]?[+-]?", 8),
    ) {
        let sets = [all(&one), all(&two)];
        let states = [read(&sets[0], &starts[0]), read(&sets[1], &starts[1])];
        let (Some(a), Some(b)) = (states[0], states[1]) else { return Ok(()) };
        let key = sets[0].shared(&a);
        if key.is_none() || key != sets[1].shared(&b) {
            return Ok(());
        }
        let goes_on = |set: &NumberSet, state: NumberState, text: &str| {
            text.bytes().try_fold(state, |state, byte| set.next(&state, byte)).map(|state| set.is_complete(&state))
        };
        for end in &ends {
            prop_assert_eq!(goes_on(&sets[0], a, end), goes_on(&sets[1], b, end), "{}", end);
        }
    }
}

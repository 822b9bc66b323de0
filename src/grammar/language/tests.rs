use fancy_regex::Regex;
use proptest::prelude::*;

use super::{Classifier, Language, LanguageError, Limits};

fn pattern(text: &str) -> Language {
    Language::pattern(text, &Limits::default()).unwrap()
}

#[test]
fn simple_patterns_accept_what_they_say() {
    let language = pattern("^[A-Z]{2}-[0-9]+$");
    assert!(language.contains("AB-1") && language.contains("AB-12"));
    assert!(!language.contains("AB-") && !language.contains("xAB-1") && !language.contains("AB-1é"));
    let language = pattern("é|b$");
    assert!(language.contains("café") && language.contains("éa") && language.contains("ab"));
    assert!(!language.contains("ba") && !language.contains("è"));
}

#[test]
fn formats_accept_the_examples_of_the_test_suite() {
    let mut seen = 0;
    for line in include_str!("../../../fixtures/grammar/formats.jsonl").lines() {
        let case: serde_json::Value = serde_json::from_str(line).unwrap();
        let language = Language::format(case["format"].as_str().unwrap()).unwrap();
        // An example that is left out and is accepted now belongs to the others.
        for (key, expected) in [("accepts", true), ("rejects", false), ("left_out", false)] {
            for text in case[key].as_array().unwrap() {
                assert_eq!(language.contains(text.as_str().unwrap()), expected, "{}: {text}", case["format"]);
                seen += 1;
            }
        }
    }
    assert!(seen > 600, "only {seen} examples");
    assert_eq!(Language::format("color"), None);
}

#[test]
fn patterns_are_read_as_their_users_read_them() {
    let cases: &[(&str, &[&str], &[&str])] = &[
        // Sets of ASCII, unless there is look-around.
        (r"^\d\w\s$", &["1a ", "1a\u{feff}"], &["1é ", "١a ", "1a\u{85}"]),
        (r"^(?=.)\d$", &["1", "١"], &["a"]),
        // What other engines call operators is text in a class.
        (r"^[a&&b]$", &["a", "&", "b"], &["c", "ab"]),
        (r"^[[a]$", &["[", "a"], &["]"]),
        (r"^[\w-.]$", &["-", ".", "a"], &["+"]),
        (r"^[]a]$", &["]", "a"], &[""]),
        (r"^[^]$", &["a", "\n"], &["", "ab"]),
        (r"a{,2}", &["a{,2}"], &["aa"]),
        (r"^a{1,2}{2}$", &["aa{2}"], &["aaaa"]),
        (r"^\u{1F600}\uD83D\uDE00\x41\cJ$", &["😀😀A\n"], &["😀A\n"]),
        (r"^(?<year>[0-9]{4})$", &["2026"], &["20265"]),
        (r"^\p{Lu}\P{Script=Greek}$", &["Äx", "Ωx"], &["äx", "Äω"]),
        (r"^\bcat\b|\Bx", &["cat nap", "wax"], &["cats", "x"]),
        // Look-around anywhere.
        (r"^(?!.*--)[a-z-]+$", &["a-b"], &["a--b"]),
        (r"^(?=.*[0-9])(?=.*[a-z]).{4,6}$", &["abc1", "1abcde"], &["abcd", "1234", "abc1abc"]),
        (r"^(a(?=b)|b(?!b))*$", &["", "abab", "bab"], &["bb", "aa", "ba"]),
        (r"(?<=\$)[0-9]+$", &["cost $12"], &["cost 12"]),
        (r"^.*(?<!\.tmp)$", &["a.txt"], &["a.tmp"]),
    ];
    for (text, words, others) in cases {
        let language = pattern(text);
        words.iter().for_each(|word| assert!(language.contains(word), "{text} on {word:?}"));
        others.iter().for_each(|word| assert!(!language.contains(word), "{text} on {word:?}"));
    }
    for text in [r"(a)\1", r"(?>a)b", r"\k<a>", "(?(1)a|b)", r"(?<=a(?=b))", "a++"] {
        let result = Language::pattern(text, &Limits::default());
        assert!(matches!(result, Err(LanguageError::Unsupported { .. })), "{text}: {result:?}");
    }
    for text in ["(", ")", "a**b(", "[b-a]", r"\y", "*", "a{2,1}", r"\p{Nothing}", r"\u12"] {
        let result = Language::pattern(text, &Limits::default());
        assert!(matches!(result, Err(LanguageError::Syntax { .. })), "{text}: {result:?}");
    }
}

#[test]
fn long_repeats_are_counted_where_that_leads_into_no_dead_end() {
    for (text, counts) in [
        ("^[a-z]{1,255}$", true),
        ("^.{0,5000}$", true),
        ("^[a-z][a-z0-9-]{0,254}[a-z0-9]$", true),
        ("^(?=.{1,253}$)([a-z]+[.])*[a-z]+$", true),
        ("^[a-z]{100,200}Z$", false),
        ("^[A-F0-9]{12}$", false),
        ("[a-z]{100}", false),
    ] {
        assert_eq!(pattern(text).counts(), counts, "{text}");
    }
    let language = pattern("^[a-z]{1,255}$");
    assert_eq!((language.min_chars(), language.max_chars(), language.states()), (1, Some(255), 2));
    assert!(language.contains(&"a".repeat(255)) && !language.contains(&"a".repeat(256)));
}

/// Many counts may be at work at once; which of them, would be more than any number of states.
#[test]
fn counts_that_others_include_take_no_states() {
    let cases: [(&str, String, String); 6] = [
        (r"[-a-z@:%._~#=]{1,256}\.[a-z()]{1,6}\b([-a-z@:%_~#?&/=]*)", "a.b".into(), "a.".into()),
        (r"(arn:[a-z-]*:[0-9]{12}/)?([a-zA-Z0-9][a-zA-Z0-9-]{0,62})(?<!-)$", "+a-b".into(), "a-".into()),
        (
            "[a-z][a-z0-9_]{0,99}-[a-z0-9]{10}",
            format!("_{}-0123456789", "a".repeat(101)),
            "a-012345678".into(),
        ),
        ("[a-z][a-z0-9_]{0,99}-x", format!("a{}-x", "_".repeat(99)), format!("a{}-x", "_".repeat(100))),
        (
            "^[a-z0-9][a-z0-9.-]{1,61}[a-z0-9]/?(.{1,1024}/)?$",
            format!("b-{}/", "x".repeat(1085)),
            format!("b-b{}/", "-".repeat(1086)),
        ),
        ("x[a-c]{3,}[ab]{2,90}y$", format!("xabc{}y", "a".repeat(200)), "xabcay".into()),
    ];
    for (text, word, other) in cases {
        let language = pattern(text);
        assert!(language.contains(&word), "{text} on {word}");
        assert!(!language.contains(&other), "{text} on {other}");
    }
}

#[test]
fn hostile_patterns_come_to_a_limit() {
    let deep = "(".repeat(5000) + "a" + &")".repeat(5000);
    let many = "(".repeat(90) + "a" + &"){1,2}".repeat(90);
    for text in [
        deep.as_str(),
        many.as_str(),
        "((a{0,100}){0,100}){0,100}",
        "(.*a.{30})",
        "^(a|b)*a(a|b){40}$",
        "(()|()){4000000000}a{4000000000}",
        "(?=.*a.{20})(?=.*b.{20})x",
        "a{99999999999}",
        r"[\u{0}-\u{10FFFF}]{200}é.{200}",
    ] {
        let result = Language::pattern(text, &Limits::default());
        assert_eq!(result, Err(LanguageError::TooLarge), "{text:.40}");
    }
    let words: Vec<String> = (0..40_000).map(|n| format!("{n:x}é{}", n * 7919)).collect();
    let result = Language::words(words.iter().map(String::as_str), &Limits::default());
    assert_eq!(result, Err(LanguageError::TooLarge));
}

/// A piece of a random pattern, as this crate and as crate `fancy-regex` reads it.
#[derive(Debug, Clone)]
struct Piece {
    ours: String,
    theirs: String,
    looks: bool,
}

fn piece(ours: &str, theirs: &str) -> Piece {
    Piece { ours: ours.to_owned(), theirs: theirs.to_owned(), looks: false }
}

fn join(pieces: &[Piece], separator: &str, open: &str, close: &str) -> Piece {
    let text = |part: fn(&Piece) -> &str| {
        format!("{open}{}{close}", pieces.iter().map(part).collect::<Vec<_>>().join(separator))
    };
    Piece {
        ours: text(|piece| &piece.ours),
        theirs: text(|piece| &piece.theirs),
        looks: pieces.iter().any(|piece| piece.looks),
    }
}

/// Random patterns. Those with look-around have no sets whose meaning depends on that.
fn random_pattern(with_looks: bool) -> impl Strategy<Value = Piece> {
    random_pattern_of(with_looks, true)
}

/// The same, and whether there are sets with many characters.
fn random_pattern_of(with_looks: bool, with_large_sets: bool) -> impl Strategy<Value = Piece> {
    let mut atoms: Vec<(&str, &str)> = vec![
        ("a", "a"),
        ("b", "b"),
        ("é", "é"),
        ("1", "1"),
        (".", "."),
        ("[ab]", "[ab]"),
        ("[^a]", "[^a]"),
        ("[b-é]", "[b-é]"),
        ("^", "^"),
        ("$", "$"),
        (r"\u00e9", "é"),
        (r"(?i:A|É)", "(?i:A|É)"),
        ("(?s:.)", "(?s:.)"),
        ("(?m:^)", "(?m:^)"),
        ("(?m:$)", "(?m:$)"),
    ];
    if with_large_sets {
        atoms.extend([(r"\p{L}", r"\p{L}"), (r"\b", r"\b"), (r"\B", r"\B")]);
    }
    if !with_looks {
        atoms.extend([
            (r"\d", "[0-9]"),
            (r"\w", "[0-9A-Za-z_]"),
            (r"[^\W1]", "[A-Za-z_02-9]"),
            (r"\S", r"[^\s\x{feff}&&[^\x{85}]]"),
        ]);
    }
    let leaf = proptest::sample::select(atoms).prop_map(|(ours, theirs)| piece(ours, theirs));
    leaf.prop_recursive(4, 24, 4, move |inner| {
        let many = proptest::collection::vec(inner.clone(), 1..4);
        let quantifiers = vec!["*", "+", "?", "{2}", "{1,3}", "{0,2}?", "{2,}", "{2,5}", "*?"];
        let repeat = (inner.clone(), proptest::sample::select(quantifiers))
            .prop_map(|(inner, quantifier)| join(&[inner], "", "(?:", &format!("){quantifier}")));
        let look = (inner, proptest::sample::select(vec!["(?=", "(?!", "(?<=", "(?<!"])).prop_map(
            |(inner, open)| {
                let inner = if inner.looks || open.contains('<') { piece("b", "b") } else { inner };
                Piece { looks: true, ..join(&[inner], "", open, ")") }
            },
        );
        let plain = prop_oneof![
            many.clone().prop_map(|parts| join(&parts, "", "(", ")")),
            many.prop_map(|parts| join(&parts, "|", "(?:", ")")),
            repeat,
        ];
        if with_looks { prop_oneof![3 => plain, 1 => look].boxed() } else { plain.boxed() }
    })
}

fn random_text() -> impl Strategy<Value = String> {
    proptest::collection::vec(
        proptest::sample::select(vec!['a', 'b', 'A', 'é', '1', '\n', ' ', '日', '😀']),
        0..7,
    )
    .prop_map(|characters| characters.into_iter().collect())
}

/// What crate `fancy-regex` says, unless it cannot build the pattern.
fn oracle(pattern: &str) -> Option<Regex> {
    Regex::new(pattern).ok()
}

fn compare(pattern: &Piece, texts: &[String]) -> Result<(), TestCaseError> {
    let limits = Limits::default();
    let Some(anywhere) = oracle(&pattern.theirs) else { return Ok(()) };
    let language = match Language::pattern(&pattern.ours, &limits) {
        Err(LanguageError::Unsupported { .. }) if pattern.looks || pattern.ours.contains(r"\b") => {
            return Ok(());
        }
        language => language.map_err(refused)?,
    };
    for text in texts {
        let Ok(expected) = anywhere.is_match(text) else { continue };
        prop_assert_eq!(language.contains(text), expected, "{} on {:?}", &pattern.ours, text);
    }
    check_form(&language)?;
    let Some(whole) = oracle(&format!(r"\A(?:{})\z", pattern.theirs)) else { return Ok(()) };
    let language = Language::whole(&pattern.theirs, &limits).map_err(refused)?;
    for text in texts {
        let Ok(expected) = whole.is_match(text) else { continue };
        prop_assert_eq!(language.contains(text), expected, "whole {} on {:?}", &pattern.theirs, text);
    }
    check_form(&language)
}

/// What holds for every automaton: states are alive, distances are exact, and the example is a word.
fn check_form(language: &Language) -> Result<(), TestCaseError> {
    let states = u32::try_from(language.states()).unwrap();
    for state in 0..states {
        let best = (0..=255u8).filter(|&byte| language.next(state, byte) != Language::DEAD).map(|byte| {
            let cost = u32::from(byte & 0xC0 != 0x80);
            language.distance(language.next(state, byte)).saturating_add(cost)
        });
        let best = if language.is_accepting(state) { Some(0) } else { best.min() };
        prop_assert_eq!(language.distance(state), best.unwrap_or(u32::MAX));
        prop_assert_eq!(state == Language::DEAD, best.is_none());
    }
    match language.example() {
        Some(example) => prop_assert!(language.contains(&example)),
        None => prop_assert!(language.is_empty()),
    }
    Ok(())
}

/// Random languages may be larger than the limits allow; that is no fault.
fn refused(error: LanguageError) -> TestCaseError {
    match error {
        LanguageError::TooLarge => TestCaseError::reject("too large"),
        error => TestCaseError::fail(error.to_string()),
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(300))]

    #[test]
    fn patterns_equal_another_engine(
        pattern in random_pattern(false),
        texts in proptest::collection::vec(random_text(), 12),
    ) {
        compare(&pattern, &texts)?;
    }

    #[test]
    fn look_around_equals_another_engine(
        pattern in random_pattern(true),
        texts in proptest::collection::vec(random_text(), 12),
    ) {
        compare(&pattern, &texts)?;
    }

    #[test]
    fn algebra_is_that_of_members(
        one in random_pattern_of(false, false),
        two in random_pattern_of(false, false),
        bounds in proptest::collection::vec((0u32..6, proptest::option::of(0u32..6)), 2),
        texts in proptest::collection::vec(random_text(), 12),
    ) {
        let limits = Limits::default();
        let with_length = |pattern: &Piece, (min, max): (u32, Option<u32>)| {
            let language = Language::pattern(&pattern.ours, &limits).map_err(refused)?;
            let length = Language::length(min, max.map(|max| min + max));
            let bounded = language.and(&length, &limits).map_err(refused)?;
            Ok::<_, TestCaseError>((bounded, language, length))
        };
        let (a, plain, length) = with_length(&one, bounds[0])?;
        let (b, ..) = with_length(&two, bounds[1])?;
        let (both, either, neither) =
            (a.and(&b, &limits).map_err(refused)?, a.or(&b, &limits).map_err(refused)?, a.not(&limits).map_err(refused)?);
        let without = a.without(&b, &limits).map_err(refused)?;
        let expanded = a.expanded(&limits).map_err(refused)?;
        for text in &texts {
            let (in_a, in_b) = (a.contains(text), b.contains(text));
            prop_assert_eq!(in_a, plain.contains(text) && length.contains(text));
            prop_assert_eq!(both.contains(text), in_a && in_b);
            prop_assert_eq!(either.contains(text), in_a || in_b);
            prop_assert_eq!(neither.contains(text), !in_a);
            prop_assert_eq!(without.contains(text), in_a && !in_b);
            prop_assert_eq!(expanded.contains(text), in_a);
        }
        // Equal languages are equal values.
        prop_assert_eq!(neither.not(&limits).map_err(refused)?.expanded(&limits).map_err(refused)?, expanded.clone());
        prop_assert_eq!(without.or(&both, &limits).map_err(refused)?.expanded(&limits).map_err(refused)?, expanded);
        prop_assert!(a.is_disjoint(&neither, &limits).map_err(refused)?);
        prop_assert!(both.is_subset(&a, &limits).map_err(refused)? && a.is_subset(&either, &limits).map_err(refused)?);
        prop_assert_eq!(a.is_empty(), a.example().is_none());
        for language in [&both, &either, &neither, &without] {
            check_counts(language)?;
        }
        let parts = Classifier::new(&[both, without, neither], &limits).map_err(refused)?;
        for text in &texts {
            let state = text.bytes().fold(parts.start(), |state, byte| parts.next(state, byte));
            let expected = if !a.contains(text) { 2 } else { usize::from(!b.contains(text)) };
            prop_assert_eq!(parts.label(state), Some(expected));
        }
    }

    #[test]
    fn words_are_words(words in proptest::collection::vec(random_text(), 0..8), texts in proptest::collection::vec(random_text(), 12)) {
        let language = Language::words(words.iter().map(String::as_str), &Limits::default()).unwrap();
        for text in words.iter().chain(&texts) {
            prop_assert_eq!(language.contains(text), words.contains(text));
        }
        let mut different = words.clone();
        different.sort();
        different.dedup();
        prop_assert_eq!(language.count(100), Some(different.len() as u64));
        prop_assert_eq!(language.count(different.len() as u64 - u64::from(!different.is_empty())).is_some(), different.is_empty());
        check_form(&language)?;
        // With bounds on the number of characters, counted without writing them out.
        for (min, max) in [(0, 3), (1, 2), (4, 6)] {
            let within = different.iter().filter(|word| (min..=max).contains(&word.chars().count()));
            let bounded = language.counted(min as u32, Some(max as u32));
            prop_assert_eq!(bounded.count(100), Some(within.count() as u64));
        }
    }
}

/// Where characters are counted, no run leads into a dead end: from every state there are words of each length.
fn check_counts(language: &Language) -> Result<(), TestCaseError> {
    if !language.counts() || language.is_empty() {
        return Ok(());
    }
    let states = u32::try_from(language.states()).unwrap();
    let after: Vec<Vec<u32>> = (0..states).map(|state| after_character(language, state)).collect();
    // Which states have a word with so many more characters.
    let mut ends: Vec<bool> = (0..states).map(|state| language.is_accepting(state)).collect();
    for length in 0..6 {
        for state in 1..states {
            if is_between_characters(language, state) {
                let expected = length >= language.distance(state);
                // Without a fewest number only the shortest words matter.
                let matters = language.min_chars() > 0 || length <= language.distance(state);
                prop_assert!(!matters || ends[state as usize] == expected, "{}", length);
            }
        }
        ends = after.iter().map(|after| after.iter().any(|&state| ends[state as usize])).collect();
    }
    Ok(())
}

fn is_between_characters(language: &Language, state: u32) -> bool {
    (0x80..0xC0u8).all(|byte| language.next(state, byte) == Language::DEAD)
}

/// The states that one more character leads to.
fn after_character(language: &Language, from: u32) -> Vec<u32> {
    let mut reached: Vec<u32> = (0..=255u8).map(|byte| language.next(from, byte)).collect();
    let mut after = Vec::new();
    while let Some(state) = reached.pop() {
        if state == Language::DEAD || after.contains(&state) {
            continue;
        }
        if is_between_characters(language, state) {
            after.push(state);
        } else {
            reached.extend((0x80..0xC0u8).map(|byte| language.next(state, byte)));
            reached.sort_unstable();
            reached.dedup();
        }
    }
    after
}

#[test]
fn properties_are_those_of_ecma_262() {
    for known in [r"\p{Lu}", r"\p{Script=Greek}", r"\p{Alphabetic}", r"\p{gc=Nd}"] {
        assert!(Language::whole(known, &Limits::default()).is_ok(), "{known}");
    }
    // They need tables that are there only if another crate of the build asks for them.
    for other in
        [r"\p{Age=6.0}", r"\p{age:6.0}", r"\p{Word_Break=Numeric}", r"\p{isGCB=Extend}", r"\p{sb=Lower}"]
    {
        assert!(Language::whole(other, &Limits::default()).is_err(), "{other}");
    }
}

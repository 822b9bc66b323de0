use std::fmt::Write;

use super::{Limits, Options, Relax, SchemaErrorKind, compile};
use crate::grammar::value::Values;
use crate::json::{Json, LoneSurrogates};

mod direct;
mod twin;

fn parse(text: &str) -> Json {
    Json::parse_with(text.as_bytes(), LoneSurrogates::Replace).unwrap().0
}

/// What the schema allows. All promises on the result are checked.
fn values(schema: &str) -> Values {
    let (values, _) =
        compile(&parse(schema), &Options::default()).unwrap_or_else(|error| panic!("{schema}: {error}"));
    twin::check_promises(&values);
    values
}

fn accepts(values: &Values, instance: &str) -> bool {
    twin::accepts(values, values.root, &parse(instance))
}

/// The snapshot lists the groups of the official test suite that are refused, and those about formats in which valid
/// instances are not accepted: languages of formats may be smaller than the formats, and they are asserted where the
/// suite takes them for annotations. No other verdict may be wrong. Less in the snapshot is an improvement; more is
/// not.
#[test]
fn verdicts_are_those_of_the_official_suite() {
    let text = |group: &Json, key: &str| group.get(key).and_then(Json::as_str).unwrap().to_owned();
    let (mut groups, mut tests, mut refused, mut wrong) = (0, 0, Vec::new(), String::new());
    let mut narrow: Vec<String> = Vec::new();
    for line in include_str!("../../../fixtures/schema/suite.jsonl").lines() {
        let group = parse(line);
        let name = format!("{} {}: {}", text(&group, "draft"), text(&group, "file"), text(&group, "group"));
        let cases = group.get("tests").and_then(Json::as_array).unwrap();
        let verdict = |case: &Json| case.as_array().is_some_and(|case| case[0] == Json::Bool(true));
        groups += 1;
        match compile(group.get("schema").unwrap(), &Options::default()) {
            // That no value is valid is a verdict, too.
            Err(error) if error.kind == SchemaErrorKind::Unsatisfiable && !cases.iter().any(verdict) => {
                tests += cases.len();
            }
            Err(error) => refused.push(format!("{:?} {}: {name}", error.kind, error.keyword)),
            Ok((values, _)) => {
                twin::check_promises(&values);
                let is_about_format = text(&group, "file").contains("format");
                for case in cases {
                    let instance = &case.as_array().unwrap()[1];
                    tests += 1;
                    match (twin::accepts(&values, values.root, instance), verdict(case)) {
                        (false, true) if is_about_format => {
                            narrow.push(format!("{name}: {}", case.as_array().unwrap()[2]))
                        }
                        (got, expected) if got != expected => writeln!(wrong, "{name}: {case}").unwrap(),
                        _ => {}
                    }
                }
            }
        }
    }
    refused.sort_unstable();
    let report = format!(
        "{groups} groups, {tests} instances\n\nrefused groups: {}\n{}\n\nvalid texts that are not accepted: {}\n{}",
        refused.len(),
        refused.join("\n"),
        narrow.len(),
        narrow.join("\n"),
    );
    insta::with_settings!({snapshot_path => "../../../fixtures/schema", prepend_module_to_snapshot => false}, {
        insta::assert_snapshot!("suite", report);
    });
    assert!(wrong.is_empty(), "wrong verdicts:\n{wrong}");
}

#[test]
fn faults_have_a_kind_and_a_place() {
    let fault = |schema: &str| {
        let error = compile(&parse(schema), &Options::default()).unwrap_err();
        (error.kind, error.pointer, error.keyword)
    };
    let at = |kind, pointer: &str, keyword: &str| (kind, pointer.to_owned(), keyword.to_owned());
    use SchemaErrorKind::{Malformed, Reference, Unsatisfiable, Unsupported};
    assert_eq!(
        fault(r#"{"properties": {"a/b": {"type": "strin"}}}"#),
        at(Malformed, "/properties/a~1b", "type")
    );
    assert_eq!(fault(r#"{"items": {"minItems": -1}}"#), at(Malformed, "/items", "minItems"));
    assert_eq!(fault(r##"{"items": {"$ref": "#/a"}}"##), at(Reference, "/items", "$ref"));
    assert_eq!(fault(r#"{"$ref": "http://example.com/"}"#), at(Reference, "", "$ref"));
    assert_eq!(fault(r##"{"allOf": [{"$ref": "#"}]}"##).0, Reference);
    assert_eq!(
        fault(r##"{"required": ["a"], "type": "object", "properties": {"a": {"$ref": "#"}}}"##).0,
        Unsatisfiable
    );
    assert_eq!(fault(r#"{"not": {"uniqueItems": true}}"#), at(Unsupported, "/not", "uniqueItems"));
    assert_eq!(fault(r#"{"items": {"pattern": "(a)\\1"}}"#), at(Unsupported, "/items", "pattern"));
}

/// What a value of the schema begins with, by the text of a number.
fn reads_number(schema: &str, text: &str) -> bool {
    let values = values(schema);
    values.values[values.root.0 as usize].numbers.iter().any(|set| {
        let state = text.bytes().try_fold(set.start(), |state, byte| set.next(&state, byte));
        state.is_some_and(|state| set.is_complete(&state))
    })
}

#[test]
fn the_oldest_draft_has_its_own_integers_and_bounds() {
    let old = |rest: &str| format!(r#"{{"$schema": "http://json-schema.org/draft-04/schema#", {rest}}}"#);
    let integer = old(r#""type": "integer""#);
    assert!(reads_number(&integer, "10") && !reads_number(&integer, "1.0") && !reads_number(&integer, "1e1"));
    assert!(reads_number(r#"{"type": "integer"}"#, "1.0"));
    assert!(reads_number(&old(r#""type": "number""#), "1.0"));
    let above = old(r#""minimum": 1, "exclusiveMinimum": true"#);
    assert!(!reads_number(&above, "1") && reads_number(&above, "1.5"));
    assert!(reads_number(r#"{"minimum": 1}"#, "1"));
    // Siblings of a reference say nothing there, and something later.
    let siblings =
        r##""allOf": [{"$ref": "#/definitions/a", "maximum": 1}], "definitions": {"a": {"minimum": 0}}"##;
    assert!(reads_number(&old(siblings), "5"));
    assert!(!reads_number(&format!("{{{siblings}}}"), "5"));
}

/// A chain of `count` schemas inside each other.
fn nested(count: usize, open: &str, close: &str, inner: &str) -> String {
    format!("{}{inner}{}", open.repeat(count), close.repeat(count))
}

#[test]
fn each_limit_has_its_error() {
    let limit = |schema: &str, options: &Options| {
        let error = compile(&parse(schema), options).unwrap_err();
        assert_eq!(error.kind, SchemaErrorKind::Limit, "{error}");
        error.detail
    };
    let limits = |change: fn(&mut Limits)| {
        let mut options = Options::default();
        change(&mut options.limits);
        options
    };
    let schema = r#"{"properties": {"a": {"minimum": 1}, "b": {"minimum": 2}, "c": {"minimum": 3}}}"#;
    assert!(compile(&parse(schema), &Options::default()).is_ok());
    assert_eq!(
        limit(schema, &limits(|limits| limits.values = 4)),
        "the schema has too many different places"
    );
    assert_eq!(limit(schema, &limits(|limits| limits.work = 20)), "the schema takes too much work");
    let deep = nested(60, r#"{"allOf": ["#, "]}", r#"{"minimum": 1}"#);
    assert!(compile(&parse(&deep), &Options::default()).is_ok());
    assert_eq!(limit(&deep, &limits(|limits| limits.depth = 50)), "too many schemas apply to one place");
    // Each pair of alternatives doubles their number.
    let pair = |n: usize| format!(r#"{{"anyOf": [{{"required": ["a{n}"]}}, {{"required": ["b{n}"]}}]}}"#);
    let pairs = |count| format!(r#"{{"allOf": [{}]}}"#, (0..count).map(pair).collect::<Vec<_>>().join(","));
    assert!(compile(&parse(&pairs(7)), &Options::default()).is_ok());
    assert_eq!(limit(&pairs(9), &Options::default()), "too many alternatives for one place");
    // Overlapping patterns divide keys.
    let patterns = |count: usize| {
        let patterns = (0..count).map(|n| format!(r#""{n}": {{"minimum": {n}}}"#)).collect::<Vec<_>>();
        format!(r#"{{"patternProperties": {{{}}}}}"#, patterns.join(","))
    };
    assert!(compile(&parse(&patterns(6)), &Options::default()).is_ok());
    assert!(matches!(
        compile(&parse(&patterns(12)), &Options::default()).unwrap_err().kind,
        SchemaErrorKind::Limit | SchemaErrorKind::Unsupported
    ));
}

/// What would take exponential time without limits is refused, or is quick.
#[test]
fn hostile_schemas_are_bounded() {
    let chain = |keyword: &str, count: usize| {
        let link = |n: usize| {
            format!(
                r##""d{n}": {{"{keyword}": [{{"$ref": "#/$defs/d{0}"}}, {{"$ref": "#/$defs/d{0}"}}]}}"##,
                n + 1
            )
        };
        let links: Vec<String> = (0..count).map(link).collect();
        format!(
            r##"{{"$ref": "#/$defs/d0", "$defs": {{{}, "d{count}": {{"required": ["a"]}}}}}}"##,
            links.join(",")
        )
    };
    for keyword in ["allOf", "anyOf", "oneOf"] {
        let _ = compile(&parse(&chain(keyword, 40)), &Options::default());
    }
    let not = nested(40, r#"{"not": {"properties": {"a": "#, "}}}", r#"{"minimum": 1}"#);
    let _ = compile(&parse(&not), &Options::default());
    let closed =
        |n: usize| format!(r#"{{"properties": {{"a{n}": {{"type": "string"}}, "b": {{"minItems": {n}}}}}}}"#);
    let one_of = format!(r#"{{"oneOf": [{}]}}"#, (0..60).map(closed).collect::<Vec<_>>().join(","));
    assert!(compile(&parse(&one_of), &Options::default()).is_err());
    let wide: Vec<String> = (0..3000).map(|n| format!(r#""k{n}": {{"type": "string"}}"#)).collect();
    let names: Vec<String> = (0..3000).map(|n| format!(r#""k{n}""#)).collect();
    let wide = format!(
        r#"{{"allOf": [{{"properties": {{{0}}}, "required": [{1}]}}, {{"properties": {{{0}}}, "required": [{1}]}}]}}"#,
        wide.join(","),
        names.join(",")
    );
    assert!(compile(&parse(&wide), &Options::default()).is_ok());
}

#[test]
fn what_is_left_out_is_listed() {
    let relaxed = |schema: &str| {
        let options = Options { relax: Relax::Listed, ..Options::default() };
        let (values, relaxed) = compile(&parse(schema), &options).unwrap();
        twin::check_promises(&values);
        let listed = relaxed.into_iter().map(|relaxed| format!("{} {}", relaxed.pointer, relaxed.keyword));
        (values, listed.collect::<Vec<_>>())
    };
    let (values, listed) =
        relaxed(r#"{"items": {"type": "string", "pattern": "(a)\\1"}, "colour": 1, "maxItems": 1}"#);
    assert_eq!(listed, [" colour", "/items pattern"]);
    assert!(accepts(&values, r#"["b"]"#) && !accepts(&values, "[1]") && !accepts(&values, r#"["b", "b"]"#));
    // The opposite of what is unknown may be anything.
    let (values, listed) = relaxed(r#"{"not": {"uniqueItems": true, "maxItems": 1}}"#);
    assert_eq!(listed, ["/not uniqueItems"]);
    assert!(accepts(&values, "[1]"));
    // Other faults stay faults.
    let options = Options { relax: Relax::Listed, ..Options::default() };
    assert!(compile(&parse(r#"{"type": 1}"#), &options).is_err());
    assert!(compile(&parse(r#"{"not": {}}"#), &options).is_err());
}

proptest::proptest! {
    #![proptest_config(proptest::test_runner::Config::with_cases(2000))]

    #[test]
    fn verdicts_are_those_of_a_direct_reading(seed in proptest::prelude::any::<u64>()) {
        let mut dice = direct::Dice::new(seed);
        let document = direct::document(&mut dice);
        check_against_direct(&document, &mut dice);
    }
}

/// Compares some verdicts; what is refused has none. Returns whether it was not.
fn check_against_direct(document: &Json, dice: &mut direct::Dice) -> Option<SchemaErrorKind> {
    let found = compile(document, &Options::default());
    let refused = found.as_ref().err().map(|error| error.kind);
    if !matches!(refused, None | Some(SchemaErrorKind::Unsatisfiable)) {
        return refused;
    }
    let values = found.ok().map(|(values, _)| values);
    if let Some(values) = &values
        && let Some(example) = twin::check_promises(values)
    {
        assert_ne!(direct::verdict(document, &example), Some(false), "{document} does not allow {example}");
    }
    for _ in 0..40 {
        let instance = direct::instance(dice, 3);
        let got = values.as_ref().is_some_and(|values| twin::accepts(values, values.root, &instance));
        if let Some(expected) = direct::verdict(document, &instance) {
            assert_eq!(got, expected, "{document} and {instance}");
        }
    }
    refused
}

#[test]
fn documents_that_once_failed_agree() {
    for seed in [15_988_632_564_324_602_133, 708_413_637_626_599_689, 1_765_436_573_700_493_166] {
        let mut dice = direct::Dice::new(seed);
        let document = direct::document(&mut dice);
        check_against_direct(&document, &mut dice);
    }
}

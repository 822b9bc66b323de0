use std::collections::HashMap;

use super::language::Limits;
use super::matcher::Matcher;
use super::value::{ValueId, Values};
use super::{Expr, Grammar, GrammarError, RuleId, TextFault};

fn parse(source: &str) -> Grammar {
    Grammar::parse(source, &HashMap::new(), &Limits::default()).unwrap()
}

fn fault(source: &str) -> (usize, TextFault) {
    let error = Grammar::parse(source, &HashMap::new(), &Limits::default()).unwrap_err();
    (error.line, error.fault)
}

#[test]
fn faults_of_a_grammar_have_their_line() {
    assert_eq!(fault("a = b"), (1, TextFault::UnknownRule("b".into())));
    assert_eq!(fault("# x\n\na = <Nothing>"), (3, TextFault::UnknownRole("Nothing".into())));
    assert_eq!(fault("a = \"x\"\na = \"y\""), (2, TextFault::Twice("a".into())));
    assert_eq!(fault("a = \"x\"\n  | $y"), (2, TextFault::UnknownHole("y".into())));
    assert_eq!(fault("a = (\"x\""), (1, TextFault::Expected(")")));
    assert_eq!(fault("a = \"x"), (1, TextFault::Expected("a closing quote")));
    assert_eq!(fault("a = \"x\"{3,2}"), (1, TextFault::Expected("}")));
    assert_eq!(fault("\"x\""), (1, TextFault::Expected("=")));
    assert!(matches!(fault("a = /(/"), (1, TextFault::Expression(_))));
    assert_eq!(fault(&format!("a = {}", "(".repeat(100))), (1, TextFault::TooDeep));
}

#[test]
fn rules_that_never_take_anything_are_refused() {
    let refused = |source: &str| super::rules::RuleCode::new(&parse(source)).unwrap_err();
    assert_eq!(refused("a = a \"x\""), GrammarError::LeftRecursion(RuleId(0)));
    assert!(matches!(refused("a = \"\" b \"x\"\nb = a?"), GrammarError::LeftRecursion(_)));
    assert_eq!(refused("a = (\"x\"?)*"), GrammarError::EmptyRepeat);
    assert_eq!(refused("a = (/x*/){2,}"), GrammarError::EmptyRepeat);
    assert_eq!(refused("a = \"x\"{1000000} \"y\"{1000000}"), GrammarError::TooLarge);
    let unknown = Grammar { rules: vec![Expr::Rule(RuleId(7))] };
    assert_eq!(super::rules::RuleCode::new(&unknown).unwrap_err(), GrammarError::Unknown);
}

#[cfg(feature = "vocab")]
mod with_vocabulary {
    use std::sync::{Arc, LazyLock};

    use super::*;
    use crate::grammar::value::ObjectId;
    use crate::grammar::{CompileError, Compiled, Compiler, Layout, is_allowed};
    use crate::token::{Special, TokenId};
    use crate::tokenizer::{SpecialToken, Tokenizer, Vocabulary};

    const fn special(role: Special, id: u32, spellings: &'static [&'static str]) -> SpecialToken {
        SpecialToken { role, id: TokenId(id), spellings }
    }

    static VOCABULARY: Vocabulary = Vocabulary {
        specials: &[
            special(Special::Eos, 1, &["<｜end▁of▁sentence｜>"]),
            special(Special::Dsml, 128_825, &["｜DSML｜"]),
        ],
        renamed: &[],
    };
    static TOKENIZER: LazyLock<Tokenizer> = LazyLock::new(|| Tokenizer::embedded(&VOCABULARY));
    static COMPILER: LazyLock<Compiler> = LazyLock::new(|| Compiler::new(&TOKENIZER));

    fn compiled(grammar: &Grammar) -> Arc<Compiled> {
        COMPILER.compile_rules(grammar, &Values::new(), Layout::default()).unwrap()
    }

    fn check_mask(matcher: &mut Matcher) {
        let mut mask = vec![0; matcher.mask_words()];
        matcher.fill_mask(&mut mask);
        for id in (0..TOKENIZER.len() as u32).map(TokenId) {
            let accepted = matcher.accept(id).is_ok();
            matcher.rollback(usize::from(accepted));
            assert_eq!(accepted, is_allowed(&mask, id), "{id} {:?} in {matcher:?}", TOKENIZER.decode(&[id]));
        }
    }

    #[test]
    fn rules_recurse_and_special_tokens_are_no_text() {
        let grammar = parse(
            "a = \"(\" a* \")\" | b\nb = <Dsml> /[a-z]{2,30}/ (\" \" | <Image>) \"end\" | \"[\" b \"]\"",
        );
        let compiled = compiled(&grammar);
        let dsml = TOKENIZER.special_id(Special::Dsml).unwrap();
        for text in ["((()())", "(((", "([[", "("] {
            let mut matcher = compiled.matcher();
            let ids = TOKENIZER.encode_text(text);
            assert_eq!(matcher.try_accept(&ids), ids.len(), "{text}");
            check_mask(&mut matcher);
            if text != "((()())" {
                matcher.accept(dsml).unwrap();
                check_mask(&mut matcher);
                let word = TOKENIZER.encode_text("hello");
                assert_eq!(matcher.try_accept(&word), word.len());
                check_mask(&mut matcher);
            }
        }
        // The spelling of a special token is text, which stands nowhere here.
        let mut matcher = compiled.matcher();
        assert_eq!(matcher.try_accept(&TOKENIZER.encode_text("(｜DSML｜ab end)")), 1);
    }

    #[test]
    fn ids_that_lead_to_nothing_are_refused() {
        let nothing = CompileError::Grammar(GrammarError::Unknown);
        let refused = |values: &Values| COMPILER.compile(values, Layout::default()).unwrap_err();
        let mut values = Values::new();
        values.root = ValueId(2);
        assert_eq!(refused(&values), nothing);
        let mut values = Values::new();
        values.values[1].objects.push(ObjectId(1));
        assert_eq!(refused(&values), nothing);
        let mut values = Values::new();
        values.arrays[0].rest.counted = ValueId(9);
        assert_eq!(refused(&values), nothing);
        let mut values = Values::new();
        values.objects[0].dependent.push((0, 1));
        assert_eq!(refused(&values), nothing);
        let grammar = Grammar { rules: vec![Expr::Json(ValueId(2))] };
        let refused = COMPILER.compile_rules(&grammar, &Values::new(), Layout::default()).unwrap_err();
        assert_eq!(refused, nothing);
    }

    #[test]
    fn memory_does_not_grow_with_the_text() {
        let compiled = COMPILER.compile(&Values::new(), Layout::default()).unwrap();
        let mut matcher = compiled.matcher();
        let open = TOKENIZER.encode_text("[[{\"deep\": [");
        assert_eq!(matcher.try_accept(&open), open.len());
        let item = TOKENIZER.encode_text("{\"key\": [1.5, \"x\"], \"other\": {\"a\": null}}, ");
        let mut largest = 0;
        for round in 0..4000 {
            assert_eq!(matcher.try_accept(&item), item.len(), "{round}");
            largest = largest.max(matcher.size());
        }
        // What the last 2,048 tokens need, and as much again.
        assert!(largest < 40_000, "{largest}");
        check_mask(&mut matcher);
        let mut before = vec![0; matcher.mask_words()];
        let mut after = before.clone();
        matcher.fill_mask(&mut before);
        assert_eq!(matcher.try_accept(&item), item.len());
        matcher.rollback(item.len());
        matcher.fill_mask(&mut after);
        assert!(before == after);
        let close = TOKENIZER.encode_text("0]}], 1]");
        assert_eq!(matcher.try_accept(&close), close.len());
        assert!(matcher.is_complete());
    }

    #[test]
    fn any_value_is_the_default() {
        assert_eq!(Values::new().root, ValueId::ANY);
        let compiled = COMPILER.compile(&Values::new(), Layout::default()).unwrap();
        let mut matcher = compiled.matcher();
        for text in [" [", "1.0e+5 ,\t{", "\"a\\u00e9\" : [", "true, null, -0.0", " ]", " } ", "]"] {
            check_mask(&mut matcher);
            let ids = TOKENIZER.encode_text(text);
            assert_eq!(matcher.try_accept(&ids), ids.len(), "{text:?} in {matcher:?}");
        }
        assert!(matcher.is_complete());
        matcher.accept(compiled.stops()[0]).unwrap();
        let mut mask = vec![u32::MAX; matcher.mask_words()];
        matcher.fill_mask(&mut mask);
        assert!(mask.iter().all(|word| *word == 0), "nothing comes after the end");
    }

    #[cfg(feature = "parallel")]
    #[test]
    fn a_batch_of_masks_is_that_of_each_matcher() {
        let compiled = COMPILER.compile(&Values::new(), Layout::default()).unwrap();
        let mut matchers: Vec<Matcher> = ["", "{", "[1, ", "\"a", "{\"k\":", "true", "[[", "-", "{}"]
            .into_iter()
            .map(|text| {
                let mut matcher = compiled.matcher();
                let tokens = TOKENIZER.encode_text(text);
                assert_eq!(matcher.try_accept(&tokens), tokens.len());
                matcher
            })
            .collect();
        let words = compiled.mask_words();
        let mut masks = vec![0; words * matchers.len()];
        crate::grammar::fill_masks(&mut matchers, &mut masks);
        for (matcher, mask) in matchers.iter_mut().zip(masks.chunks_exact(words)) {
            let mut alone = vec![0; words];
            matcher.fill_mask(&mut alone);
            assert!(alone == mask, "after {:?}", matcher.places());
            assert!(alone.iter().any(|word| *word != 0));
        }
        crate::grammar::fill_masks(&mut [], &mut []);
    }

    /// What goes on inside a text is the same as when every token is tried.
    #[test]
    fn tokens_inside_a_text_are_those_of_the_slow_twin() {
        use crate::grammar::language::Language;
        use crate::grammar::shared;
        use crate::grammar::string::{Cursor, Escape, Form, Place};

        let tokenizer = &*TOKENIZER;
        let vocabulary = shared::Vocabulary::new(tokenizer);
        let patterns = [
            ("^[0-9A-Za-z]{8}-[0-9]{4}$", "12-34ab"),
            ("^[0-9A-Za-z]{8,30}(-[0-9]{4})?$", "1234567890abcdefghijklm"),
            ("^[/][/.\\w-]{0,254}$", "/usr/local/b"),
            ("^[^/]{3,40}(/[^/]+)*$", "ab\ncdéf中文/x"),
            ("^[a-z]([a-z0-9-]{0,61}[a-z0-9])?(\\.[a-z]+)*$", "ab-c-9.de"),
            ("^(é|ü|[a-z]){1,30}(!|\")$", "aéü"),
            ("^\\p{L}{2,20}[0-9]*$", "aЖ中é0"),
            ("^[\u{4e00}-\u{9fff}]+$", "中文"),
            ("^[a-z]{13}[A-Z]*[a-z]{0,40}$", "abcdefghijklmAb"),
            ("^([a-y]z?){1,20}$", "abzczzz"),
            ("^[A-Z_][A-Z0-9_]*$", "A_1"),
        ];
        let limits = Limits::default();
        let mut languages: Vec<(Language, &str)> = patterns
            .iter()
            .map(|(pattern, text)| (Language::pattern(pattern, &limits).unwrap(), *text))
            .collect();
        for (format, text) in [
            ("email", "a.b@c-d.e"),
            ("uuid", "12345678-12"),
            ("uri", "http://a/?b=%20"),
            ("hostname", "a-b.c"),
        ] {
            languages.push((Language::format(format).unwrap(), text));
        }
        for (language, text) in languages {
            for form in [Form::String, Form::Word] {
                let mut place = Cursor::start(&language, false);
                let mut bytes = text.bytes();
                loop {
                    let mut sets = Vec::new();
                    vocabulary.inside(form, &vocabulary.words(&language), place, &mut sets);
                    let mut found: Vec<u32> = Vec::new();
                    sets.iter().for_each(|set| set.add_tokens(&mut found));
                    found.sort_unstable();
                    found.dedup();
                    let goes_on = |id: &u32| match tokenizer.token_bytes(TokenId(*id)) {
                        Some(bytes) => form.read(&language, place, Escape::None, bytes).is_some(),
                        None => false,
                    };
                    let tried: Vec<u32> = (0..tokenizer.len() as u32).filter(goes_on).collect();
                    assert_eq!(found, tried, "{text} {form:?} {place:?}");
                    let Some(next) = bytes.next().and_then(|byte| place.next(&language, byte)) else { break };
                    place = next;
                }
            }
        }
    }
}

//! The tokenizer against recorded ids, its slow twin, and the regular expressions that define its pre-tokens.

use deepseek_codec::prompt::Prompt;
use deepseek_codec::token::{Special, TokenId};
use deepseek_codec::tokenizer::pretokenize::pretokens;
use deepseek_codec::tokenizer::slow::Slow;
use deepseek_codec::tokenizer::{
    LoadErrorKind, Piece, SpecialToken, Tokenizer, Vocabulary, block_hashes, common_prefix,
};
use fancy_regex::Regex;
use proptest::prelude::*;
use serde_json::{Value, json};

static VOCABULARY: Vocabulary = Vocabulary {
    specials: &[
        SpecialToken { role: Special::Bos, id: TokenId(0), spellings: &["<｜begin▁of▁sentence｜>"] },
        SpecialToken { role: Special::User, id: TokenId(128_803), spellings: &["<｜User｜>"] },
    ],
    renamed: &[(TokenId(128_799), "<｜System｜>")],
};

fn embedded() -> Tokenizer {
    Tokenizer::embedded(&VOCABULARY)
}

fn numbers(ids: &[TokenId]) -> Vec<u32> {
    ids.iter().map(|id| id.0).collect()
}

#[test]
fn recorded_ids() {
    #[derive(serde::Deserialize)]
    struct Case {
        kind: String,
        text: String,
        ids: Vec<u32>,
    }
    let tokenizer = embedded();
    let slow = Slow::of(&tokenizer);
    for line in include_str!("../../fixtures/tokenizer/texts.jsonl").lines() {
        let case: Case = serde_json::from_str(line).unwrap();
        let ids = tokenizer.encode_text(&case.text);
        assert_eq!(numbers(&ids), case.ids, "{}: {:?}", case.kind, case.text);
        assert_eq!(slow.encode_text(&case.text), ids, "{}: {:?}", case.kind, case.text);
        assert_eq!(tokenizer.decode(&ids), case.text);
        assert_eq!(tokenizer.count(&Prompt::plain(case.text)), ids.len());
    }
}

#[test]
fn embedded_vocabulary() {
    let tokenizer = embedded();
    assert_eq!(tokenizer.len(), 129_280);
    assert_eq!(tokenizer.special_id(Special::User), Some(TokenId(128_803)));
    assert_eq!(tokenizer.special_role(TokenId(128_803)), Some(Special::User));
    assert_eq!(tokenizer.special_id(Special::Assistant), None);
    assert_eq!(tokenizer.special_role(TokenId(17)), None);
    assert_eq!(tokenizer.added_spelling(TokenId(0)), Some("<｜begin▁of▁sentence｜>"));
    assert_eq!(tokenizer.added_spelling(TokenId(128_799)), Some("<｜System｜>"));
    assert_eq!(tokenizer.added_spelling(TokenId(128_825)), Some("｜DSML｜"));
    assert_eq!(tokenizer.added_spelling(TokenId(5)), None);
    assert_eq!(tokenizer.token_bytes(TokenId(128_803)), None);
    assert_eq!(tokenizer.token_bytes(TokenId(u32::MAX)), None);
    assert_eq!(tokenizer.token_bytes(TokenId(3)), Some(b"!".as_slice()));
    let text: Vec<&[u8]> = (0..129_280).filter_map(|id| tokenizer.token_bytes(TokenId(id))).collect();
    assert_eq!(text.len(), 127_997);
    assert_eq!(text.iter().map(|token| token.len()).sum::<usize>(), 835_594);
    assert_eq!((0..129_280).filter(|id| tokenizer.added_spelling(TokenId(*id)).is_some()).count(), 1_283);
}

#[test]
fn special_spellings_stay_text() {
    let tokenizer = embedded();
    let ids = tokenizer.encode(&Prompt::plain("<｜User｜>"));
    assert!(ids.len() > 1 && ids.iter().all(|id| tokenizer.token_bytes(*id).is_some()));
}

#[test]
fn every_token_encodes_to_itself() {
    // The embedded tables look whole pre-tokens up on the strength of this.
    let tokenizer = embedded();
    let slow = Slow::of(&tokenizer);
    for id in (0..129_280).map(TokenId) {
        if let Some(bytes) = tokenizer.token_bytes(id) {
            assert_eq!(slow.merge(bytes), [id.0], "{bytes:?}");
        }
    }
}

#[test]
fn decoding_replaces_what_is_not_text() {
    let tokenizer = embedded();
    let of = |bytes: &[u8]| -> Vec<TokenId> {
        let find = |byte: &u8| {
            (3..259).map(TokenId).find(|id| tokenizer.token_bytes(*id) == Some(&[*byte])).unwrap()
        };
        bytes.iter().map(find).collect()
    };
    let cases: [(&[u8], &str); 6] = [
        (b"a\xFFb", "a\u{FFFD}b"),
        (b"\xE4\xBD", "\u{FFFD}"),
        (b"\xF0\x9F\x98x", "\u{FFFD}x"),
        (b"\xED\xA0\x80", "\u{FFFD}\u{FFFD}\u{FFFD}"),
        (b"\xC0\xAF", "\u{FFFD}\u{FFFD}"),
        ("\u{FFFD}".as_bytes(), "\u{FFFD}"),
    ];
    for (bytes, text) in cases {
        assert_eq!(tokenizer.decode(&of(bytes)), text, "{bytes:?}");
    }
    assert_eq!(tokenizer.decode(&[TokenId(128_803), TokenId(u32::MAX), TokenId(3)]), "<｜User｜>!");
}

/// What a detokenizer gives, with special tokens marked.
fn pieces(tokenizer: &Tokenizer, ids: &[TokenId]) -> String {
    let mut text = String::new();
    let mut detokenizer = tokenizer.detokenizer();
    let mut add = |piece: Piece<'_>| match piece {
        Piece::Text(part) => text.push_str(part),
        Piece::Special(role) => text.push_str(role.spelling()),
        Piece::Added(id) => text.push_str(tokenizer.added_spelling(id).unwrap_or_default()),
    };
    for id in ids {
        detokenizer.push(*id, &mut add);
        assert!(detokenizer.pending().len() < 4);
    }
    detokenizer.finish(&mut add);
    text
}

proptest! {
    #[test]
    fn detokenizing_is_decoding(ids in prop::collection::vec(prop_oneof![3..259u32, 3..128_000u32, 127_999..129_290u32], 0..40)) {
        let tokenizer = embedded();
        let ids: Vec<TokenId> = ids.into_iter().map(TokenId).collect();
        prop_assert_eq!(pieces(&tokenizer, &ids), tokenizer.decode(&ids));
    }

    #[test]
    fn detokenizers_go_back(ids in prop::collection::vec(prop_oneof![190..259u32, 3..128_000u32], 1..100), back in any::<prop::sample::Index>()) {
        let tokenizer = embedded();
        let ids: Vec<TokenId> = ids.into_iter().map(TokenId).collect();
        let mut detokenizer = tokenizer.detokenizer();
        ids.iter().for_each(|id| detokenizer.push(*id, |_| ()));
        prop_assert!(!detokenizer.clone().rollback(ids.len() + 1));
        let back = back.index(ids.len().min(64) + 1);
        prop_assert!(detokenizer.rollback(back));
        let mut fresh = tokenizer.detokenizer();
        ids[..ids.len() - back].iter().for_each(|id| fresh.push(*id, |_| ()));
        prop_assert_eq!(detokenizer.pending(), fresh.pending());
    }
}

#[test]
fn real_replacement_characters_come_at_once() {
    let tokenizer = embedded();
    for text in ["\u{FFFD}", "a\u{FFFD}b", "\u{FFFD}\u{FFFD}é"] {
        let ids = tokenizer.encode_text(text);
        let mut detokenizer = tokenizer.detokenizer();
        let mut given = String::new();
        for id in &ids {
            detokenizer.push(*id, |piece| {
                if let Piece::Text(part) = piece {
                    given.push_str(part)
                }
            });
        }
        assert_eq!(given, text);
    }
}

#[test]
fn prefixes() {
    let ids: Vec<TokenId> = (0..10).map(TokenId).collect();
    let mut other = ids.clone();
    other[6] = TokenId(99);
    assert_eq!(common_prefix(&ids, &other), 6);
    assert_eq!(common_prefix(&ids, &ids[..3]), 3);
    let block = 3.try_into().unwrap();
    let (a, b): (Vec<u64>, Vec<u64>) =
        (block_hashes(&ids, block).collect(), block_hashes(&other, block).collect());
    assert_eq!((a.len(), &a[..2]), (3, &b[..2]));
    assert_ne!(a[2], b[2]);
    // These values may never change: routers and engines compare them across versions.
    assert_eq!(a, [15_020_427_595_393_229_491, 13_565_387_624_803_999_767, 13_364_329_646_020_072_843]);
}

/// The pre-tokenizer as regular expressions, applied one after the other to the pieces.
struct Expressions([Regex; 3]);

impl Expressions {
    fn new() -> Self {
        Self(PATTERNS.map(|pattern| Regex::new(pattern).unwrap()))
    }

    fn pretokens<'t>(&self, text: &'t str) -> Vec<&'t str> {
        let mut pieces = vec![text];
        for expression in &self.0 {
            pieces = pieces.into_iter().flat_map(|piece| isolate(expression, piece)).collect();
        }
        pieces
    }
}

fn isolate<'t>(expression: &Regex, text: &'t str) -> Vec<&'t str> {
    let (mut pieces, mut from) = (Vec::new(), 0);
    for found in expression.find_iter(text) {
        let found = found.unwrap();
        pieces.extend([&text[from..found.start()], found.as_str()]);
        from = found.end();
    }
    pieces.push(&text[from..]);
    pieces.retain(|piece| !piece.is_empty());
    pieces
}

const PATTERNS: [&str; 3] = [
    r"\p{N}{1,3}",
    r"[一-龥\u{3040}-ゟ゠-ヿ]+",
    r##"[!"#$%&'()*+,\-./:;<=>?@\[\\\]^_`{|}~][A-Za-z]+|[^\r\n\p{L}\p{P}\p{S}]?[\p{L}\p{M}]+| ?[\p{P}\p{S}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+"##,
];

/// A character of every kind that the expressions tell apart, and of every length in bytes that it has.
const KINDS: [char; 30] = [
    'a', 'Z', 'é', 'ह', '𐐀', '\u{308}', '\u{93F}', '1', '²', '٣', '𝟘', '.', '"', '«', '。', '€', '😀', ' ',
    '\t', '\n', '\r', '\u{A0}', '\u{3000}', '\u{85}', '\0', '\u{200D}', '\u{E000}', '中', 'ァ', '・',
];

#[test]
fn pretokens_of_every_character() {
    let expressions = Expressions::new();
    // Between letters, spaces, punctuation and at both ends, in texts of a thousand characters.
    let all: Vec<char> = ('\0'..=char::MAX).collect();
    for chars in all.chunks(1000) {
        let text: String =
            chars.iter().flat_map(|c| ['a', *c, '.', *c, ' ', *c, 'é', ' ', *c, *c, '1']).collect();
        assert!(expressions.pretokens(&text).into_iter().eq(pretokens(&text)), "{:?}..", chars[0]);
    }
}

#[test]
fn pretokens_of_every_short_text() {
    let expressions = Expressions::new();
    let marks = ['\u{3040}', '\u{3099}', '゠'];
    let kinds: Vec<char> = KINDS.into_iter().chain(marks).collect();
    for a in &kinds {
        for b in &kinds {
            for c in &kinds {
                // The pieces of one text each, and of all that go on from it.
                let short = String::from_iter([a, b, c]);
                assert!(expressions.pretokens(&short).into_iter().eq(pretokens(&short)), "{short:?}");
                let long: String = kinds.iter().flat_map(|d| [*a, *b, *c, *d, *a, *b, 'x']).collect();
                assert!(expressions.pretokens(&long).into_iter().eq(pretokens(&long)), "{long:?}");
            }
        }
    }
}

/// Texts of words, runs and single characters of all kinds.
fn texts() -> impl Strategy<Value = String> {
    let word = prop::sample::select(vec![
        "the",
        " quick",
        "naïve",
        " 你好",
        "世界",
        "日本語",
        "カタカナ",
        "\r\n",
        "\n\n",
        "  ",
        "\t",
        "12345",
        "0x1F",
        "::",
        "\"}],",
        " ```",
        "👩\u{200D}👩\u{200D}👧",
        "🏽",
        "é",
        "e\u{301}",
        "한국어",
        "ไทย",
        "don't",
        "I'll",
        "<｜User｜>",
        "https://",
        "==",
        "--",
        "\u{FEFF}",
        "\u{1F6D8}",
        "ﷺ",
        "א",
        "नमस्ते",
    ]);
    let kind = prop::sample::select(KINDS.to_vec());
    let part = prop_oneof![
        4 => word.prop_map(String::from),
        3 => (kind, 1..20usize).prop_map(|(c, count)| String::from_iter(std::iter::repeat_n(c, count))),
        2 => "[a-zA-Z]{1,12}",
        1 => any::<char>().prop_map(String::from),
    ];
    prop::collection::vec(part, 0..24).prop_map(|parts| parts.concat())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2000))]

    #[test]
    fn pretokens_are_the_expressions(text in texts()) {
        thread_local!(static EXPRESSIONS: Expressions = Expressions::new());
        EXPRESSIONS.with(|expressions| {
            prop_assert_eq!(expressions.pretokens(&text), pretokens(&text).collect::<Vec<_>>());
            Ok(())
        })?;
    }

    #[test]
    fn ids_are_the_slow_ones(text in texts()) {
        thread_local!(static TWINS: (Tokenizer, Slow) = { let fast = embedded(); let slow = Slow::of(&fast); (fast, slow) });
        TWINS.with(|(fast, slow)| {
            let ids = fast.encode_text(&text);
            prop_assert_eq!(&ids, &slow.encode_text(&text));
            prop_assert_eq!(fast.decode(&ids), text);
            Ok(())
        })?;
    }

    #[test]
    fn any_vocabulary((file, texts) in (tokenizer_files(), prop::collection::vec("[ab c1\\.é中]{0,80}", 8))) {
        let fast = Tokenizer::from_json(file.to_string().as_bytes(), &[]).unwrap();
        let slow = Slow::of(&fast);
        for text in texts {
            prop_assert_eq!(fast.encode_text(&text), slow.encode_text(&text));
        }
    }
}

#[test]
fn long_runs() {
    let tokenizer = embedded();
    let slow = Slow::of(&tokenizer);
    for unit in ["a", " ", "\n", "中", "=", "ab", "é", "\u{308}", "\0", "哈哈", "0", "👍", "aB3+/"] {
        let text = unit.repeat(700);
        assert_eq!(tokenizer.encode_text(&text), slow.encode_text(&text), "{unit:?}");
        let text = unit.repeat(100_000);
        assert_eq!(tokenizer.decode(&tokenizer.encode_text(&text)), text, "{unit:?}");
    }
}

/// A tokenizer file with the 256 bytes and the given merges of the letters' spellings; ids run backwards.
fn tokenizer_file(merges: &[(String, String)], ignore_merges: bool) -> Value {
    let spelled = |code: u32| char::from_u32(code).unwrap().to_string();
    let printable = |code: &u32| matches!(code, 0x21..=0x7E | 0xA1..=0xAC | 0xAE..=0xFF);
    let mut tokens: Vec<String> = (0..=0xFF).filter(printable).map(spelled).collect();
    tokens.extend((0x100..0x144).map(spelled));
    for (left, right) in merges {
        let joined = format!("{left}{right}");
        if !tokens.contains(&joined) {
            tokens.push(joined);
        }
    }
    let count = tokens.len() as u32;
    let vocab: serde_json::Map<_, _> =
        (0..count).rev().zip(tokens).map(|(id, token)| (token, json!(id))).collect();
    let splits = PATTERNS.map(|pattern| {
        let pattern =
            pattern.replace(r"\u{3040}", "\u{3040}").replace(r"^\r\n", "^\r\n").replace(r"[\r\n]", "[\r\n]");
        json!({"type": "Split", "pattern": {"Regex": pattern}, "behavior": "Isolated", "invert": false})
    });
    let [numbers, cjk, rest] = splits;
    json!({
        "added_tokens": [{"id": count, "content": "<s>", "special": true}, {"id": count + 5, "content": "<t>"}],
        "normalizer": null,
        "pre_tokenizer": {"type": "Sequence", "pretokenizers": [numbers, cjk, rest,
            {"type": "ByteLevel", "add_prefix_space": false, "trim_offsets": true, "use_regex": false}]},
        "model": {"type": "BPE", "dropout": null, "unk_token": null, "continuing_subword_prefix": null,
            "end_of_word_suffix": null, "fuse_unk": false, "byte_fallback": false, "ignore_merges": ignore_merges,
            "vocab": vocab, "merges": merges.iter().map(|(left, right)| json!([left, right])).collect::<Value>()},
    })
}

/// Files with random merges: several may make one token, and tokens need not merge to themselves.
fn tokenizer_files() -> impl Strategy<Value = Value> {
    (
        prop::collection::vec((any::<prop::sample::Index>(), any::<prop::sample::Index>()), 0..40),
        any::<bool>(),
    )
        .prop_map(|(picks, ignore_merges)| {
            let mut tokens: Vec<String> =
                ["a", "b", "Ġ", "c", "1", ".", "Ã", "©", "ä", "¸", "Ń"].map(String::from).into();
            let mut merges = Vec::new();
            for (left, right) in picks {
                let pair = (left.get(&tokens).clone(), right.get(&tokens).clone());
                let joined = format!("{}{}", pair.0, pair.1);
                if joined.len() < 24 && !merges.contains(&pair) {
                    tokens.push(joined);
                    merges.push(pair);
                }
            }
            tokenizer_file(&merges, ignore_merges)
        })
}

fn merges(pairs: &[(&str, &str)]) -> Vec<(String, String)> {
    pairs.iter().map(|(left, right)| (String::from(*left), String::from(*right))).collect()
}

#[test]
fn loaded_file() {
    let file = tokenizer_file(&merges(&[("a", "b"), ("Ġ", "ab"), ("b", "c"), ("ab", "bc")]), false);
    let mut spaced = file.clone();
    spaced["model"]["merges"] = json!(["a b", "Ġ ab", "b c", "ab bc"]);
    for file in [file, spaced] {
        let tokenizer = Tokenizer::from_json(
            file.to_string().as_bytes(),
            &[(Special::Bos, "<s>"), (Special::Eos, "<t>")],
        )
        .unwrap();
        assert_eq!(tokenizer.len(), 266);
        assert_eq!(tokenizer.special_id(Special::Bos), Some(TokenId(260)));
        assert_eq!(tokenizer.special_role(TokenId(265)), Some(Special::Eos));
        assert_eq!(numbers(&tokenizer.encode_text("ab abbc")), [3, 2, 1]);
        assert_eq!(numbers(&tokenizer.encode_text("abbc")), [0]);
        assert_eq!(tokenizer.token_bytes(TokenId(2)), Some(b" ab".as_slice()));
        let spelled = &VOCABULARY;
        let error = Tokenizer::from_json_for(file.to_string().as_bytes(), spelled).unwrap_err();
        assert_eq!(error.kind(), LoadErrorKind::Binding);
    }
}

#[test]
fn merges_may_be_ignored() {
    // "abc" is a token, but "bc" merges first.
    let pairs = merges(&[("b", "c"), ("a", "b"), ("ab", "c")]);
    let load =
        |ignore| Tokenizer::from_json(tokenizer_file(&pairs, ignore).to_string().as_bytes(), &[]).unwrap();
    assert_eq!(load(false).encode_text("abc").len(), 2);
    assert_eq!(load(true).encode_text("abc").len(), 1);
}

#[test]
fn faulty_files() {
    use LoadErrorKind::*;
    let good = tokenizer_file(&merges(&[("a", "b")]), false);
    let cases: &[(LoadErrorKind, &str, Value)] = &[
        (Json, "/added_tokens", json!(5)),
        (Json, "/model", json!(null)),
        (Json, "/model/vocab", json!(["a"])),
        (Json, "/model/vocab/a", json!(-1)),
        (Json, "/model/merges", json!(["a b c"])),
        (Json, "/model/merges", json!([["a"]])),
        (Json, "/model/merges", json!([["a", "b", "ab"]])),
        (Model, "/model/type", json!("Unigram")),
        (Model, "/model/dropout", json!(0.5)),
        (Model, "/model/end_of_word_suffix", json!("</w>")),
        (Model, "/model/byte_fallback", json!(true)),
        (Normalizer, "/normalizer", json!({"type": "NFC"})),
        (PreTokenizer, "/pre_tokenizer", json!(null)),
        (PreTokenizer, "/pre_tokenizer/pretokenizers/0/pattern/Regex", json!("\\p{N}")),
        (PreTokenizer, "/pre_tokenizer/pretokenizers/3/add_prefix_space", json!(true)),
        (Vocabulary, "/model/vocab/a", json!(4_000_000_000_u32)),
        (Vocabulary, "/model/vocab/a", json!(7)),
        (Merges, "/model/merges", json!(["a c"])),
        (Merges, "/model/merges", json!(["ab xyz"])),
        (AddedTokens, "/added_tokens/0/id", json!(3)),
        (AddedTokens, "/added_tokens/1/content", json!("<s>")),
        (AddedTokens, "/added_tokens/1/id", json!(257)),
        (AddedTokens, "/added_tokens/0", json!({"id": 0, "content": "ab"})),
        (AddedTokens, "/added_tokens/0/id", json!(4_000_000_000_u32)),
    ];
    for (kind, pointer, value) in cases {
        let mut file = good.clone();
        *file.pointer_mut(pointer).unwrap() = value.clone();
        let error = Tokenizer::from_json(file.to_string().as_bytes(), &[]).unwrap_err();
        assert_eq!(error.kind(), *kind, "{pointer} {value}: {error}");
        assert!(error.to_string().starts_with("tokenizer file: "));
    }
    let mut no_byte = good.clone();
    no_byte["model"]["vocab"].as_object_mut().unwrap().remove("!");
    assert_eq!(Tokenizer::from_json(no_byte.to_string().as_bytes(), &[]).unwrap_err().kind(), Vocabulary);
    for bindings in [
        &[(Special::Bos, "<unknown>")] as &[_],
        &[(Special::Bos, "<s>"), (Special::Eos, "<s>")],
        &[(Special::Bos, "<s>"), (Special::Bos, "<t>")],
        &[(Special::Bos, "ab")],
    ] {
        assert_eq!(Tokenizer::from_json(good.to_string().as_bytes(), bindings).unwrap_err().kind(), Binding);
    }
    for bytes in [b"".as_slice(), b"{", b"\xFF", &b"[".repeat(1_000_000)] {
        assert_eq!(Tokenizer::from_json(bytes, &[]).unwrap_err().kind(), Json);
    }
}

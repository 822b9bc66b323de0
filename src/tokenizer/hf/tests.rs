//! Tokenizers of Hugging Face's library behind this crate's interface.

#![allow(clippy::unwrap_used, reason = "the lint spares test functions, but not what they call")]

use crate::prompt::Prompt;
use crate::token::{Special, TokenId};
use crate::tokenizer::hf::{tokenizers, wrap};
use crate::tokenizer::{EncodeCache, LoadErrorKind, Piece, Tokenizer};
use proptest::prelude::*;
use serde_json::{Value, json};

/// The bytes, some merges and two added tokens; GPT-2's pre-tokenizer.
fn file() -> Value {
    let spelled = |code: u32| char::from_u32(code).unwrap().to_string();
    let printable = |code: &u32| matches!(code, 0x21..=0x7E | 0xA1..=0xAC | 0xAE..=0xFF);
    let mut tokens: Vec<String> = (0..=0xFF).filter(printable).chain(0x100..0x144).map(spelled).collect();
    let merges = [["a", "b"], ["Ġ", "ab"], ["<", "s"], ["Ã", "©"], ["ab", "ab"]];
    tokens.extend(merges.iter().map(|pair| pair.concat()));
    let vocab: serde_json::Map<_, _> =
        tokens.iter().zip(0..).map(|(token, id)| (token.clone(), json!(id))).collect();
    json!({
        "version": "1.0",
        "added_tokens": [
            {"id": 261, "content": "<s>", "special": true, "single_word": false, "lstrip": false, "rstrip": true, "normalized": false},
            {"id": 262, "content": "<tool>", "special": false, "single_word": false, "lstrip": false, "rstrip": false, "normalized": true},
        ],
        "normalizer": null,
        "pre_tokenizer": {"type": "ByteLevel", "add_prefix_space": false, "trim_offsets": true, "use_regex": true},
        "post_processor": null,
        "decoder": {"type": "ByteLevel", "add_prefix_space": false, "trim_offsets": true, "use_regex": true},
        "model": {"type": "BPE", "dropout": null, "unk_token": null, "continuing_subword_prefix": null,
            "end_of_word_suffix": null, "fuse_unk": false, "byte_fallback": false, "ignore_merges": false,
            "vocab": vocab, "merges": merges},
    })
}

const BINDINGS: [(Special, &str); 2] = [(Special::Bos, "<s>"), (Special::User, "<tool>")];

fn theirs(file: &Value) -> tokenizers::Tokenizer {
    tokenizers::Tokenizer::from_bytes(file.to_string()).unwrap()
}

fn ours() -> Tokenizer {
    wrap(&theirs(&file()), &BINDINGS).unwrap()
}

/// What the library gives without added tokens.
fn expected(text: &str) -> Vec<TokenId> {
    thread_local!(static BARE: tokenizers::Tokenizer = {
        let mut bare = file();
        bare["added_tokens"] = json!([]);
        theirs(&bare)
    });
    BARE.with(|bare| bare.encode_fast(text, false).unwrap().get_ids().iter().map(|id| TokenId(*id)).collect())
}

#[test]
fn added_tokens_come_from_roles_alone() {
    let tokenizer = ours();
    let mut prompt = Prompt::plain("<s>ab");
    prompt.push_special(Special::User);
    prompt.push_text("<tool> ab<s>");
    let mut ids = expected("<s>ab");
    ids.push(TokenId(262));
    ids.extend(expected("<tool> ab<s>"));
    assert_eq!(tokenizer.encode(&prompt), ids);
    assert_eq!(tokenizer.count(&prompt), ids.len());
    assert_eq!(tokenizer.encode_with(&prompt, &EncodeCache::new(1 << 20)), ids);
    assert_eq!(tokenizer.decode(&ids), "<s>ab<tool><tool> ab<s>");
    assert_eq!(ids.iter().filter(|id| tokenizer.token_bytes(**id).is_none()).count(), 1);
    assert_eq!((tokenizer.len(), tokenizer.special_id(Special::Bos)), (263, Some(TokenId(261))));
    let mut detokenizer = tokenizer.detokenizer();
    let mut specials = 0;
    ids.iter().for_each(|id| {
        detokenizer.push(*id, |piece| specials += usize::from(matches!(piece, Piece::Special(_))))
    });
    assert_eq!(specials, 1);
}

#[test]
fn a_byte_without_a_token_is_left_out() {
    let mut file = file();
    // The byte 0, and what the library would make of it.
    let vocab = file["model"]["vocab"].as_object_mut().unwrap();
    let id = vocab.remove("Ā").unwrap();
    vocab.insert("ĀĀ".to_owned(), id);
    file["model"]["unk_token"] = json!("<s>");
    file["model"]["vocab"]["<s>"] = json!(261);
    let theirs = theirs(&file);
    assert!(theirs.encode("ab\0ab", false).unwrap().get_ids().contains(&261));
    let tokenizer = wrap(&theirs, &BINDINGS).unwrap();
    let ids = tokenizer.encode_text("ab\0ab<s>");
    assert_eq!(tokenizer.decode(&ids), "abab<s>");
    assert!(ids.iter().all(|id| tokenizer.token_bytes(*id).is_some()));
}

proptest! {
    #[test]
    fn ids_are_the_library_s(text in "([ab]{1,5}|<s>|<tool>|[ \\n]{1,3}|é|中|👍|[0-9.']{1,4}){0,40}") {
        let tokenizer = ours();
        let prompt = Prompt::plain(text.clone());
        let ids = tokenizer.encode(&prompt);
        prop_assert_eq!(&ids, &expected(&text));
        prop_assert_eq!(tokenizer.decode(&ids), text);
        prop_assert_eq!(&tokenizer.encode_with(&prompt, &EncodeCache::new(1 << 20)), &ids);
    }
}

/// Text beyond the size of a cache's parts is not cut: this pre-tokenizer is not the one that cuts are proven for.
#[test]
fn long_text() {
    let tokenizer = ours();
    let cache = EncodeCache::new(1 << 20);
    for unit in ["ab ab 12", "abab\n\n  ", "é'll ab中"] {
        let text = unit.repeat(20_000);
        let prompt = Prompt::plain(text.clone());
        assert_eq!(tokenizer.encode(&prompt), expected(&text));
        assert_eq!(tokenizer.encode_with(&prompt, &cache), expected(&text));
        assert_eq!(tokenizer.encode_with(&prompt, &cache), expected(&text));
        #[cfg(feature = "parallel")]
        assert_eq!(tokenizer.encode_parallel(&prompt), expected(&text));
    }
}

#[test]
fn what_is_refused() {
    use LoadErrorKind::*;
    let cases = [
        (Model, "/decoder", json!(null)),
        (Model, "/decoder", json!({"type": "Fuse"})),
        (Model, "/model/dropout", json!(0.5)),
        (Model, "/model", json!({"type": "WordLevel", "vocab": {"a": 0}, "unk_token": "a"})),
        // The model makes these of text.
        (AddedTokens, "/added_tokens/1/content", json!("ab")),
        (AddedTokens, "/added_tokens/0/content", json!("x")),
        (Binding, "/added_tokens/1/content", json!("<other>")),
    ];
    for (kind, pointer, value) in cases {
        let mut file = file();
        *file.pointer_mut(pointer).unwrap() = value.clone();
        let error = wrap(&theirs(&file), &BINDINGS).unwrap_err();
        assert_eq!(error.kind(), kind, "{pointer} {value}: {error}");
    }
}

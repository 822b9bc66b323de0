//! What fuzzing checks of the tokenizer.

use std::sync::LazyLock;

use deepseek_codec::prompt::Prompt;
use deepseek_codec::token::Special;
use deepseek_codec::token::TokenId;
use deepseek_codec::tokenizer::slow::Slow;
use deepseek_codec::tokenizer::{EncodeCache, Piece, SpecialToken, Tokenizer, Vocabulary};

static VOCABULARY: Vocabulary = Vocabulary {
    specials: &[SpecialToken { role: Special::User, id: TokenId(128_803), spellings: &["<｜User｜>"] }],
    renamed: &[],
};

static TWINS: LazyLock<(Tokenizer, Slow, EncodeCache)> = LazyLock::new(|| {
    let tokenizer = Tokenizer::embedded(&VOCABULARY);
    let slow = Slow::of(&tokenizer);
    (tokenizer, slow, EncodeCache::new(1 << 20))
});

/// Any text: the ids are those of the plain algorithm, whole and from the cache, and lead back to the text.
pub(crate) fn encode_text(data: &[u8]) {
    let (tokenizer, slow, cache) = &*TWINS;
    let text = String::from_utf8_lossy(data).into_owned();
    let ids = tokenizer.encode_text(&text);
    assert_eq!(ids, slow.encode_text(&text));
    assert_eq!(tokenizer.decode(&ids), text);
    let prompt = Prompt::plain(text);
    assert_eq!(tokenizer.count(&prompt), ids.len());
    assert_eq!(tokenizer.encode_with(&prompt, cache), ids);
}

/// Any ids, three bytes each: one by one they give the text of the whole, by way of clones and of ids that were
/// taken back. The first byte says where.
pub(crate) fn detokenize(data: &[u8]) {
    let Some((choice, data)) = data.split_first() else { return };
    let (tokenizer, ..) = &*TWINS;
    let id = |bytes: &[u8]| TokenId(bytes.iter().fold(0, |id, byte| id << 8 | u32::from(*byte)) % 129_300);
    let ids: Vec<TokenId> = data.chunks_exact(3).map(id).collect();

    let mut text = String::new();
    let mut detokenizer = tokenizer.detokenizer();
    let mut give = |piece: Piece<'_>| match piece {
        Piece::Text(part) => text.push_str(part),
        Piece::Special(role) => {
            let id = tokenizer.special_id(role).unwrap();
            text.push_str(tokenizer.added_spelling(id).unwrap());
        }
        Piece::Added(id) => text.push_str(tokenizer.added_spelling(id).unwrap()),
    };
    for (at, id) in ids.iter().enumerate() {
        if (at + usize::from(*choice)) % 5 == 0 {
            detokenizer = detokenizer.clone();
            let ahead = &ids[at..ids.len().min(at + 1 + usize::from(choice % 7))];
            ahead.iter().for_each(|id| detokenizer.push(*id, |_| ()));
            assert!(detokenizer.rollback(ahead.len()));
        }
        detokenizer.push(*id, &mut give);
        assert!(detokenizer.pending().len() < 4);
    }
    detokenizer.finish(&mut give);
    assert_eq!(text, tokenizer.decode(&ids));

    let bytes = ids.iter().flat_map(|id| {
        let spelling = tokenizer.added_spelling(*id).map(str::as_bytes);
        tokenizer.token_bytes(*id).or(spelling).unwrap_or_default().to_vec()
    });
    assert_eq!(text, String::from_utf8_lossy(&bytes.collect::<Vec<u8>>()));
}

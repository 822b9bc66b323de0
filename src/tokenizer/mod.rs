//! Text to token ids and back.
//!
//! A [`Tokenizer`] is byte-level BPE with the pre-tokenizer of the DeepSeek vocabularies ([`pretokenize`]). Its
//! ids equal those of Hugging Face `tokenizers` for every text. It differs in one point on purpose: special
//! tokens come from a [`Prompt`]'s cuts alone, so that text which spells one stays text.
//!
//! The vocabulary is embedded (feature `vocab`, `Tokenizer::embedded`), [read](BaseVocabulary::read) from the crate's
//! own file, or [loaded](Tokenizer::from_json) from a Hugging Face `tokenizer.json` of this family.

mod added;
mod alphabet;
mod atoms;
mod batch;
mod bpe;
mod cache;
mod classes;
mod compact;
mod cut;
mod decode;
mod encode;
#[cfg(feature = "hf")]
pub mod hf;
mod lanes;
mod links;
mod load;
mod long;
mod memo;
mod opening;
mod pairs;
#[cfg(feature = "parallel")]
mod parallel;
mod prefix;
pub mod pretokenize;
mod scan;
#[doc(hidden)]
pub mod slow;
mod spellings;
mod symbols;
mod table;
mod tables;
#[cfg(all(test, feature = "vocab"))]
mod tests;
mod tokens;
mod utf8;
mod words;

use std::fmt;
use std::sync::Arc;

pub use self::cache::EncodeCache;
pub use self::compact::BaseVocabulary;
pub use self::decode::{Detokenizer, Piece};
pub use self::load::{LoadError, LoadErrorKind};
pub use self::prefix::{block_hashes, common_prefix};
pub(crate) use self::table::fold;

use self::added::Added;
use self::cache::Trail;
use self::encode::{Counter, Encoder, Sink};
use self::tables::Tables;
use crate::prompt::{Prompt, Segment};
use crate::token::{Special, TokenId};

/// One special token of a vocabulary.
#[derive(Debug, Clone, Copy)]
pub struct SpecialToken {
    /// What the token is for.
    pub role: Special,
    /// Its id.
    pub id: TokenId,
    /// The spellings by which tokenizer files know it, the usual one first.
    pub spellings: &'static [&'static str],
}

/// What one model version has on top of the base vocabulary.
#[derive(Debug)]
pub struct Vocabulary {
    /// Its special tokens.
    pub specials: &'static [SpecialToken],
    /// Added tokens that it spells differently from the base vocabulary.
    pub renamed: &'static [(TokenId, &'static str)],
}

/// Turns prompts and text into ids, and ids into text.
/// Cloning is cheap, and clones share their tables. A tokenizer is immutable and can be used by many threads.
#[derive(Clone)]
pub struct Tokenizer {
    tables: Arc<Tables>,
    added: Arc<Added>,
    /// Encodes instead of the tables.
    #[cfg(feature = "hf")]
    wrapped: Option<Arc<hf::Wrapped>>,
}

impl Tokenizer {
    /// The vocabulary inside the crate with one model version's special tokens.
    ///
    /// The first call in a process decodes it, which takes milliseconds; all tokenizers share the result.
    #[cfg(feature = "vocab")]
    #[must_use]
    pub fn embedded(vocabulary: &'static Vocabulary) -> Self {
        use std::sync::{OnceLock, PoisonError, RwLock};

        static BASE: OnceLock<BaseVocabulary> = OnceLock::new();
        // Programs ask once a request, and a version's own tables are 70 KB.
        static MADE: RwLock<Vec<(&'static Vocabulary, Tokenizer)>> = RwLock::new(Vec::new());
        let is_it = |made: &&(&'static Vocabulary, Self)| std::ptr::eq(made.0, vocabulary);
        let made = MADE.read().unwrap_or_else(PoisonError::into_inner);
        if let Some((_, tokenizer)) = made.iter().find(is_it) {
            return tokenizer.clone();
        }
        drop(made);
        let tokenizer = BASE.get_or_init(BaseVocabulary::embedded).tokenizer(vocabulary);
        let mut made = MADE.write().unwrap_or_else(PoisonError::into_inner);
        // Another thread may have been first.
        if let Some((_, tokenizer)) = made.iter().find(is_it) {
            return tokenizer.clone();
        }
        made.push((vocabulary, tokenizer.clone()));
        tokenizer
    }

    /// Reads a Hugging Face `tokenizer.json` and binds each role to the added token with the given spelling.
    ///
    /// The file must be of this family: byte-level BPE, the pre-tokenizer of the DeepSeek vocabularies, no
    /// normalizer. Size of the vocabulary, merges and added tokens are the file's own. What only shapes the
    /// output of other libraries (post-processor, decoder, truncation, padding) is not looked at.
    ///
    /// # Errors
    /// When the file is not such a tokenizer, or a spelling is not among its added tokens.
    pub fn from_json(json: &[u8], bindings: &[(Special, &str)]) -> Result<Self, LoadError> {
        load::File::read(json)?
            .bind(bindings.iter().map(|(role, spelling)| (*role, std::slice::from_ref(spelling))))
    }

    /// Reads a Hugging Face `tokenizer.json` like [`Tokenizer::from_json`], and binds the roles of a model
    /// version: each to the first of its spellings that the file has, whatever its id there.
    ///
    /// # Errors
    /// When the file is not such a tokenizer, or lacks every spelling of a role.
    pub fn from_json_for(json: &[u8], vocabulary: &Vocabulary) -> Result<Self, LoadError> {
        load::File::read(json)?
            .bind(vocabulary.specials.iter().map(|special| (special.role, special.spellings)))
    }

    /// The ids of a prompt.
    ///
    /// Text between two special tokens is encoded as a whole and on its own.
    ///
    /// # Panics
    /// When the prompt holds a role that this tokenizer has not bound. That is a mismatch of model and
    /// tokenizer in the calling program; no request can cause it.
    #[must_use]
    pub fn encode(&self, prompt: &Prompt) -> Vec<TokenId> {
        let mut ids = room_for(prompt);
        self.encode_into(prompt, &mut ids);
        ids
    }

    /// Appends the ids of a prompt to `ids`, for callers that keep their list.
    ///
    /// # Panics
    /// As [`Tokenizer::encode`].
    pub fn encode_into(&self, prompt: &Prompt, ids: &mut Vec<TokenId>) {
        self.encode_to(prompt, ids);
    }

    fn encode_to(&self, prompt: &Prompt, sink: &mut impl Sink) {
        let mut encoder = Encoder::new(self);
        let mut at = 0;
        for segment in prompt.segments() {
            match segment {
                Segment::Special(role) => encoder.special(self.bound(role), prompt.text(), sink),
                Segment::Text(text) => {
                    encoder.take(prompt.text(), at..at + text.len(), sink);
                    at += text.len();
                }
            }
            if sink.is_full() {
                break;
            }
        }
        encoder.flush(prompt.text(), sink);
        encoder.finish();
    }

    /// The ids of a prompt, like [`Tokenizer::encode`], with what a cache remembers of earlier ones.
    ///
    /// # Panics
    /// As [`Tokenizer::encode`].
    #[must_use]
    pub fn encode_with(&self, prompt: &Prompt, cache: &EncodeCache) -> Vec<TokenId> {
        let mut ids = room_for(prompt);
        self.encode_with_into(prompt, cache, &mut ids);
        ids
    }

    /// Appends the ids of a prompt to `ids`, with what a cache remembers of earlier prompts.
    ///
    /// For callers that keep their list of ids: of a long prompt that the cache knows, memory that is new to the
    /// process costs several times as much as everything else.
    ///
    /// # Panics
    /// As [`Tokenizer::encode`].
    pub fn encode_with_into(&self, prompt: &Prompt, cache: &EncodeCache, ids: &mut Vec<TokenId>) {
        let mut encoder = Encoder::new(self);
        let mut trail = Trail::new(self.tables.number, self.can_cut());
        for segment in prompt.segments() {
            match segment {
                Segment::Special(role) => ids.push(self.bound(role)),
                Segment::Text(text) => {
                    let encode = |part: &str, ids: &mut Vec<TokenId>| encoder.encode(part, ids);
                    cache.encode(text, &mut trail, ids, encode);
                }
            }
        }
        encoder.finish();
    }

    /// The ids of a prompt, like [`Tokenizer::encode`], with several threads if it is long.
    ///
    /// The calling thread works, and those of the current `rayon` pool help; `pool.install(|| …)` chooses another pool.
    /// Prompts below 64 KiB are encoded by the calling thread alone.
    ///
    /// # Panics
    /// As [`Tokenizer::encode`].
    #[cfg(feature = "parallel")]
    #[must_use]
    pub fn encode_parallel(&self, prompt: &Prompt) -> Vec<TokenId> {
        parallel::encode(self, prompt)
    }

    /// The ids of plain text. Spellings of special tokens in it are text like any other.
    #[must_use]
    pub fn encode_text(&self, text: &str) -> Vec<TokenId> {
        let mut ids = Vec::with_capacity(text.len() / 3);
        self.encode_text_into(text, &mut ids);
        ids
    }

    /// The number of ids that [`Tokenizer::encode`] would give, without making them.
    ///
    /// # Panics
    /// As [`Tokenizer::encode`].
    #[must_use]
    pub fn count(&self, prompt: &Prompt) -> usize {
        self.count_up_to(prompt, usize::MAX)
    }

    /// Whether a prompt has more than `limit` ids. A longer prompt is not read further than that needs.
    ///
    /// # Panics
    /// As [`Tokenizer::encode`].
    #[must_use]
    pub fn exceeds(&self, prompt: &Prompt, limit: usize) -> bool {
        self.count_up_to(prompt, limit) > limit
    }

    /// Turns ids into text as they come.
    #[must_use]
    pub fn detokenizer(&self) -> Detokenizer {
        Detokenizer::new(self.clone())
    }

    /// The id of a role, if this tokenizer has it.
    #[must_use]
    pub fn special_id(&self, role: Special) -> Option<TokenId> {
        self.added.id(role)
    }

    /// The role of an id, if it is bound to one.
    #[must_use]
    pub fn special_role(&self, id: TokenId) -> Option<Special> {
        self.added.role(id)
    }

    /// The bytes of an ordinary token, which need not be whole characters; nothing for added tokens and
    /// unknown ids.
    #[must_use]
    pub fn token_bytes(&self, id: TokenId) -> Option<&[u8]> {
        let bytes = self.tables.token(id.0);
        (!bytes.is_empty()).then_some(bytes)
    }

    /// How this tokenizer's vocabulary spells an added token.
    #[must_use]
    pub fn added_spelling(&self, id: TokenId) -> Option<&str> {
        self.added.spelling(id)
    }

    /// The text of ids: added tokens as their spelling, nothing for unknown ids, and U+FFFD for bytes that are
    /// not UTF-8, as Python's `bytes.decode(errors="replace")` on the whole.
    #[must_use]
    pub fn decode(&self, ids: &[TokenId]) -> String {
        let mut bytes = Vec::with_capacity(ids.len() * 4);
        for id in ids {
            let token = self.token_bytes(*id).or_else(|| self.added_spelling(*id).map(str::as_bytes));
            bytes.extend_from_slice(token.unwrap_or_default());
        }
        String::from_utf8(bytes)
            .unwrap_or_else(|error| String::from_utf8_lossy(error.as_bytes()).into_owned())
    }

    /// One more than the greatest id: the length of a table with one entry a token.
    #[expect(clippy::len_without_is_empty, reason = "a vocabulary has at least the 256 bytes")]
    #[must_use]
    pub fn len(&self) -> usize {
        self.tables.len().max(self.added.end())
    }

    fn new(tables: Arc<Tables>, added: Added) -> Self {
        Self {
            tables,
            added: Arc::new(added),
            #[cfg(feature = "hf")]
            wrapped: None,
        }
    }

    /// Whether text may be cut at the places that [`cut`] finds.
    fn can_cut(&self) -> bool {
        #[cfg(feature = "hf")]
        return self.wrapped.is_none();
        #[cfg(not(feature = "hf"))]
        true
    }

    fn bound(&self, role: Special) -> TokenId {
        match self.added.id(role) {
            Some(id) => id,
            None => panic!("the prompt holds {role}, to which this tokenizer binds no id"),
        }
    }

    /// The number of ids, or one that is greater than the limit.
    fn count_up_to(&self, prompt: &Prompt, limit: usize) -> usize {
        let mut counter = Counter { count: 0, limit };
        self.encode_to(prompt, &mut counter);
        counter.count
    }

    fn encode_text_into(&self, text: &str, ids: &mut Vec<TokenId>) {
        let mut encoder = Encoder::new(self);
        encoder.encode(text, ids);
        encoder.finish();
    }
}

/// An empty list with room for about a prompt's ids.
fn room_for(prompt: &Prompt) -> Vec<TokenId> {
    Vec::with_capacity(prompt.text().len() / 3 + prompt.specials().len())
}

impl fmt::Debug for Tokenizer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Tokenizer").field("len", &self.len()).finish_non_exhaustive()
    }
}

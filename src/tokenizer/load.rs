//! Reads Hugging Face `tokenizer.json` files of this family.

use std::collections::{HashMap, HashSet};
use std::fmt;
use std::sync::Arc;

use serde::Deserialize;
use serde_json::Value;

use super::Tokenizer;
use super::added::Added;
use super::alphabet::byte_of_char;
use super::atoms::is_proper;
use super::pairs::Pairs;
use super::spellings::{MergeList, VocabList};
use super::tables::{ID_LIMIT, Merge, Merging, NoTables, Tables, Words};
use super::tokens::Tokens;
use crate::token::{Special, TokenId};

/// The three splits, in order; `pretokenize` is this by hand.
const PATTERNS: [&str; 3] = [
    r"\p{N}{1,3}",
    "[一-龥\u{3040}-ゟ゠-ヿ]+",
    concat!(
        r##"[!"#$%&'()*+,\-./:;<=>?@\[\\\]^_`{|}~][A-Za-z]+"##,
        "|[^\r\n",
        r"\p{L}\p{P}\p{S}]?[\p{L}\p{M}]+| ?[\p{P}\p{S}]+[",
        "\r\n]*|",
        r"\s*[",
        "\r\n",
        r"]+|\s+(?!\S)|\s+"
    ),
];

/// Why a tokenizer file could not be loaded.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LoadError(Box<(LoadErrorKind, String)>);

/// The part of a tokenizer file that is at fault.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum LoadErrorKind {
    /// The file is not JSON, or not of a tokenizer file's shape.
    Json,
    /// The model is not plain byte-level BPE.
    Model,
    /// There is a normalizer.
    Normalizer,
    /// The pre-tokenizer is not this family's.
    PreTokenizer,
    /// An id is out of range or given twice, or a byte has no token.
    Vocabulary,
    /// A merge names a token that does not exist.
    Merges,
    /// Added tokens contradict each other or the vocabulary.
    AddedTokens,
    /// A role's spelling is not an added token, or two roles share one token.
    Binding,
}

impl LoadError {
    pub(super) fn new(kind: LoadErrorKind, message: impl fmt::Display) -> Self {
        Self(Box::new((kind, message.to_string())))
    }

    /// The part of the file that is at fault.
    #[must_use]
    pub fn kind(&self) -> LoadErrorKind {
        self.0.0
    }
}

impl fmt::Display for LoadError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "tokenizer file: {}", self.0.1)
    }
}

impl std::error::Error for LoadError {}

/// A file that is known to be of this family, before roles are bound.
pub(super) struct File {
    tables: Tables,
    added: Vec<(u32, String)>,
}

#[derive(Deserialize)]
struct Wire {
    #[serde(default)]
    added_tokens: Vec<WireAdded>,
    #[serde(default)]
    normalizer: Value,
    #[serde(default)]
    pre_tokenizer: Value,
    model: WireModel,
}

#[derive(Deserialize)]
struct WireAdded {
    id: u32,
    content: String,
}

#[derive(Deserialize)]
struct WireModel {
    #[serde(rename = "type")]
    kind: Option<String>,
    dropout: Option<f64>,
    continuing_subword_prefix: Option<String>,
    end_of_word_suffix: Option<String>,
    byte_fallback: Option<bool>,
    ignore_merges: Option<bool>,
    vocab: VocabList,
    merges: MergeList,
}

impl File {
    pub(super) fn read(json: &[u8]) -> Result<Self, LoadError> {
        let wire: Wire =
            serde_json::from_slice(json).map_err(|error| LoadError::new(LoadErrorKind::Json, error))?;
        check_model(&wire.model)?;
        check_normalizer(&wire.normalizer)?;
        check_pre_tokenizer(&wire.pre_tokenizer)?;
        let ids = ids_by_spelling(&wire.model.vocab)?;
        let added = check_added(wire.added_tokens, &ids, &wire.model.vocab)?;
        let merges = resolve_merges(&wire.model.merges, &ids)?;
        let tables = build(&wire.model, &added, merges)?;
        Ok(Self::new(tables, added))
    }

    /// From tables and added tokens, ascending by id.
    pub(super) fn new(tables: Tables, added: Vec<(u32, String)>) -> Self {
        Self { tables, added }
    }

    /// Binds each role to the first of its spellings that is an added token.
    pub(super) fn bind<'s>(
        self,
        bindings: impl IntoIterator<Item = (Special, &'s [&'s str])>,
    ) -> Result<Tokenizer, LoadError> {
        let error = |message: String| LoadError::new(LoadErrorKind::Binding, message);
        let mut roles: Vec<(Special, TokenId)> = Vec::new();
        let by_spelling: HashMap<&str, u32> =
            self.added.iter().map(|(id, spelling)| (spelling.as_str(), *id)).collect();
        for (role, spellings) in bindings {
            let Some(id) = spellings.iter().find_map(|spelling| by_spelling.get(spelling)) else {
                return Err(error(format!(
                    "no added token is spelled {} (the role {role})",
                    spellings.join(" or ")
                )));
            };
            let id = TokenId(*id);
            if let Some((other, _)) = roles.iter().find(|(other, bound)| *other == role || *bound == id) {
                return Err(error(format!(
                    "token {id} is bound to the role {role}, but so is something to {other}"
                )));
            }
            roles.push((role, id));
        }
        Ok(Tokenizer::new(Arc::new(self.tables), Added::new(self.added, roles)))
    }
}

fn check_model(model: &WireModel) -> Result<(), LoadError> {
    let fault = if model.kind.as_deref().is_some_and(|kind| kind != "BPE") {
        "its model is not BPE"
    } else if model.dropout.is_some_and(|dropout| dropout != 0.0) {
        "its model drops merges at random"
    } else if [&model.continuing_subword_prefix, &model.end_of_word_suffix]
        .iter()
        .any(|affix| affix.as_deref().is_some_and(|affix| !affix.is_empty()))
    {
        "its model marks parts of words with affixes"
    } else if model.byte_fallback == Some(true) {
        "its model falls back to bytes instead of working on bytes"
    } else {
        return Ok(());
    };
    Err(LoadError::new(LoadErrorKind::Model, fault))
}

fn check_normalizer(normalizer: &Value) -> Result<(), LoadError> {
    let none = match normalizer {
        Value::Null => true,
        Value::Object(object) => {
            object.get("type").and_then(Value::as_str) == Some("Sequence")
                && object.get("normalizers").and_then(Value::as_array).is_some_and(Vec::is_empty)
        }
        _ => false,
    };
    if none { Ok(()) } else { Err(LoadError::new(LoadErrorKind::Normalizer, "it has a normalizer")) }
}

fn check_pre_tokenizer(pre_tokenizer: &Value) -> Result<(), LoadError> {
    let steps = match (&pre_tokenizer["type"], &pre_tokenizer["pretokenizers"]) {
        (Value::String(kind), Value::Array(steps)) if kind == "Sequence" => steps.as_slice(),
        _ => &[],
    };
    let known = match steps {
        [splits @ .., bytes] if splits.len() == PATTERNS.len() => {
            splits.iter().zip(PATTERNS).all(|(split, pattern)| {
                split["type"] == "Split"
                    && split["pattern"]["Regex"] == pattern
                    && split["behavior"] == "Isolated"
                    && split["invert"] == false
            }) && bytes["type"] == "ByteLevel"
                && bytes["add_prefix_space"] == false
                && bytes["use_regex"] == false
        }
        _ => false,
    };
    let message =
        "its pre-tokenizer is not the sequence of three splits and a byte level of DeepSeek vocabularies";
    if known { Ok(()) } else { Err(LoadError::new(LoadErrorKind::PreTokenizer, message)) }
}

fn ids_by_spelling(vocab: &VocabList) -> Result<HashMap<&str, u32>, LoadError> {
    let error = |message: String| LoadError::new(LoadErrorKind::Vocabulary, message);
    let mut ids = HashMap::with_capacity(vocab.len());
    let mut seen: Vec<bool> = Vec::new();
    for (spelling, id) in vocab.iter() {
        if id >= ID_LIMIT {
            return Err(error(format!("the id {id} of {spelling:?} is not below {ID_LIMIT}")));
        }
        if seen.len() <= id as usize {
            seen.resize(id as usize + 1, false);
        }
        if std::mem::replace(&mut seen[id as usize], true) {
            return Err(error(format!("two tokens have the id {id}")));
        }
        if ids.insert(spelling, id).is_some() {
            return Err(error(format!("two tokens are spelled {spelling:?}")));
        }
    }
    Ok(ids)
}

fn check_added(
    wire: Vec<WireAdded>,
    ids: &HashMap<&str, u32>,
    vocab: &VocabList,
) -> Result<Vec<(u32, String)>, LoadError> {
    let error = |message: String| LoadError::new(LoadErrorKind::AddedTokens, message);
    let taken: HashMap<u32, &str> = vocab.iter().map(|(spelling, id)| (id, spelling)).collect();
    let mut spellings = HashMap::with_capacity(wire.len());
    for WireAdded { id, content } in &wire {
        if *id >= ID_LIMIT {
            return Err(error(format!("the id {id} of {content:?} is not below {ID_LIMIT}")));
        }
        if ids.get(content.as_str()).is_some_and(|own| own != id)
            || taken.get(id).is_some_and(|own| own != content)
        {
            return Err(error(format!(
                "the added token {content:?} with the id {id} contradicts the vocabulary"
            )));
        }
        if spellings.insert(content.as_str(), *id).is_some() {
            return Err(error(format!("two added tokens are spelled {content:?}")));
        }
    }
    let mut added: Vec<(u32, String)> = wire.into_iter().map(|token| (token.id, token.content)).collect();
    added.sort_unstable();
    match added.windows(2).find(|pair| pair[0].0 == pair[1].0) {
        Some(pair) => Err(error(format!("two added tokens have the id {}", pair[0].0))),
        None => Ok(added),
    }
}

fn resolve_merges(list: &MergeList, ids: &HashMap<&str, u32>) -> Result<Vec<Merge>, LoadError> {
    let error = |message: String| LoadError::new(LoadErrorKind::Merges, message);
    if list.len() >= ID_LIMIT as usize {
        return Err(error(format!("there are {} merges, more than {ID_LIMIT}", list.len())));
    }
    let id = |spelling: &str| {
        ids.get(spelling)
            .copied()
            .ok_or_else(|| error(format!("a merge names {spelling:?}, which is no token")))
    };
    let mut joined = String::new();
    let mut merges = Vec::with_capacity(list.len());
    for (left, right) in list.iter() {
        joined.clear();
        joined.push_str(left);
        joined.push_str(right);
        merges.push(Merge { left: id(left)?, right: id(right)?, result: id(&joined)? });
    }
    // Of a pair that is given twice, the last rank counts, as in the format's own library.
    let mut seen = HashSet::with_capacity(merges.len());
    let last: Vec<bool> = merges.iter().rev().map(|merge| seen.insert((merge.left, merge.right))).collect();
    let mut last = last.iter().rev();
    merges.retain(|_| last.next() == Some(&true));
    Ok(merges)
}

fn build(model: &WireModel, added: &[(u32, String)], merges: Vec<Merge>) -> Result<Tables, LoadError> {
    let is_added = |id: u32| added.binary_search_by_key(&id, |token| token.0).is_ok();
    // Text must never become an added token.
    if let Some(merge) = merges.iter().find(|merge| is_added(merge.result)) {
        let message = format!("a merge makes the added token {}", merge.result);
        return Err(LoadError::new(LoadErrorKind::AddedTokens, message));
    }
    let mut by_id: Vec<&str> = Vec::new();
    for (spelling, id) in model.vocab.iter().filter(|(_, id)| !is_added(*id)) {
        if by_id.len() <= id as usize {
            by_id.resize(id as usize + 1, "");
        }
        by_id[id as usize] = spelling;
    }
    let words = if model.ignore_merges == Some(true) { Words::Every } else { Words::Merged };
    tables_of(&by_id, merges, words)
}

/// Tables of tokens by id, spelled in the byte alphabet; empty where there is none.
pub(super) fn tables_of(by_id: &[&str], merges: Vec<Merge>, words: Words) -> Result<Tables, LoadError> {
    let mut tokens = Tokens::with_capacity(by_id.len());
    for spelling in by_id {
        // Without the byte alphabet, text cannot become this token.
        let bytes: Option<Vec<u8>> = spelling.chars().map(byte_of_char).collect();
        tokens.push(bytes.unwrap_or_default());
    }
    tables(tokens, &merges, words).map_err(|error| {
        LoadError::new(
            LoadErrorKind::Vocabulary,
            match error {
                NoTables::MissingByte(byte) => format!("the byte {byte:#04x} has no token"),
                NoTables::Collisions => String::from("its tokens were chosen to collide"),
            },
        )
    })
}

/// Tables of tokens, and of merges in the order of their ranks.
pub(super) fn tables(tokens: Tokens, merges: &[Merge], words: Words) -> Result<Tables, NoTables> {
    let pairs = Pairs::new(merges).ok_or(NoTables::Collisions)?;
    let mut merging = Merging::new(&tokens, pairs, is_proper(merges, tokens.count()));
    merging.add(&tokens, merges);
    Tables::new(tokens, merging, words)
}

//! Values in the form that a matcher steps through: names sorted, languages numbered, sets as bits.

use std::sync::{Arc, OnceLock};

use crate::grammar::inside::endless_states;
use crate::grammar::language::{Classifier, Language, LanguageError, Limits};
use crate::grammar::number::NumberSet;
use crate::grammar::rules::{Edge, RuleCode};
use crate::grammar::shared::Vocabulary;
use crate::grammar::string::{EMPTY_HASH, hash_byte};
use crate::grammar::value::{Item, ValueId, Values};
use crate::grammar::words::Words;

/// A value's alternatives.
#[derive(Debug, Default)]
pub(super) struct ValueCode {
    pub(super) null: bool,
    pub(super) yes: bool,
    pub(super) no: bool,
    /// Indices into [`Program::numbers`].
    pub(super) numbers: Vec<u32>,
    /// An index into [`Program::languages`].
    pub(super) strings: Option<u32>,
    /// Indices into [`Program::arrays`].
    pub(super) arrays: Vec<u32>,
    /// Indices into [`Program::objects`].
    pub(super) objects: Vec<u32>,
}

/// A key that is known by name.
#[derive(Debug)]
pub(super) struct NameCode {
    pub(super) name: Box<[u8]>,
    pub(super) value: ValueId,
    pub(super) witness: ValueId,
    /// The place in the schema's order.
    pub(super) order: u32,
    /// The name's hash as a key's.
    pub(super) hash: u64,
}

/// Keys that are treated alike.
#[derive(Debug)]
pub(super) struct ClassCode {
    pub(super) value: ValueId,
    pub(super) witness: ValueId,
}

/// An object's shape.
#[derive(Debug)]
pub(super) struct ObjectCode {
    /// The known keys, sorted, so that those with a common beginning are neighbours. Sets of them are bits in this
    /// order.
    pub(super) names: Vec<NameCode>,
    /// How many 64-bit words such a set takes.
    pub(super) words: usize,
    /// The keys that may be there.
    pub(super) allowed: Vec<u64>,
    /// The keys that must be there.
    pub(super) required: Vec<u64>,
    /// For each key, the keys that must be there if it is, directly or not; empty where there are none.
    pub(super) needs: Vec<Vec<u32>>,
    /// Which class other keys belong to.
    pub(super) classifier: Option<Classifier>,
    pub(super) classes: Vec<ClassCode>,
    pub(super) min: u32,
    pub(super) max: Option<u32>,
    pub(super) needs_witness: bool,
    /// Whether any text may be a further key, all of one class.
    pub(super) open: bool,
    /// Whether no known name is empty or has a character that may be escaped.
    pub(super) plain_names: bool,
    /// The states of the classifier from which every text goes on, once somebody asks.
    endless: OnceLock<Vec<bool>>,
    /// For each state of the classifier, how many keys begin like what was read, once somebody asks.
    keys_left: OnceLock<Option<Box<[u32]>>>,
}

impl ObjectCode {
    /// The classifier's state before a key; its dead state if there are no further keys.
    pub(super) fn first_class(&self) -> u32 {
        self.classifier.as_ref().map_or(Classifier::DEAD, Classifier::start)
    }

    /// Whether every text goes on from a state of the classifier, in whatever class.
    pub(super) fn is_endless(&self, class: u32) -> bool {
        self.classifier.as_ref().is_some_and(|classifier| {
            self.endless.get_or_init(|| endless_states(classifier.dfa()))[class as usize]
        })
    }

    /// How many further keys begin like one that led to a state; `u32::MAX` for as many as one likes.
    pub(super) fn keys_left(&self, class: u32) -> u32 {
        self.all_keys_left().map_or(u32::MAX, |left| left[class as usize])
    }

    /// Whether keys may begin like only some others.
    pub(super) fn has_few_keys(&self) -> bool {
        self.all_keys_left().is_some()
    }

    fn all_keys_left(&self) -> Option<&[u32]> {
        let classifier = self.classifier.as_ref().filter(|_| !self.open)?;
        self.keys_left.get_or_init(|| classifier.words_left()).as_deref()
    }
}

/// An array's shape.
#[derive(Debug)]
pub(super) struct ArrayCode {
    pub(super) prefix: Vec<Item>,
    pub(super) rest: Item,
    pub(super) min: u32,
    pub(super) max: Option<u32>,
    pub(super) contains: Option<(u32, Option<u32>)>,
    pub(super) unique: bool,
}

impl ArrayCode {
    pub(super) fn item(&self, at: u32) -> Item {
        self.prefix.get(at as usize).copied().unwrap_or(self.rest)
    }
}

/// What a matcher runs.
#[derive(Debug)]
pub(super) struct Program {
    pub(super) values: Vec<ValueCode>,
    pub(super) objects: Vec<ObjectCode>,
    pub(super) arrays: Vec<ArrayCode>,
    languages: Vec<Arc<Words>>,
    pub(super) numbers: Vec<NumberSet>,
    /// Where texts begin, if there are no rules.
    pub(super) root: ValueId,
    /// The rules, if there are any.
    pub(super) rules: RuleCode,
}

impl ValueCode {
    pub(super) fn has_other_than_strings(&self) -> bool {
        self.null
            || self.yes
            || self.no
            || !(self.numbers.is_empty() && self.arrays.is_empty() && self.objects.is_empty())
    }
}

impl Program {
    /// The language of all texts, which every program has.
    pub(super) const ANY_TEXT: u32 = 0;

    /// The program of `values`, for `vocabulary`.
    pub(super) fn new(
        values: &Values,
        limits: &Limits,
        vocabulary: &Vocabulary,
    ) -> Result<Self, LanguageError> {
        let mut program = Self {
            values: Vec::with_capacity(values.values.len()),
            objects: Vec::with_capacity(values.objects.len()),
            arrays: Vec::with_capacity(values.arrays.len()),
            languages: vec![vocabulary.words(&Language::any())],
            numbers: Vec::new(),
            root: values.root,
            rules: RuleCode::default(),
        };
        for value in &values.values {
            let code = ValueCode {
                null: value.null,
                yes: value.yes,
                no: value.no,
                numbers: value.numbers.iter().map(|set| program.number(set)).collect(),
                strings: value.strings.as_ref().map(|language| program.language(language, vocabulary)),
                arrays: value.arrays.iter().map(|id| id.0).collect(),
                objects: value.objects.iter().map(|id| id.0).collect(),
            };
            program.values.push(code);
        }
        for array in &values.arrays {
            program.arrays.push(ArrayCode {
                prefix: array.prefix.clone(),
                rest: array.rest,
                min: array.min,
                max: array.max,
                contains: array.contains,
                unique: array.unique,
            });
        }
        for object in &values.objects {
            program.objects.push(object_code(object, limits)?);
        }
        Ok(program)
    }

    /// Adds rules that refer to the values.
    pub(super) fn with_rules(mut self, mut rules: RuleCode, vocabulary: &Vocabulary) -> Self {
        let words: Vec<u32> =
            rules.words.iter().map(|language| self.language(language, vocabulary)).collect();
        for (edge, _) in rules.states.iter_mut().flat_map(|state| &mut state.edges) {
            if let Edge::Word(word) = edge {
                *word = words[*word as usize];
            }
        }
        self.rules = rules;
        self
    }

    pub(super) fn value(&self, id: ValueId) -> &ValueCode {
        &self.values[id.0 as usize]
    }

    pub(super) fn words(&self, language: u32) -> &Words {
        &self.languages[language as usize]
    }

    fn number(&mut self, set: &NumberSet) -> u32 {
        // Few sets stand in most schemas: any number, any integer.
        let known = self.numbers.iter().take(16).position(|known| known == set);
        known.unwrap_or_else(|| {
            self.numbers.push(set.clone());
            self.numbers.len() - 1
        }) as u32
    }

    fn language(&mut self, language: &Language, vocabulary: &Vocabulary) -> u32 {
        let words = vocabulary.words(language);
        let known = self.languages.iter().take(16).position(|known| known.id == words.id);
        known.unwrap_or_else(|| {
            self.languages.push(words);
            self.languages.len() - 1
        }) as u32
    }
}

fn object_code(object: &crate::grammar::value::Object, limits: &Limits) -> Result<ObjectCode, LanguageError> {
    let mut sorted: Vec<usize> = (0..object.properties.len()).collect();
    sorted.sort_unstable_by(|a, b| object.properties[*a].name.cmp(&object.properties[*b].name));
    let mut rank = vec![0_u32; sorted.len()];
    for (place, property) in sorted.iter().enumerate() {
        rank[*property] = place as u32;
    }
    let words = sorted.len().div_ceil(64).max(1);
    let mut code = ObjectCode {
        names: Vec::with_capacity(sorted.len()),
        words,
        allowed: vec![0; words],
        required: vec![0; words],
        needs: closure(&object.dependent, &rank),
        classifier: None,
        classes: Vec::new(),
        min: object.min,
        max: object.max,
        needs_witness: object.needs_witness,
        open: matches!(&object.others[..], [only] if only.keys.is_any()),
        plain_names: object.properties.iter().all(|property| is_plain(&property.name)),
        endless: OnceLock::new(),
        keys_left: OnceLock::new(),
    };
    for (place, property) in sorted.iter().map(|index| (rank[*index] as usize, &object.properties[*index])) {
        let bit = 1 << (place % 64);
        if property.value != ValueId::NEVER || property.witness != ValueId::NEVER {
            code.allowed[place / 64] |= bit;
        }
        if property.required {
            code.required[place / 64] |= bit;
        }
        code.names.push(NameCode {
            name: property.name.as_bytes().into(),
            value: property.value,
            witness: property.witness,
            order: 0,
            hash: property.name.bytes().fold(EMPTY_HASH, hash_byte),
        });
    }
    for (order, place) in rank.iter().enumerate() {
        code.names[*place as usize].order = order as u32;
    }
    if !object.others.is_empty() {
        let languages: Vec<Language> = object.others.iter().map(|class| class.keys.clone()).collect();
        code.classifier = Some(Classifier::new(&languages, limits)?);
        code.classes = object
            .others
            .iter()
            .map(|class| ClassCode { value: class.value, witness: class.witness })
            .collect();
    }
    Ok(code)
}

/// Whether a name is spelled in one way only.
fn is_plain(name: &str) -> bool {
    !name.is_empty() && name.bytes().all(|byte| matches!(byte, 0x20..0x7F) && !b"\"\\/".contains(&byte))
}

/// For each key, by rank, all keys that it brings with it.
fn closure(dependent: &[(u32, u32)], rank: &[u32]) -> Vec<Vec<u32>> {
    if dependent.is_empty() {
        return Vec::new();
    }
    let mut direct: Vec<Vec<u32>> = vec![Vec::new(); rank.len()];
    for (key, needed) in dependent {
        direct[rank[*key as usize] as usize].push(rank[*needed as usize]);
    }
    (0..rank.len() as u32)
        .map(|key| {
            let mut found = vec![key];
            let mut next = 0;
            while let Some(key) = found.get(next) {
                let new: Vec<u32> =
                    direct[*key as usize].iter().copied().filter(|needed| !found.contains(needed)).collect();
                found.extend(new);
                next += 1;
            }
            found.remove(0);
            found
        })
        .collect()
}

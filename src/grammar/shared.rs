//! What matchers share: the vocabulary, and sets of tokens that do not depend on what is around a text.

use std::collections::HashMap;
use std::hash::Hash;
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};

use crate::grammar::inside::{Class, Inside, State, inside};
use crate::grammar::mask::{TokenSet, mask_words};
use crate::grammar::number::{NumberSet, NumberState};
use crate::grammar::program::Program;
use crate::grammar::slices::{Slices, number_crossings};
use crate::grammar::string::{Cursor, Escape, Form};
use crate::grammar::trie::TokenTrie;
use crate::grammar::walk::{self, Text};
use crate::token::TokenId;
use crate::tokenizer::Tokenizer;

/// A vocabulary, with the sets that all grammars share.
#[derive(Debug)]
pub(super) struct Vocabulary {
    pub(super) trie: TokenTrie,
    pub(super) tokenizer: Tokenizer,
    slices: Slices,
    /// The tokens that are made of a class of characters.
    classes: Kept<Class, TokenSet>,
    /// The tokens that go on inside numbers, by [`NumberSet::shared`].
    free_numbers: [OnceLock<TokenSet>; 32],
    /// The same inside other numbers; without a state, the tokens that begin one with a digit.
    numbers: Kept<(NumberSet, Option<NumberState>), TokenSet>,
    /// The tokens in which a number ends and something else begins.
    pub(super) number_crossings: Arc<[u32]>,
}

impl Vocabulary {
    pub(super) fn new(tokenizer: &Tokenizer) -> Self {
        let trie = TokenTrie::new(tokenizer.len(), |id| tokenizer.token_bytes(id));
        let slices = Slices::new(&trie);
        let number_crossings = number_crossings(&trie);
        Self {
            trie,
            tokenizer: tokenizer.clone(),
            slices,
            classes: Kept::new(256),
            free_numbers: Default::default(),
            numbers: Kept::new(2048),
            number_crossings,
        }
    }

    fn set(&self, tokens: &[u32]) -> TokenSet {
        TokenSet::new(tokens, mask_words(self.trie.len()))
    }

    /// The tokens that are made of a class of characters.
    fn class(&self, class: Class) -> TokenSet {
        self.classes.get(class, || self.set(&class.tokens(&self.trie)))
    }

    /// The tokens that go on inside a number.
    pub(super) fn inside_number(&self, numbers: &NumberSet, state: NumberState) -> TokenSet {
        let make = || self.set(&walk::inside_number(numbers, state, &self.trie.tokens));
        match numbers.shared(&state) {
            Some(shared) => self.free_numbers[shared as usize].get_or_init(make).clone(),
            None => self.numbers.get((numbers.clone(), Some(state)), make),
        }
    }

    /// The tokens that begin a number with a digit, white space in front.
    pub(super) fn first_digits(&self, numbers: &NumberSet) -> TokenSet {
        self.numbers.get((numbers.clone(), None), || self.set(&walk::first_digits(numbers, &self.trie)))
    }
}

/// What is made when it is first asked for. When there is as much as it keeps, it begins anew.
#[derive(Debug)]
struct Kept<K, V> {
    most: usize,
    made: Mutex<HashMap<K, V>>,
}

impl<K: Eq + Hash, V: Clone> Kept<K, V> {
    fn new(most: usize) -> Self {
        Self { most, made: Mutex::default() }
    }

    fn get(&self, key: K, make: impl FnOnce() -> V) -> V {
        if let Some(known) = self.lock().get(&key) {
            return known.clone();
        }
        // Two threads may make the same; that is harmless, and nobody waits.
        let new = make();
        let mut made = self.lock();
        if made.len() >= self.most {
            made.clear();
        }
        made.insert(key, new.clone());
        new
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<K, V>> {
        self.made.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A place that decides a set.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
enum Key {
    /// In a word of a language: its number, the state, and how many characters there is room for.
    Word(Form, u32, u32, u32),
    /// In a key: the object, and the state of its classifier.
    Class(u32, u32),
}

/// The sets of one program.
pub(super) struct Shared {
    pub(super) vocabulary: Arc<Vocabulary>,
    /// For each place, all tokens of a class, if there is one, and further tokens.
    inside: Kept<Key, (Option<Class>, TokenSet)>,
    /// The same tokens by how many words they leave.
    by_ways: Kept<Key, Arc<ByWays>>,
}

/// The tokens that go on inside a text.
pub(super) struct ByWays {
    /// Those after which there are as many words as one likes.
    pub(super) plenty: TokenSet,
    /// For each of the others how many words there are at least, and the token.
    pub(super) few: Box<[(u32, u32)]>,
}

impl Shared {
    /// How many sets are kept. The largest take 16 KiB each.
    const MOST_SETS: usize = 4096;

    pub(super) fn new(vocabulary: Arc<Vocabulary>) -> Self {
        Self { vocabulary, inside: Kept::new(Self::MOST_SETS), by_ways: Kept::new(256) }
    }

    /// Adds the tokens that stay inside a string's body or a key to `sets`.
    pub(super) fn inside(&self, text: Text, program: &Program, sets: &mut Vec<TokenSet>) {
        match text {
            Text::String(language, cursor) => self.words(Form::String, language, cursor, program, sets),
            Text::Key(object, state) => self.made(Key::Class(object, state), sets, |trie| {
                let classifier = program.objects[object as usize].classifier.as_ref();
                let inside = |classifier| inside(classifier, State(state), Form::String, trie);
                classifier.map_or(Inside { class: None, tokens: Vec::new() }, inside)
            }),
        }
    }

    /// The tokens of [`inside`](Self::inside) by how many words they leave.
    pub(super) fn by_ways(&self, text: Text, program: &Program) -> Arc<ByWays> {
        let key = match text {
            Text::String(language, cursor) => {
                let code = &program.languages[language as usize];
                let reach = program.farthest(language) + self.vocabulary.slices.longest() + Program::ENOUGH;
                let room = code.max_chars().map_or(u32::MAX, |max| (max - cursor.chars).min(reach + 1));
                Key::Word(Form::String, language, cursor.state, room)
            }
            Text::Key(object, state) => Key::Class(object, state),
        };
        self.by_ways.get(key, || {
            let mut sets = Vec::new();
            self.inside(text, program, &mut sets);
            let mut tokens = Vec::new();
            sets.iter().for_each(|set| set.add_tokens(&mut tokens));
            let mut few = Vec::new();
            tokens.retain(|token| {
                let ways = self.ways_after(text, *token, program);
                if ways < u32::MAX {
                    few.push((ways, *token));
                }
                ways == u32::MAX
            });
            Arc::new(ByWays { plenty: self.vocabulary.set(&tokens), few: few.into() })
        })
    }

    /// How many words there are at least after a token that goes on inside `text`.
    fn ways_after(&self, text: Text, token: u32, program: &Program) -> u32 {
        let bytes = self.vocabulary.trie.token_bytes(TokenId(token));
        match text {
            Text::String(language, cursor) => {
                let code = &program.languages[language as usize];
                // Far from its longest, any text has plenty.
                if let (Some(max), Some(chars)) = (code.max_chars(), self.vocabulary.slices.chars(token))
                    && program.is_any_text(language, cursor)
                    && max - cursor.chars > chars
                {
                    return u32::MAX;
                }
                let end = Form::String.read(code, cursor, Escape::None, bytes);
                // Inside an escape sequence it is not clear which character comes.
                end.filter(|end| end.1 == Escape::None).map_or(0, |end| program.ways(language, end.0))
            }
            Text::Key(object, state) => {
                let shape = &program.objects[object as usize];
                let end = shape
                    .classifier
                    .as_ref()
                    .and_then(|classifier| Form::String.read(classifier, State(state), Escape::None, bytes));
                end.filter(|end| end.1 == Escape::None).map_or(0, |end| shape.keys_left(end.0.0))
            }
        }
    }

    /// As [`inside`](Self::inside), for a word that stands as it is.
    pub(super) fn inside_word(&self, word: u32, cursor: Cursor, program: &Program, sets: &mut Vec<TokenSet>) {
        self.words(Form::Word, word, cursor, program, sets);
    }

    fn words(&self, form: Form, index: u32, cursor: Cursor, program: &Program, sets: &mut Vec<TokenSet>) {
        let language = &program.languages[index as usize];
        let slices = &self.vocabulary.slices;
        // How many characters there is still room for.
        let room = match language.max_chars() {
            Some(max) => max - cursor.chars,
            None => u32::MAX,
        };
        if program.is_any_text(index, cursor) || program.is_endless(index, cursor) {
            match form {
                Form::String => return sets.push(slices.string_up_to(room)),
                Form::Word if room == u32::MAX => return sets.push(slices.word()),
                Form::Word => {}
            }
        }
        let state = cursor.state;
        let all = Key::Word(form, index, state, u32::MAX);
        let make = |trie: &TokenTrie| inside(language, State(state), form, trie);
        // So many characters are in the longest token, and so many more may be needed after it.
        let reach = program.farthest(index) + slices.longest();
        if room > reach {
            return self.made(all, sets, make);
        }
        self.made(Key::Word(form, index, state, room), sets, |trie| {
            let mut tokens = Vec::new();
            let (class, others) = self.kept(all, make);
            if let Some(class) = class {
                self.vocabulary.class(class).add_tokens(&mut tokens);
            }
            others.add_tokens(&mut tokens);
            let sure = room.saturating_sub(program.farthest(index));
            tokens.retain(|token| {
                // The number of characters decides for nearly all of them.
                match slices.chars(*token).filter(|_| form == Form::String) {
                    Some(chars) if chars <= sure => true,
                    Some(chars) if chars > room => false,
                    _ => {
                        let bytes = trie.token_bytes(TokenId(*token));
                        form.read(language, cursor, Escape::None, bytes).is_some()
                    }
                }
            });
            Inside { class: None, tokens }
        });
    }

    fn made(&self, key: Key, sets: &mut Vec<TokenSet>, make: impl FnOnce(&TokenTrie) -> Inside) {
        let (class, tokens) = self.kept(key, make);
        sets.extend(class.map(|class| self.vocabulary.class(class)));
        sets.push(tokens);
    }

    fn kept(&self, key: Key, make: impl FnOnce(&TokenTrie) -> Inside) -> (Option<Class>, TokenSet) {
        self.inside.get(key, || {
            let made = make(&self.vocabulary.trie);
            (made.class, self.vocabulary.set(&made.tokens))
        })
    }
}

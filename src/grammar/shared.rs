//! What matchers share: the vocabulary, and sets of tokens that do not depend on what is around a text.

use std::collections::HashMap;
use std::hash::Hash;
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};

use crate::grammar::closing::Endings;
use crate::grammar::contents::{Class, Contents};
use crate::grammar::inside::{Inside, State, below, inside};
use crate::grammar::language::{Dfa, Language};
use crate::grammar::mask::{TokenSet, mask_words};
use crate::grammar::names::NameTokens;
use crate::grammar::number::{NumberSet, NumberState};
use crate::grammar::program::Program;
use crate::grammar::slices::{Slices, number_crossings};
use crate::grammar::string::{Cursor, Escape, Form};
use crate::grammar::trie::{ROOT, TokenTrie};
use crate::grammar::walk::{self, Text};
use crate::grammar::words::Words;
use crate::token::TokenId;
use crate::tokenizer::Tokenizer;

/// A vocabulary, with the sets that all grammars share.
#[derive(Debug)]
pub(super) struct Vocabulary {
    pub(super) trie: TokenTrie,
    pub(super) tokenizer: Tokenizer,
    slices: Slices,
    /// The tokens that begin a string of any text with its quote, once somebody asks.
    opening: OnceLock<TokenSet>,
    contents: Contents,
    /// The tokens that are made of a class of characters, of so many at most.
    classes: Kept<(Class, u32), TokenSet>,
    /// The languages of all programs.
    languages: Kept<Language, Arc<Words>>,
    /// The tokens that go on inside a text.
    inside: Kept<Place, Sets>,
    /// The same tokens by how many words they leave.
    by_ways: Kept<Place, Arc<ByWays>>,
    /// The tokens that begin a string of a language with its quote, by [`Words::id`].
    begun: Kept<u32, TokenSet>,
    /// In which texts before a quote a string may end.
    endings: Kept<(Place, u32), Arc<Endings>>,
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
        let contents = Contents::new(&trie);
        let number_crossings = number_crossings(&trie);
        Self {
            trie,
            tokenizer: tokenizer.clone(),
            slices,
            opening: OnceLock::new(),
            contents,
            classes: Kept::new(256),
            languages: Kept::new(4096),
            inside: Kept::new(2048),
            by_ways: Kept::new(256),
            begun: Kept::new(2048),
            endings: Kept::new(1024),
            free_numbers: Default::default(),
            numbers: Kept::new(2048),
            number_crossings,
        }
    }

    fn set(&self, tokens: &[u32]) -> TokenSet {
        TokenSet::new(tokens, mask_words(self.trie.len()))
    }

    /// The tokens that are made of a class of characters, of `limit` at most.
    fn class(&self, (class, limit): (Class, u32)) -> TokenSet {
        self.classes.get((class, limit), || {
            let shortest = match limit {
                u32::MAX => self.slices.word(),
                _ => self.slices.string_up_to(limit),
            };
            self.contents.made_of(class, &shortest, &self.trie)
        })
    }

    /// The tokens that go on inside a text that is in `state`.
    fn inside_state(&self, of: &Dfa, state: u32, form: Form) -> Sets {
        let Inside { hub, mut tokens } = inside(of, State(state), form, &self.trie);
        if let Some(hub) = hub.filter(|hub| hub.is_open) {
            let mut longer = Vec::new();
            self.contents
                .made_of(hub.class, &self.slices.string_beyond(hub.limit), &self.trie)
                .add_tokens(&mut longer);
            longer.retain(|token| {
                form.read(of, State(state), Escape::None, self.trie.token_bytes(TokenId(*token))).is_some()
            });
            tokens.append(&mut longer);
        }
        (hub.map(|hub| (hub.class, hub.limit)), self.set(&tokens))
    }

    /// The tokens that begin a text from `place` on with its quote, white space in front, and do not end it.
    fn begun(&self, of: &Dfa, place: State) -> TokenSet {
        let unspaced = &self.trie.unspaced;
        let quote = unspaced.root_child(b'"');
        let mut found = Vec::new();
        if quote != ROOT {
            found.extend_from_slice(unspaced.entries(quote));
            below(of, place, unspaced, quote, &mut found);
        }
        self.set(&found)
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

/// A text of which only some tokens are asked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
struct Place {
    form: Form,
    /// [`Words::id`]
    words: u32,
    state: u32,
    /// How many characters there is room for.
    room: u32,
}

/// All tokens of a class with so many characters at most, if there is one, and further tokens.
type Sets = (Option<(Class, u32)>, TokenSet);

/// The tokens that go on inside a text.
#[derive(Debug)]
pub(super) struct ByWays {
    /// Those after which there are as many words as one likes.
    pub(super) plenty: TokenSet,
    /// For each of the others how many words there are at least, and the token.
    pub(super) few: Box<[(u32, u32)]>,
}

impl Vocabulary {
    /// A language with what is known about it.
    pub(super) fn words(&self, language: &Language) -> Arc<Words> {
        self.languages.get(language.clone(), || Arc::new(Words::new(language)))
    }

    /// Whether a token more or less does not matter to how many characters a word may have.
    fn is_far(&self, words: &Words, cursor: Cursor) -> bool {
        words.room(cursor) > words.farthest + self.slices.longest()
    }

    /// The tokens that begin a string with its quote, white space in front, and do not end it; `cursor` is at the
    /// beginning. Nothing if its characters are few.
    pub(super) fn begun_words(&self, words: &Words, cursor: Cursor) -> Option<TokenSet> {
        let make = || self.begun(words.language.dfa(), State(cursor.state));
        self.is_far(words, cursor).then(|| self.begun.get(words.id, make))
    }

    /// In which texts before a quote a string may end; nothing where that is asked at few places.
    pub(super) fn endings(&self, words: &Words, cursor: Cursor, escape: Escape) -> Option<Arc<Endings>> {
        let is_far = self.is_far(words, cursor);
        let needed = words.language.min_chars().saturating_sub(cursor.chars);
        let place = Place { form: Form::String, words: words.id, state: cursor.state, room: u32::MAX };
        (is_far && escape == Escape::None)
            .then(|| self.endings.get((place, needed), || Arc::new(Endings::new(&self.trie))))
    }

    /// Adds the tokens that go on inside a word to `sets`.
    pub(super) fn inside(&self, form: Form, words: &Words, cursor: Cursor, sets: &mut Vec<TokenSet>) {
        let room = words.room(cursor);
        if words.is_any_text(cursor) || words.is_endless(cursor) {
            match form {
                Form::String => return sets.push(self.slices.string_up_to(room)),
                Form::Word if room == u32::MAX => return sets.push(self.slices.word()),
                Form::Word => {}
            }
        }
        let all = Place { form, words: words.id, state: cursor.state, room: u32::MAX };
        let make = || self.inside_state(words.language.dfa(), cursor.state, form);
        // So many characters are in the longest token, and so many more may be needed after it.
        if self.is_far(words, cursor) {
            return self.add(self.inside.get(all, make), sets);
        }
        let made = self.inside.get(Place { room, ..all }, || {
            let mut around = Vec::new();
            self.add(self.inside.get(all, make), &mut around);
            let mut tokens = tokens(&around);
            let sure = room.saturating_sub(words.farthest);
            tokens.retain(|token| {
                // The number of characters decides for nearly all of them.
                match self.slices.chars(*token).filter(|_| form == Form::String) {
                    Some(chars) if chars <= sure => true,
                    Some(chars) if chars > room => false,
                    _ => {
                        let bytes = self.trie.token_bytes(TokenId(*token));
                        form.read(&words.language, cursor, Escape::None, bytes).is_some()
                    }
                }
            });
            (None, self.set(&tokens))
        });
        self.add(made, sets);
    }

    fn add(&self, (class, others): Sets, sets: &mut Vec<TokenSet>) {
        sets.extend(class.map(|class| self.class(class)));
        sets.push(others);
    }

    /// The tokens that go on inside a string by how many words they leave.
    fn string_by_ways(&self, words: &Words, cursor: Cursor) -> Arc<ByWays> {
        let reach = words.farthest + self.slices.longest() + Words::COUNTED;
        let room = words.room(cursor).min(reach + 1);
        let place = Place { form: Form::String, words: words.id, state: cursor.state, room };
        self.by_ways.get(place, || {
            let mut sets = Vec::new();
            self.inside(Form::String, words, cursor, &mut sets);
            let any = words.is_any_text(cursor);
            self.divided(&sets, |token| match self.slices.chars(token) {
                // Far from its longest, any text has plenty.
                Some(chars) if any && room > chars => u32::MAX,
                _ => {
                    let bytes = self.trie.token_bytes(TokenId(token));
                    let end = Form::String.read(&words.language, cursor, Escape::None, bytes);
                    // Inside an escape sequence it is not clear which character comes.
                    end.filter(|end| end.1 == Escape::None).map_or(0, |end| words.ways(end.0))
                }
            })
        })
    }

    /// The tokens of `sets`, by their `ways`.
    fn divided(&self, sets: &[TokenSet], ways: impl Fn(u32) -> u32) -> Arc<ByWays> {
        let mut tokens = tokens(sets);
        let mut few = Vec::new();
        tokens.retain(|token| {
            let ways = ways(*token);
            if ways < u32::MAX {
                few.push((ways, *token));
            }
            ways == u32::MAX
        });
        Arc::new(ByWays { plenty: self.set(&tokens), few: few.into() })
    }
}

fn tokens(sets: &[TokenSet]) -> Vec<u32> {
    let mut tokens = Vec::new();
    sets.iter().for_each(|set| set.add_tokens(&mut tokens));
    tokens
}

/// The sets of one program.
pub(super) struct Shared {
    pub(super) vocabulary: Arc<Vocabulary>,
    /// The tokens that go on inside a key, by the object and the state of its classifier.
    keys: Kept<(u32, u32), Sets>,
    keys_by_ways: Kept<(u32, u32), Arc<ByWays>>,
    /// The tokens of the keys of each object, once somebody asks.
    objects: OnceLock<Box<[KeyTokens]>>,
}

/// The tokens of an object's keys, once somebody asks.
#[derive(Default)]
struct KeyTokens {
    /// Those of its known names.
    names: OnceLock<Option<NameTokens>>,
    /// Those with the quote in front that begin a key of a further class.
    opening: OnceLock<TokenSet>,
}

impl Shared {
    pub(super) fn new(vocabulary: Arc<Vocabulary>) -> Self {
        Self { vocabulary, keys: Kept::new(1024), keys_by_ways: Kept::new(256), objects: OnceLock::new() }
    }

    fn object(&self, object: u32, program: &Program) -> &KeyTokens {
        let make = || program.objects.iter().map(|_| KeyTokens::default()).collect();
        &self.objects.get_or_init(make)[object as usize]
    }

    /// The tokens of the known names of an object, if they can be gathered.
    pub(super) fn names(&self, object: u32, program: &Program) -> Option<&NameTokens> {
        let make = || NameTokens::new(&program.objects[object as usize], &self.vocabulary.trie);
        self.object(object, program).names.get_or_init(make).as_ref()
    }

    /// The tokens that begin a key of a further class with its quote, white space in front, and do not end it.
    pub(super) fn opening(&self, object: u32, is_open: bool, program: &Program) -> TokenSet {
        let vocabulary = &*self.vocabulary;
        if is_open {
            let any = program.words(Program::ANY_TEXT).language.dfa();
            return vocabulary.opening.get_or_init(|| vocabulary.begun(any, State(any.start))).clone();
        }
        let make = || match &program.objects[object as usize].classifier {
            Some(classifier) => vocabulary.begun(classifier.dfa(), State(classifier.start())),
            None => vocabulary.set(&[]),
        };
        self.object(object, program).opening.get_or_init(make).clone()
    }

    /// Adds the tokens that stay inside a string's body or a key to `sets`.
    pub(super) fn inside(&self, text: Text, program: &Program, sets: &mut Vec<TokenSet>) {
        let vocabulary = &*self.vocabulary;
        match text {
            Text::String(language, cursor) => {
                vocabulary.inside(Form::String, program.words(language), cursor, sets);
            }
            Text::Key(object, state) => {
                let shape = &program.objects[object as usize];
                let Some(classifier) = &shape.classifier else { return };
                if shape.is_endless(state) {
                    return sets.push(vocabulary.slices.string());
                }
                let made = self
                    .keys
                    .get((object, state), || vocabulary.inside_state(classifier.dfa(), state, Form::String));
                vocabulary.add(made, sets);
            }
        }
    }

    /// The tokens of [`inside`](Self::inside) by how many words they leave.
    pub(super) fn by_ways(&self, text: Text, program: &Program) -> Arc<ByWays> {
        let vocabulary = &*self.vocabulary;
        match text {
            Text::String(language, cursor) => vocabulary.string_by_ways(program.words(language), cursor),
            Text::Key(object, state) => self.keys_by_ways.get((object, state), || {
                let mut sets = Vec::new();
                self.inside(text, program, &mut sets);
                let shape = &program.objects[object as usize];
                vocabulary.divided(&sets, |token| {
                    let bytes = vocabulary.trie.token_bytes(TokenId(token));
                    let end = shape.classifier.as_ref().and_then(|classifier| {
                        Form::String.read(classifier.dfa(), State(state), Escape::None, bytes)
                    });
                    end.filter(|end| end.1 == Escape::None).map_or(0, |end| shape.keys_left(end.0.0))
                })
            }),
        }
    }
}

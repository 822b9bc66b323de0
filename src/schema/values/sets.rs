//! Sets of strings and of numbers, with their limits turned into faults.

use std::collections::HashMap;
use std::rc::Rc;
use std::sync::OnceLock;

use super::error::{Fault, Outcome};
use super::goal::Compiler;
use super::union::Union;
use crate::grammar::language::{Language, LanguageError, Limits};
use crate::grammar::number::NumberSet;
use crate::json::Number;

/// What was found before.
#[derive(Default)]
pub(super) struct Languages {
    combined: HashMap<(Operation, Language, Language), Language>,
    patterns: HashMap<String, Language>,
    /// The words of languages that are made of few.
    words: HashMap<Language, Rc<[Box<str>]>>,
}

/// Up to so many words are looked up one by one.
const FEW_WORDS: usize = 64;

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
enum Operation {
    And,
    Or,
    Without,
}

/// Steps that are paid for an automaton that became too large.
const TOO_LARGE: usize = 500_000;

impl Compiler<'_> {
    /// The strings in which `pattern` is found.
    pub(super) fn pattern(&mut self, pattern: &str) -> Outcome<Language> {
        self.spend(pattern.len())?;
        if let Some(known) = self.languages.patterns.get(pattern) {
            return Ok(known.clone());
        }
        let mut effort = 0;
        let language = self.language(|limits| Language::pattern_with_effort(pattern, limits, &mut effort))?;
        self.spend(4 * effort)?;
        self.languages.patterns.insert(pattern.to_owned(), language.clone());
        Ok(language)
    }

    /// A language made under the limits. What it costs is paid by the size of its automaton, and for one that became too
    /// large as for a large one.
    pub(super) fn language(
        &mut self,
        make: impl FnOnce(&Limits) -> Result<Language, LanguageError>,
    ) -> Outcome<Language> {
        match make(&self.options.limits.language) {
            Ok(language) => {
                self.spend(1 + 8 * language.states() + language.cells())?;
                Ok(language)
            }
            Err(error) => {
                if error == LanguageError::TooLarge {
                    self.spend(TOO_LARGE)?;
                }
                Err(Fault::unsupported(error.to_string()))
            }
        }
    }

    /// What is in both, unless that is nothing.
    pub(super) fn and_strings(&mut self, a: &Language, b: &Language) -> Outcome<Option<Language>> {
        let both = if a.is_any() {
            b.clone()
        } else if b.is_any() {
            a.clone()
        } else {
            self.combined(Operation::And, a, b)?
        };
        Ok((!both.is_empty()).then_some(both))
    }

    /// What is in `a` and not in `b`, unless that is nothing.
    pub(super) fn strings_without(&mut self, a: &Language, b: &Language) -> Outcome<Option<Language>> {
        if b.is_any() {
            return Ok(None);
        }
        let rest = self.combined(Operation::Without, a, b)?;
        Ok((!rest.is_empty()).then_some(rest))
    }

    /// Does each operation once: the same sets meet again and again where alternatives multiply.
    fn combined(&mut self, operation: Operation, a: &Language, b: &Language) -> Outcome<Language> {
        let key = (operation, a.clone(), b.clone());
        if let Some(known) = self.languages.combined.get(&key) {
            return Ok(known.clone());
        }
        let language = match (operation, self.few_words(a), self.few_words(b)) {
            (Operation::And, Some(words), _) => self.some_words(a, &words, |word| b.contains(word))?,
            (Operation::And, _, Some(words)) => self.some_words(b, &words, |word| a.contains(word))?,
            (Operation::Without, Some(words), _) => self.some_words(a, &words, |word| !b.contains(word))?,
            _ => self.product(operation, a, b)?,
        };
        self.languages.combined.insert(key, language.clone());
        Ok(language)
    }

    fn product(&mut self, operation: Operation, a: &Language, b: &Language) -> Outcome<Language> {
        self.language(|limits| match operation {
            Operation::And => a.and(b, limits),
            Operation::Or => a.or(b, limits),
            Operation::Without => a.without(b, limits),
        })
    }

    fn few_words(&self, language: &Language) -> Option<Rc<[Box<str>]>> {
        self.languages.words.get(language).cloned()
    }

    /// Those of the words of `language` that are wanted.
    fn some_words(
        &mut self,
        language: &Language,
        words: &[Box<str>],
        is_wanted: impl Fn(&str) -> bool,
    ) -> Outcome<Language> {
        self.spend(words.len())?;
        let wanted: Vec<&str> = words.iter().map(|word| &**word).filter(|word| is_wanted(word)).collect();
        if wanted.len() == words.len() { Ok(language.clone()) } else { self.words(&wanted) }
    }

    /// Just these strings.
    pub(super) fn words(&mut self, words: &[&str]) -> Outcome<Language> {
        if words.is_empty() {
            return Ok(Language::never());
        }
        self.spend(words.iter().map(|word| word.len() / 8 + 1).sum())?;
        let language = self.language(|limits| Language::words(words.iter().copied(), limits))?;
        if words.len() <= FEW_WORDS {
            let words = words.iter().map(|word| Box::from(*word)).collect();
            self.languages.words.insert(language.clone(), words);
        }
        Ok(language)
    }

    pub(super) fn or_strings(&mut self, a: &Language, b: &Language) -> Outcome<Language> {
        if a.is_any() || b.is_empty() {
            return Ok(a.clone());
        }
        if b.is_any() || a.is_empty() {
            return Ok(b.clone());
        }
        self.combined(Operation::Or, a, b)
    }

    /// The strings of all languages, if there are any. Neighbours are joined first: one after the other, each would be
    /// gone through together with all before it.
    pub(super) fn any_strings(&mut self, mut languages: Vec<Language>) -> Outcome<Option<Language>> {
        while languages.len() > 1 {
            let pairs = languages.chunks(2).map(|pair| match pair {
                [a, b] => self.or_strings(a, b),
                _ => Ok(pair[0].clone()),
            });
            languages = pairs.collect::<Result<_, _>>()?;
        }
        Ok(languages.pop())
    }

    pub(super) fn not_strings(&mut self, language: &Language) -> Outcome<Language> {
        if language.is_any() {
            return Ok(Language::never());
        }
        self.combined(Operation::Without, &Language::any(), language)
    }

    /// Leaves the strings of the union that are in `language`.
    pub(super) fn narrow_strings(&mut self, left: &mut Union<'_>, language: &Language) -> Outcome<()> {
        if let Some(strings) = &left.strings {
            left.strings = self.and_strings(strings, language)?;
        }
        Ok(())
    }

    pub(super) fn and_number(&mut self, a: &NumberSet, b: &NumberSet) -> Outcome<NumberSet> {
        self.spend(2)?;
        a.and(b).map_err(|error| Fault::unsupported(error.to_string()))
    }

    pub(super) fn not_number(&mut self, set: &NumberSet) -> Outcome<Vec<NumberSet>> {
        self.spend(2)?;
        Ok(set.not())
    }

    /// All numbers but these.
    pub(super) fn other_numbers(&mut self, numbers: &[Number]) -> Outcome<NumberSet> {
        let mut others = NumberSet::any();
        for number in numbers {
            others = self.and_number(&others, &NumberSet::all_but((*number).into()))?;
        }
        Ok(others)
    }

    /// Leaves the numbers of the union that are in `set`.
    pub(super) fn narrow_numbers(&mut self, left: &mut Union<'_>, set: &NumberSet) -> Outcome<()> {
        let mut narrowed = Vec::with_capacity(left.numbers.len());
        for known in &left.numbers {
            let both = if is_any_number(known) { set.clone() } else { self.and_number(known, set)? };
            if !both.is_empty() {
                narrowed.push(both);
            }
        }
        left.numbers = narrowed;
        Ok(())
    }

    /// The numbers that are not in `set`.
    pub(super) fn outside<'s>(&mut self, set: &NumberSet) -> Outcome<Union<'s>> {
        Ok(Union::of_numbers(self.not_number(set)?))
    }
}

/// Whether all numbers are in `set`.
pub(super) fn is_any_number(set: &NumberSet) -> bool {
    static ANY: OnceLock<NumberSet> = OnceLock::new();
    set == ANY.get_or_init(NumberSet::any)
}

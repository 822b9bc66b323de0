//! Matchers: which tokens may come next, step by step.

use std::fmt;
use std::sync::Arc;

use crate::grammar::closing::AfterQuotes;
use crate::grammar::frames::{Arena, ArenaMark};
use crate::grammar::known::{KeyWriter, Known, Recent};
use crate::grammar::language::{LanguageError, Limits};
use crate::grammar::layout::Layout;
use crate::grammar::machine::{Machine, Thread, Top};
use crate::grammar::mask::{Allowed, mask_words, set};
use crate::grammar::program::Program;
use crate::grammar::rules::{Grammar, GrammarError, RuleCode};
use crate::grammar::shared::{Shared, Vocabulary};
use crate::grammar::value::Values;
use crate::grammar::walk::Walk;
use crate::token::{Special, TokenId};
use crate::tokenizer::Tokenizer;

/// A vocabulary, arranged for masks; it compiles grammars.
///
/// Make one for a vocabulary and keep it: it is some 20 MB, and all that is compiled with it shares it.
#[derive(Debug, Clone)]
pub struct Compiler {
    vocabulary: Arc<Vocabulary>,
    limits: Limits,
}

impl Compiler {
    /// Arranges the vocabulary of `tokenizer`. Costs some 50 ms.
    #[must_use]
    pub fn new(tokenizer: &Tokenizer) -> Self {
        Self { vocabulary: Arc::new(Vocabulary::new(tokenizer)), limits: Limits::default() }
    }

    /// Compiles the grammar of `values`.
    ///
    /// # Errors
    ///
    /// If the keys of an object cannot be told apart within the limits, or an id in `values` leads to nothing.
    pub fn compile(&self, values: &Values, layout: Layout) -> Result<Arc<Compiled>, CompileError> {
        Ok(self.compiled(self.program(values)?, layout))
    }

    fn program(&self, values: &Values) -> Result<Program, CompileError> {
        if !values.is_closed() {
            return Err(GrammarError::Unknown.into());
        }
        Ok(Program::new(values, &self.limits, &self.vocabulary)?)
    }

    /// Compiles rules that refer to `values`.
    ///
    /// # Errors
    ///
    /// As [`compile`](Self::compile), and if the rules are refused.
    pub fn compile_rules(
        &self,
        grammar: &Grammar,
        values: &Values,
        layout: Layout,
    ) -> Result<Arc<Compiled>, CompileError> {
        let rules = RuleCode::new(grammar)?;
        if !rules.fits(values) {
            return Err(GrammarError::Unknown.into());
        }
        Ok(self.compiled(self.program(values)?.with_rules(rules, &self.vocabulary), layout))
    }

    fn compiled(&self, program: Program, layout: Layout) -> Arc<Compiled> {
        let stop = self.vocabulary.tokenizer.special_id(Special::Eos);
        let shared = Shared::new(self.vocabulary.clone());
        Arc::new(Compiled {
            program,
            layout,
            stops: stop.into_iter().collect(),
            shared,
            known: Known::default(),
        })
    }

    /// How many 32-bit words a mask has: [`Matcher::fill_mask`] takes a slice of this length.
    #[must_use]
    pub fn mask_words(&self) -> usize {
        mask_words(self.vocabulary.trie.len())
    }
}

/// Why a grammar is refused.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum CompileError {
    /// Keys cannot be told apart within the limits.
    Language(LanguageError),
    /// The rules.
    Grammar(GrammarError),
}

impl From<LanguageError> for CompileError {
    fn from(error: LanguageError) -> Self {
        Self::Language(error)
    }
}

impl From<GrammarError> for CompileError {
    fn from(error: GrammarError) -> Self {
        Self::Grammar(error)
    }
}

impl fmt::Display for CompileError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Language(error) => error.fmt(f),
            Self::Grammar(error) => error.fmt(f),
        }
    }
}

impl std::error::Error for CompileError {}

/// A compiled grammar. It does not change and is shared by any number of [`Matcher`]s.
pub struct Compiled {
    program: Program,
    layout: Layout,
    stops: Vec<TokenId>,
    shared: Shared,
    known: Known,
}

impl fmt::Debug for Compiled {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Compiled")
            .field("layout", &self.layout)
            .field("stops", &self.stops)
            .finish_non_exhaustive()
    }
}

/// A token that the grammar does not allow.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Rejected {
    /// The token.
    pub token: TokenId,
}

impl fmt::Display for Rejected {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "token {} is not allowed here", self.token)
    }
}

impl std::error::Error for Rejected {}

impl Compiled {
    fn machine<'m>(&'m self, arena: &'m mut Arena) -> Machine<'m> {
        Machine { program: &self.program, layout: &self.layout, arena }
    }

    pub(super) fn tokenizer(&self) -> &Tokenizer {
        &self.shared.vocabulary.tokenizer
    }

    /// How many 32-bit words a mask has.
    #[must_use]
    pub fn mask_words(&self) -> usize {
        mask_words(self.shared.vocabulary.trie.len())
    }

    /// The tokens that end a text: the vocabulary's end of sentence, if it has one.
    #[must_use]
    pub fn stops(&self) -> &[TokenId] {
        &self.stops
    }

    /// A matcher at the beginning.
    #[must_use]
    pub fn matcher(self: &Arc<Self>) -> Matcher {
        let mut matcher = Matcher {
            compiled: self.clone(),
            arena: Arena::new(),
            threads: Vec::new(),
            stopped: false,
            history: Vec::new(),
            past: Vec::new(),
            spare: Vec::new(),
            pool: Vec::new(),
            recent: Recent::default(),
            after_quotes: AfterQuotes::default(),
            key: Vec::new(),
            room: Matcher::FIRST_ROOM,
        };
        self.machine(&mut matcher.arena).start(&mut matcher.threads);
        matcher
    }
}

/// The state of one sequence.
#[derive(Clone)]
pub struct Matcher {
    compiled: Arc<Compiled>,
    arena: Arena,
    /// The readings of what came so far. Never empty unless `stopped`.
    threads: Vec<Thread>,
    /// Whether a stop token came.
    stopped: bool,
    /// What [`rollback`](Self::rollback) goes back to.
    history: Vec<Past>,
    /// The readings of all of `history`, one after the other.
    past: Vec<Thread>,
    spare: Vec<Thread>,
    pool: Vec<Thread>,
    recent: Recent,
    after_quotes: AfterQuotes,
    key: Vec<u64>,
    /// How large the arena may get before it is compacted.
    room: usize,
}

/// A step that can be taken back.
#[derive(Debug, Clone, Copy)]
struct Past {
    mark: ArenaMark,
    /// How many readings of [`Matcher::past`] are older.
    older: usize,
}

impl fmt::Debug for Matcher {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Matcher")
            .field("threads", &self.threads)
            .field("tokens", &self.history.len())
            .finish_non_exhaustive()
    }
}

impl Matcher {
    /// How many of the last tokens [`rollback`](Self::rollback) can take back in any case.
    pub const MAX_ROLLBACK: usize = 1024;
    /// How many frames and the like there are before the first compaction.
    const FIRST_ROOM: usize = 1 << 14;

    /// The machine that reads on, and the special tokens that it may meet.
    pub(super) fn machine(&mut self) -> (Machine<'_>, &[Special]) {
        (self.compiled.machine(&mut self.arena), &self.compiled.program.rules.specials)
    }

    pub(super) fn threads(&self) -> &[Thread] {
        &self.threads
    }

    /// Whether the text may end with this reading.
    pub(super) fn completes(&self, thread: Thread) -> bool {
        Machine::is_complete(&self.compiled.program, &self.arena, thread)
    }

    pub(super) fn mark(&self) -> ArenaMark {
        self.arena.mark()
    }

    pub(super) fn forget_since(&mut self, mark: ArenaMark) {
        self.arena.reset(mark);
    }

    /// What the matcher runs.
    #[must_use]
    pub fn compiled(&self) -> &Arc<Compiled> {
        &self.compiled
    }

    /// How many 32-bit words a mask has.
    #[must_use]
    pub fn mask_words(&self) -> usize {
        self.compiled.mask_words()
    }

    /// Writes which tokens may come next: bit `id % 32` of word `id / 32`.
    ///
    /// # Panics
    ///
    /// If `mask` does not have [`Compiler::mask_words`] words.
    pub fn fill_mask(&mut self, mask: &mut [u32]) {
        assert_eq!(mask.len(), self.mask_words(), "a mask has Compiler::mask_words() words");
        if self.stopped {
            mask.fill(0);
            return;
        }
        self.allowed().write(mask);
        let compiled = self.compiled.clone();
        let vocabulary = &compiled.shared.vocabulary;
        let mark = self.arena.mark();
        for &special in &compiled.program.rules.specials {
            if let Some(id) = vocabulary.tokenizer.special_id(special)
                && self.after_special(special)
            {
                set(mask, id.0);
            }
            self.arena.reset(mark);
        }
        if self.is_complete() {
            for stop in &self.compiled.stops {
                set(mask, stop.0);
            }
        }
    }

    /// The tokens that may come next, as far as they are text.
    fn allowed(&mut self) -> Arc<Allowed> {
        if let Some(allowed) = self.recent.get(&self.threads) {
            return allowed;
        }
        let writer = KeyWriter {
            program: &self.compiled.program,
            layout: &self.compiled.layout,
            arena: &self.arena,
            key: &mut self.key,
        };
        let has_key = writer.write(&self.threads).is_some();
        let known = has_key.then(|| self.compiled.known.get(&self.key)).flatten();
        let allowed = known.unwrap_or_else(|| {
            let walk = Walk {
                machine: self.compiled.machine(&mut self.arena),
                trie: &self.compiled.shared.vocabulary.trie,
                shared: &self.compiled.shared,
                pool: &mut self.pool,
                found: Vec::new(),
                after_quotes: &mut self.after_quotes,
            };
            let allowed = Arc::new(walk.allowed(&self.threads));
            if has_key {
                self.compiled.known.put(&self.key, &allowed);
            }
            allowed
        });
        self.recent.put(&self.threads, allowed.clone());
        allowed
    }

    /// Whether a special token can come; its readings are then in `spare`.
    fn after_special(&mut self, special: Special) -> bool {
        let mut machine = self.compiled.machine(&mut self.arena);
        self.spare.clear();
        for thread in &self.threads {
            machine.step_special(*thread, special, &mut self.spare);
        }
        !self.spare.is_empty()
    }

    /// Takes the next token.
    ///
    /// # Errors
    ///
    /// If the grammar does not allow it; the matcher is then as before.
    pub fn accept(&mut self, token: TokenId) -> Result<(), Rejected> {
        let rejected = Err(Rejected { token });
        if self.stopped {
            return rejected;
        }
        let past = Past { mark: self.arena.mark(), older: self.past.len() };
        let compiled = self.compiled.clone();
        let bytes = compiled.shared.vocabulary.trie.token_bytes(token);
        if bytes.is_empty() {
            let special = compiled.shared.vocabulary.tokenizer.special_role(token);
            if let Some(special) = special
                && self.after_special(special)
            {
                self.past.append(&mut self.threads);
                std::mem::swap(&mut self.threads, &mut self.spare);
                self.remember(past);
                return Ok(());
            }
            self.arena.reset(past.mark);
            if !compiled.stops.contains(&token) || !self.is_complete() {
                return rejected;
            }
            self.past.append(&mut self.threads);
            self.stopped = true;
            self.remember(past);
            return Ok(());
        }
        self.past.extend_from_slice(&self.threads);
        let (mut now, mut next) = (std::mem::take(&mut self.threads), std::mem::take(&mut self.spare));
        let mut machine = compiled.machine(&mut self.arena);
        for &byte in bytes {
            next.clear();
            machine.step_all(&now, byte, &mut next);
            std::mem::swap(&mut now, &mut next);
            if now.is_empty() {
                break;
            }
        }
        now.retain(|thread| machine.is_alive(*thread));
        (self.threads, self.spare) = (now, next);
        self.remember(past);
        if self.threads.is_empty() {
            self.rollback(1);
            return rejected;
        }
        Ok(())
    }

    /// Takes tokens as long as the grammar allows them; returns how many.
    pub fn try_accept(&mut self, tokens: &[TokenId]) -> usize {
        tokens.iter().take_while(|token| self.accept(**token).is_ok()).count()
    }

    /// Takes back the last `tokens` tokens; if there are fewer, or fewer are remembered, all of these. The last
    /// [`MAX_ROLLBACK`](Self::MAX_ROLLBACK) are always remembered.
    pub fn rollback(&mut self, tokens: usize) {
        let kept = self.history.len().saturating_sub(tokens);
        let Some(past) = self.history.get(kept).copied() else { return };
        let end = self.history.get(kept + 1).map_or(self.past.len(), |next| next.older);
        self.threads.clear();
        self.threads.extend_from_slice(&self.past[past.older..end]);
        self.past.truncate(past.older);
        self.history.truncate(kept);
        // Nothing comes after a stop, so no step that is remembered began there.
        self.stopped = false;
        self.arena.reset(past.mark);
        self.recent.forget(self.arena.frames());
        self.after_quotes.forget(self.arena.frames());
    }

    /// How many ways there are to read the text so far: more than one where alternatives overlap.
    #[must_use]
    pub fn thread_count(&self) -> usize {
        self.threads.len()
    }

    /// Where the text is, in words for people: one for each way to read it, none twice.
    #[must_use]
    pub fn places(&self) -> Vec<&'static str> {
        let mut places: Vec<&str> = Vec::new();
        for thread in &self.threads {
            let place = Machine::place(*thread);
            if !places.contains(&place) {
                places.push(place);
            }
        }
        if self.stopped {
            places.push("at the end");
        }
        places
    }

    /// Remembers a step; forgets those that are too old.
    fn remember(&mut self, past: Past) {
        self.history.push(past);
        if self.history.len() > 2 * Self::MAX_ROLLBACK {
            let old = self.history.len() - Self::MAX_ROLLBACK;
            let older = self.history[old].older;
            self.past.drain(..older);
            self.history.drain(..old);
            self.history.iter_mut().for_each(|past| past.older -= older);
        }
        if self.arena.size() > self.room {
            self.compact();
        }
    }

    /// How many frames and the like there are.
    #[cfg(test)]
    pub(super) fn size(&self) -> usize {
        self.arena.size()
    }

    /// Drops frames that nothing leads to any more, so that memory does not grow with the text.
    fn compact(&mut self) {
        let threads = || self.threads.iter().chain(&self.past);
        let frames: Vec<u32> = threads().map(|thread| thread.frame).collect();
        let numbers: Vec<u32> = threads().filter_map(|thread| thread.number()).collect();
        let words = |object: u32| self.compiled.program.objects[object as usize].words;
        let moved = self.arena.compact(&frames, &numbers, words);
        for thread in self.threads.iter_mut().chain(&mut self.past) {
            thread.frame = moved.frame(thread.frame);
            if let Top::Number { at, .. } = &mut thread.top {
                *at = moved.number(*at);
            }
        }
        self.history.iter_mut().for_each(|past| past.mark = moved.mark(past.mark));
        self.recent = Recent::default();
        self.after_quotes = AfterQuotes::default();
        // As much again may come before it is worth another look.
        self.room = (2 * self.arena.size()).max(Self::FIRST_ROOM);
    }

    /// Whether what came so far is complete: a stop token may come.
    #[must_use]
    pub fn is_complete(&self) -> bool {
        self.stopped || self.threads.iter().any(|thread| self.completes(*thread))
    }
}

//! The tokens that begin a key or go on with a known one. Which tokens spell a name does not depend on what came
//! before, so they are found once for each object; at each place only the names that may still come are looked at.

use crate::grammar::frames::Kind;
use crate::grammar::machine::{Thread, Top};
use crate::grammar::mask::TokenSet;
use crate::grammar::program::ObjectCode;
use crate::grammar::string::Escape;
use crate::grammar::trie::{Node, ROOT, TokenTrie, Trie};
use crate::grammar::walk::{Text, Walk};
use crate::token::TokenId;

/// For each known name of an object, the tokens that begin it.
#[derive(Debug)]
pub(super) struct NameTokens {
    /// Those behind its quote.
    pub(super) behind_quote: Spellings,
    /// Those with the quote, and white space in front.
    pub(super) with_quote: Spellings,
}

/// The tokens that spell the beginnings of some words.
#[derive(Debug, Default)]
pub(super) struct Spellings {
    /// Where the tokens of each word begin; one more at the end.
    starts: Vec<u32>,
    tokens: Vec<u32>,
    /// The same of the tokens that spell a whole word, a quote, and perhaps more.
    closing_starts: Vec<u32>,
    closing: Vec<u32>,
}

/// Names of an object with more bytes in all than this are not gathered.
const MOST_BYTES: usize = 1 << 16;

/// So many names that begin like a key are looked at one by one.
const MOST_BEGUN: u32 = 16;

impl NameTokens {
    /// The tokens of an object's names; nothing if there are too many names, or one needs escapes or is empty.
    pub(super) fn new(shape: &ObjectCode, trie: &TokenTrie) -> Option<Self> {
        if !shape.plain_names || shape.names.iter().map(|name| name.name.len()).sum::<usize>() > MOST_BYTES {
            return None;
        }
        let names = || shape.names.iter().map(|name| &name.name[..]);
        Some(Self {
            behind_quote: Spellings::new(&trie.tokens, ROOT, names()),
            with_quote: Spellings::new(&trie.unspaced, trie.unspaced.root_child(b'"'), names()),
        })
    }
}

impl Spellings {
    /// The spellings of `words` below `node`.
    fn new<'w>(trie: &Trie, node: Node, words: impl Iterator<Item = &'w [u8]>) -> Self {
        let mut spellings = Self::default();
        for word in words {
            spellings.starts.push(spellings.tokens.len() as u32);
            spellings.closing_starts.push(spellings.closing.len() as u32);
            spell(trie, node, word, &mut spellings.tokens, &mut spellings.closing);
        }
        spellings.starts.push(spellings.tokens.len() as u32);
        spellings.closing_starts.push(spellings.closing.len() as u32);
        spellings
    }

    fn add(&self, word: usize, tokens: &mut Vec<u32>, closing: &mut Vec<u32>) {
        let range = |starts: &[u32]| starts[word] as usize..starts[word + 1] as usize;
        tokens.extend_from_slice(&self.tokens[range(&self.starts)]);
        closing.extend_from_slice(&self.closing[range(&self.closing_starts)]);
    }
}

/// Adds the tokens below `node` that spell a beginning of `word` to `tokens`, and those that spell more than it and a
/// quote to `closing`.
fn spell(trie: &Trie, node: Node, word: &[u8], tokens: &mut Vec<u32>, closing: &mut Vec<u32>) {
    let mut at = node;
    for byte in word {
        let Some(child) = trie.child(at, *byte) else { return };
        at = child;
        tokens.extend_from_slice(trie.entries(at));
    }
    if let Some(quote) = trie.child(at, b'"') {
        closing.extend_from_slice(trie.entries_below(quote));
    }
}

impl Walk<'_> {
    /// The tokens before a key of `thread`, which is the only reading, if they can be told from the names and the class
    /// of further keys.
    pub(super) fn before_key(&mut self, thread: Thread, sets: &mut Vec<TokenSet>) -> bool {
        let Kind::Object { object, members: 0, .. } = self.machine.arena.frame(thread.frame).kind else {
            return false;
        };
        let trie = self.trie;
        let quote = trie.unspaced.root_child(b'"');
        let is_key = self.machine.loops_on_space(thread)
            && matches!(thread.top, Top::Comma { .. } | Top::Open { .. })
            && quote != ROOT
            && !self.machine.arena.frame(thread.frame).hashed;
        if !is_key {
            return false;
        }
        let Some(names) = self.shared.names(object, self.machine.program) else { return false };
        let mut keys = Vec::new();
        self.machine.begin_key(thread.frame, &mut keys);
        let key = keys.first().copied();
        let class = key.and_then(|thread| match thread.top {
            Top::Key { key, .. } => self.machine.class_key(thread.frame, key),
            _ => None,
        });
        if let (Some(thread), Some((object, _))) = (key, class)
            && self.least_ways(thread, Text::Key(object, 0)).is_some()
        {
            return false;
        }
        let mark = self.machine.arena.mark();
        self.pool.push(thread);
        if self.is_alive((0, 1)) {
            self.found.extend_from_slice(trie.unspaced.entries(ROOT));
        }
        if matches!(thread.top, Top::Open { .. }) {
            self.child(&trie.unspaced, trie.unspaced.root_child(b'}'), (0, 1));
        }
        self.pool.clear();
        self.machine.arena.reset(mark);
        let Some(key) = key else { return true };
        let mut closing = Vec::new();
        if let Some(keys) = self.machine.keys(thread.frame) {
            keys.each_name(0, keys.shape.names.len() as u32, |name| {
                names.with_quote.add(name as usize, &mut self.found, &mut closing);
            });
        }
        self.found.extend_from_slice(trie.unspaced.entries(quote));
        self.check(thread, &closing);
        if let Some((object, is_open)) = class {
            sets.push(self.shared.opening(object, is_open, self.machine.program));
            self.whole_key(key);
        }
        true
    }

    /// The tokens that go on with the known names that `thread`, in a key of no further class, may become, if they can be
    /// told from the names.
    pub(super) fn known_names(&mut self, thread: Thread) -> bool {
        let Top::Key { key, escape: Escape::None } = thread.top else { return false };
        let frame = self.machine.arena.frame(thread.frame);
        let Kind::Object { object, members: 0, .. } = frame.kind else { return false };
        let shape = &self.machine.program.objects[object as usize];
        if frame.hashed || !shape.plain_names || (key.depth > 0 && key.high - key.low > MOST_BEGUN) {
            return false;
        }
        let gathered = match key.depth {
            0 => match self.shared.names(object, self.machine.program) {
                Some(names) => Some(names),
                None => return false,
            },
            _ => None,
        };
        let mut closing = Vec::new();
        let mut is_whole = false;
        let Some(keys) = self.machine.keys(thread.frame) else { return false };
        keys.each_name(key.low, key.high, |name| {
            if let Some(names) = gathered {
                return names.behind_quote.add(name as usize, &mut self.found, &mut closing);
            }
            let rest = &shape.names[name as usize].name[key.depth as usize..];
            match rest {
                // Many tokens begin with a quote.
                [] => is_whole = true,
                _ => spell(&self.trie.tokens, ROOT, rest, &mut self.found, &mut closing),
            }
        });
        self.check(thread, &closing);
        if is_whole {
            self.pool.push(thread);
            self.child(&self.trie.tokens, self.trie.tokens.root_child(b'"'), (0, 1));
            self.pool.clear();
        }
        true
    }

    /// Adds those of `tokens` that `thread` goes on with.
    fn check(&mut self, thread: Thread, tokens: &[u32]) {
        for token in tokens {
            if self.goes_on(&[thread], self.trie.token_bytes(TokenId(*token))) {
                self.found.push(*token);
            }
        }
    }
}

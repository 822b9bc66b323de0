//! Which tokens can come next: walks of the readings over the tries.

use crate::grammar::bytes::ByteSet;
use crate::grammar::closing::AfterQuotes;
use crate::grammar::frames::ArenaMark;
use crate::grammar::machine::{Machine, Thread, Top};
use crate::grammar::mask::{Allowed, TokenSet};
use crate::grammar::number::{NumberSet, NumberState};
use crate::grammar::program::Program;
use crate::grammar::shared::Shared;
use crate::grammar::string::{Cursor, Escape, Form, Place};
use crate::grammar::trie::{MANY_CHILDREN, Node, ROOT, TokenTrie, Trie};
use crate::token::TokenId;

/// A walk: the machine, and the readings at each depth of the trie.
pub(super) struct Walk<'m> {
    pub(super) machine: Machine<'m>,
    pub(super) trie: &'m TokenTrie,
    pub(super) shared: &'m Shared,
    /// The readings of all depths, one after the other.
    pub(super) pool: &'m mut Vec<Thread>,
    pub(super) found: Vec<u32>,
    pub(super) after_quotes: &'m mut AfterQuotes,
}

/// A place in a text, as far as it decides which tokens go on inside the text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Text {
    /// In a string: its language, and where there.
    String(u32, Cursor),
    /// In a key of a further class: the object, and the state of its classifier.
    Key(u32, u32),
}

/// Where a range of readings in [`Walk::pool`] begins and ends.
pub(super) type Range = (usize, usize);

impl Walk<'_> {
    /// The tokens that can follow `threads`.
    pub(super) fn allowed(mut self, threads: &[Thread]) -> Allowed {
        let program = self.machine.program;
        let mut numbers: Vec<u32> = Vec::new();
        let mut sets: Vec<TokenSet> = Vec::new();
        self.pool.clear();
        // Strings first: nearly all tokens go on inside, in a set that many places share.
        let mut free = Vec::new();
        let mut bound = Vec::new();
        let mut others = Vec::new();
        let mut crossings = Vec::new();
        let mut places: Vec<Text> = Vec::new();
        // Whether the tokens that begin a string are found already.
        let mut has_strings = false;
        for thread in threads {
            if let Top::Word { language, cursor } = thread.top {
                self.shared.vocabulary.inside(Form::Word, program.words(language), cursor, &mut sets);
                if program.words(language).is_free(cursor) {
                    // Any text may come, so nothing that the other readings want is missing.
                    return Allowed { sets, tokens: self.found };
                }
                self.beyond_word(*thread, language, cursor);
                continue;
            }
            match self.inside(*thread) {
                Some((text, is_free)) => {
                    match self.least_ways(*thread, text) {
                        // What is used is another matter for each reading.
                        Some(used) => self.new_inside(*thread, text, used, &mut sets),
                        None if places.contains(&text) => {}
                        None => {
                            places.push(text);
                            self.shared.inside(text, program, &mut sets);
                        }
                    }
                    if is_free {
                        free.push(*thread)
                    } else {
                        bound.push(*thread)
                    }
                    // Names that no class has are looked at one by one.
                    others.extend(Machine::only_names(*thread).filter(|names| !self.known_names(*names)));
                }
                None => match thread.top {
                    Top::Number { set, at } => {
                        let state = self.machine.arena.number(at).state;
                        let digits =
                            self.shared.vocabulary.inside_number(&program.numbers[set as usize], state);
                        self.digits(*thread, digits, &mut sets);
                        self.machine.end_number(*thread, &mut others);
                        crossings.push(*thread);
                    }
                    Top::Key { .. } if self.known_names(*thread) => {}
                    Top::Comma { .. } | Top::Open { .. }
                        if threads.len() == 1 && self.before_key(*thread, &mut sets) => {}
                    Top::Value { .. } if threads.len() == 1 => {
                        has_strings = self.begin_string(*thread, &mut sets);
                        others.push(*thread);
                    }
                    _ => others.push(*thread),
                },
            }
        }
        // A value's digits are a set of their own, so that the walk need not try them.
        for thread in &others {
            if let Top::Value { value, .. } = thread.top
                && self.machine.loops_on_space(*thread)
            {
                for set in &program.value(value).numbers {
                    let compared = self.machine.used_items(thread.frame) > 0;
                    if compared || !numbers.contains(set) {
                        if !compared {
                            numbers.push(*set);
                        }
                        let digits = self.shared.vocabulary.first_digits(&program.numbers[*set as usize]);
                        self.digits(*thread, digits, &mut sets);
                    }
                }
            }
        }
        for token in self.shared.vocabulary.number_crossings.iter() {
            let bytes = self.trie.token_bytes(TokenId(*token));
            if self.goes_on(&crossings, bytes) || self.goes_on(&others, bytes) {
                self.found.push(*token);
            }
        }
        if !(free.is_empty() && bound.is_empty()) {
            self.closing(&free, &bound);
        }
        if !others.is_empty() {
            self.others(&others, has_strings);
        }
        Allowed { sets, tokens: self.found }
    }

    /// The text that a reading is in the middle of, if its tokens are a shared set, and whether that text is free.
    fn inside(&self, thread: Thread) -> Option<(Text, bool)> {
        match thread.top {
            Top::String { language, cursor, escape: Escape::None } => {
                let free = cursor.hash == 0 && self.machine.program.words(language).is_free(cursor);
                Some((Text::String(language, Cursor { hash: 0, ..cursor }), free))
            }
            Top::Key { key, escape: Escape::None } => {
                let (object, open) = self.machine.class_key(thread.frame, key)?;
                let any = &self.machine.program.words(Program::ANY_TEXT).language;
                Some(if open {
                    (Text::String(Program::ANY_TEXT, Cursor::start(any, false)), false)
                } else {
                    (Text::Key(object, key.class), false)
                })
            }
            _ => None,
        }
    }

    /// How many ways on a text must have at least so that there is one to a new value or a new key; nothing if all of
    /// its texts have as many as one likes, or nothing is used.
    pub(super) fn least_ways(&self, thread: Thread, text: Text) -> Option<u32> {
        let used = self.machine.used_items(thread.frame);
        match text {
            Text::String(language, _) => {
                (used > 0 && self.machine.program.words(language).has_few()).then_some(used)
            }
            Text::Key(object, _) => {
                let keys = self.machine.keys(thread.frame)?;
                let (low, high, _) = Machine::beginning(thread, &keys);
                let used = used.saturating_add(Machine::used_keys(&keys, low, high));
                (used > 0 && self.machine.program.objects[object as usize].has_few_keys()).then_some(used)
            }
        }
    }

    /// As [`Shared::inside`], without the tokens from which only what is used goes on.
    fn new_inside(&mut self, thread: Thread, text: Text, used: u32, sets: &mut Vec<TokenSet>) {
        let tokens = self.shared.by_ways(text, self.machine.program);
        sets.push(tokens.plenty.clone());
        for (ways, token) in tokens.few.iter() {
            if *ways > used || self.goes_on(&[thread], self.trie.token_bytes(TokenId(*token))) {
                self.found.push(*token);
            }
        }
    }

    /// Adds `digits`, which go on with the number of `thread` or begin one, as far as they lead to a new value.
    fn digits(&mut self, thread: Thread, digits: TokenSet, sets: &mut Vec<TokenSet>) {
        if self.machine.used_items(thread.frame) == 0 {
            return sets.push(digits);
        }
        let mut tokens = Vec::new();
        digits.add_tokens(&mut tokens);
        tokens.retain(|token| self.goes_on(&[thread], self.trie.token_bytes(TokenId(*token))));
        self.found.append(&mut tokens);
    }

    /// Whether one of the readings of `range` can come to an end.
    pub(super) fn is_alive(&mut self, range: Range) -> bool {
        (range.0..range.1).any(|at| self.machine.is_alive(self.pool[at]))
    }

    /// Whether one of `threads` goes on with all of `bytes`.
    pub(super) fn goes_on(&mut self, threads: &[Thread], bytes: &[u8]) -> bool {
        let (start, mark) = (self.pool.len(), self.machine.arena.mark());
        self.pool.extend_from_slice(threads);
        let mut range = (start, self.pool.len());
        for byte in bytes {
            range = self.step_range(range, *byte);
            if range.0 == range.1 {
                break;
            }
        }
        let alive = self.is_alive(range);
        self.reset(start, mark);
        alive
    }

    /// The tokens in which the word of `thread` ends and something else begins.
    fn beyond_word(&mut self, thread: Thread, language: u32, cursor: Cursor) {
        let (start, mark) = (self.pool.len(), self.machine.arena.mark());
        self.machine.end_part(thread.frame, self.pool);
        let range = (start, self.pool.len());
        let mut bytes = ByteSet::default();
        for at in range.0..range.1 {
            self.machine.next_bytes(self.pool[at], false, &mut bytes);
        }
        let firsts = bytes.ascii();
        if !bytes.is_empty() {
            let language = &self.machine.program.words(language).language;
            let tokens = &self.trie.tokens;
            let mut path: Vec<(Node, Cursor)> = vec![(tokens.end(ROOT), cursor)];
            let mut node = ROOT + 1;
            while node < tokens.end(ROOT) {
                while path.last().is_some_and(|(end, _)| *end <= node) {
                    path.pop();
                }
                let Some((_, cursor)) = path.last() else { break };
                let end = tokens.end(node);
                // What follows begins with some of these bytes; other tokens need no look.
                let next = cursor.next(language, tokens.byte(node));
                match next.filter(|_| !bytes.is_ascii() || tokens.ascii_below(node) & firsts != 0) {
                    Some(cursor) => {
                        if cursor.is_complete(language) {
                            self.below(tokens, node, range);
                        }
                        path.push((end, cursor));
                        node += 1;
                    }
                    None => node = end,
                }
            }
        }
        self.reset(start, mark);
    }

    /// The tokens that begin a string with its quote, white space in front, for a value that nobody compares, if they are a
    /// shared set.
    fn begin_string(&mut self, thread: Thread, sets: &mut Vec<TokenSet>) -> bool {
        let Top::Value { value, .. } = thread.top else { return false };
        if !self.machine.loops_on_space(thread) || self.machine.arena.frame(thread.frame).hashed {
            return false;
        }
        let mut strings = Vec::new();
        self.machine.begin(value, thread.frame, b'"', &mut strings);
        let [Thread { top: Top::String { language, cursor, .. }, .. }] = strings[..] else { return false };
        let Some(begun) = self.shared.vocabulary.begun_words(self.machine.program.words(language), cursor)
        else {
            return false;
        };
        sets.push(begun);
        self.whole_string(strings[0]);
        true
    }

    /// All other readings: from the root of the trie, by the bytes that can come next, without strings if these are known.
    fn others(&mut self, threads: &[Thread], has_strings: bool) {
        let start = self.pool.len();
        self.pool.extend_from_slice(threads);
        let range = (start, self.pool.len());
        let trie = self.trie;
        let mut bytes = ByteSet::default();
        for thread in threads {
            self.machine.next_bytes(*thread, true, &mut bytes);
        }
        if threads.iter().all(|thread| self.machine.loops_on_space(*thread)) {
            // White space in front changes nothing: what follows it decides.
            if self.is_alive(range) {
                self.found.extend_from_slice(trie.unspaced.entries(ROOT));
            }
            bytes.remove_space();
            if has_strings {
                bytes.remove(b'"');
            }
            for byte in bytes.iter() {
                self.child(&trie.unspaced, trie.unspaced.root_child(byte), range);
            }
        } else {
            for byte in bytes.iter() {
                self.child(&trie.tokens, trie.tokens.root_child(byte), range);
            }
        }
        self.pool.truncate(start);
    }

    pub(super) fn child(&mut self, trie: &Trie, child: Node, range: Range) {
        if child == ROOT {
            return;
        }
        let (start, mark) = (self.pool.len(), self.machine.arena.mark());
        let next = self.step_range(range, trie.byte(child));
        if next.1 > next.0 {
            if self.is_plain(trie, child, next) {
                self.found.extend_from_slice(trie.entries_below(child));
            } else {
                let entries = trie.entries(child);
                if !entries.is_empty() && self.is_alive(next) {
                    self.found.extend_from_slice(entries);
                }
                self.below(trie, child, next);
            }
        }
        self.reset(start, mark);
    }

    fn below(&mut self, trie: &Trie, node: Node, range: Range) {
        // Where much hangs below, most of it begins with bytes that cannot come.
        if trie.end(node) - node > MANY_CHILDREN {
            let mut bytes = ByteSet::default();
            for at in range.0..range.1 {
                self.machine.next_bytes(self.pool[at], false, &mut bytes);
            }
            for child in trie.children(node).filter(|child| bytes.has(trie.byte(*child))) {
                self.child(trie, child, range);
            }
        } else {
            for child in trie.children(node) {
                self.child(trie, child, range);
            }
        }
    }

    /// Whether all below `node` is plain text for one of the readings.
    fn is_plain(&self, trie: &Trie, node: Node, range: Range) -> bool {
        trie.is_plain_below(node)
            && self.pool[range.0..range.1].iter().any(|thread| match self.inside(*thread) {
                Some((Text::String(language, cursor), _)) => {
                    self.machine.program.words(language).is_free(cursor)
                }
                _ => false,
            })
    }

    pub(super) fn step_range(&mut self, range: Range, byte: u8) -> Range {
        let start = self.pool.len();
        for at in range.0..range.1 {
            let thread = self.pool[at];
            self.machine.step(thread, byte, self.pool);
        }
        (start, self.pool.len())
    }

    pub(super) fn reset(&mut self, pool: usize, mark: ArenaMark) {
        self.pool.truncate(pool);
        self.machine.arena.reset(mark);
    }
}

/// The tokens that go on inside a number from `state` on.
pub(super) fn inside_number(numbers: &NumberSet, state: NumberState, trie: &Trie) -> Vec<u32> {
    let mut found = Vec::new();
    for byte in b"+-.0123456789Ee" {
        number_tokens(numbers, state, trie, trie.root_child(*byte), &mut found);
    }
    found
}

/// The tokens that begin a number with a digit, white space in front.
pub(super) fn first_digits(numbers: &NumberSet, trie: &TokenTrie) -> Vec<u32> {
    let mut found = Vec::new();
    for byte in b'0'..=b'9' {
        let node = trie.unspaced.root_child(byte);
        number_tokens(numbers, numbers.start(), &trie.unspaced, node, &mut found);
    }
    found
}

fn number_tokens(numbers: &NumberSet, state: NumberState, trie: &Trie, node: Node, found: &mut Vec<u32>) {
    if node == ROOT {
        return;
    }
    if let Some(next) = numbers.next(&state, trie.byte(node)) {
        found.extend_from_slice(trie.entries(node));
        for child in trie.children(node) {
            number_tokens(numbers, next, trie, child, found);
        }
    }
}

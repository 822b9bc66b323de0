//! The tokens that hold the end of a string or a key: what follows the quote is asked first, for it rules most of them
//! out; then what stands in front of it.

use std::sync::Arc;
use std::sync::atomic::{AtomicU8, Ordering};

use crate::grammar::bytes::ByteSet;
use crate::grammar::frames::Kind;
use crate::grammar::keys::exact;
use crate::grammar::machine::{Machine, Thread, Top};
use crate::grammar::string::{Cursor, Escape, Form, Place, hash_byte};
use crate::grammar::trie::{Closing, MANY_CHILDREN, Node, ROOT, TokenTrie, Trie};
use crate::grammar::walk::{Range, Walk};

/// The tokens whose text after the quote fits, of the last texts of a sequence: the same at each place of a text.
#[derive(Debug, Clone, Default)]
pub(super) struct AfterQuotes {
    /// The frame, what the text is, and indices of [`Closings::tokens`].
    entries: Vec<(u32, TextKind, Arc<[u32]>)>,
    next: usize,
}

impl AfterQuotes {
    const LENGTH: usize = 4;

    fn get(&self, frame: u32, text: TextKind) -> Option<Arc<[u32]>> {
        let known = self.entries.iter().find(|(known, kept, _)| (*known, *kept) == (frame, text));
        known.map(|(_, _, closing)| closing.clone())
    }

    fn put(&mut self, frame: u32, text: TextKind, closing: Arc<[u32]>) {
        if self.entries.len() < Self::LENGTH {
            self.entries.push((frame, text, closing));
            return;
        }
        self.entries[self.next] = (frame, text, closing);
        self.next = (self.next + 1) % Self::LENGTH;
    }

    /// Drops frames from `frames` on: their numbers will be given again.
    pub(super) fn forget(&mut self, frames: u32) {
        self.entries.retain(|(frame, _, _)| *frame < frames);
        self.next = 0;
    }
}

/// What a text is whose end is looked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum TextKind {
    String,
    Key,
    /// A key that is yet to begin.
    WholeKey,
    /// A string that is yet to begin.
    WholeString,
}

/// Whether a text may end in what stands before the quote of a token, for each such text of the vocabulary, as far as
/// somebody has asked.
#[derive(Debug)]
pub(super) struct Endings {
    answers: Box<[AtomicU8]>,
}

impl Endings {
    const NO: u8 = 1;
    const YES: u8 = 2;

    pub(super) fn new(trie: &TokenTrie) -> Self {
        Self { answers: (0..trie.befores).map(|_| AtomicU8::new(0)).collect() }
    }

    fn ask(&self, before: u32, find: impl FnOnce() -> bool) -> bool {
        let answer = &self.answers[before as usize];
        match answer.load(Ordering::Relaxed) {
            0 => {
                let found = find();
                // Whoever else asks finds the same.
                answer.store(if found { Self::YES } else { Self::NO }, Ordering::Relaxed);
                found
            }
            known => known == Self::YES,
        }
    }
}

impl Walk<'_> {
    /// The tokens that hold the end of the strings and keys that `free` and `bound` are in.
    pub(super) fn closing(&mut self, free: &[Thread], bound: &[Thread]) {
        let trie = self.trie;
        if !free.is_empty() {
            let closing = match free {
                [one] => self.after_text(*one),
                _ => self.after_texts(free, &trie.closing.after),
            };
            for closing in closing.iter().map(|index| &trie.closing.tokens[*index as usize]) {
                if closing.plain || self.goes_on(free, trie.token_bytes(closing.token)) {
                    self.found.push(closing.token.0);
                }
            }
        }
        match bound {
            [] => {}
            [one] => {
                let after = self.after_text(*one);
                let closing = after.iter().map(|index| &trie.closing.tokens[*index as usize]);
                match one.top {
                    Top::String { cursor: Cursor { hash: 0, .. }, .. } => self.string_ends(*one, closing),
                    _ => self.ends(*one, closing),
                }
            }
            // Which of them goes on after the quote decides.
            _ => {
                for index in self.after_texts(bound, &trie.closing.after).iter() {
                    let token = trie.closing.tokens[*index as usize].token;
                    if self.goes_on(bound, trie.token_bytes(token)) {
                        self.found.push(token.0);
                    }
                }
            }
        }
    }

    /// The tokens that hold a whole key of a further class, white space in front; `thread` is at its beginning.
    pub(super) fn whole_key(&mut self, thread: Thread) {
        let trie = self.trie;
        let after = self.kept_after(thread, TextKind::WholeKey, &trie.whole.after);
        self.ends(thread, after.iter().map(|index| &trie.whole.tokens[*index as usize]));
    }

    /// The tokens that hold a whole string, white space in front; `thread` is at its beginning, and nobody compares it.
    pub(super) fn whole_string(&mut self, thread: Thread) {
        let trie = self.trie;
        let after = self.kept_after(thread, TextKind::WholeString, &trie.whole.after);
        self.string_ends(thread, after.iter().map(|index| &trie.whole.tokens[*index as usize]));
    }

    /// The tokens that go on after the quote that ends the text of `thread`.
    fn after_text(&mut self, thread: Thread) -> Arc<[u32]> {
        let text = if matches!(thread.top, Top::Key { .. }) { TextKind::Key } else { TextKind::String };
        self.kept_after(thread, text, &self.trie.closing.after)
    }

    fn kept_after(&mut self, thread: Thread, text: TextKind, after: &Trie) -> Arc<[u32]> {
        // Where somebody compares the text, more than the frame decides.
        let may_keep = !self.machine.arena.frame(thread.frame).hashed;
        if may_keep && let Some(known) = self.after_quotes.get(thread.frame, text) {
            return known;
        }
        let closing = self.after_texts(&[thread], after);
        if may_keep {
            self.after_quotes.put(thread.frame, text, closing.clone());
        }
        closing
    }

    fn after_texts(&mut self, threads: &[Thread], after: &Trie) -> Arc<[u32]> {
        let (start, mark) = (self.pool.len(), self.machine.arena.mark());
        for thread in threads {
            self.machine.close_text(*thread, self.pool);
        }
        let range = (start, self.pool.len());
        let mut closing = Vec::new();
        if range.1 > range.0 {
            self.after_quote(after, ROOT, range, &mut closing);
        }
        self.reset(start, mark);
        closing.into()
    }

    /// Adds to `closing` what stands in `after` below `node` and goes on with `range`.
    fn after_quote(&mut self, after: &Trie, node: Node, range: Range, closing: &mut Vec<u32>) {
        let entries = after.entries(node);
        if !entries.is_empty() && self.is_alive(range) {
            closing.extend_from_slice(entries);
        }
        let mut bytes = ByteSet::default();
        let many = after.end(node) - node > MANY_CHILDREN;
        if many {
            for at in range.0..range.1 {
                self.machine.next_bytes(self.pool[at], false, &mut bytes);
            }
        }
        for child in after.children(node) {
            let byte = after.byte(child);
            if many && !bytes.has(byte) {
                continue;
            }
            let (start, mark) = (self.pool.len(), self.machine.arena.mark());
            let next = self.step_range(range, byte);
            if next.1 > next.0 {
                self.after_quote(after, child, next, closing);
            }
            self.reset(start, mark);
        }
    }

    /// Adds those of `closing` that the text of `thread` may end in, which is a key or is compared.
    fn ends<'c>(&mut self, thread: Thread, closing: impl Iterator<Item = &'c Closing>) {
        let trie = self.trie;
        let mut unsure = Vec::new();
        let closing = closing.map(|closing| (closing, closing.before(trie.token_bytes(closing.token))));
        self.machine.ends(thread, closing, &mut self.found, &mut unsure);
        for closing in unsure {
            if self.goes_on(&[thread], &trie.token_bytes(closing.token)[closing.start as usize..]) {
                self.found.push(closing.token.0);
            }
        }
    }

    /// Those of `closing` that the string of `thread` may end in, which nobody compares.
    fn string_ends<'c>(&mut self, thread: Thread, closing: impl Iterator<Item = &'c Closing>) {
        let Top::String { language, cursor, escape } = thread.top else { return };
        let words = self.machine.program.words(language);
        let language = &words.language;
        let endings = self.shared.vocabulary.endings(words, cursor, escape);
        for closing in closing {
            let find = || {
                let before = closing.before(self.trie.token_bytes(closing.token));
                let end = Form::String.read(language, cursor, escape, before);
                end.is_some_and(|(end, escape)| escape == Escape::None && end.is_complete(language))
            };
            let may_end = match &endings {
                Some(endings) => endings.ask(closing.before_id, find),
                None => find(),
            };
            if may_end {
                self.found.push(closing.token.0);
            }
        }
    }
}

impl Machine<'_> {
    /// Those of `closing` that the text of `thread` may end in, as far as the part up to the quote decides; others
    /// for which more decides go to `unsure`.
    fn ends<'c>(
        &self,
        thread: Thread,
        closing: impl Iterator<Item = (&'c Closing, &'c [u8])>,
        found: &mut Vec<u32>,
        unsure: &mut Vec<Closing>,
    ) {
        match thread.top {
            Top::String { language, cursor, escape } => {
                let items = self.only_items(thread.frame);
                let language = &self.program.words(language).language;
                for (closing, before) in closing {
                    let end = Form::String.read(language, cursor, escape, before);
                    let Some((end, Escape::None)) = end.filter(|end| end.0.is_complete(language)) else {
                        continue;
                    };
                    match items {
                        Some(items) if self.arena.has_hash(Self::string_hash(end), items) => {}
                        Some(_) => found.push(closing.token.0),
                        None => unsure.push(*closing),
                    }
                }
            }
            Top::Key { key, escape } => {
                let Some(keys) = self.keys(thread.frame) else { return };
                // Where somebody compares the object, its last key decides too.
                let hashed = self.arena.frame(thread.frame).hashed;
                let simple = !hashed && !keys.shape.needs_witness && keys.shape.classes.len() == 1;
                // The bytes with which known names go on: a key that goes on with another is none of them.
                let mut names = ByteSet::default();
                keys.next_bytes(key, &mut names);
                // Half a character goes on with few texts.
                let whole = keys.shape.classifier.as_ref().is_some_and(|all| all.start() == key.class);
                let any = simple && whole && keys.shape.open && escape == Escape::None;
                for (closing, before) in closing {
                    if any && closing.plain && before.first().is_some_and(|first| !names.has(*first)) {
                        let hash = || before.iter().fold(key.hash, |hash, byte| hash_byte(hash, *byte));
                        if keys.others == 0 || !self.arena.has_hash(hash(), keys.others) {
                            found.push(closing.token.0);
                        }
                        continue;
                    }
                    let Some((end, Escape::None)) = Form::String.read(&keys, key, escape, before) else {
                        continue;
                    };
                    if end.is_complete(&keys) {
                        // A known name has a value of its own.
                        match simple && exact(keys.shape, end).is_none() {
                            true => found.push(closing.token.0),
                            false => unsure.push(*closing),
                        }
                    }
                }
            }
            _ => {}
        }
    }

    /// The items that a value around `frame` must differ from, if nothing else compares it, and it does not matter to
    /// what follows which value it is: there are always other items left.
    fn only_items(&self, frame: u32) -> Option<u32> {
        let inside = self.arena.frame(frame);
        let Kind::Array { array, items, .. } = inside.kind else { return None };
        let shape = &self.program.arrays[array as usize];
        let left = shape.prefix.is_empty() && self.is_plenty(shape.rest.value, u32::MAX - 1);
        (shape.unique && left && !self.arena.frame(inside.parent).hashed).then_some(items)
    }
}

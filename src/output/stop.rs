//! Stop sequences, matched over a text that arrives in pieces.

/// Matches several sequences at once. Of sequences that end at the same byte the first in the list counts.
#[derive(Debug, Clone, Default)]
pub(super) struct StopMatcher {
    patterns: Vec<Pattern>,
    /// The bytes that sequences begin with.
    firsts: Vec<u8>,
    /// Text that may be the beginning of a sequence.
    held: String,
    held_at: u64,
}

#[derive(Debug, Clone)]
struct Pattern {
    text: Vec<u8>,
    /// For each length of a match, the length of the longest proper prefix that is also a suffix of it.
    fallback: Vec<usize>,
    /// How many bytes match now.
    matched: usize,
}

impl Pattern {
    fn new(text: &str) -> Self {
        let text = text.as_bytes().to_vec();
        let mut fallback = vec![0; text.len() + 1];
        let mut length = 0;
        for index in 1..text.len() {
            while length > 0 && text[index] != text[length] {
                length = fallback[length];
            }
            length += usize::from(text[index] == text[length]);
            fallback[index + 1] = length;
        }
        Self { text, fallback, matched: 0 }
    }

    /// Whether the sequence ends with `byte`.
    fn push(&mut self, byte: u8) -> bool {
        while self.matched > 0 && self.text[self.matched] != byte {
            self.matched = self.fallback[self.matched];
        }
        self.matched += usize::from(self.text[self.matched] == byte);
        self.matched == self.text.len()
    }
}

/// What became of a piece of text.
pub(super) enum Matched {
    /// No sequence has ended; what cannot be part of one was passed on.
    None,
    /// The sequence with this index ended; what stands before it was passed on.
    Stop(usize),
}

impl StopMatcher {
    /// Empty sequences are left out, as they would end every text.
    pub(super) fn new(stops: &[String]) -> Self {
        let patterns: Vec<Pattern> =
            stops.iter().filter(|stop| !stop.is_empty()).map(|stop| Pattern::new(stop)).collect();
        let firsts = patterns.iter().map(|pattern| pattern.text[0]).collect();
        Self { patterns, firsts, held: String::new(), held_at: 0 }
    }

    /// Whether no sequence goes on or begins in `text`: it can be passed on without a [`push`](Self::push).
    #[inline]
    pub(super) fn is_free(&self, text: &str) -> bool {
        self.patterns.is_empty()
            || self.held.is_empty() && !text.bytes().any(|byte| self.firsts.contains(&byte))
    }

    /// The text of the sequence with the index of a [`Matched::Stop`].
    pub(super) fn sequence(&self, index: usize) -> &str {
        std::str::from_utf8(&self.patterns[index].text).unwrap_or_default()
    }

    /// Where the sequence that ended began.
    pub(super) const fn at(&self) -> u64 {
        self.held_at
    }

    /// Takes a piece of text that begins at `at`, and passes on what is no part of a sequence.
    pub(super) fn push(&mut self, text: &str, at: u64, pass: &mut dyn FnMut(&str, u64)) -> Matched {
        let before = self.held.len();
        if before == 0 {
            self.held_at = at;
        }
        for (index, &byte) in text.as_bytes().iter().enumerate() {
            let mut ended = None;
            for (number, pattern) in self.patterns.iter_mut().enumerate() {
                if pattern.push(byte) && ended.is_none() {
                    ended = Some(number);
                }
            }
            if let Some(number) = ended {
                self.held.push_str(&text[..=index]);
                let safe = self.held.len() - self.patterns[number].text.len();
                if safe > 0 {
                    pass(&self.held[..safe], self.held_at);
                }
                self.held_at += safe as u64;
                self.held.clear();
                return Matched::Stop(number);
            }
        }
        let kept = self.patterns.iter().map(|pattern| pattern.matched).max().unwrap_or(0);
        let total = before + text.len();
        // A match begins at a character's border, because sequences are whole characters.
        let safe = total - kept;
        if before == 0 {
            if safe > 0 {
                pass(&text[..safe], at);
            }
            self.held.push_str(&text[safe..]);
            self.held_at = at + safe as u64;
        } else {
            self.held.push_str(text);
            if safe > 0 {
                pass(&self.held[..safe], self.held_at);
                self.held.drain(..safe);
                self.held_at += safe as u64;
            }
        }
        Matched::None
    }

    /// Passes on what is held: no sequence goes on behind it.
    pub(super) fn flush(&mut self, pass: &mut dyn FnMut(&str, u64)) {
        if !self.held.is_empty() {
            pass(&self.held, self.held_at);
            self.held.clear();
        }
        for pattern in &mut self.patterns {
            pattern.matched = 0;
        }
    }
}

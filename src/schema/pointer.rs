//! JSON pointers that grow and shrink with a walk.

/// One step down into a value.
#[derive(Debug, Clone, Copy)]
pub(super) enum Step<'s> {
    Key(&'s str),
    Index(usize),
}

/// The JSON pointer (RFC 6901) of the value a walk is at.
#[derive(Debug, Clone, Default)]
pub(super) struct Pointer(String);

impl Pointer {
    pub(super) fn as_str(&self) -> &str {
        &self.0
    }

    /// Steps down to the member `key`; returns what [`leave`](Self::leave) needs to step back.
    pub(super) fn enter(&mut self, key: &str) -> usize {
        let length = self.0.len();
        self.0.push('/');
        for character in key.chars() {
            match character {
                '~' => self.0.push_str("~0"),
                '/' => self.0.push_str("~1"),
                other => self.0.push(other),
            }
        }
        length
    }
    /// Takes `step` down; returns what [`leave`](Self::leave) needs to step back.
    pub(super) fn enter_step(&mut self, step: Step<'_>) -> usize {
        match step {
            Step::Key(key) => self.enter(key),
            Step::Index(index) => self.enter(&index.to_string()),
        }
    }

    /// Steps back up.
    pub(super) fn leave(&mut self, length: usize) {
        self.0.truncate(length);
    }
}

/// A pointer as a reference spells it.
impl From<&str> for Pointer {
    fn from(pointer: &str) -> Self {
        Self(pointer.to_owned())
    }
}

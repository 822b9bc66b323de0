//! JSON pointers that grow and shrink with a walk.

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

    /// Steps back up.
    pub(super) fn leave(&mut self, length: usize) {
        self.0.truncate(length);
    }

    /// The pointer of the member `key`.
    pub(super) fn of(&self, key: &str) -> String {
        let mut child = self.clone();
        child.enter(key);
        child.0
    }
}

//! Where the JSON in a text begins and ends.

/// Follows one JSON array or object to its end. It does not check the JSON: brackets outside strings are counted.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct JsonExtent {
    depth: usize,
    in_string: bool,
    after_backslash: bool,
}

impl JsonExtent {
    /// Where an array or object begins in `text`.
    pub(super) fn find_start(text: &str) -> Option<usize> {
        text.find(['{', '['])
    }

    /// Takes more of the JSON and returns where it ends, if it does in `text`.
    pub(super) fn push(&mut self, text: &str) -> Option<usize> {
        for (index, byte) in text.bytes().enumerate() {
            if self.in_string {
                match byte {
                    _ if self.after_backslash => self.after_backslash = false,
                    b'\\' => self.after_backslash = true,
                    b'"' => self.in_string = false,
                    _ => {}
                }
                continue;
            }
            match byte {
                b'"' => self.in_string = true,
                b'{' | b'[' => self.depth += 1,
                b'}' | b']' => {
                    self.depth = self.depth.saturating_sub(1);
                    if self.depth == 0 {
                        return Some(index + 1);
                    }
                }
                _ => {}
            }
        }
        None
    }
}

//! How JSON may be laid out: white space and the order of keys.

/// White space between the parts of a JSON value.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Whitespace {
    /// As much as the standard allows, which is any.
    #[default]
    Any,
    /// At most so many bytes in one place, so that a model cannot go on with blanks for ever.
    AtMost(u16),
    /// None.
    Compact,
    /// One space after each comma and colon, and none elsewhere, as Python's `json.dumps` writes.
    Spaced,
}

/// The order of an object's keys.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Order {
    /// Any.
    #[default]
    Any,
    /// The known keys in the schema's order, then the others.
    Schema,
}

/// How JSON may be laid out.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Layout {
    /// White space between the parts.
    pub whitespace: Whitespace,
    /// The order of keys.
    pub order: Order,
}

impl Layout {
    /// The length of a gap after one more byte, if it may go on so. `separator` tells whether it follows a comma or
    /// a colon.
    #[inline]
    pub(super) fn gap(&self, gap: u16, separator: bool, byte: u8) -> Option<u16> {
        if !matches!(byte, b' ' | b'\t' | b'\n' | b'\r') {
            return None;
        }
        match self.whitespace {
            Whitespace::Any => Some(0),
            Whitespace::AtMost(most) => (gap < most).then_some(gap + 1),
            Whitespace::Compact => None,
            Whitespace::Spaced => (separator && gap == 0 && byte == b' ').then_some(1),
        }
    }

    /// Whether a gap of this length may be over.
    #[inline]
    pub(super) fn is_gap(&self, gap: u16, separator: bool) -> bool {
        self.whitespace != Whitespace::Spaced || !separator || gap == 1
    }
}

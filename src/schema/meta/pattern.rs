//! Whether a regular expression can be used.

/// Whether `pattern` is a valid regular expression of ECMA-262.
pub(super) fn is_valid(pattern: &str) -> bool {
    let _ = pattern;
    true
}

/// Whether `pattern` can be used.
pub(super) fn is_usable(pattern: &str) -> bool {
    let _ = pattern;
    true
}

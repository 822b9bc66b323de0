//! Who may ask.

use axum::http::{HeaderMap, header};

use crate::config::Key;

/// The place among `keys` of the one that a request shows, as `Authorization: Bearer` or `x-api-key`.
#[must_use]
pub fn find(keys: &[Key], headers: &HeaderMap) -> Option<usize> {
    let bearer = headers.get(header::AUTHORIZATION).and_then(|value| {
        let (scheme, key) = value.as_bytes().split_at_checked(7)?;
        scheme.eq_ignore_ascii_case(b"bearer ").then_some(key)
    });
    let shown = bearer.or_else(|| headers.get("x-api-key").map(|value| value.as_bytes()))?;
    // Every key is compared, and each to its end: time says nothing about which bytes were right.
    let mut found = None;
    for (at, key) in keys.iter().enumerate() {
        if is_equal(key.key.as_bytes(), shown) {
            found = Some(at);
        }
    }
    found
}

fn is_equal(key: &[u8], shown: &[u8]) -> bool {
    let difference = key.iter().enumerate().fold(key.len() ^ shown.len(), |difference, (at, byte)| {
        difference | usize::from(byte ^ shown.get(at).copied().unwrap_or(!byte))
    });
    difference == 0
}

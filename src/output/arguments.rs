//! The JSON text of a call's arguments, written while the values arrive.

use crate::json::write_string;

/// What is written in front of a parameter's value.
pub(super) fn key(name: &str, is_first: bool) -> String {
    let mut text = String::with_capacity(name.len() + 6);
    text.push_str(if is_first { "{" } else { ", " });
    write_string(name, &mut text).expect("a String takes any text");
    text.push_str(": ");
    text
}

/// `text` as a JSON string.
pub(super) fn quoted(text: &str) -> String {
    let mut out = String::with_capacity(text.len() + 2);
    write_string(text, &mut out).expect("a String takes any text");
    out
}

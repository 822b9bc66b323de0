//! The JSON text of a call's arguments, written while the values arrive.

use std::fmt::Write;

use crate::json::write_string;

/// What is written in front of a parameter's value.
pub(super) fn key(name: &str, is_first: bool) -> String {
    let mut text = String::with_capacity(name.len() + 6);
    text.push_str(if is_first { "{" } else { ", " });
    write_string(name, &mut text).expect("a String takes any text");
    text.push_str(": ");
    text
}

/// Whether `text` is not the inside of a JSON string as it is.
pub(super) fn needs_escape(text: &str) -> bool {
    text.bytes().any(|byte| byte < 0x20 || byte == b'"' || byte == b'\\')
}

/// `text` as the inside of a JSON string.
pub(super) fn escape(text: &str, out: &mut String) {
    if needs_escape(text) {
        let mut quoted = String::with_capacity(text.len() + 16);
        write_string(text, &mut quoted).expect("a String takes any text");
        out.push_str(&quoted[1..quoted.len() - 1]);
    } else {
        out.push_str(text);
    }
}

/// `text` as a JSON string.
pub(super) fn quoted(text: &str) -> String {
    let mut out = String::with_capacity(text.len() + 2);
    let _ = out.write_char('"');
    escape(text, &mut out);
    out.push('"');
    out
}

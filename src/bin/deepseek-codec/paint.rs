//! Colour on terminals.

use std::io::{self, IsTerminal};

/// Whether standard output shows colour.
pub(crate) fn is_colourful() -> bool {
    io::stdout().is_terminal() && std::env::var_os("NO_COLOR").is_none()
}

/// `text` in reverse video.
pub(crate) fn special(text: &str, colourful: bool) -> String {
    if colourful { format!("\x1b[7;36m{text}\x1b[0m") } else { text.to_owned() }
}

/// `text` as a warning.
pub(crate) fn warning(text: &str, colourful: bool) -> String {
    if colourful { format!("\x1b[33m{text}\x1b[0m") } else { text.to_owned() }
}

/// `text` for one line: control characters escaped, cut after `width` characters.
pub(crate) fn one_line(text: &str, width: usize) -> String {
    let mut line = String::new();
    let mut characters = text.chars();
    for c in characters.by_ref().take(width) {
        match c {
            '\n' => line.push_str("\\n"),
            c if c.is_control() => line.extend(c.escape_default()),
            c => line.push(c),
        }
    }
    if characters.next().is_some() {
        line.push('…');
    }
    line
}

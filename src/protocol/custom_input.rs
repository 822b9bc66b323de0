//! The text of a custom tool's call, taken out of the call's arguments while they arrive.

use crate::json::Json;

/// Reads `{"input": "…"}`. Arguments of another form are the text as they are.
#[derive(Debug, Clone, Default)]
pub(super) struct CustomInput {
    state: State,
    /// What has not been passed on: the beginning of the arguments, or of an escape.
    held: String,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
enum State {
    /// Before the value.
    #[default]
    Before,
    /// Inside the value.
    Inside,
    /// Behind it.
    Behind,
    /// The arguments have another form.
    AsTheyAre,
}

impl CustomInput {
    /// Takes a piece of the arguments and returns the text in it.
    pub(super) fn push(&mut self, json: &str) -> String {
        self.held.push_str(json);
        let mut text = String::new();
        if self.state == State::Before {
            match value_start(&self.held) {
                Start::At(at) => {
                    self.held.drain(..at);
                    self.state = State::Inside;
                }
                Start::NotYet => return text,
                Start::Never => self.state = State::AsTheyAre,
            }
        }
        match self.state {
            State::Inside => {
                let end = value_end(&self.held);
                let (length, is_whole) =
                    end.map_or_else(|| (complete_escapes(&self.held), false), |end| (end, true));
                if let Ok(Json::String(piece)) =
                    Json::parse(format!("\"{}\"", &self.held[..length]).as_bytes())
                {
                    text = piece;
                }
                self.held.drain(..length);
                if is_whole {
                    self.held.clear();
                    self.state = State::Behind;
                }
            }
            State::AsTheyAre => text = std::mem::take(&mut self.held),
            State::Before | State::Behind => self.held.clear(),
        }
        text
    }

    /// What is left when no more arguments come.
    pub(super) fn finish(&mut self) -> String {
        if self.state == State::Before { std::mem::take(&mut self.held) } else { String::new() }
    }
}

enum Start {
    At(usize),
    NotYet,
    Never,
}

/// Where the value's text begins in arguments that begin with `text`.
fn value_start(text: &str) -> Start {
    let mut at = 0;
    for part in ["{", "\"input\"", ":", "\""] {
        at += text[at..].len() - text[at..].trim_start().len();
        let rest = &text[at..];
        if rest.starts_with(part) {
            at += part.len();
        } else if part.starts_with(rest) {
            return Start::NotYet;
        } else {
            return Start::Never;
        }
    }
    Start::At(at)
}

/// Where the quote stands that ends the string whose inside begins with `text`.
fn value_end(text: &str) -> Option<usize> {
    let mut escaped = false;
    text.bytes().position(|byte| {
        let ends = byte == b'"' && !escaped;
        escaped = byte == b'\\' && !escaped;
        ends
    })
}

/// The length of `text` without an escape that is not complete, or half a surrogate pair.
fn complete_escapes(text: &str) -> usize {
    let bytes = text.as_bytes();
    let mut at = 0;
    while at < bytes.len() {
        if bytes[at] != b'\\' {
            at += 1;
            continue;
        }
        let length = match bytes.get(at + 1) {
            Some(b'u') if is_high_surrogate(&bytes[at + 2..]) => 12,
            Some(b'u') => 6,
            _ => 2,
        };
        if at + length > bytes.len() {
            return at;
        }
        at += length;
    }
    at
}

fn is_high_surrogate(digits: &[u8]) -> bool {
    matches!(digits, [b'd' | b'D', b'8'..=b'9' | b'a'..=b'b' | b'A'..=b'B', ..])
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(pieces: &[&str]) -> String {
        let mut input = CustomInput::default();
        let mut text: String = pieces.iter().map(|piece| input.push(piece)).collect();
        text.push_str(&input.finish());
        text
    }

    #[test]
    fn the_text_is_the_same_however_it_is_cut() {
        let json = r#"{"input": "a\n\"b\" \\ \ud83d\ude00 é\u00e9"}"#;
        let expected = "a\n\"b\" \\ 😀 éé";
        assert_eq!(read(&[json]), expected);
        for (at, _) in json.char_indices() {
            assert_eq!(read(&[&json[..at], &json[at..]]), expected, "cut at {at}");
        }
        let characters: Vec<String> = json.chars().map(String::from).collect();
        assert_eq!(read(&characters.iter().map(String::as_str).collect::<Vec<_>>()), expected);
    }

    #[test]
    fn other_arguments_are_passed_on() {
        assert_eq!(read(&["{\"path\": ", "\"a\"}"]), "{\"path\": \"a\"}");
        assert_eq!(read(&["{}"]), "{}");
        assert_eq!(read(&["{\"in"]), "{\"in");
        assert_eq!(read(&["{\"input\": \"cut"]), "cut");
    }
}

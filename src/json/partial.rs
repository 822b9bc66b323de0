//! What has come of a JSON text that was cut.

use super::Json;

/// The deepest nesting that is read.
const MAX_DEPTH: usize = 127;

impl Json {
    /// The value of a text that was cut: what is complete of it, in the arrays and objects that were open. A string
    /// that was cut is left out; a number at the cut is taken as it stands. What is no JSON counts as cut. Nothing if
    /// that leaves no value.
    pub(crate) fn parse_cut(text: &str) -> Option<Self> {
        let mut open: Vec<u8> = Vec::new();
        let mut expected = Expected::Value;
        // How far the text goes that can be closed, and how.
        let mut end = 0;
        let mut closers = String::new();
        let bytes = text.as_bytes();
        let mut at = 0;
        while let Some(&byte) = bytes.get(at) {
            let takes_value = matches!(expected, Expected::Value | Expected::ValueOrEnd);
            let takes_key = matches!(expected, Expected::Key | Expected::KeyOrEnd);
            let mut length = 1;
            let before = expected;
            match byte {
                b' ' | b'\n' | b'\r' | b'\t' => {}
                b'{' | b'[' if takes_value && open.len() < MAX_DEPTH => {
                    open.push(byte);
                    expected = if byte == b'{' { Expected::KeyOrEnd } else { Expected::ValueOrEnd };
                }
                b'}' if matches!(expected, Expected::KeyOrEnd | Expected::Comma)
                    && open.last() == Some(&b'{') =>
                {
                    open.pop();
                    expected = Expected::Comma;
                }
                b']' if matches!(expected, Expected::ValueOrEnd | Expected::Comma)
                    && open.last() == Some(&b'[') =>
                {
                    open.pop();
                    expected = Expected::Comma;
                }
                b',' if expected == Expected::Comma && !open.is_empty() => {
                    expected = if open.last() == Some(&b'{') { Expected::Key } else { Expected::Value };
                }
                b':' if expected == Expected::Colon => expected = Expected::Value,
                b'"' if takes_value || takes_key => {
                    let whole = string_length(&bytes[at..])
                        .filter(|&length| Self::parse(&bytes[at..at + length]).is_ok());
                    let Some(whole) = whole else { break };
                    length = whole;
                    expected = if takes_key { Expected::Colon } else { Expected::Comma };
                }
                _ if takes_value => {
                    let rest = &bytes[at..];
                    length = rest.iter().position(|byte| b",]} \n\r\t".contains(byte)).unwrap_or(rest.len());
                    if Self::parse(&rest[..length]).is_err() {
                        break;
                    }
                    expected = Expected::Comma;
                }
                _ => break,
            }
            at += length;
            let is_blank = before == expected && byte.is_ascii_whitespace();
            if !is_blank && matches!(expected, Expected::Comma | Expected::KeyOrEnd | Expected::ValueOrEnd) {
                end = at;
                closers.clear();
                closers.extend(open.iter().rev().map(|open| if *open == b'[' { ']' } else { '}' }));
            }
        }
        Self::parse(format!("{}{closers}", &text[..end]).as_bytes()).ok()
    }
}

/// What may come next.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Expected {
    Value,
    ValueOrEnd,
    Key,
    KeyOrEnd,
    Colon,
    /// Or the end of what is open.
    Comma,
}

/// The length of the string that `bytes` begin with, quotes included.
fn string_length(bytes: &[u8]) -> Option<usize> {
    let mut is_escaped = false;
    for (index, &byte) in bytes.iter().enumerate().skip(1) {
        match byte {
            _ if is_escaped => is_escaped = false,
            b'\\' => is_escaped = true,
            b'"' => return Some(index + 1),
            _ => {}
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cut_texts() {
        for (cut, whole) in [
            ("{\"a\": 12", "{\"a\":12}"),
            ("{\"a\": -", "{}"),
            ("{\"a\": \"x", "{}"),
            ("{\"a\": \"x\\\"", "{}"),
            ("{\"a\": [1, 2", "{\"a\":[1,2]}"),
            ("{\"a\": [1, ", "{\"a\":[1]}"),
            ("{\"a\": {\"b\": 1", "{\"a\":{\"b\":1}}"),
            ("{\"a\": {\"b\": 1}", "{\"a\":{\"b\":1}}"),
            ("{\"a\": tr", "{}"),
            ("{\"a\": true", "{\"a\":true}"),
            ("{\"a\"", "{}"),
            ("{\"a\":", "{}"),
            ("{", "{}"),
            ("{\"a\": \"x\", \"b\": [{\"c\": \"d\"}, \"e", "{\"a\":\"x\",\"b\":[{\"c\":\"d\"}]}"),
            ("{\"a\": 1, \"b", "{\"a\":1}"),
            ("{\"a\": 1}", "{\"a\":1}"),
            ("{\"a\": 1,2", "{\"a\":1}"),
            ("{\"a\": 1 2", "{\"a\":1}"),
            ("{\"a\": ]", "{}"),
            ("{\"a\": \"\\x\", \"b\": 1", "{}"),
        ] {
            assert_eq!(Json::parse_cut(cut).map(|json| json.to_string()).as_deref(), Some(whole), "{cut}");
        }
        assert_eq!(Json::parse_cut(""), None);
        assert_eq!(Json::parse_cut("no JSON"), None);
        // Not more than is there, wherever it is cut.
        let text = "{\"a\": [1, {\"b\": \"é\\n\"}], \"c\": null, \"d\": \"x\"}";
        let whole = Json::parse(text.as_bytes()).ok();
        assert_eq!(Json::parse_cut(text), whole);
        for (at, _) in text.char_indices().skip(1) {
            assert!(matches!(Json::parse_cut(&text[..at]), Some(Json::Object(_))), "{at}");
        }
    }
}

//! What has come of a JSON text that was cut.

use super::Json;

impl Json {
    /// The value of a text that was cut: what is complete of it, in the arrays and objects that were open. A string
    /// that was cut is left out; a number at the cut is taken as it stands. Nothing if that is no value.
    pub(crate) fn parse_cut(text: &str) -> Option<Self> {
        let mut open: Vec<Open> = Vec::new();
        // How far the text goes that can be closed, and how.
        let mut end = 0;
        let mut closers = String::new();
        let bytes = text.as_bytes();
        let mut at = 0;
        while let Some(&byte) = bytes.get(at) {
            let is_key = matches!(open.last(), Some(Open::Object { in_value: false }));
            let ends_value = match byte {
                b'{' | b'[' => {
                    open.push(if byte == b'{' { Open::Object { in_value: false } } else { Open::Array });
                    at += 1;
                    true
                }
                b'}' | b']' => {
                    open.pop();
                    at += 1;
                    true
                }
                b':' | b',' => {
                    if let Some(Open::Object { in_value }) = open.last_mut() {
                        *in_value = byte == b':';
                    }
                    at += 1;
                    false
                }
                b'"' => {
                    let Some(length) = string_length(&bytes[at..]) else { break };
                    at += length;
                    !is_key
                }
                b' ' | b'\n' | b'\r' | b'\t' => {
                    at += 1;
                    false
                }
                _ => {
                    let rest = &bytes[at..];
                    let length = rest.iter().position(|byte| b",]} \n\r\t".contains(byte));
                    let length = length.unwrap_or(rest.len());
                    if Self::parse(&rest[..length]).is_err() {
                        break;
                    }
                    at += length;
                    true
                }
            };
            if ends_value {
                end = at;
                closers.clear();
                closers.extend(open.iter().rev().map(|open| if *open == Open::Array { ']' } else { '}' }));
            }
        }
        Self::parse(format!("{}{closers}", &text[..end]).as_bytes()).ok()
    }
}

/// An array or object that is open.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Open {
    Array,
    /// `in_value` behind a colon.
    Object {
        in_value: bool,
    },
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

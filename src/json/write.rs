//! JSON text in the three styles that prompts and protocols use.
//!
//! Strings are escaped alike in all styles: `"` and `\` by a backslash, control characters below U+0020 by their
//! short escape or `\u00xx`, everything else as it is. Integers are decimal. Floats are the shortest digits that
//! read back to the same double, written out where the decimal exponent lies in -5..=15 and as `d.ddde+xx` or
//! `d.ddde-xx` elsewhere; [`Style::Python`] differs for small ones.

use std::fmt::{self, Write};

use wide::u8x16;

use super::{Json, Number};

/// How JSON text is laid out.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Style {
    /// `{"a":[1,2]}`
    Compact,
    /// `{"a": [1, 2]}`
    Spaced,
    /// Spaced, and floats below `1e-4` in exponent form with at least two digits: `1e-05`. This is what Python's
    /// `json.dumps` writes for such floats; it is not Python's text in every case (Python escapes non-ASCII).
    Python,
}

impl Json {
    /// The value as text.
    ///
    /// ```
    /// use deepseek_codec::json::{Json, Style};
    /// let json = Json::parse(r#"{"b": 1e-5, "a": "é"}"#.as_bytes())?;
    /// assert_eq!(json.text(Style::Compact), r#"{"b":0.00001,"a":"é"}"#);
    /// assert_eq!(json.text(Style::Python), r#"{"b": 1e-05, "a": "é"}"#);
    /// # Ok::<(), deepseek_codec::json::JsonError>(())
    /// ```
    #[must_use]
    pub fn text(&self, style: Style) -> String {
        let mut text = String::new();
        self.write_to(style, &mut text).expect("a String takes any text");
        text
    }

    /// Writes the value to `out`.
    ///
    /// # Errors
    ///
    /// Only those of `out`.
    pub fn write(&self, style: Style, out: &mut dyn Write) -> fmt::Result {
        self.write_to(style, out)
    }

    pub(crate) fn write_to<W: Write + ?Sized>(&self, style: Style, out: &mut W) -> fmt::Result {
        let (comma, colon) = match style {
            Style::Compact => (",", ":"),
            Style::Spaced | Style::Python => (", ", ": "),
        };
        match self {
            Self::Null => out.write_str("null"),
            Self::Bool(value) => out.write_str(if *value { "true" } else { "false" }),
            Self::Number(Number::Unsigned(n)) => write!(out, "{n}"),
            Self::Number(Number::Negative(n)) => write!(out, "{n}"),
            Self::Number(Number::Float(n)) => write_float(*n, style, out),
            Self::String(text) => write_string(text, out),
            Self::Array(elements) => {
                out.write_char('[')?;
                for (index, element) in elements.iter().enumerate() {
                    if index > 0 {
                        out.write_str(comma)?;
                    }
                    element.write_to(style, out)?;
                }
                out.write_char(']')
            }
            Self::Object(members) => {
                out.write_char('{')?;
                for (index, (key, value)) in members.iter().enumerate() {
                    if index > 0 {
                        out.write_str(comma)?;
                    }
                    write_string(key, out)?;
                    out.write_str(colon)?;
                    value.write_to(style, out)?;
                }
                out.write_char('}')
            }
        }
    }
}

/// Writes `text` as a JSON string.
pub(crate) fn write_string<W: Write + ?Sized>(text: &str, out: &mut W) -> fmt::Result {
    out.write_char('"')?;
    escape(text, |piece| out.write_str(piece))?;
    out.write_char('"')
}

/// Appends `text` as the inside of a JSON string.
#[inline]
pub(crate) fn push_escaped(out: &mut String, text: &str) {
    if needs_escape(text) {
        escape(text, |piece| out.write_str(piece)).expect("a String takes any text");
    } else {
        out.push_str(text);
    }
}

/// Gives `text` as the inside of a JSON string, piece by piece.
fn escape(text: &str, mut piece: impl FnMut(&str) -> fmt::Result) -> fmt::Result {
    let bytes = text.as_bytes();
    let mut from = 0;
    let mut escape = |at: usize| {
        if from < at {
            piece(&text[from..at])?;
        }
        from = at + 1;
        piece(ESCAPES[usize::from(bytes[at])])
    };
    let (blocks, rest) = bytes.as_chunks::<16>();
    for (index, block) in blocks.iter().enumerate() {
        let mut found = escaped(block);
        while found != 0 {
            escape(16 * index + found.trailing_zeros() as usize)?;
            found &= found - 1;
        }
    }
    for at in bytes.len() - rest.len()..bytes.len() {
        if IS_ESCAPED[usize::from(bytes[at])] {
            escape(at)?;
        }
    }
    if from < text.len() { piece(&text[from..]) } else { Ok(()) }
}

/// Whether `text` is not the inside of a JSON string as it is. Most texts are as short as a token; they are looked at
/// as one or two words, whose bytes may overlap.
#[inline]
pub(crate) fn needs_escape(text: &str) -> bool {
    let bytes = text.as_bytes();
    let length = bytes.len();
    if let (Some(first), Some(last)) = (bytes.first_chunk::<8>(), bytes.last_chunk::<8>()) {
        return if length <= 16 {
            has_escape(u64::from_le_bytes(*first)) | has_escape(u64::from_le_bytes(*last))
        } else {
            let (blocks, _) = bytes.as_chunks::<16>();
            blocks.iter().any(|block| escaped(block) != 0)
                || bytes.last_chunk::<16>().is_some_and(|last| escaped(last) != 0)
        };
    }
    if let (Some(first), Some(last)) = (bytes.first_chunk::<4>(), bytes.last_chunk::<4>()) {
        let (first, last) = (u32::from_le_bytes(*first), u32::from_le_bytes(*last));
        return has_escape(u64::from(first) | u64::from(last) << 32);
    }
    bytes.iter().fold(false, |found, byte| found | IS_ESCAPED[usize::from(*byte)])
}

/// Whether one of eight bytes has to be escaped.
#[inline]
const fn has_escape(word: u64) -> bool {
    const ONES: u64 = u64::from_ne_bytes([1; 8]);
    const HIGH: u64 = 0x80 * ONES;
    let (quote, backslash) = (word ^ (b'"' as u64 * ONES), word ^ (b'\\' as u64 * ONES));
    let zero = quote.wrapping_sub(ONES) & !quote | backslash.wrapping_sub(ONES) & !backslash;
    let control = word.wrapping_sub(0x20 * ONES) & !word;
    (zero | control) & HIGH != 0
}

/// A bit for each of 16 bytes that has to be escaped.
#[inline]
fn escaped(block: &[u8; 16]) -> u32 {
    let block = u8x16::new(*block);
    let escaped = block.simd_eq(block.min(u8x16::splat(0x1f)))
        | block.simd_eq(u8x16::splat(b'"'))
        | block.simd_eq(u8x16::splat(b'\\'));
    escaped.to_bitmask()
}

static IS_ESCAPED: [bool; 256] = {
    let mut table = [false; 256];
    let mut byte = 0;
    while byte < ESCAPES.len() {
        table[byte] = !ESCAPES[byte].is_empty();
        byte += 1;
    }
    table
};

/// How characters are escaped, up to the last that has to be.
#[rustfmt::skip]
static ESCAPES: [&str; b'\\' as usize + 1] = {
    let mut table = [""; b'\\' as usize + 1];
    let controls = [
        "\\u0000", "\\u0001", "\\u0002", "\\u0003", "\\u0004", "\\u0005", "\\u0006", "\\u0007",
        "\\b", "\\t", "\\n", "\\u000b", "\\f", "\\r", "\\u000e", "\\u000f",
        "\\u0010", "\\u0011", "\\u0012", "\\u0013", "\\u0014", "\\u0015", "\\u0016", "\\u0017",
        "\\u0018", "\\u0019", "\\u001a", "\\u001b", "\\u001c", "\\u001d", "\\u001e", "\\u001f",
    ];
    let mut byte = 0;
    while byte < controls.len() {
        table[byte] = controls[byte];
        byte += 1;
    }
    table[b'"' as usize] = "\\\"";
    table[b'\\' as usize] = "\\\\";
    table
};

fn write_float<W: Write + ?Sized>(value: f64, style: Style, out: &mut W) -> fmt::Result {
    let (digits, exponent) = shortest_digits(value.abs());
    if value.is_sign_negative() {
        out.write_char('-')?;
    }
    let smallest_plain = if style == Style::Python { -4 } else { -5 };
    if (smallest_plain..=15).contains(&exponent) {
        return write_plain(&digits, exponent, out);
    }
    let (first, rest) = digits.split_at(1);
    out.write_str(first)?;
    if !rest.is_empty() {
        write!(out, ".{rest}")?;
    }
    match exponent {
        0.. => write!(out, "e+{exponent:02}"),
        _ if style == Style::Python => write!(out, "e-{:02}", -exponent),
        _ => write!(out, "e-{}", -exponent),
    }
}

/// Writes digits without an exponent; there is always a digit on both sides of the point.
fn write_plain<W: Write + ?Sized>(digits: &str, exponent: i32, out: &mut W) -> fmt::Result {
    let Ok(exponent) = usize::try_from(exponent) else {
        let zeros = exponent.unsigned_abs() as usize - 1;
        return write!(out, "0.{:0<zeros$}{digits}", "");
    };
    let whole = exponent + 1;
    match digits.get(whole..) {
        None | Some("") => write!(out, "{digits:0<whole$}.0"),
        Some(fraction) => write!(out, "{}.{fraction}", &digits[..whole]),
    }
}

/// The shortest digits that read back to the same double, without zeros at either end, and the decimal exponent of
/// the first.
///
/// They come from serde_json's printer and not from `{:e}`: where two candidates are equally short and equally
/// near, such as 2081957764757468.2 and 2081957764757468.3, it takes the even one, and Rust's own does not.
fn shortest_digits(value: f64) -> (String, i32) {
    let text = serde_json::Number::from_f64(value).map(|number| number.to_string()).unwrap_or_default();
    let (mantissa, exponent) = text.split_once('e').unwrap_or((&text, "0"));
    let (whole, fraction) = mantissa.split_once('.').unwrap_or((mantissa, ""));
    let digits = format!("{whole}{fraction}");
    let significant = digits.trim_start_matches('0');
    if significant.is_empty() {
        return ("0".to_owned(), 0);
    }
    let leading_zeros = (digits.len() - significant.len()) as i32;
    let exponent = exponent.parse::<i32>().unwrap_or_default() + whole.len() as i32 - 1 - leading_zeros;
    (significant.trim_end_matches('0').to_owned(), exponent)
}

//! JSON text in the three styles that prompts and protocols use.
//!
//! Strings are escaped alike in all styles: `"` and `\` by a backslash, control characters below U+0020 by their
//! short escape or `\u00xx`, everything else as it is. Integers are decimal. Floats are the shortest digits that
//! read back to the same double, written out where the decimal exponent lies in -5..=15 and as `d.ddde+xx` or
//! `d.ddde-xx` elsewhere; [`Style::Python`] differs for small ones.

use std::fmt::{self, Write};

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
        self.write(style, &mut text).expect("a String takes any text");
        text
    }

    /// Writes the value to `out`.
    ///
    /// # Errors
    ///
    /// Only those of `out`.
    pub fn write(&self, style: Style, out: &mut dyn Write) -> fmt::Result {
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
                    element.write(style, out)?;
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
                    value.write(style, out)?;
                }
                out.write_char('}')
            }
        }
    }
}

/// Writes `text` as a JSON string.
pub(crate) fn write_string(text: &str, out: &mut dyn Write) -> fmt::Result {
    out.write_char('"')?;
    let mut from = 0;
    for (at, byte) in text.bytes().enumerate() {
        let escape = match byte {
            b'"' => "\\\"",
            b'\\' => "\\\\",
            0x08 => "\\b",
            0x0c => "\\f",
            b'\n' => "\\n",
            b'\r' => "\\r",
            b'\t' => "\\t",
            0..0x20 => "",
            _ => continue,
        };
        out.write_str(&text[from..at])?;
        if escape.is_empty() {
            write!(out, "\\u{byte:04x}")?;
        } else {
            out.write_str(escape)?;
        }
        from = at + 1;
    }
    out.write_str(&text[from..])?;
    out.write_char('"')
}

fn write_float(value: f64, style: Style, out: &mut dyn Write) -> fmt::Result {
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
fn write_plain(digits: &str, exponent: i32, out: &mut dyn Write) -> fmt::Result {
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

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
    /// let json = Json::parse(br#"{"b": 1e-5, "a": "é"}"#)?;
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
    // `{:e}` gives the shortest digits that read back to the same double: `-1.25e-7`.
    let shortest = format!("{value:e}");
    let (mantissa, exponent) = shortest.split_once('e').unwrap_or((&shortest, "0"));
    let exponent: i32 = exponent.parse().unwrap_or_default();
    let smallest_plain = if style == Style::Python { -4 } else { -5 };
    if (smallest_plain..=15).contains(&exponent) {
        // Plain notation of the same digits; Rust's own `{}` never uses an exponent.
        let plain = format!("{value}");
        out.write_str(&plain)?;
        return if plain.contains('.') { Ok(()) } else { out.write_str(".0") };
    }
    out.write_str(mantissa)?;
    match exponent {
        0.. => write!(out, "e+{exponent:02}"),
        _ if style == Style::Python => write!(out, "e-{:02}", -exponent),
        _ => write!(out, "e-{}", -exponent),
    }
}

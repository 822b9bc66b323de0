//! Generated text and the reference, for both programs.

pub mod measure;

use std::path::Path;

use deepseek_codec::token::TokenId;
use deepseek_codec::tokenizer::{Tokenizer, Vocabulary};

/// No special tokens: text alone is compared.
pub static BARE: Vocabulary = Vocabulary { specials: &[], renamed: &[] };

/// Hugging Face's tokenizer of a file, without its added tokens.
pub fn reference(file: &Path) -> tokenizers::Tokenizer {
    let mut json: serde_json::Value =
        serde_json::from_slice(&std::fs::read(file).expect("the tokenizer file can be read"))
            .expect("it is JSON");
    json["added_tokens"] = serde_json::json!([]);
    tokenizers::Tokenizer::from_bytes(json.to_string()).expect("it is a tokenizer")
}

/// The kinds of generated text.
pub const KINDS: [&str; 8] = ["prose", "code", "json", "cjk", "mixed", "tokens", "points", "runs"];

/// Numbers that depend on a seed alone.
pub struct Numbers(pub u64);

impl Numbers {
    pub fn below(&mut self, limit: usize) -> usize {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        ((self.0 >> 33) as usize) % limit
    }

    fn pick<'a>(&mut self, from: &[&'a str]) -> &'a str {
        from[self.below(from.len())]
    }
}

/// A text of about `len` bytes.
pub fn text(kind: &str, len: usize, numbers: &mut Numbers, tokenizer: &Tokenizer) -> String {
    let mut text = String::with_capacity(len + 64);
    while text.len() < len {
        match kind {
            "prose" => prose(&mut text, numbers, tokenizer),
            "code" => code(&mut text, numbers, tokenizer),
            "json" => json(&mut text, numbers, tokenizer),
            "cjk" => cjk(&mut text, numbers, tokenizer),
            "tokens" => text.push_str(&token(numbers, tokenizer, 128_000)),
            "points" => text.push(point(numbers)),
            "runs" => run(&mut text, numbers),
            _ => {
                let kind = KINDS[numbers.below(4)];
                text.push_str(&self::text(kind, 40, numbers, tokenizer));
                match numbers.below(3) {
                    0 => text.push(point(numbers)),
                    1 => run(&mut text, numbers),
                    _ => {}
                }
            }
        }
    }
    text
}

/// The text of a token with a lower id than `end`: frequent tokens have low ids.
fn token(numbers: &mut Numbers, tokenizer: &Tokenizer, end: usize) -> String {
    let id = TokenId(3 + numbers.below(end - 3) as u32);
    String::from_utf8_lossy(tokenizer.token_bytes(id).unwrap_or_default()).into_owned()
}

fn word(numbers: &mut Numbers, tokenizer: &Tokenizer) -> String {
    let mut word = String::new();
    for _ in 0..1 + numbers.below(3) {
        let end = [2000, 8000, 60_000][numbers.below(3)];
        word.extend(token(numbers, tokenizer, end).chars().filter(char::is_ascii_alphabetic));
    }
    word
}

fn prose(text: &mut String, numbers: &mut Numbers, tokenizer: &Tokenizer) {
    text.push_str(&word(numbers, tokenizer));
    let after = [
        " ", " ", " ", " ", " ", " ", ", ", ". ", "; ", " (", ") ", ".\n\n", "'s ", "’s ", " — ", " “", "” ",
        " 2026 ", "\n",
    ];
    text.push_str(numbers.pick(&after));
}

fn code(text: &mut String, numbers: &mut Numbers, tokenizer: &Tokenizer) {
    text.push_str(&word(numbers, tokenizer));
    let after = [
        "(",
        ")",
        "();\n",
        "\n    ",
        "\n        ",
        " = ",
        "_",
        "::",
        ".",
        " {\n",
        "}\n\n",
        "[0]",
        " + ",
        " -> ",
        "&",
        "// ",
        "\t",
        " == 0x1F",
        "\"",
        "<",
        ">",
        ", ",
        ";\r\n",
        "$",
        "@",
        "#",
        " | ",
        " && ",
    ];
    text.push_str(numbers.pick(&after));
}

fn json(text: &mut String, numbers: &mut Numbers, tokenizer: &Tokenizer) {
    text.push('"');
    text.push_str(&word(numbers, tokenizer));
    text.push_str("\": ");
    match numbers.below(5) {
        0 => text.push_str(&numbers.below(1_000_000_000).to_string()),
        1 => text.push_str(numbers.pick(&["true", "false", "null", "[]", "{}", "-1.5e-7"])),
        _ => {
            text.push('"');
            prose(text, numbers, tokenizer);
            text.push_str(numbers.pick(&["\"", "\\n\"", "\\u00e9\"", "\\\\\""]));
        }
    }
    text.push_str(numbers.pick(&[", ", ",\n  ", "},\n{", "]}, ", "\n}\n"]));
}

fn cjk(text: &mut String, numbers: &mut Numbers, tokenizer: &Tokenizer) {
    let token = token(numbers, tokenizer, 128_000);
    text.extend(token.chars().filter(|c| *c >= '\u{3000}' && *c != '\u{FFFD}'));
    match numbers.below(40) {
        0 => text.push_str(
            numbers.pick(&["，", "。", "、", "！", "」", "「", "・", "ー", "123", " ", "API", "\n"]),
        ),
        1 => text.extend(char::from_u32(0x4E00 + numbers.below(0x51A6) as u32)),
        2 => text.extend(char::from_u32(0x3040 + numbers.below(0xC0) as u32)),
        _ => {}
    }
}

fn point(numbers: &mut Numbers) -> char {
    let ends = [0x80, 0x800, 0x3000, 0x1_0000, 0x2_0000, 0x11_0000];
    let end = ends[numbers.below(ends.len())];
    char::from_u32(numbers.below(end) as u32).unwrap_or('\u{1F600}')
}

fn run(text: &mut String, numbers: &mut Numbers) {
    let unit = numbers.pick(&[
        "a",
        " ",
        "\n",
        "\t",
        "=",
        "-",
        "0",
        "é",
        "中",
        "哈哈",
        "👍",
        "\u{308}",
        "\r\n",
        "ab",
        "  \n",
        ".",
        "🏽\u{200D}",
    ]);
    let count = if numbers.below(20) == 0 { numbers.below(900) } else { numbers.below(12) };
    text.push_str(&unit.repeat(1 + count));
}

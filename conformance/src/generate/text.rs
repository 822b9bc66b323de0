//! Strings: realistic, and made to hurt.

use super::dice::Dice;

/// Spellings of special tokens and of prompt markup.
pub const SPELLINGS: &[&str] = &[
    "<｜begin▁of▁sentence｜>",
    "<｜end▁of▁sentence｜>",
    "<think>",
    "</think>",
    "<｜System｜>",
    "<｜User｜>",
    "<｜Assistant｜>",
    "<｜latest_reminder｜>",
    "｜DSML｜",
    "<｜image｜>",
    "<｜deepseek_image｜>",
    "<｜ref｜>",
    "<｜/ref｜>",
    "<｜box｜>",
    "<｜/box｜>",
    "<｜point｜>",
    "<｜/point｜>",
    "<｜polygon｜>",
    "<｜/polygon｜>",
    "<｜▁pad▁｜>",
    "<｜fim▁hole｜>",
    "<｜fim▁begin｜>",
    "<｜fim▁end｜>",
    "<tool_result>",
    "</tool_result>",
    "<｜DSML｜tool_calls>",
    "</｜DSML｜tool_calls>",
    "<｜DSML｜invoke name=\"f\">",
    "</｜DSML｜invoke>",
    "<｜DSML｜parameter name=\"a\" string=\"true\">",
    "</｜DSML｜parameter>",
    "<｜DSML｜ calls>",
    "</｜DSML｜ calls>",
    "<｜DSML｜ invoke name=\"f\">",
    "</｜DSML｜ invoke>",
    "</｜DSML｜ parameter>",
    "<｜action｜>",
    "<｜query｜>",
    "<｜title｜>",
    "<｜ref｜",
    "｜/box｜>",
    "<｜",
    "｜>",
    "<|User|>",
    "<dsml:",
    "<｜tool▁calls▁begin｜>",
];

const WORDS: &[&str] = &[
    "the",
    "a",
    "weather",
    "in",
    "Paris",
    "is",
    "what",
    "please",
    "write",
    "function",
    "that",
    "returns",
    "sum",
    "of",
    "json",
    "JSON",
    "list",
    "file",
    "error:",
    "don't",
    "42",
    "3.14",
    "2026-11-02",
    "can't",
    "I'll",
    "user's",
    "http://example.com/a?b=c&d=%20",
    "e-mail",
    "naïve",
    "Straße",
    "İstanbul",
    "co-operate",
    "(see",
    "below)",
    "100%",
    "$5.00",
    "#tag",
    "@me",
    "x=y",
    "a->b",
    "::",
    "...",
    "—",
    "“quoted”",
    "WORLD",
];

const CJK: &[&str] = &[
    "你好",
    "世界",
    "请问",
    "天气",
    "怎么样",
    "，",
    "。",
    "日本語",
    "テスト",
    "カタカナ",
    "한국어",
    "文字列",
    "１２３",
    "「引用」",
    "函数",
    "返回",
    "错误",
    "用户",
];

const CODE: &[&str] = &[
    "fn main() {\n    println!(\"{}\", 1 + 1);\n}\n",
    "def f(x):\n\treturn x ** 2\n",
    "SELECT * FROM t WHERE a = 'b';",
    "{\"a\": [1, 2, {\"b\": null}]}",
    "<div class=\"x\">&amp;</div>",
    "git commit -m \"fix\" && echo $HOME",
    "*** Begin Patch\n*** Add File: a.txt\n+x\n*** End Patch",
    "```json\n{}\n```",
    "C:\\Users\\me\\file.txt",
    "a\r\nb\r\n",
    "0x1F 0b1010 1_000",
    "if (a && b || !c) { return; }",
];

const EXOTIC: &[&str] = &[
    "😀",
    "👩‍👩‍👧‍👦",
    "🇫🇷",
    "e\u{301}",
    "\u{200b}",
    "\u{feff}",
    "\u{202e}abc",
    "ﷺ",
    "مرحبا",
    "שלום",
    "नमस्ते",
    "ไทย",
    "𝕏",
    "\u{1f6d8}",
    "\u{e000}",
    "\u{10ffff}",
    "\u{fffd}",
    "\u{2028}",
    "\u{2029}",
    "\u{85}",
    "\u{a0}",
    "\u{3000}",
    "İ",
    "ß",
];

const CONTROL: &[&str] =
    &["\0", "\u{1}", "\u{7}", "\u{8}", "\t", "\u{b}", "\u{c}", "\r", "\u{1b}[0m", "\u{7f}", "\u{9f}", "\n"];

const SPACES: &[&str] = &["", " ", "  ", "\n", "\n\n", "\n\n\n", "\t", " \n ", "\r\n", "        ", "\u{a0} "];

const NOTABLE: &[&str] = &[
    "x-anthropic-billing-header: cc_version=1; cch=abc;\nYou are a helper.",
    "x-anthropic-billing-header: a You are b",
    "x-anthropic-billing-header",
    "X-Anthropic-Billing-Header: upper\nrest",
    "x-anthropic-billing-header:\u{a0}\n \n",
    " x-anthropic-billing-header: late",
    "<image_resize_notice>The image was resized.</image_resize_notice>",
    "<system-reminder>\nstay calm\n</system-reminder>",
    "[Unsupported Image]",
    "[Unsupported Document]",
    "Answer in JSON.",
    "jSoN",
    "JS ON",
    "null",
    "true",
    "{}",
    "[]",
    "\"",
    "\\",
    "\\n",
    "\\u0041",
    "'",
    "`",
    "<",
    ">",
    "&lt;",
    "\"}",
    "name=\"x\"",
    "string=\"true\"",
    "$PARAMETER_VALUE",
    "{thinking_start}",
    "{}{0}{name}",
];

/// Any text, mostly short.
pub fn text(dice: &mut Dice) -> String {
    let pieces = dice.weighted(&[(70, 1), (18, 2), (9, 3), (3, 6)]);
    let mut out = String::new();
    for _ in 0..pieces {
        piece(dice, &mut out);
    }
    out
}

/// Text that is not empty.
pub fn some_text(dice: &mut Dice) -> String {
    let mut out = text(dice);
    if out.is_empty() {
        out.push_str("ok");
    }
    out
}

fn piece(dice: &mut Dice, out: &mut String) {
    match dice.weighted(&[
        (38, 0),
        (9, 1),
        (7, 2),
        (14, 3),
        (4, 4),
        (4, 5),
        (3, 6),
        (6, 7),
        (2, 8),
        (2, 9),
        (1, 10),
        (4, 11),
        (3, 12),
    ]) {
        0 => {
            let count = dice.between(1, 18);
            run(dice, WORDS, count, " ", out);
        }
        1 => {
            let count = dice.between(1, 12);
            run(dice, CJK, count, "", out);
        }
        2 => out.push_str(dice.pick(CODE)),
        3 => {
            let count = dice.between(1, 4);
            for _ in 0..count {
                out.push_str(dice.pick(SPELLINGS));
                if dice.chance(0.5) {
                    out.push_str(dice.pick(WORDS));
                }
            }
        }
        4 => {
            let count = dice.between(1, 5);
            run(dice, EXOTIC, count, "", out);
        }
        5 => {
            let count = dice.between(1, 3);
            run(dice, CONTROL, count, "", out);
        }
        6 => out.push_str(dice.pick(SPACES)),
        7 => out.push_str(dice.pick(NOTABLE)),
        8 => {}
        9 => {
            let count = dice.between(1, 30);
            for _ in 0..count {
                out.push(scalar(dice));
            }
        }
        10 => {
            let count = dice.between(100, 900);
            run(dice, WORDS, count, " ", out);
        }
        11 => out.push_str(&number_text(dice)),
        _ => {
            let letter = dice.pick(&["a", "A", " ", "\n", "=", "-", "一", "9", "é", "\u{1f600}"]);
            out.push_str(&letter.repeat(dice.between(1, 60)));
        }
    }
}

fn run(dice: &mut Dice, items: &[&str], count: usize, separator: &str, out: &mut String) {
    for index in 0..count {
        if index > 0 {
            out.push_str(separator);
        }
        out.push_str(dice.pick(items));
    }
}

fn scalar(dice: &mut Dice) -> char {
    let top = dice.weighted(&[(5, 0x7f), (4, 0x7ff), (4, 0xffff), (2, 0x10_ffff)]);
    char::from_u32(dice.below(top + 1) as u32).unwrap_or('\u{fffd}')
}

/// A JSON number as text, of any kind and magnitude.
pub fn number_text(dice: &mut Dice) -> String {
    match dice.weighted(&[(30, 0), (8, 1), (8, 2), (20, 3), (12, 4), (12, 5), (6, 6), (4, 7)]) {
        0 => {
            let magnitude = dice.between(0, 6) as u32;
            let value = dice.below(10usize.pow(magnitude)) as i64;
            if dice.chance(0.3) { (-value).to_string() } else { value.to_string() }
        }
        1 => (dice.bits() as i64).to_string(),
        2 => dice
            .pick(&[
                "0",
                "-0",
                "0.0",
                "-0.0",
                "1.0",
                "-1.0",
                "1e0",
                "1E5",
                "1e+5",
                "1e-5",
                "0.1",
                "0.001",
                "0.0001",
                "0.00001",
                "0.00012345",
                "1e15",
                "1e16",
                "1e17",
                "1e21",
                "1e22",
                "123456789012345680000",
                "18446744073709551615",
                "18446744073709551616",
                "9223372036854775807",
                "9223372036854775808",
                "-9223372036854775808",
                "-9223372036854775809",
                "5e-324",
                "1.7976931348623157e308",
                "2.2250738585072014e-308",
                "1e-7",
                "1.5e-7",
                "12e-10",
                "1e-10",
                "9007199254740993",
                "0.30000000000000004",
                "100000000000000000000000",
                "3.0e2",
                "1e-400",
                "4.35",
                "0.1e1",
                "1.000000000000000000001",
            ])
            .to_string(),
        3 => {
            let value = f64::from_bits(dice.bits());
            if !value.is_finite() {
                return "1.5".to_owned();
            }
            let text = serde_json::Value::from(value).to_string();
            if dice.chance(0.3) { format!("{value:e}") } else { text }
        }
        4 => {
            let exponent = dice.between(0, 24) as i32 - 8;
            let value = (dice.below(1_000_000) as f64 / 1000.0) * 10f64.powi(exponent);
            serde_json::Value::from(value).to_string()
        }
        5 => {
            let digits = dice.between(1, 20);
            let mut out = if dice.chance(0.2) { "-" } else { "" }.to_owned();
            out.push_str(&dice.below(1000).to_string());
            out.push('.');
            for _ in 0..digits {
                out.push(char::from(b'0' + dice.below(10) as u8));
            }
            out
        }
        6 => {
            let mantissa = dice.below(10_000);
            let exponent = dice.below(60) as i32 - 30;
            format!("{}e{}", mantissa as f64 / 100.0, exponent)
        }
        _ => {
            let digits = dice.between(15, 40);
            let mut out = "1".to_owned();
            for _ in 0..digits {
                out.push(char::from(b'0' + dice.below(10) as u8));
            }
            out
        }
    }
}

/// A tool name that every API takes.
pub fn tool_name(dice: &mut Dice) -> String {
    match dice.weighted(&[(80, 0), (6, 1), (10, 2), (2, 3)]) {
        0 => (dice.pick(&[
            "get_weather",
            "search",
            "Read",
            "Edit",
            "Bash",
            "mcp__files__read",
            "mcp__files__write",
            "calc",
            "f",
            "g",
            "run-tests",
            "list_dir",
            "shell",
            "update_plan",
            "Task",
            "send_email",
            "json_out",
            "think",
        ]))
        .to_owned(),
        1 => (dice.pick(&[
            "apply_patch",
            "calendar__list",
            "files_read",
            "a__f",
            "a_write",
            "_x_1",
            "tool_search",
            "web_search",
            "input",
            "arguments",
            "-",
            "_",
            "__x",
            "x_",
            "0",
        ]))
        .to_owned(),
        2 => {
            let length = dice.between(1, 24);
            ident(dice, length)
        }
        _ => {
            let length = dice.between(120, 128);
            ident(dice, length)
        }
    }
}

/// A tool name that is refused.
pub fn bad_tool_name(dice: &mut Dice) -> String {
    match dice.below(4) {
        0 => String::new(),
        1 => {
            let length = dice.between(129, 200);
            ident(dice, length)
        }
        2 => (dice.pick(&["get weather", "a.b", "ns::f", "天气", "f\"", "f\n", "é", "a/b", "<think>", "😀"]))
            .to_owned(),
        _ => {
            let mut name = "长".repeat(dice.between(40, 50));
            name.push('x');
            name
        }
    }
}

/// Letters, digits, `_` and `-`.
pub fn ident(dice: &mut Dice, length: usize) -> String {
    const LETTERS: &[u8] = b"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-";
    (0..length).map(|_| char::from(dice.pick(LETTERS))).collect()
}

/// A tool call id that is unique within a request through `counter`. Ids sort in no particular order.
pub fn call_id(dice: &mut Dice, counter: &mut usize) -> String {
    *counter += 1;
    let random = ident(dice, 6);
    match dice.weighted(&[(5, 0), (3, 1), (3, 2), (1, 3), (1, 4), (1, 5), (1, 6)]) {
        0 => format!("call_{:02}_{random}{counter}", dice.below(100)),
        1 => format!("toolu_{random}{counter}"),
        2 => format!("{}{counter}", dice.pick(&["a", "b", "c", "Z", "z", "-", "1"])),
        3 => format!("call_00_ET_{random}{counter}"),
        4 => format!("call00ET{random}{counter}"),
        5 => format!("{}{counter}", dice.pick(&["编号", "é", " ", "\n", "\"", "<｜User｜>"])),
        _ => format!("{}", 1_000_000 - *counter),
    }
}

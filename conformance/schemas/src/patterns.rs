//! Regular expressions: real ones, and random ones of the same stuff.

use crate::dice::Dice;

const REAL: [&str; 46] = [
    "^[a-z]+$",
    "^\\d{4}-\\d{2}-\\d{2}$",
    "^[A-Za-z0-9_-]{1,64}$",
    "^https?://",
    "^\\S*$",
    "^(a|b|c)$",
    "^x-",
    "^abc$",
    "^.*$",
    "",
    ".+",
    "^[\\w.+-]+@[\\w-]+\\.[\\w.]+$",
    "^\\+?[1-9]\\d{1,14}$",
    "^#([0-9a-fA-F]{3}|[0-9a-fA-F]{6})$",
    "^(?!.*\\.\\.).*$",
    "^(?=.*[A-Z])(?=.*\\d).{8,}$",
    "(?<year>\\d{4})",
    "\\p{L}+",
    "^\\p{Lu}\\p{Ll}*$",
    "^[\\p{L}\\p{N}]+$",
    "\\u0041",
    "\\x41",
    "^[^\\s/]+/[^\\s/]+$",
    "^\\/api\\/v[0-9]+\\/",
    "[\\w-.]",
    "[a-z",
    "(",
    ")",
    "*",
    "a{2,1}",
    "a{",
    "{",
    "a{,5}",
    "\\",
    "[z-a]",
    "\\1",
    "(a)\\1",
    "(?P<n>a)",
    "(?i)abc",
    "(?<!a)b",
    "\\cA",
    "\\Z",
    "\\a",
    "^[a-zA-Z_$][\\w$]*$",
    "[^]",
    "[]",
];

const PIECES: [&str; 60] = [
    "a", "b", "0", "-", "_", "/", " ", ".", "^", "$", "|", "(", "(?:", "(?=", "(?!", "(?<=", "(?<!", "(?<n>",
    "(?P<n>", "(?i)", "(?i:", ")", ")", ")", "[", "[^", "]", "]", "*", "+", "?", "{2}", "{1,3}", "{2,}", "{",
    "}", ",", "\\d", "\\D", "\\w", "\\s", "\\S", "\\b", "\\B", "\\.", "\\/", "\\-", "\\_", "\\n", "\\t",
    "\\\\", "\\1", "\\k<n>", "\\p{L}", "\\p{Han}", "\\pN", "\\u00e9", "ü", "&&", "--",
];

const ODD: [&str; 34] = [
    "\\x4",
    "\\u{1F600}",
    "\\uD83D",
    "\\cA",
    "\\c1",
    "\\0",
    "\\01",
    "\\Z",
    "\\z",
    "\\A",
    "\\G",
    "\\K",
    "\\h",
    "\\e",
    "\\a",
    "\\<",
    "\\>",
    "\\@",
    "\\é",
    "\\ ",
    "\\'",
    "~~",
    "[:alpha:]",
    "\\p{Foo}",
    "\\p{Script=Greek}",
    "\\P{Lu}",
    "(?#c)",
    "(?>",
    "a++",
    "\\f",
    "\\v",
    "\\r",
    "\\X",
    "\\R",
];

pub fn pattern(dice: &mut Dice) -> String {
    if dice.once_in(4) { random(dice) } else { (*dice.pick(&REAL)).to_owned() }
}

pub fn random(dice: &mut Dice) -> String {
    (0..1 + dice.below(8))
        .map(|_| if dice.once_in(12) { *dice.pick(&ODD) } else { *dice.pick(&PIECES) })
        .collect()
}

/// A text of the stuff that patterns ask for.
pub fn text(dice: &mut Dice) -> String {
    const PARTS: [&str; 24] = [
        "a",
        "b",
        "0",
        "1",
        "-",
        "_",
        "/",
        " ",
        ".",
        "A",
        "Z",
        "\n",
        "\r",
        "\u{2028}",
        "\u{feff}",
        "ü",
        "é",
        "١",
        "日",
        "x-",
        "abc",
        "2026-01-31",
        "https://",
        "aa",
    ];
    (0..dice.below(7)).map(|_| *dice.pick(&PARTS)).collect()
}

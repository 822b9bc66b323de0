//! Named sets of characters.

use regex_syntax::hir::{Class, ClassUnicode, HirKind};

use super::super::chars::Chars;

/// What `\s` is in ECMA-262.
const SPACE: [(u32, u32); 10] = [
    (0x09, 0x0D),
    (0x20, 0x20),
    (0xA0, 0xA0),
    (0x1680, 0x1680),
    (0x2000, 0x200A),
    (0x2028, 0x2029),
    (0x202F, 0x202F),
    (0x205F, 0x205F),
    (0x3000, 0x3000),
    (0xFEFF, 0xFEFF),
];

/// The set of `\d`, `\w` or `\s`.
pub(super) fn perl(letter: char, is_unicode: bool) -> Chars {
    match letter {
        _ if is_unicode => read(&format!("\\{letter}")).unwrap_or_default(),
        'd' => Chars::new([(0x30, 0x39)]),
        'w' => Chars::new([(0x30, 0x39), (0x41, 0x5A), (0x5F, 0x5F), (0x61, 0x7A)]),
        _ => Chars::new(SPACE),
    }
}

/// The set of `\p{name}`.
pub(super) fn property(name: &str) -> Option<Chars> {
    // ECMA-262 does not know them, and their tables are there only if another crate of the build asks for them.
    const OTHERS: [&str; 7] =
        ["age", "gcb", "graphemeclusterbreak", "wb", "wordbreak", "sb", "sentencebreak"];
    let plain: String =
        name.split(['=', ':']).next().unwrap_or_default().chars().filter(char::is_ascii_alphabetic).collect();
    let plain = plain.to_ascii_lowercase();
    if OTHERS.contains(&plain.strip_prefix("is").unwrap_or(&plain)) {
        return None;
    }
    read(&format!("\\p{{{name}}}"))
}

/// The set of `[:name:]`.
pub(super) fn posix(name: &str) -> Option<Chars> {
    read(&format!("[[:{name}:]]"))
}

fn of_class(class: &ClassUnicode) -> Chars {
    Chars::new(class.ranges().iter().map(|range| (range.start() as u32, range.end() as u32)))
}

/// The set that a pattern of one class or character stands for.
fn read(pattern: &str) -> Option<Chars> {
    match regex_syntax::parse(pattern).ok()?.kind() {
        HirKind::Class(Class::Unicode(class)) => Some(of_class(class)),
        HirKind::Class(Class::Bytes(class)) => {
            Some(Chars::new(class.ranges().iter().map(|range| (range.start().into(), range.end().into()))))
        }
        HirKind::Literal(literal) => {
            let mut characters = std::str::from_utf8(&literal.0).ok()?.chars();
            let one = Chars::one(characters.next()?);
            characters.next().is_none().then_some(one)
        }
        _ => None,
    }
}

//! Named sets of characters.

use regex_syntax::ast::{self, Ast, ClassAsciiKind, ClassPerlKind, ClassUnicodeKind, ClassUnicodeOpKind};
use regex_syntax::hir::translate::Translator;
use regex_syntax::hir::{Class, HirKind};

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
        _ if is_unicode => {
            let kind = match letter {
                'd' => ClassPerlKind::Digit,
                'w' => ClassPerlKind::Word,
                _ => ClassPerlKind::Space,
            };
            let class = ast::ClassPerl { span: NOWHERE, kind, negated: false };
            characters(&Ast::class_perl(class)).unwrap_or_default()
        }
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
    let with = |operator: &str, op: ClassUnicodeOpKind| {
        let (name, value) = name.split_once(operator)?;
        Some(ClassUnicodeKind::NamedValue { op, name: name.to_owned(), value: value.to_owned() })
    };
    let kind = with("!=", ClassUnicodeOpKind::NotEqual)
        .or_else(|| with(":", ClassUnicodeOpKind::Colon))
        .or_else(|| with("=", ClassUnicodeOpKind::Equal))
        .unwrap_or_else(|| ClassUnicodeKind::Named(name.to_owned()));
    characters(&Ast::class_unicode(ast::ClassUnicode { span: NOWHERE, negated: false, kind }))
}

/// The set of `[:name:]`. What is no name is a class of its letters and the colon, as for crate `regex`.
pub(super) fn posix(name: &str) -> Option<Chars> {
    let Some(kind) = ClassAsciiKind::from_name(name) else {
        return Some(Chars::new(name.chars().chain([':']).map(|letter| (letter as u32, letter as u32))));
    };
    let item = ast::ClassSetItem::Ascii(ast::ClassAscii { span: NOWHERE, kind, negated: false });
    let kind = ast::ClassSet::Item(item);
    characters(&Ast::class_bracketed(ast::ClassBracketed { span: NOWHERE, negated: false, kind }))
}

/// There is no text of a pattern that sets come from: crate `regex-syntax` knows the characters, and reads nothing.
const NOWHERE: ast::Span = ast::Span { start: START, end: START };
const START: ast::Position = ast::Position { offset: 0, line: 1, column: 1 };

/// The set that a pattern of one class stands for.
fn characters(class: &Ast) -> Option<Chars> {
    match Translator::new().translate("", class).ok()?.kind() {
        HirKind::Class(Class::Unicode(class)) => {
            Some(Chars::new(class.ranges().iter().map(|range| (range.start() as u32, range.end() as u32))))
        }
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

#[cfg(test)]
mod tests {
    use super::*;

    /// The same by the parser of crate `regex-syntax`.
    fn twin(pattern: &str) -> Option<Chars> {
        match regex_syntax::parse(pattern).ok()?.kind() {
            HirKind::Class(Class::Unicode(class)) => Some(Chars::new(
                class.ranges().iter().map(|range| (range.start() as u32, range.end() as u32)),
            )),
            HirKind::Literal(literal) => Some(Chars::new(
                std::str::from_utf8(&literal.0).ok()?.chars().map(|it| (it as u32, it as u32)),
            )),
            _ => None,
        }
    }

    #[test]
    fn named_sets_are_those_that_a_parser_finds() {
        for letter in ['d', 's', 'w'] {
            assert_eq!(Some(perl(letter, true)), twin(&format!("\\{letter}")));
        }
        for name in "L Lu lu ^L any assigned ascii Letter Line_Separator Zl Cs surrogate Greek isGreek script=Greek \
            sc:grek scx!=Greek scx=Greek gc=Lu gc!=Lu gc:=Lu alphabetic Alpha White_Space emoji ri xids idsb cwcf \
            sc= =sc : = != Lu=yes nothing age=6.0 gcb=lf"
            .split(' ')
            .chain(["", " l u "])
        {
            let expected = if name.starts_with("age") || name.starts_with("gcb") {
                None
            } else {
                twin(&format!("\\p{{{name}}}"))
            };
            assert_eq!(property(name), expected, "{name}");
        }
        for name in
            "alnum alpha ascii blank cntrl digit graph lower print punct space upper word xdigit none z"
                .split(' ')
                .chain([""])
        {
            assert_eq!(posix(name), twin(&format!("[[:{name}:]]")), "{name}");
        }
    }
}

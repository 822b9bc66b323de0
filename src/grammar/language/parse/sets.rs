//! Named sets of characters.

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
        _ if is_unicode => set("p", &letter.to_string()).unwrap_or_default(),
        'd' => Chars::new([(0x30, 0x39)]),
        'w' => Chars::new([(0x30, 0x39), (0x41, 0x5A), (0x5F, 0x5F), (0x61, 0x7A)]),
        _ => Chars::new(SPACE),
    }
}

/// The set of `\p{name}`.
pub(super) fn property(name: &str) -> Option<Chars> {
    let of_kind =
        ["!=", ":", "="].into_iter().find_map(|operator| Some((operator, name.split_once(operator)?)));
    let Some((operator, (kind, value))) = of_kind else {
        return set("bgs", &normal(name));
    };
    let kind = match normal(kind).as_str() {
        "gc" | "generalcategory" => "g",
        "sc" | "script" => "s",
        "scx" | "scriptextensions" => "x",
        _ => return None,
    };
    let set = set(kind, &normal(value))?;
    Some(if operator == "!=" { set.not() } else { set })
}

/// The set of `[:name:]`. What is no name is a class of its letters and the colon, as for crate `regex`.
pub(super) fn posix(name: &str) -> Chars {
    let ranges: &[(char, char)] = match name {
        "alnum" => &[('0', '9'), ('A', 'Z'), ('a', 'z')],
        "alpha" => &[('A', 'Z'), ('a', 'z')],
        "ascii" => &[('\0', '\x7F')],
        "blank" => &[('\t', '\t'), (' ', ' ')],
        "cntrl" => &[('\0', '\x1F'), ('\x7F', '\x7F')],
        "digit" => &[('0', '9')],
        "graph" => &[('!', '~')],
        "lower" => &[('a', 'z')],
        "print" => &[(' ', '~')],
        "punct" => &[('!', '/'), (':', '@'), ('[', '`'), ('{', '~')],
        "space" => &[('\t', '\r'), (' ', ' ')],
        "upper" => &[('A', 'Z')],
        "word" => &[('0', '9'), ('A', 'Z'), ('_', '_'), ('a', 'z')],
        "xdigit" => &[('0', '9'), ('A', 'F'), ('a', 'f')],
        _ => return Chars::new(name.chars().chain([':']).map(|letter| (letter as u32, letter as u32))),
    };
    Chars::new(ranges.iter().map(|&(low, high)| (low as u32, high as u32)))
}

/// Names are compared without regard to case, spaces, hyphens, underscores, a leading `is`, and what is not ASCII.
fn normal(name: &str) -> String {
    let is = name.get(..2).is_some_and(|start| start.eq_ignore_ascii_case("is"));
    let rest = if is { &name[2..] } else { name };
    let is_letter = |letter: &char| letter.is_ascii() && !matches!(letter, ' ' | '-' | '_');
    let normal: String = rest.chars().filter(is_letter).map(|letter| letter.to_ascii_lowercase()).collect();
    // `isc` is the short name of a property (of which there is no set), and not category `c`.
    if is && normal == "c" { "isc".to_owned() } else { normal }
}

/// The sets of Unicode 16, as `tools/properties` writes them (the layout is described there).
static SETS: &[u8] = include_bytes!("properties.bin");

/// The set that has this name, of one of these kinds.
fn set(kinds: &str, name: &str) -> Option<Chars> {
    let is_it = |known: &[u8]| {
        known
            .split_first()
            .is_some_and(|(kind, known)| known == name.as_bytes() && kinds.as_bytes().contains(kind))
    };
    let mut sets = SETS;
    while !sets.is_empty() {
        let names = stretch(&mut sets);
        let mut numbers = stretch(&mut sets);
        if names.split(|byte| *byte == b' ').any(is_it) {
            let mut next = 0;
            let ranges = std::iter::from_fn(|| {
                let low = next + (!numbers.is_empty()).then(|| number(&mut numbers))?;
                let high = low + number(&mut numbers);
                next = high + 1;
                Some((low, high))
            });
            return Some(Chars::new(ranges));
        }
    }
    None
}

/// The bytes whose number stands in front.
fn stretch<'a>(bytes: &mut &'a [u8]) -> &'a [u8] {
    let length = number(bytes) as usize;
    bytes.split_off(..length).unwrap_or_default()
}

fn number(bytes: &mut &[u8]) -> u32 {
    let mut number = 0;
    let mut shift = 0;
    while let Some(&byte) = bytes.split_off_first() {
        number |= u32::from(byte & 0x7F) << shift;
        if byte < 0x80 {
            break;
        }
        shift += 7;
    }
    number
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use regex_syntax::hir::{Class, HirKind};

    use super::*;

    /// The same by crate `regex-syntax`.
    fn twin(pattern: &str) -> Option<Chars> {
        let set = match regex_syntax::parse(pattern).ok()?.kind() {
            HirKind::Class(Class::Unicode(class)) => {
                class.ranges().iter().map(|range| (range.start() as u32, range.end() as u32)).collect()
            }
            // An empty class.
            HirKind::Class(Class::Bytes(class)) if class.ranges().is_empty() => Vec::new(),
            HirKind::Literal(literal) => {
                let text = std::str::from_utf8(&literal.0).ok()?;
                text.chars().map(|character| (character as u32, character as u32)).collect()
            }
            _ => return None,
        };
        Some(Chars::new(set))
    }

    /// All names, without their kinds.
    fn names() -> Vec<&'static str> {
        let (mut sets, mut names) = (SETS, Vec::new());
        while !sets.is_empty() {
            let known = std::str::from_utf8(stretch(&mut sets)).unwrap();
            names.extend(known.split(' ').filter(|name| !name.starts_with('p')).map(|name| &name[1..]));
            stretch(&mut sets);
        }
        names
    }

    fn check(name: &str) {
        assert_eq!(property(name), twin(&format!("\\p{{{name}}}")), "{name}");
    }

    #[test]
    fn sets_are_those_of_another_crate() {
        let names = names();
        assert!(names.len() > 860, "only {} names", names.len());
        for name in names {
            check(name);
            for kind in ["gc=", "Script:", "scx!=", "is General_Category != "] {
                check(&format!("{kind}{name}"));
            }
        }
        for letter in ['d', 's', 'w'] {
            assert_eq!(Some(perl(letter, true)), twin(&format!("\\{letter}")), "{letter}");
        }
        for name in
            "alnum alpha ascii blank cntrl digit graph lower print punct space upper word xdigit none z"
                .split(' ')
                .chain([""])
        {
            assert_eq!(Some(posix(name)), twin(&format!("[[:{name}:]]")), "{name}");
        }
    }

    #[test]
    fn what_is_no_name_has_no_set() {
        for name in "isc is_c IS-C cs surrogate hrkt unknown alnum word Lu=yes alphabetic=yes sc= =sc : = != \
            gc:=Lu gc=any sc=any nothing bc lm cf sc lc ea"
            .split(' ')
            .chain(["", " l u ", "Lé", "é", "is", "ﬁs"])
        {
            check(name);
        }
    }

    proptest! {
        #[test]
        fn names_are_compared_as_another_crate_compares_them(
            index in any::<prop::sample::Index>(),
            changes in prop::collection::vec((any::<prop::sample::Index>(), "[-_ isIScé=A]"), 0..4),
            upper in any::<bool>(),
        ) {
            let mut name: Vec<char> = index.get(&names()).chars().collect();
            for (place, change) in changes {
                let place = place.index(name.len() + 1);
                name.splice(place..place, change.chars());
            }
            let name: String = name.into_iter().collect();
            check(&if upper { name.to_uppercase() } else { name });
        }
    }
}

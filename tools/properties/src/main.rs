//! Writes `src/grammar/language/parse/properties.bin`: the sets of characters that `\p{…}` names, by Unicode 16.
//!
//!     cargo run --release --manifest-path tools/properties/Cargo.toml src/grammar/language/parse/properties.bin
//!
//! The names are those of `src/schema/meta/pattern/properties.rs`, as far as the data has a set for them.
//!
//! Layout, for each set: its names, separated by spaces, each behind the letter of its kind (`p` letter of an escape,
//! `g` general category, `s` script, `x` script extensions, `b` binary property); then its ranges, each as two numbers:
//! how many characters are left out before it since the last one (or since U+0000), and how many more than one it has.
//! Before names and ranges stands the number of their bytes. A number is written seven bits at a time from the lowest
//! on; the eighth bit says that more follow.

use std::collections::HashMap;

use regex_syntax::hir::{Class, HirKind};

const NAMES: &str = include_str!("../../../src/schema/meta/pattern/properties.rs");

type Ranges = Vec<(u32, u32)>;

fn main() {
    let out = std::env::args().nth(1).expect("the file to write");
    let mut sets: Vec<(Ranges, Vec<String>)> = Vec::new();
    let mut known: HashMap<Ranges, usize> = HashMap::new();
    let mut add = |kind: char, name: &str, pattern: String| {
        let Some(ranges) = ranges(&pattern) else { return };
        let index = *known.entry(ranges.clone()).or_insert_with(|| {
            sets.push((ranges, Vec::new()));
            sets.len() - 1
        });
        sets[index].1.push(format!("{kind}{name}"));
    };
    for letter in ["w", "d", "s"] {
        add('p', letter, format!("\\{letter}"));
    }
    for name in names("CATEGORIES").chain(["any", "assigned", "ascii"]) {
        add('g', name, format!("\\p{{gc={name}}}"));
    }
    for name in names("SCRIPTS") {
        add('s', name, format!("\\p{{sc={name}}}"));
        add('x', name, format!("\\p{{scx={name}}}"));
    }
    for name in names("BINARY") {
        add('b', name, format!("\\p{{{name}}}"));
    }
    let mut bytes = Vec::new();
    for (ranges, names) in &sets {
        let names = names.join(" ");
        push(&mut bytes, names.len() as u32);
        bytes.extend(names.as_bytes());
        let mut numbers = Vec::new();
        let mut next = 0;
        for (low, high) in ranges {
            push(&mut numbers, low - next);
            push(&mut numbers, high - low);
            next = high + 1;
        }
        push(&mut bytes, numbers.len() as u32);
        bytes.extend(numbers);
    }
    println!("{} sets, {} bytes", sets.len(), bytes.len());
    std::fs::write(out, bytes).expect("the file can be written");
}

/// The words of one list.
fn names(list: &str) -> impl Iterator<Item = &'static str> {
    let (_, list) = NAMES.split_once(&format!("const {list}: &str = \"")).expect("the list");
    let (list, _) = list.split_once('"').expect("the end of the list");
    list.split_whitespace().filter(|word| *word != "\\")
}

fn ranges(pattern: &str) -> Option<Ranges> {
    match regex_syntax::parse(pattern).ok()?.kind() {
        HirKind::Class(Class::Unicode(class)) => {
            Some(class.ranges().iter().map(|range| (range.start() as u32, range.end() as u32)).collect())
        }
        HirKind::Class(Class::Bytes(class)) => {
            Some(class.ranges().iter().map(|range| (range.start().into(), range.end().into())).collect())
        }
        HirKind::Literal(literal) => {
            let mut characters = std::str::from_utf8(&literal.0).ok()?.chars();
            let one = characters.next()? as u32;
            characters.next().is_none().then(|| vec![(one, one)])
        }
        _ => None,
    }
}

fn push(bytes: &mut Vec<u8>, mut number: u32) {
    while number >= 0x80 {
        bytes.push(number as u8 | 0x80);
        number >>= 7;
    }
    bytes.push(number as u8);
}

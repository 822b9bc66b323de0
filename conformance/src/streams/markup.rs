//! The tags in an output, found without the parser that is being tested.

use deepseek_codec::token::Special;

use super::Unit;

/// A tag.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Tag {
    /// Where its `<` stands, in bytes.
    pub start: usize,
    /// Where its name begins.
    pub name_at: usize,
    pub is_closing: bool,
    pub kind: Kind,
    /// Where it ends, if it does.
    pub end: Option<usize>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    Invoke,
    Parameter,
    Other,
}

/// The tags of an output. A tag that another special token cuts short has no end.
pub fn tags(output: &[Unit]) -> Vec<Tag> {
    let mut tags = Vec::new();
    let mut at = 0;
    for (index, unit) in output.iter().enumerate() {
        if *unit == Unit::Special(Special::Dsml) {
            let before = index.checked_sub(1).map_or("", |index| output[index].spelling());
            let is_closing = before.ends_with("</");
            let start = at - if is_closing { 2 } else { usize::from(before.ends_with('<')) };
            let name_at = at + unit.spelling().len();
            let text = match output.get(index + 1) {
                Some(Unit::Text(text)) => text.as_str(),
                _ => "",
            };
            let (kind, length) = read(text, is_closing);
            tags.push(Tag { start, name_at, is_closing, kind, end: length.map(|length| name_at + length) });
        }
        at += unit.spelling().len();
    }
    tags
}

/// The kind of the tag that `text` goes on with, and how much of the text belongs to it.
fn read(text: &str, is_closing: bool) -> (Kind, Option<usize>) {
    let name = text.trim_start();
    let (kind, ends): (Kind, &[&str]) = if name.starts_with("parameter") {
        (Kind::Parameter, &["string=\"true\">", "string=\"false\">"])
    } else if name.starts_with("invoke") {
        (Kind::Invoke, &["\">"])
    } else {
        (Kind::Other, &[">"])
    };
    let ends = if is_closing { &[">"] } else { ends };
    (kind, ends.iter().filter_map(|end| text.find(end).map(|at| at + end.len())).min())
}

/// The tag in which the output ends, and whether it would close a value.
pub fn unfinished(output: &[Unit]) -> Option<(Tag, bool)> {
    let mut tags = tags(output);
    let last = tags.pop().filter(|tag| tag.end.is_none())?;
    let is_last = match output {
        [.., Unit::Special(Special::Dsml)] | [.., Unit::Special(Special::Dsml), Unit::Text(_)] => true,
        _ => false,
    };
    let in_value = tags.last().is_some_and(|tag| tag.kind == Kind::Parameter && !tag.is_closing);
    is_last.then_some((last, in_value))
}

/// Whether what stands at this place belongs to a value.
pub fn is_in_value(output: &[Unit], at: usize) -> bool {
    let before = tags(output).into_iter().rev().find(|tag| tag.start < at);
    before.is_some_and(|tag| {
        tag.kind == Kind::Parameter && !tag.is_closing && tag.end.is_some_and(|end| end <= at)
    })
}

//! Changes that know nothing of the formats: whatever the builders did not think of.

use super::dice::Dice;
use super::json::value;
use super::text::text;
use crate::body::Node;

/// Changes the tree in one to three places.
pub fn mutate(body: &mut Node, dice: &mut Dice) {
    let count = dice.weighted(&[(6, 1), (2, 2), (1, 3)]);
    for _ in 0..count {
        let size = body.size();
        let at = dice.below(size);
        if let Some(node) = body.at_mut(at) {
            mutate_node(node, dice);
        }
    }
}

fn mutate_node(node: &mut Node, dice: &mut Dice) {
    match node {
        Node::Object(fields) if !fields.is_empty() && dice.chance(0.8) => {
            let at = dice.below(fields.len());
            match dice.below(7) {
                0 => drop(fields.remove(at)),
                1 => fields[at].1 = Node::Null,
                2 => fields[at].1 = value(dice, 1),
                3 => {
                    let (key, _) = fields[at].clone();
                    fields.push((key, value(dice, 1)));
                }
                4 => {
                    let field = fields[at].clone();
                    fields.push(field);
                }
                5 => {
                    let other = dice.below(fields.len());
                    fields.swap(at, other);
                }
                _ => fields.push((text(dice), value(dice, 1))),
            }
        }
        Node::Array(items) if !items.is_empty() && dice.chance(0.8) => {
            let at = dice.below(items.len());
            match dice.below(5) {
                0 => drop(items.remove(at)),
                1 => {
                    let item = items[at].clone();
                    items.insert(at, item);
                }
                2 => {
                    let other = dice.below(items.len());
                    items.swap(at, other);
                }
                3 => items.insert(at, value(dice, 1)),
                _ => items[at] = Node::Null,
            }
        }
        Node::String(text) if dice.chance(0.5) => match dice.below(5) {
            0 => text.clear(),
            1 => text.push(' '),
            2 => *text = text.to_uppercase(),
            3 => {
                let escaped: String = text.encode_utf16().map(|unit| format!("\\u{unit:04x}")).collect();
                *node = Node::Raw(format!("\"{escaped}\""));
            }
            _ => text.insert(0, 'x'),
        },
        _ => *node = value(dice, 1),
    }
}

/// Damage to the text of a body.
#[derive(Debug, Clone, Copy)]
pub enum Damage {
    Cut,
    Trailing,
    LoneSurrogate,
    NotANumber,
    Nested,
    Mark,
    TrailingComma,
    Empty,
    Control,
    Padded,
}

impl Damage {
    pub fn random(dice: &mut Dice) -> Self {
        dice.pick(&[
            Self::Cut,
            Self::Trailing,
            Self::LoneSurrogate,
            Self::NotANumber,
            Self::Nested,
            Self::Mark,
            Self::TrailingComma,
            Self::Empty,
            Self::Control,
            Self::Padded,
        ])
    }

    pub fn apply(self, text: String) -> String {
        let open = || text.strip_suffix('}').unwrap_or(&text).to_owned();
        match self {
            Self::Cut => {
                let mut at = text.len() / 2;
                while !text.is_char_boundary(at) {
                    at += 1;
                }
                text[..at].to_owned()
            }
            Self::Trailing => format!("{text} x"),
            Self::LoneSurrogate => open() + r#","x":"\ud83d"}"#,
            Self::NotANumber => open() + r#","x":NaN}"#,
            Self::Nested => open() + r#","x":"# + &"[".repeat(150) + &"]".repeat(150) + "}",
            Self::Mark => format!("\u{feff}{text}"),
            Self::TrailingComma => open() + ",}",
            Self::Empty => String::new(),
            Self::Control => open() + ",\"x\":\"\u{1}\"}",
            Self::Padded => format!("\n\t {text} \r\n"),
        }
    }
}

//! Makes a case small while what is interesting about it stays.

use crate::body::Node;

/// Reductions tried at most.
const MAX_TRIES: usize = 4000;

/// The smallest body found for which `keeps` still holds; it holds for `body`.
pub fn shrink(mut body: Node, keeps: impl Fn(&Node) -> bool) -> Node {
    let mut tries = 0;
    loop {
        let mut progress = false;
        let mut index = 0;
        while index < body.size() {
            let mut step = 0;
            while tries < MAX_TRIES {
                let mut candidate = body.clone();
                if !candidate.at_mut(index).is_some_and(|node| reduce(node, step)) {
                    break;
                }
                tries += 1;
                if candidate != body && keeps(&candidate) {
                    body = candidate;
                    progress = true;
                } else {
                    step += 1;
                }
            }
            index += 1;
        }
        if !progress || tries >= MAX_TRIES {
            return body;
        }
    }
}

/// Applies the `step`-th reduction to a node; false if there is none.
fn reduce(node: &mut Node, step: usize) -> bool {
    match node {
        Node::Array(items) if step < items.len() => drop(items.remove(step)),
        Node::Object(fields) if step < fields.len() => drop(fields.remove(step)),
        Node::String(text) => match step {
            0 if text.chars().count() > 1 => {
                let half = text.chars().count() / 2;
                *text = text.chars().take(half).collect();
            }
            1 if text.chars().count() > 1 => {
                let half = text.chars().count() / 2;
                *text = text.chars().skip(half).collect();
            }
            2 if text.chars().count() > 1 => *text = text.chars().skip(1).collect(),
            3 if text.chars().count() > 1 => {
                text.pop();
            }
            0..=3 => {}
            4 if text != "x" => *text = "x".to_owned(),
            _ => return false,
        },
        _ => return false,
    }
    true
}

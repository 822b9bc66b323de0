//! JSON text inside prompts: numbers and strings of all kinds, through tool schemas and call arguments, byte for
//! byte.

use deepseek_codec::protocol::Api;

use crate::body::Node;
use crate::generate::{Dice, json, text};
use crate::object;
use crate::outcome::Difference;
use crate::run::Sides;

/// Values in one request.
const BATCH: u64 = 50;

/// The totals of a corpus.
#[derive(Debug, Default)]
pub struct Corpus {
    pub values: u64,
    pub prompts: u64,
    pub differences: Vec<(String, Vec<Difference>)>,
}

/// Compares `count` values. Each appears in a schema and in arguments, for both models.
pub fn run(sides: &Sides, seed: u64, count: u64) -> Corpus {
    let mut corpus = Corpus::default();
    for batch in 0..count.div_ceil(BATCH) {
        let mut dice = Dice::of_case(seed, batch);
        let values: Vec<Node> = (0..BATCH).map(|_| value(&mut dice)).collect();
        corpus.values += BATCH;
        for model in ["deepseek-v4-pro", "deepseek-flash"] {
            let body = request(model, &values).text();
            let reference = sides.reference.run(Api::Chat, &body, false);
            let ours = sides.subject.strict(Api::Chat, &body, false);
            corpus.prompts += u64::from(reference.accepted().is_some());
            let differences = reference.differences(&ours);
            if !differences.is_empty() {
                corpus.differences.push((body, differences));
            }
        }
    }
    corpus
}

fn value(dice: &mut Dice) -> Node {
    match dice.weighted(&[(12, 0), (6, 1), (2, 2)]) {
        0 => Node::Number(text::number_text(dice)),
        1 => Node::String(text::text(dice)),
        _ => json::value(dice, 3),
    }
}

/// A request with every value in a tool's schema, in the text of arguments as it is written, and in arguments
/// with a key of its own.
fn request(model: &str, values: &[Node]) -> Node {
    let list = Node::Array(values.to_vec());
    let named =
        values.iter().enumerate().map(|(index, value)| (format!("v{index}"), value.clone())).collect();
    let call = |id: &str, arguments: Node| {
        object! {
            "id": id, "type": "function", "function": object! { "name": "f", "arguments": arguments.text() }
        }
    };
    let calls = vec![call("a", Node::Object(named)), call("b", object! { "list": list.clone() })];
    let result = |id: &str| object! { "role": "tool", "tool_call_id": id, "content": "ok" };
    object! {
        "model": model,
        "messages": vec![
            object! { "role": "assistant", "content": "", "tool_calls": calls },
            result("a"),
            result("b"),
        ],
        "tools": vec![object! {
            "type": "function",
            "function": object! { "name": "f", "parameters": object! { "type": "object", "examples": list } },
        }],
    }
}

//! The request generator. A case follows from a seed and its number alone.

mod chat;
mod dice;
mod image;
pub mod json;
mod messages;
mod mutate;
mod response_tools;
mod responses;
pub mod text;

use deepseek_codec::protocol::Api;

use crate::body::Node;

pub use dice::Dice;

/// One generated request.
#[derive(Debug, Clone)]
pub struct Case {
    pub number: u64,
    pub api: Api,
    /// The body as a tree; `damage` may change its text.
    pub body: Node,
    /// Damage to the JSON text itself, after the body is written.
    pub damage: Option<mutate::Damage>,
}

impl Case {
    /// The request body.
    pub fn text(&self) -> String {
        let text = self.body.text();
        match self.damage {
            Some(damage) => damage.apply(text),
            None => text,
        }
    }
}

/// The case of a number under a seed.
pub fn case(seed: u64, number: u64) -> Case {
    let mut dice = Dice::of_case(seed, number);
    let api = Api::ALL[(number % 3) as usize];
    let mut body = match api {
        Api::Chat => chat::request(&mut dice),
        Api::Responses => responses::request(&mut dice),
        Api::Messages => messages::request(&mut dice),
    };
    let mut damage = None;
    if dice.faulty() {
        if dice.chance(0.12) {
            mutate::mutate(&mut body, &mut dice);
        }
        if dice.chance(0.01) {
            damage = Some(mutate::Damage::random(&mut dice));
        }
    }
    Case { number, api, body, damage }
}

/// A model name: official ones and aliases alike.
fn model(dice: &mut Dice) -> Node {
    if dice.fault("model") {
        return Node::from(dice.pick(&[
            "",
            "gpt-5",
            "claude-sonnet-4-5",
            "deepseek-chat",
            "DeepSeek-v4-pro",
            "deepseek-v4-pro ",
            "deepseek-reasoner",
            "深度求索",
            "a\"b\n",
        ]));
    }
    (dice.pick(&[
        "deepseek-v4-pro",
        "deepseek-v4-pro",
        "DeepSeek-V4-Pro",
        "deepseek-v4.1-flash",
        "deepseek-flash",
        "DeepSeek-V4.1-Flash",
    ]))
    .into()
}

/// Adds an optional field: usually absent, now and then null, which means the same.
fn optional(
    body: &mut Node,
    dice: &mut Dice,
    probability: f64,
    key: &str,
    make: impl FnOnce(&mut Dice) -> Node,
) {
    // Faults sit inside optional fields, so faulty cases have more of them.
    let probability =
        if dice.faulty() && probability > 0.1 { f64::max(probability, 0.4) } else { probability };
    if dice.chance(probability) {
        let value = if dice.chance(0.06) { Node::Null } else { make(dice) };
        body.set(key, value);
    } else if dice.fault("wrong type") && dice.chance(0.2) {
        body.set(key, json::value(dice, 1));
    }
}

fn number(text: &str) -> Node {
    Node::Number(text.to_owned())
}

fn temperature(dice: &mut Dice) -> Node {
    if dice.fault("temperature") {
        return number(dice.pick(&[
            "-0.1",
            "2.1",
            "1e30",
            "-1",
            "2.0000001",
            "2.0000002",
            "1e39",
            "-1e-300",
            "\"1\"",
            "true",
        ]));
    }
    number(dice.pick(&[
        "0",
        "0.0",
        "-0.0",
        "0.7",
        "1",
        "1.0",
        "2",
        "1.5",
        "1e-45",
        "0.1",
        "1.9999999",
        "0.30000001192092896",
    ]))
}

fn top_p(dice: &mut Dice) -> Node {
    if dice.fault("top_p") {
        return number(dice.pick(&[
            "0",
            "-0.5",
            "1.5",
            "0.0",
            "1.0000001",
            "1.00000001",
            "1e-46",
            "1e-300",
            "null",
            "\"0.5\"",
        ]));
    }
    number(dice.pick(&[
        "0.1",
        "0.5",
        "0.9",
        "0.94",
        "0.95",
        "0.96",
        "1",
        "1.0",
        "1e-30",
        "0.949999999",
        "0.99999999",
    ]))
}

fn max_tokens(dice: &mut Dice) -> Node {
    if dice.fault("max_tokens") {
        return number(dice.pick(&[
            "0",
            "393217",
            "4294967295",
            "4294967296",
            "-1",
            "1.0",
            "1e3",
            "100.5",
            "\"100\"",
        ]));
    }
    number(dice.pick(&["1", "16", "1024", "4096", "8192", "65536", "393216"]))
}

fn top_logprobs(dice: &mut Dice) -> Node {
    if dice.fault("top_logprobs") {
        return number(dice.pick(&["21", "255", "256", "-1", "1.0", "\"5\"", "true"]));
    }
    number(dice.pick(&["0", "1", "5", "20"]))
}

fn effort(dice: &mut Dice) -> Node {
    if dice.fault("effort") {
        return Node::Raw(
            (dice.pick(&[
                "\"extreme\"",
                "50",
                "1",
                "100",
                "0",
                "101",
                "\"High\"",
                "\"\"",
                "[]",
                "{}",
                "true",
                "\"50\"",
            ]))
            .to_owned(),
        );
    }
    (dice.pick(&["none", "minimal", "low", "medium", "high", "xhigh", "ultra", "max"])).into()
}

fn thinking(dice: &mut Dice) -> Node {
    let kind = if dice.fault("thinking") {
        dice.pick(&["auto", "on", "", "Enabled"])
    } else {
        dice.pick(&["enabled", "disabled", "adaptive"])
    };
    let mut thinking = crate::object! { "type": kind };
    if dice.chance(0.3) {
        let budget = if dice.fault("budget") {
            dice.pick(&["-1", "1.5", "\"9\"", "1e3"])
        } else {
            dice.pick(&["1024", "0", "null"])
        };
        thinking.set("budget_tokens", number(budget));
    }
    if dice.chance(0.1) {
        thinking.set("display", "summarized");
    }
    thinking
}

/// A boolean field's value, sometimes something else.
fn boolean(dice: &mut Dice) -> Node {
    if dice.fault("boolean") {
        return Node::Raw((dice.pick(&["\"true\"", "1", "0", "[]", "{}"])).to_owned());
    }
    Node::Bool(dice.chance(0.6))
}

/// Puts the ids of results in any order, now and then with one that is missing, `unknown` or repeated.
fn disorder(ids: &mut Vec<String>, dice: &mut Dice, unknown: &str) {
    while ids.len() > 1 && dice.chance(0.4) {
        let at = dice.below(ids.len());
        let id = ids.remove(at);
        ids.push(id);
    }
    if dice.fault("result ids") {
        let at = dice.below(ids.len());
        match dice.below(4) {
            0 => drop(ids.remove(at)),
            1 => ids[at] = unknown.to_owned(),
            2 => ids[at] = ids[0].clone(),
            _ => ids.push(ids[at].clone()),
        }
    }
}

/// Fields that no API of the three defines, or that the conversion ignores.
fn ignored_fields(body: &mut Node, dice: &mut Dice, names: &[&str]) {
    for name in names {
        if dice.chance(0.04) {
            body.set(name, json::value(dice, 1));
        }
    }
}

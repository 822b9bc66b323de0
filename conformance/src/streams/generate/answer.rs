//! What a model writes.

use deepseek_codec::token::Special;
use serde_json::{Value, json};

use super::request::{Setting, tool_names};
use super::{Mended, joined};
use crate::generate::Dice;
use crate::streams::{Arrival, Unit};

/// An answer as the model means it.
#[derive(Debug, Clone)]
pub struct Answer {
    reasoning: Option<Vec<Unit>>,
    content: Vec<Unit>,
    /// What stands in front of a JSON answer, and behind it.
    around: (String, String),
    calls: Vec<Call>,
    /// Whether the block is open already.
    in_block: bool,
    /// Whether names of tags have a space in front, and the block a short name.
    is_spaced: bool,
    fault: Option<(Fault, usize)>,
}

#[derive(Debug, Clone)]
struct Call {
    name: String,
    parameters: Vec<Parameter>,
}

#[derive(Debug, Clone)]
struct Parameter {
    name: String,
    is_string: bool,
    value: Vec<Unit>,
}

/// A fault whose mended form is known.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Fault {
    ArgumentName,
    CallsWithoutTools,
    DoubledClose,
    InvalidJson,
    JsonBody,
    MissingBlock,
    MissingCallClose,
    MissingClose,
    SecondBlock,
    StraySpecial,
    TextAroundJson,
    Untyped,
}

impl Fault {
    /// All of them, with the id of the divergence that each shows, and whether it is one of calls.
    const TABLE: [(Self, &'static str, bool); 12] = [
        (Self::ArgumentName, "argument-name", true),
        (Self::CallsWithoutTools, "calls-without-tools", false),
        (Self::DoubledClose, "doubled-close", true),
        (Self::InvalidJson, "invalid-json", true),
        (Self::JsonBody, "json-body", true),
        (Self::MissingBlock, "missing-block", true),
        (Self::MissingCallClose, "missing-call-close", true),
        (Self::MissingClose, "missing-close", true),
        (Self::SecondBlock, "second-block", true),
        (Self::StraySpecial, "stray-special", false),
        (Self::TextAroundJson, "text-around-json", false),
        (Self::Untyped, "untyped-parameter", true),
    ];

    /// The ids of all.
    pub fn ids() -> impl Iterator<Item = &'static str> {
        Self::TABLE.iter().map(|(_, id, _)| *id)
    }

    fn in_calls() -> Vec<Self> {
        Self::TABLE.iter().filter(|(.., in_calls)| *in_calls).map(|(fault, ..)| *fault).collect()
    }

    /// The id of the divergence that it shows.
    pub fn id(self) -> &'static str {
        Self::TABLE.iter().find(|(fault, ..)| *fault == self).map_or("", |(_, id, _)| id)
    }
}

impl Answer {
    pub fn random(setting: &Setting, arrival: Arrival, dice: &mut Dice) -> Self {
        let reasons = setting.thinks && setting.continued != Some("content");
        let reasoning = reasons.then(|| text(arrival, 3, dice));
        let mut content = if dice.chance(0.85) { text(arrival, 4, dice) } else { Vec::new() };
        if setting.json {
            content = vec![Unit::Text(json_object(dice, 3).to_string())];
        }
        let mut calls = Vec::new();
        if setting.in_block || (setting.tools && dice.chance(0.6)) {
            for _ in 0..dice.weighted(&[(6, 1), (3, 2), (1, 4)]) {
                calls.push(call(setting, arrival, dice));
            }
        }
        if setting.in_block {
            content.clear();
        }
        Self {
            reasoning,
            content,
            around: (String::new(), String::new()),
            calls,
            in_block: setting.in_block,
            is_spaced: dice.chance(0.5),
            fault: None,
        }
    }

    /// The answer's stretches of text between special tokens.
    pub fn content_texts(&self) -> Vec<&str> {
        let text = |unit| match unit {
            &Unit::Text(ref text) if !text.is_empty() => Some(text.as_str()),
            _ => None,
        };
        self.content.iter().filter_map(text).collect()
    }

    /// Puts a fault in, if there is one that fits.
    pub fn damage(&mut self, setting: &Setting, dice: &mut Dice) -> Option<Mended> {
        let mut whole = self.write();
        let plain = |output| Mended { fault: Fault::JsonBody, output };
        if setting.json {
            const FRONT: [&str; 5] =
                ["Sure:\n", "```json\n", " ", "Here is the JSON: ```\n", "\nOf course.\n\n"];
            const BACK: [&str; 5] = ["\n```", "\n```\n", "\n", " Done.", "\n```\n\nIs that right?"];
            self.around = (dice.pick(&FRONT).to_owned(), dice.pick(&BACK).to_owned());
            return Some(Mended { fault: Fault::TextAroundJson, ..plain(whole) });
        }
        if !setting.tools && dice.chance(0.5) {
            self.calls = vec![call(setting, Arrival::Tokens, dice)];
            // The line ends in front of a block belong to it.
            if let Some(Unit::Text(text)) = whole.last_mut() {
                text.truncate(text.trim_end_matches('\n').len());
            }
            return Some(Mended { fault: Fault::CallsWithoutTools, ..plain(whole) });
        }
        if self.calls.is_empty() || dice.chance(0.1) {
            return self.stray_special(dice).then(|| Mended { fault: Fault::StraySpecial, ..plain(whole) });
        }
        let index = dice.below(self.calls.len());
        let is_last = index + 1 == self.calls.len();
        let fault = dice.pick(&Fault::in_calls());
        let call = &mut self.calls[index];
        let has_plain_values = call
            .parameters
            .iter()
            .all(|parameter| parameter.value.iter().all(|unit| matches!(unit, Unit::Text(_))));
        let mut output = whole;
        match fault {
            Fault::ArgumentName => {
                let name = dice.pick(&["", "a b", "two  words ", "back\\slash", "tab\tname", "line\nend"]);
                name.clone_into(&mut call.parameters.first_mut()?.name);
                // Names are put back behind the reference.
                output = self.write();
            }
            Fault::InvalidJson => {
                let parameter = call.parameters.first_mut()?;
                let value = dice.pick(&["no JSON", "{'a': 1}", "[1, 2", "True", "01", "\"open", "1 2"]);
                parameter.value = vec![Unit::Text(value.to_owned())];
                parameter.is_string = true;
                output = self.write();
                self.calls[index].parameters[0].is_string = false;
            }
            Fault::Untyped if has_plain_values => {
                let parameter = call.parameters.first_mut()?;
                let value: String = parameter.value.iter().map(Unit::spelling).collect();
                parameter.is_string = serde_json::from_str::<Value>(&value).is_err();
                output = self.write();
            }
            Fault::JsonBody if has_plain_values && !call.parameters.is_empty() => {}
            Fault::DoubledClose | Fault::MissingClose if !call.parameters.is_empty() => {}
            Fault::SecondBlock if index > 0 => {}
            Fault::MissingBlock if !self.in_block => {}
            Fault::MissingCallClose if !is_last => {}
            _ => return None,
        }
        self.fault = Some((fault, index));
        Some(Mended { fault, output })
    }

    /// Puts a special token into the answer, away from line ends and what may begin a tag.
    fn stray_special(&mut self, dice: &mut Dice) -> bool {
        let Some(Unit::Text(text)) = self.content.first_mut() else { return false };
        let characters: Vec<(usize, char)> = text.char_indices().collect();
        let is_plain = |c: char| !matches!(c, '\n' | '<' | '/' | '｜');
        let places: Vec<usize> = characters
            .windows(2)
            .filter(|pair| is_plain(pair[0].1) && is_plain(pair[1].1))
            .map(|pair| pair[1].0)
            .collect();
        if places.is_empty() {
            return false;
        }
        let rest = text.split_off(dice.pick(&places));
        let special = dice.pick(&[Special::User, Special::Assistant, Special::Bos, Special::ThinkStart]);
        self.content.splice(1..1, [Unit::Special(special), Unit::Text(rest)]);
        true
    }

    /// The output.
    pub fn write(&self) -> Vec<Unit> {
        let mut output = Vec::new();
        if let Some(reasoning) = &self.reasoning {
            output.extend(reasoning.iter().cloned());
            output.push(Unit::Special(Special::ThinkEnd));
        }
        output.push(Unit::Text(self.around.0.clone()));
        output.extend(self.content.iter().cloned());
        output.push(Unit::Text(self.around.1.clone()));
        if !self.calls.is_empty() {
            self.write_calls(&mut output);
        }
        joined(output)
    }

    fn write_calls(&self, output: &mut Vec<Unit>) {
        let (block, space) = if self.is_spaced { (" calls", " ") } else { ("tool_calls", "") };
        let has_block = !matches!(self.fault, Some((Fault::MissingBlock, _)));
        if !self.in_block && has_block {
            tag(output, "\n\n<", block, ">\n");
        }
        for (index, call) in self.calls.iter().enumerate() {
            let fault = self.fault.filter(|(_, at)| *at == index).map(|(fault, _)| fault);
            if fault == Some(Fault::SecondBlock) {
                tag(output, "</", block, ">\n\n");
                tag(output, "<", block, ">\n");
            }
            call.write(fault, space, output);
        }
        if has_block {
            tag(output, "</", block, ">");
        }
    }
}

impl Call {
    fn write(&self, fault: Option<Fault>, space: &str, output: &mut Vec<Unit>) {
        let (invoke, parameter_tag) = (format!("{space}invoke"), format!("{space}parameter"));
        tag(output, "<", &invoke, &format!(" name=\"{}\">\n", self.name));
        if fault == Some(Fault::JsonBody) {
            output.push(Unit::Text(self.arguments()));
        } else {
            for (number, parameter) in self.parameters.iter().enumerate() {
                let fault = fault.filter(|_| number == 0);
                let mut attributes =
                    format!(" name=\"{}\" string=\"{}\">", parameter.name, parameter.is_string);
                if fault == Some(Fault::Untyped) {
                    attributes = format!(" name=\"{}\">", parameter.name);
                }
                tag(output, "<", &parameter_tag, &attributes);
                output.extend(parameter.value.iter().cloned());
                if fault == Some(Fault::MissingClose) {
                    output.push(Unit::Text("\n".to_owned()));
                    continue;
                }
                tag(output, "</", &parameter_tag, ">\n");
                if fault == Some(Fault::DoubledClose) {
                    tag(output, "</", &parameter_tag, ">\n");
                }
            }
        }
        if fault != Some(Fault::MissingCallClose) {
            tag(output, "</", &invoke, ">\n");
        }
    }

    /// The arguments as JSON, as they are put together from parameters.
    fn arguments(&self) -> String {
        let members: Vec<String> = self
            .parameters
            .iter()
            .map(|parameter| {
                let value: String = parameter.value.iter().map(Unit::spelling).collect();
                let value = if parameter.is_string { json!(value).to_string() } else { value };
                format!("{}: {value}", json!(parameter.name))
            })
            .collect();
        format!("{{{}}}", members.join(", "))
    }
}

fn tag(output: &mut Vec<Unit>, before: &str, name: &str, behind: &str) {
    output.push(Unit::Text(before.to_owned()));
    output.push(Unit::Special(Special::Dsml));
    output.push(Unit::Text(format!("{name}{behind}")));
}

fn call(setting: &Setting, arrival: Arrival, dice: &mut Dice) -> Call {
    const NAMES: [&str; 9] =
        ["path", "query", "a", "city", "max_results", "文件", "file-path", "input", "x.y"];
    let name = if dice.chance(0.05) { "no_such_tool" } else { dice.pick(tool_names(setting)) };
    let count = dice.weighted(&[(2, 0), (5, 1), (4, 2), (2, 4)]);
    let first = dice.below(NAMES.len());
    let parameter = |index: usize, dice: &mut Dice| {
        let is_string = dice.chance(0.7);
        let value =
            if is_string { value(arrival, dice) } else { vec![Unit::Text(json_value(dice, 3).to_string())] };
        Parameter { name: NAMES[(first + index) % NAMES.len()].to_owned(), is_string, value }
    };
    let mut parameters: Vec<Parameter> = (0..count).map(|index| parameter(index, dice)).collect();
    if name == "apply_patch" && dice.chance(0.8) {
        parameters.truncate(1);
        if let Some(parameter) = parameters.first_mut() {
            "input".clone_into(&mut parameter.name);
        }
    }
    Call { name: name.to_owned(), parameters }
}

/// Words, symbols and line ends, with what looks like markup.
fn text(arrival: Arrival, longest: usize, dice: &mut Dice) -> Vec<Unit> {
    const WORDS: [&str; 28] = [
        "I",
        "will",
        "look",
        "at",
        "the",
        "weather",
        "in",
        "Zürich",
        "for",
        "you",
        "now.",
        "天气很好。",
        "今天",
        "🦩",
        "e\u{301}",
        "x < y",
        "a</b>",
        "<div>",
        "`code`",
        "{\"a\": 1}",
        "[0]",
        "1,234.5",
        "\\n",
        "—",
        "invoke name=\"f\"",
        "<｜",
        "ok",
        "\u{7}",
    ];
    const ENDS: [&str; 5] = ["\n", "\n\n", "\n- ", "\n    ", "\r\n"];
    let mut units = Vec::new();
    let mut text = if dice.chance(0.15) { "\n\n".to_owned() } else { String::new() };
    for _ in 0..dice.between(0, longest * 8) {
        if dice.chance(0.12) {
            text.push_str(dice.pick(&ENDS));
        } else {
            text.push_str(dice.pick(&WORDS));
            if dice.chance(0.8) {
                text.push(' ');
            }
        }
        if dice.chance(0.01) {
            units.push(Unit::Text(std::mem::take(&mut text)));
            let grounding = [Special::Ref, Special::RefEnd, Special::Box, Special::BoxEnd];
            units.push(Unit::Special(dice.pick(&grounding)));
        }
        // With token borders, a spelling is not a token.
        if arrival == Arrival::Tokens && dice.chance(0.01) {
            text.push_str(dice.pick(&[
                "</think>",
                "<｜DSML｜tool_calls>",
                "</｜DSML｜invoke>",
                "<｜User｜>",
            ]));
        }
    }
    if dice.chance(0.15) {
        text.push_str(dice.pick(&["\n", "\n\n\n", "<", "</", "\n<"]));
    }
    units.push(Unit::Text(text));
    units
}

fn value(arrival: Arrival, dice: &mut Dice) -> Vec<Unit> {
    const VALUES: [&str; 12] = [
        "",
        "Paris",
        "/tmp/a b.txt",
        "a\tb",
        "\"quoted\" \\ text",
        "12",
        "{\"a\": [1, 2]}",
        "</x>\n",
        "line\n\nline\n",
        "\u{1}\u{1f}\u{7f}",
        "日本語",
        "</parameter>\n</invoke>",
    ];
    match dice.below(4) {
        0 => text(arrival, 2, dice),
        // A file about prompts, as text without token borders.
        1 if arrival == Arrival::Text && dice.chance(0.2) => {
            vec![Unit::Text("strip </think> and <｜User｜> here".to_owned())]
        }
        _ => vec![Unit::Text(dice.pick(&VALUES).to_owned())],
    }
}

fn json_object(dice: &mut Dice, depth: usize) -> Value {
    const KEYS: [&str; 6] = ["name", "items", "x", "größe", "a b", "\"q\""];
    (0..dice.between(0, 4)).map(|_| (dice.pick(&KEYS).to_owned(), json_value(dice, depth - 1))).collect()
}

fn json_value(dice: &mut Dice, depth: usize) -> Value {
    let kinds = if depth > 1 { 7 } else { 5 };
    match dice.below(kinds) {
        0 => Value::Null,
        1 => dice.chance(0.5).into(),
        2 => json!(dice.between(0, 1_000_000)),
        3 => json!(dice.between(0, 1000) as f64 / 8.0 - 50.0),
        4 => dice.pick(&["", "text", "a \"b\" } ]", "é\n", "🦩<"]).into(),
        5 => (0..dice.between(0, 3)).map(|_| json_value(dice, depth - 1)).collect(),
        _ => json_object(dice, depth),
    }
}

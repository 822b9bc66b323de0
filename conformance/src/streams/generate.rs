//! Makes cases: mostly what a model writes, and cut off anywhere; some with a fault whose mended form is known; some
//! damaged at random.

mod answer;
mod request;

use deepseek_codec::output::Finish;
use deepseek_codec::protocol::Api;
use deepseek_codec::token::Special;

pub use answer::Fault;

use super::{Arrival, Input, Unit, units};
use crate::generate::Dice;
use answer::Answer;

/// A generated case.
#[derive(Debug, Clone)]
pub struct Case {
    pub number: u64,
    pub input: Input,
    pub class: Class,
    /// For an output with a fault on purpose: which one, and the output that says the same without it.
    pub mended: Option<Mended>,
}

/// How an output was made.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Class {
    WellFormed,
    CutOff,
    Faulty,
    Mutated,
}

impl Class {
    pub fn name(self) -> &'static str {
        match self {
            Self::WellFormed => "well-formed",
            Self::CutOff => "cut off",
            Self::Faulty => "faulty",
            Self::Mutated => "mutated",
        }
    }
}

/// What an output with a fault is taken for.
#[derive(Debug, Clone)]
pub struct Mended {
    pub fault: Fault,
    pub output: Vec<Unit>,
}

/// The case of a number under a seed.
pub fn case(seed: u64, number: u64) -> Case {
    let mut dice = Dice::of_case(seed ^ 0x5eed_0f00, number);
    let api = Api::ALL[(number % 3) as usize];
    let class = dice.weighted(&[
        (50, Class::WellFormed),
        (30, Class::CutOff),
        (10, Class::Faulty),
        (10, Class::Mutated),
    ]);
    let setting = request::Setting::random(api, &mut dice);
    let arrival = dice.pick(&[Arrival::Text, Arrival::Tokens]);
    let mut answer = Answer::random(&setting, arrival, &mut dice);
    let mut mended = None;
    if class == Class::Faulty {
        mended = answer.damage(&setting, &mut dice);
    }
    let mut stops = request::stops(api, &setting, &answer, &mut dice);
    if mended.as_ref().is_some_and(|mended| mended.fault == Fault::CallsWithoutTools) {
        // The reference would look for them in the markup that it shows.
        stops.clear();
    }
    let mut output = answer.write();
    match class {
        Class::CutOff => output = cut_off(output, arrival, &mut dice),
        Class::Mutated => output = mutated(output, arrival, &mut dice),
        Class::WellFormed | Class::Faulty => {}
    }
    if arrival == Arrival::Text {
        // Nothing else than the spelling says what a special token is.
        output = units(&output.iter().map(Unit::spelling).collect::<String>());
    }
    let finish = dice.weighted(match class {
        Class::CutOff => {
            &[(7, Finish::Length), (1, Finish::Stop), (1, Finish::ContentFilter), (1, Finish::Unknown)]
        }
        _ => &[(40, Finish::Stop), (3, Finish::Length), (3, Finish::ContentFilter), (1, Finish::Unknown)],
    });
    let request = setting.request(&stops);
    let input = Input { api, request, output, arrival, cuts: dice.bits(), finish };
    Case { number, input, class, mended }
}

/// The output up to any character, or in text any character of a special token's spelling.
fn cut_off(output: Vec<Unit>, arrival: Arrival, dice: &mut Dice) -> Vec<Unit> {
    let text: String = output.iter().map(Unit::spelling).collect();
    if text.is_empty() {
        return output;
    }
    let at = dice.below(text.len());
    let at = (0..=at).rev().find(|&at| text.is_char_boundary(at)).unwrap_or(0);
    match arrival {
        Arrival::Text => units(&text[..at]),
        Arrival::Tokens => {
            let whole = Input {
                api: Api::Chat,
                request: serde_json::Value::Null,
                output,
                arrival,
                cuts: 0,
                finish: Finish::Stop,
            };
            whole.prefix(at).output
        }
    }
}

/// One or two edits anywhere.
fn mutated(mut output: Vec<Unit>, arrival: Arrival, dice: &mut Dice) -> Vec<Unit> {
    const SPECIALS: [Special; 5] =
        [Special::Dsml, Special::ThinkEnd, Special::User, Special::Ref, Special::BoxEnd];
    const CHARACTERS: [&str; 14] =
        ["\n", "\n\n", "<", "</", ">", "\"", "\\", "{", "}", "｜", "a", " ", "é", "invoke name=\""];
    for _ in 0..dice.between(1, 2) {
        if output.is_empty() {
            break;
        }
        let index = dice.below(output.len());
        match dice.below(5) {
            0 => drop(output.remove(index)),
            1 => output.insert(index, output[index].clone()),
            2 => output.insert(index, Unit::Special(dice.pick(&SPECIALS))),
            edit => {
                let Unit::Text(text) = &mut output[index] else { continue };
                let places: Vec<usize> = text.char_indices().map(|(at, _)| at).collect();
                if places.is_empty() {
                    continue;
                }
                let at = dice.pick(&places);
                if edit == 3 {
                    text.remove(at);
                } else {
                    text.insert_str(at, dice.pick(&CHARACTERS));
                }
            }
        }
        if arrival == Arrival::Text {
            output = units(&output.iter().map(Unit::spelling).collect::<String>());
        }
    }
    joined(output)
}

/// The same output without empty or adjacent texts.
pub fn joined(output: Vec<Unit>) -> Vec<Unit> {
    let mut joined: Vec<Unit> = Vec::with_capacity(output.len());
    for unit in output {
        match (joined.last_mut(), unit) {
            (_, Unit::Text(text)) if text.is_empty() => {}
            (Some(Unit::Text(before)), Unit::Text(text)) => before.push_str(&text),
            (_, unit) => joined.push(unit),
        }
    }
    joined
}

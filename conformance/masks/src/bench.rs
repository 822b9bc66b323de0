//! Figures of both libraries: the same schemas and instances, one thread, one run.
//!
//! A round makes both environments anew, compiles every schema and walks every instance with a mask at each token.
//! Each time is the least of the rounds, so that other work on the machine counts little, and what is first visited
//! in a process is first visited in each round.

use std::collections::BTreeMap;
use std::time::{Duration, Instant};

use deepseek_codec::grammar::{Layout, is_allowed};
use deepseek_codec::json::{Json, Style};
use deepseek_codec::token::TokenId;

use crate::jobs::Job;
use crate::llguidance_side as theirs;
use crate::sides::{Masks, validator};

/// The times of one side, each with its place, the least of the rounds.
#[derive(Default)]
struct Times {
    environment: Vec<Duration>,
    /// Resident memory that the environment adds, in KB.
    memory: Option<u64>,
    compile: BTreeMap<usize, Duration>,
    mask: BTreeMap<(usize, usize, usize), Duration>,
    accept: BTreeMap<(usize, usize, usize), Duration>,
    refused: BTreeMap<String, usize>,
    valid_rejected: Vec<String>,
    invalid_accepted: Vec<String>,
    verdicts: usize,
}

/// One instance as tokens.
struct Text {
    tokens: Vec<TokenId>,
    valid: bool,
    /// Whether the file's label and `jsonschema` agree; no verdict is counted on others.
    agreed: bool,
    text: String,
}

pub fn run(jobs: &[Job], rounds: usize) {
    let first = Masks::new();
    let texts: Vec<Vec<Text>> = jobs.iter().map(|job| texts(&first, job)).collect();
    drop(first);
    let (mut ours, mut other) = (Times::default(), Times::default());
    for round in 0..rounds {
        round_ours(jobs, &texts, &mut ours, round == 0);
        round_theirs(jobs, &texts, &mut other, round == 0);
        eprintln!("round {} of {rounds}", round + 1);
    }
    let instances = || texts.iter().flatten();
    let doubtful = instances().filter(|text| !text.agreed).count();
    println!("{} schemas, {} instances", jobs.len(), instances().count());
    println!("on {doubtful} of them the file and jsonschema differ: no verdict on these is counted\n");
    println!("| | deepseek-codec | llguidance |\n| --- | --- | --- |");
    row(
        "compiled",
        [&ours, &other].map(|times| {
            format!(
                "{} ({:.1} %)",
                times.compile.len(),
                100.0 * times.compile.len() as f64 / jobs.len() as f64
            )
        }),
    );
    row(
        "valid rejected / invalid accepted",
        [&ours, &other].map(|times| {
            format!("{} / {} of {}", times.valid_rejected.len(), times.invalid_accepted.len(), times.verdicts)
        }),
    );
    row(
        "compile p50 / p99 / max, µs",
        [&ours, &other].map(|times| quantiles(times.compile.values(), &[0.5, 0.99, 1.0])),
    );
    row(
        "mask p50 / p90 / p99 / p99.9 / max, µs",
        [&ours, &other].map(|times| quantiles(times.mask.values(), &[0.5, 0.9, 0.99, 0.999, 1.0])),
    );
    row("masks", [&ours, &other].map(|times| times.mask.len().to_string()));
    row(
        "accept p50 / p99 / max, µs",
        [&ours, &other].map(|times| quantiles(times.accept.values(), &[0.5, 0.99, 1.0])),
    );
    row(
        "environment, ms",
        [&ours, &other].map(|times| {
            times
                .environment
                .iter()
                .min()
                .map_or(String::new(), |time| format!("{:.0}", time.as_secs_f64() * 1e3))
        }),
    );
    row(
        "environment, MB resident",
        [&ours, &other].map(|times| {
            times.memory.map_or(String::new(), |memory| format!("{:.0}", memory as f64 / 1024.0))
        }),
    );
    on_shared(&ours, &other);
    agreement(jobs, &texts);
    for (name, times) in [("deepseek-codec", &ours), ("llguidance", &other)] {
        println!("\n{name}");
        let mut refused: Vec<_> = times.refused.iter().collect();
        refused.sort_by_key(|(_, count)| std::cmp::Reverse(**count));
        refused.iter().take(20).for_each(|(why, count)| println!("  refused {count}: {why}"));
        times.valid_rejected.iter().take(10).for_each(|text| println!("  valid, rejected: {text}"));
        times.invalid_accepted.iter().take(10).for_each(|text| println!("  invalid, accepted: {text}"));
        slowest("compile", times.compile.iter().map(|(job, time)| (jobs[*job].id.clone(), *time)));
        slowest(
            "mask",
            times.mask.iter().map(|((job, text, at), time)| {
                let before: String = texts[*job][*text].text.chars().take(60).collect();
                (format!("{} token {at} of {before}", jobs[*job].id), *time)
            }),
        );
        slowest(
            "accept",
            times
                .accept
                .iter()
                .map(|((job, text, at), time)| (format!("{} test {text} token {at}", jobs[*job].id), *time)),
        );
    }
}

/// The instances with their verdict by `jsonschema`, in the key order of the file.
fn texts(masks: &Masks, job: &Job) -> Vec<Text> {
    let validator = validator(&job.schema);
    job.tests
        .iter()
        .map(|test| {
            let text = Json::from(test.data.clone()).text(Style::Spaced).to_string();
            let valid = match &validator {
                Some(validator) => crate::sides::is_valid(validator, &test.data),
                None => test.valid,
            };
            Text { tokens: masks.tokenizer.encode_text(&text), valid, agreed: valid == test.valid, text }
        })
        .collect()
}

fn least<K: Ord>(times: &mut BTreeMap<K, Duration>, key: K, time: Duration) {
    times.entry(key).and_modify(|known| *known = time.min(*known)).or_insert(time);
}

fn resident() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:"));
    line.and_then(|line| line.trim().split(' ').next()?.parse().ok()).unwrap_or(0)
}

fn round_ours(jobs: &[Job], texts: &[Vec<Text>], times: &mut Times, first: bool) {
    let tokenizer = deepseek_codec::model::PROFILES[deepseek_codec::model::PROFILES.len() - 1].tokenizer();
    let before = resident();
    let begun = Instant::now();
    let compiler = deepseek_codec::grammar::Compiler::new(&tokenizer);
    times.environment.push(begun.elapsed());
    if first {
        times.memory = Some(resident().saturating_sub(before));
    }
    let masks = Masks { bytes: Vec::new(), compiler, tokenizer };
    let mut mask = vec![0; masks.compiler.mask_words()];
    for (job, texts) in texts.iter().enumerate() {
        let schema = Json::from(jobs[job].schema.clone());
        let begun = Instant::now();
        let compiled = masks.compile_json(&schema, Layout::default());
        let took = begun.elapsed();
        let compiled = match compiled {
            Ok(compiled) => compiled,
            Err(error) => {
                if first {
                    *times.refused.entry(error.to_string().chars().take(120).collect()).or_default() += 1;
                }
                continue;
            }
        };
        least(&mut times.compile, job, took);
        for (test, text) in texts.iter().enumerate() {
            let mut matcher = compiled.matcher();
            let mut accepted = true;
            for (at, token) in text.tokens.iter().enumerate() {
                let begun = Instant::now();
                matcher.fill_mask(&mut mask);
                least(&mut times.mask, (job, test, at), begun.elapsed());
                if !is_allowed(&mask, *token) {
                    accepted = false;
                    break;
                }
                let begun = Instant::now();
                accepted = matcher.accept(*token).is_ok();
                least(&mut times.accept, (job, test, at), begun.elapsed());
                if !accepted {
                    break;
                }
            }
            if first {
                times.verdict(&jobs[job].id, text, accepted && matcher.is_complete());
            }
        }
    }
}

fn round_theirs(jobs: &[Job], texts: &[Vec<Text>], times: &mut Times, first: bool) {
    let tokenizer = deepseek_codec::model::PROFILES[deepseek_codec::model::PROFILES.len() - 1].tokenizer();
    let before = resident();
    let begun = Instant::now();
    let factory = theirs::factory(&tokenizer);
    times.environment.push(begun.elapsed());
    if first {
        times.memory = Some(resident().saturating_sub(before));
    }
    for (job, texts) in texts.iter().enumerate() {
        let schema = jobs[job].schema.clone();
        let begun = Instant::now();
        let compiled = theirs::compile(&factory, schema);
        let took = begun.elapsed();
        let compiled = match compiled {
            Ok(compiled) => compiled,
            Err(error) => {
                if first {
                    let why = error.lines().next().unwrap_or_default();
                    *times.refused.entry(why.chars().take(120).collect()).or_default() += 1;
                }
                continue;
            }
        };
        least(&mut times.compile, job, took);
        for (test, text) in texts.iter().enumerate() {
            let mut matcher = compiled.clone();
            let mut accepted = true;
            for (at, token) in text.tokens.iter().enumerate() {
                let begun = Instant::now();
                let mask = matcher.compute_mask();
                least(&mut times.mask, (job, test, at), begun.elapsed());
                if !mask.is_ok_and(|mask| mask.is_allowed(token.0)) {
                    accepted = false;
                    break;
                }
                let begun = Instant::now();
                accepted = matcher.consume_token(token.0).is_ok();
                least(&mut times.accept, (job, test, at), begun.elapsed());
                if !accepted {
                    break;
                }
            }
            if first {
                let complete = accepted && matcher.is_accepting().unwrap_or(false);
                times.verdict(&jobs[job].id, text, complete);
            }
        }
    }
}

impl Times {
    fn verdict(&mut self, id: &str, text: &Text, accepted: bool) {
        if !text.agreed {
            return;
        }
        self.verdicts += 1;
        if accepted != text.valid {
            let list = if text.valid { &mut self.valid_rejected } else { &mut self.invalid_accepted };
            list.push(format!("{id}: {}", text.text.chars().take(300).collect::<String>()));
        }
    }
}

/// The times of the places that both sides came to.
fn on_shared(ours: &Times, other: &Times) {
    let shared = |times: &Times, than: &Times| {
        let both = times.mask.iter().filter(|(place, _)| than.mask.contains_key(place)).map(|(_, time)| time);
        quantiles(both, &[0.5, 0.9, 0.99, 0.999, 1.0])
    };
    row("mask, where both have one", [shared(ours, other), shared(other, ours)]);
}

/// Walks every valid instance on both sides at once.
fn agreement(jobs: &[Job], texts: &[Vec<Text>]) {
    let masks = Masks::new();
    let factory = theirs::factory(&masks.tokenizer);
    let mut mask = vec![0; masks.compiler.mask_words()];
    let (mut equal, mut more, mut fewer, mut crossed) = (0, 0, 0, 0);
    let mut examples = Vec::new();
    for (job, texts) in jobs.iter().zip(texts) {
        let (Ok(ours), Ok(other)) =
            (masks.compile(&job.schema), theirs::compile(&factory, job.schema.clone()))
        else {
            continue;
        };
        let mut shown = false;
        for text in texts.iter().filter(|text| text.valid) {
            let (mut ours, mut other) = (ours.matcher(), other.clone());
            for (at, token) in text.tokens.iter().enumerate() {
                ours.fill_mask(&mut mask);
                let Ok(their_mask) = other.compute_mask() else { break };
                let (mut only_ours, mut only_theirs) = (0, Vec::new());
                for id in 0..masks.tokenizer.len() as u32 {
                    match (is_allowed(&mask, TokenId(id)), their_mask.is_allowed(id)) {
                        (true, false) => only_ours += 1,
                        (false, true) => only_theirs.push(TokenId(id)),
                        _ => {}
                    }
                }
                match (only_ours > 0, !only_theirs.is_empty()) {
                    (false, false) => equal += 1,
                    (true, false) => more += 1,
                    (false, true) => fewer += 1,
                    (true, true) => crossed += 1,
                }
                if !only_theirs.is_empty() && !std::mem::replace(&mut shown, true) {
                    let tokens: Vec<String> =
                        only_theirs.iter().take(6).map(|id| masks.tokenizer.decode(&[*id])).collect();
                    let before = masks.tokenizer.decode(&text.tokens[at.saturating_sub(24)..at]);
                    let count = only_theirs.len();
                    examples.push(format!("{}: after {before}: {count} tokens {tokens:?}", job.id));
                }
                if ours.accept(*token).is_err() || other.consume_token(token.0).is_err() {
                    break;
                }
            }
        }
    }
    println!(
        "\nMasks along valid instances: {equal} equal, {more} allow more here, {fewer} allow more there,"
    );
    println!("{crossed} each allow something the other does not. Tokens that only llguidance allows:");
    examples.iter().take(40).for_each(|example| println!("  {example}"));
}

fn row(name: &str, [ours, other]: [String; 2]) {
    println!("| {name} | {ours} | {other} |");
}

fn quantiles<'t>(times: impl Iterator<Item = &'t Duration>, shares: &[f64]) -> String {
    let mut times: Vec<Duration> = times.copied().collect();
    times.sort_unstable();
    let at = |share: &f64| {
        let index = ((times.len() as f64 * share) as usize).min(times.len().saturating_sub(1));
        let micros = times.get(index).map_or(0.0, |time| time.as_nanos() as f64 / 1e3);
        if micros < 10.0 { format!("{micros:.2}") } else { format!("{micros:.0}") }
    };
    shares.iter().map(at).collect::<Vec<_>>().join(" / ")
}

fn slowest(what: &str, times: impl Iterator<Item = (String, Duration)>) {
    let mut times: Vec<_> = times.collect();
    times.sort_by_key(|(_, time)| std::cmp::Reverse(*time));
    for (place, time) in times.into_iter().take(8) {
        println!("  slow {what}: {} µs {place}", time.as_micros());
    }
}

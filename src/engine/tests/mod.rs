// The lint spares test functions, but not what they call.
#![allow(clippy::unwrap_used)]

mod batch;
mod drafts;
mod dreamer;

use std::convert::Infallible;
use std::ops::ControlFlow;
use std::sync::LazyLock;

use super::dice::Dice;
use super::*;
use crate::grammar::{Compiler, Layout};
use crate::json::Json;
use crate::model::PROFILES;
use crate::protocol::{Api, Options, lower};
use crate::tokenizer::Tokenizer;

static TOKENIZER: LazyLock<Tokenizer> = LazyLock::new(|| PROFILES[0].tokenizer());
static COMPILER: LazyLock<Compiler> = LazyLock::new(|| Compiler::new(&TOKENIZER));

/// Serves the model name `larger` by the model whose tokenizer is used here.
fn lowering() -> Options {
    Options::default().with_model("larger", PROFILES[0])
}

fn sampling(temperature: f32, top_p: f32) -> Sampling {
    Sampling {
        max_tokens: None,
        temperature,
        top_p,
        logprobs: true,
        top_logprobs: Some(2),
        seed: Some(1),
        n: 1,
    }
}

#[test]
fn a_mask_forbids_all_but_its_tokens() {
    let mut logits = vec![1.0; 70];
    LogitMask(&[0b101, u32::MAX]).apply(&mut logits);
    let allowed: Vec<usize> = (0..70).filter(|at| logits[*at] == 1.0).collect();
    assert_eq!(allowed, [0, 2].into_iter().chain(32..64).collect::<Vec<_>>());
    assert!(LogitMask(&[4]).allows(TokenId(2)) && !LogitMask(&[4]).allows(TokenId(99)));
}

#[test]
fn the_coldest_takes_the_first_of_the_best() {
    let logits = [0.5, 2.0, f32::NAN, 2.0, -1.0];
    let step = Sampler::new(&sampling(0.0, 1.0), 0).sample(&logits, None).unwrap();
    assert_eq!(step.id, TokenId(1));
    let step = Sampler::new(&sampling(0.0, 1.0), 0).sample(&logits, Some(LogitMask(&[0b11001]))).unwrap();
    assert_eq!(step.id, TokenId(3));
    // Log probabilities are the model's own, whatever the mask says.
    let step = Sampler::new(&sampling(0.0, 1.0), 0).sample(&logits, Some(LogitMask(&[0b1]))).unwrap();
    let logprob = step.logprob.unwrap();
    assert_eq!(logprob.top.iter().map(|(id, _)| id.0).collect::<Vec<_>>(), [1, 3]);
    let norm = (0.5_f32.exp() + 2.0 * 2.0_f32.exp() + (-1.0_f32).exp()).ln();
    assert!((logprob.logprob - (0.5 - norm)).abs() < 1e-5);
    assert!((logprob.top[0].1 - (2.0 - norm)).abs() < 1e-5);
}

#[test]
fn where_nothing_may_come_nothing_is_chosen() {
    let mut sampler = Sampler::new(&sampling(1.0, 1.0), 0);
    assert_eq!(sampler.sample(&[0.0; 40], Some(LogitMask(&[0, 0]))), None);
    assert_eq!(sampler.sample(&[f32::NEG_INFINITY, f32::NAN], None), None);
    assert_eq!(sampler.sample(&[], None), None);
    let certain = sampler.sample(&[0.0, f32::INFINITY], None).unwrap();
    assert_eq!((certain.id, certain.logprob.unwrap().logprob), (TokenId(1), 0.0));
    // What cannot come is no alternative.
    let only = sampler.sample(&[0.0, f32::NEG_INFINITY, f32::NAN], None).unwrap();
    assert_eq!(only.logprob.unwrap().top, [(TokenId(0), 0.0)]);
    assert!(LogitMask(&[0, 0]).is_empty() && !LogitMask(&[0, 8]).is_empty());
}

#[test]
fn tokens_are_drawn_as_often_as_they_are_likely() {
    // Probabilities 0.6, 0.3 and 0.1 at temperature 1.
    let logits = [0.6_f32.ln(), 0.1_f32.ln(), 0.3_f32.ln()];
    let shares = |temperature, top_p| {
        let mut sampler = Sampler::new(&sampling(temperature, top_p), 0);
        let mut drawn = [0.0; 3];
        for _ in 0..20_000 {
            drawn[sampler.sample(&logits, None).unwrap().id.index()] += 1.0 / 20_000.0;
        }
        drawn
    };
    let close = |shares: [f64; 3], wanted: [f64; 3]| {
        assert!(shares.iter().zip(wanted).all(|(a, b)| (a - b).abs() < 0.015), "{shares:?}, not {wanted:?}");
    };
    close(shares(1.0, 1.0), [0.6, 0.1, 0.3]);
    // Squares: 0.36, 0.01, 0.09.
    close(shares(0.5, 1.0), [0.36 / 0.46, 0.01 / 0.46, 0.09 / 0.46]);
    close(shares(1.0, 0.8), [2.0 / 3.0, 0.0, 1.0 / 3.0]);
    close(shares(1.0, 0.5), [1.0, 0.0, 0.0]);
}

#[test]
fn a_nucleus_is_that_of_a_whole_sort() {
    let mut dice = Dice(1);
    let logits: Vec<f32> = (0..3000).map(|_| dice.unit() as f32 * 9.0).collect();
    let mut sorted: Vec<f64> = logits.iter().map(|logit| f64::from(*logit).exp()).collect();
    sorted.sort_by(|a, b| b.total_cmp(a));
    let total: f64 = sorted.iter().sum();
    for top_p in [0.01_f32, 0.2, 0.7, 0.99] {
        let mut weight = 0.0;
        let kept = sorted.iter().take_while(|next| {
            let before = weight;
            weight += **next;
            before < f64::from(top_p) * total
        });
        let least = kept.last().unwrap().ln() - 1e-4;
        let mut sampler = Sampler::new(&sampling(1.0, top_p), 0);
        for _ in 0..300 {
            let id = sampler.sample(&logits, None).unwrap().id;
            assert!(f64::from(logits[id.index()]) >= least, "top_p {top_p}");
        }
    }
}

/// An engine whose logits are random numbers.
struct Random {
    dice: Dice,
    running: usize,
    /// After so many tokens it fails.
    fails_after: usize,
}

#[derive(Debug, PartialEq)]
struct Broken;

impl fmt::Display for Broken {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("the device is gone")
    }
}

impl std::error::Error for Broken {}

impl Random {
    fn new(seed: u64) -> Self {
        Self { dice: Dice(seed), running: 0, fails_after: usize::MAX }
    }
}

impl Engine for Random {
    type Sequence = (Vec<TokenId>, Sampler);
    type Error = Broken;

    fn start(&mut self, prompt: &[TokenId], sampling: &Sampling) -> Result<Self::Sequence, Broken> {
        assert!(!prompt.is_empty());
        self.running += 1;
        Ok((Vec::new(), Sampler::new(sampling, 7)))
    }

    fn step(&mut self, sequence: &mut Self::Sequence, mask: Option<LogitMask<'_>>) -> Result<Step, Broken> {
        if sequence.0.len() >= self.fails_after {
            return Err(Broken);
        }
        // A model that likes to come to an end.
        let mut logits: Vec<f32> = (0..TOKENIZER.len()).map(|_| self.dice.unit() as f32).collect();
        for (text, liking) in [("\"", 12.0), ("}", 12.0), ("]", 11.0), ("</", 12.0)] {
            logits[TOKENIZER.encode_text(text)[0].index()] += liking;
        }
        let step = sequence.1.sample(&logits, mask).ok_or(Broken)?;
        sequence.0.push(step.id);
        Ok(step)
    }

    fn stop(&mut self, _: Self::Sequence) {
        self.running -= 1;
    }
}

fn session(api: Api, body: &str) -> Session {
    let lowered = lower(api, body.as_bytes(), &lowering()).unwrap();
    Session::new(&lowered, &TOKENIZER, SessionOptions::new("resp-1", Masks::Exact(&COMPILER))).unwrap()
}

fn ignore(_: Chunk) -> ControlFlow<()> {
    ControlFlow::Continue(())
}

const TOOL: &str = r#"{"type": "object", "properties": {"city": {"type": "string", "maxLength": 5}, "days": {"type": "integer", "minimum": 1, "maximum": 7}}, "required": ["city", "days"], "additionalProperties": false}"#;

#[test]
fn whatever_a_model_likes_a_required_call_is_made() {
    let bodies = [
        (
            Api::Chat,
            format!(
                r#"{{"model": "larger", "thinking": {{"type": "disabled"}}, "messages": [{{"role": "user", "content": "hi"}}], "tools": [{{"type": "function", "function": {{"name": "weather", "parameters": {TOOL}}}}}], "tool_choice": "required"}}"#
            ),
        ),
        (
            Api::Messages,
            format!(
                r#"{{"model": "larger", "max_tokens": 900, "thinking": {{"type": "disabled"}}, "messages": [{{"role": "user", "content": "hi"}}], "tools": [{{"name": "weather", "input_schema": {TOOL}}}], "tool_choice": {{"type": "tool", "name": "weather"}}}}"#
            ),
        ),
        (
            Api::Responses,
            format!(
                r#"{{"model": "larger", "reasoning": {{"effort": "none"}}, "input": "hi", "tools": [{{"type": "function", "name": "weather", "parameters": {TOOL}, "strict": false}}], "tool_choice": "required"}}"#
            ),
        ),
    ];
    for (seed, (api, body)) in bodies.iter().enumerate() {
        let mut session = session(*api, body);
        let mut engine = Random::new(seed as u64);
        run(&mut engine, &mut session, ignore).unwrap();
        assert_eq!(engine.running, 0);
        let response = session.stream().response().to_string();
        assert!(response.contains("weather") && response.contains("days"), "{response}");
        assert!(session.stream().warnings().is_empty(), "{:?}", session.stream().warnings());
    }
}

const JSON_MODE: &str = r#"{"model": "larger", "thinking": {"type": "disabled"}, "max_tokens": 400, "messages": [{"role": "user", "content": "JSON"}], "response_format": {"type": "json_object"}}"#;

#[test]
fn drafts_are_looked_at_and_taken_as_far_as_they_are_chosen() {
    let mut session = session(Api::Chat, JSON_MODE);
    let draft = TOKENIZER.encode_text("{\"a\": 1} and more");
    let mut masks = Vec::new();
    let fits = session.draft(&draft, &mut masks);
    assert_eq!(TOKENIZER.decode(&draft[..fits]), "{\"a\": 1}");
    assert_eq!(masks.len(), (fits + 1) * TOKENIZER.len().div_ceil(32));
    // The engine agrees with two of them, and goes on with something else.
    let mut events = String::new();
    for id in draft[..2].iter().copied().chain(TOKENIZER.encode_text("\": 2}")) {
        session.push(&id.into(), &mut events).unwrap();
    }
    let words = TOKENIZER.len().div_ceil(32);
    let alone = session.mask().unwrap().0.to_vec();
    assert_eq!(session.draft(&draft, &mut masks), 0);
    assert_eq!(masks[..words], alone);
    let rejected = session.push(&draft[0].into(), &mut events);
    assert!(rejected.is_err());
    let end = crate::token::Special::Eos;
    session.push(&TOKENIZER.special_id(end).unwrap().into(), &mut events).unwrap();
    assert!(session.is_over() && events.ends_with("data: [DONE]\n\n"), "{events}");
    let answer = session.stream().response();
    let text =
        answer.get("choices").and_then(|choices| choices.as_array()?[0].get("message")?.get("content"));
    let json = Json::parse(text.and_then(Json::as_str).unwrap().as_bytes()).unwrap();
    assert_eq!(json.get("a").unwrap().to_string(), "2");
}

#[test]
fn what_breaks_off_ends_well_formed() {
    // The engine fails.
    let mut failing = Random { fails_after: 3, ..Random::new(1) };
    let mut answer = session(Api::Chat, JSON_MODE);
    let mut sent = Vec::new();
    let keep = |chunk: Chunk| {
        sent.push(chunk.data);
        ControlFlow::Continue(())
    };
    assert_eq!(run(&mut failing, &mut answer, keep), Err(RunError::Engine(Broken)));
    assert!(answer.is_over() && failing.running == 0);
    assert!(sent.iter().any(|data| data.contains("the device is gone")), "{sent:?}");
    assert_eq!(sent.last().unwrap(), "[DONE]");
    // The client goes away.
    let mut answer = session(Api::Chat, JSON_MODE);
    let mut engine = Random::new(2);
    let mut seen = 0;
    let leave = |_| {
        seen += 1;
        if seen == 3 { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    };
    assert_eq!(run(&mut engine, &mut answer, leave), Err(RunError::Cancelled));
    assert_eq!((engine.running, seen), (0, 3));
    // The answer is too long.
    let body = JSON_MODE.replace("400", "2");
    let mut answer = session(Api::Chat, &body);
    run(&mut Random::new(3), &mut answer, ignore).unwrap();
    let response = answer.stream().response().to_string();
    assert!(response.contains(r#""finish_reason":"length""#), "{response}");
    // The prompt is too long.
    let lowered = lower(Api::Chat, JSON_MODE.as_bytes(), &lowering()).unwrap();
    let options = SessionOptions { context_limit: 10, ..SessionOptions::new("x", Masks::None) };
    assert!(matches!(Session::new(&lowered, &TOKENIZER, options), Err(SessionError::Request(_))));
}

/// An engine that takes no notice of masks.
struct Deaf;

impl Engine for Deaf {
    type Sequence = ();
    type Error = Infallible;

    fn start(&mut self, _: &[TokenId], _: &Sampling) -> Result<(), Infallible> {
        Ok(())
    }

    fn step(&mut self, (): &mut (), _: Option<LogitMask<'_>>) -> Result<Step, Infallible> {
        Ok(TOKENIZER.encode_text("Well")[0].into())
    }

    fn stop(&mut self, (): ()) {}
}

impl Branch for Deaf {
    fn fork(&mut self, (): &(), _: u32) -> Result<(), Infallible> {
        Ok(())
    }

    fn truncate(&mut self, (): &mut (), _: usize) -> Result<(), Infallible> {
        Ok(())
    }
}

#[test]
fn a_token_that_the_mask_forbids_ends_the_answer_with_an_error() {
    let mut answer = session(Api::Chat, JSON_MODE);
    let mut sent = Vec::new();
    let keep = |chunk: Chunk| {
        sent.push(chunk.data);
        ControlFlow::Continue(())
    };
    assert!(matches!(run(&mut Deaf, &mut answer, keep), Err(RunError::Rejected(_))));
    assert!(answer.is_over());
    assert!(sent.iter().any(|data| data.contains("which the mask forbids")), "{sent:?}");
}

#[test]
fn what_was_compiled_serves_again() {
    let first = session(Api::Chat, JSON_MODE);
    let compiled = first.compiled().unwrap().clone();
    let lowered = lower(Api::Chat, JSON_MODE.as_bytes(), &lowering()).unwrap();
    let options = SessionOptions { image_tokens: 5, ..SessionOptions::new("x", Masks::Compiled(compiled)) };
    let mut second = Session::new(&lowered, &TOKENIZER, options).unwrap();
    assert_eq!(second.mask(), first.clone().mask());
    assert_eq!(second.stream().usage().prompt, first.stream().usage().prompt + 5);
    let body = JSON_MODE.replace(r#""json_object""#, r#""json_schema", "json_schema": {"name": "x", "schema": {"type": "object", "properties": {"a": {"type": "string", "not": {"format": "uri"}}}}}"#);
    let lowered = lower(Api::Chat, body.as_bytes(), &lowering()).unwrap();
    let made = |masks| Session::new(&lowered, &TOKENIZER, SessionOptions::new("x", masks));
    assert!(matches!(made(Masks::Exact(&COMPILER)), Err(SessionError::Constraint(_))));
    assert_eq!(made(Masks::Relaxed(&COMPILER)).unwrap().left_out().len(), 1);
}

#[test]
fn masks_of_many_sessions_are_made_at_once() {
    let mut sessions: Vec<Session> = (0..9).map(|_| session(Api::Chat, JSON_MODE)).collect();
    let mut alone = sessions[0].clone();
    prepare(&mut sessions);
    let mask = alone.mask().unwrap().0.to_vec();
    for session in &mut sessions {
        assert_eq!(session.mask().unwrap().0, mask);
    }
}

#[test]
fn compiled_constraints_are_kept_while_there_is_room() {
    let lowered = |name: &str| {
        let body = format!(
            r#"{{"model": "larger", "messages": [{{"role": "user", "content": "json"}}], "thinking": {{"type": "disabled"}},
                "response_format": {{"type": "json_schema", "json_schema": {{"name": "x", "schema": {{"const": "{name}"}}}}}}}}"#
        );
        lower(Api::Chat, body.as_bytes(), &lowering()).unwrap()
    };
    let cache = MaskCache::new(Compiler::new(&TOKENIZER), Layout::default(), false, 2);
    let was_kept = |name: &str| cache.get(&lowered(name)).unwrap().was_kept;
    assert_eq!(["a", "b", "a", "c", "a", "b"].map(was_kept), [false, false, true, false, true, false]);
    let masks = |name: &str| cache.get(&lowered(name)).unwrap().masks();
    let (Masks::Compiled(one), Masks::Compiled(other)) = (masks("b"), masks("a")) else { panic!("no masks") };
    let (mut first, mut second) = (vec![0; one.mask_words()], vec![0; one.mask_words()]);
    let quoted = |name: &str| TOKENIZER.encode_text(&format!("\"{name}\""));
    let (mut one, mut other) = (one.matcher(), other.matcher());
    assert!(quoted("b").iter().all(|id| one.accept(*id).is_ok()) && one.is_complete());
    assert!(quoted("b").iter().any(|id| other.accept(*id).is_err()));
    one.fill_mask(&mut first);
    other.fill_mask(&mut second);
    assert_ne!(first, second);
    let plain = br#"{"model": "larger", "messages": [{"role": "user", "content": "hi"}]}"#;
    assert!(matches!(
        cache.get(&lower(Api::Chat, plain, &lowering()).unwrap()).unwrap().masks(),
        Masks::None
    ));
}

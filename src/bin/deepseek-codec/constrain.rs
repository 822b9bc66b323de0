//! `constrain`: schemas and texts in, verdicts and times out, one JSON object a line.

use std::io::{self, BufWriter, Write};
use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use deepseek_codec::constraint::{Constraint, ConstraintError, LeftOut};
use deepseek_codec::grammar::{Compiled, Compiler, Layout, Matcher, Order, is_allowed};
use deepseek_codec::inspect::spelled_ids;
use deepseek_codec::json::{Json, Number, Object, Style};
use deepseek_codec::model::{PROFILES, Profile};
use deepseek_codec::output::{Plan, Start};
use deepseek_codec::protocol::{Api, Options, lower_json};
use deepseek_codec::token::TokenId;
use deepseek_codec::tokenizer::Tokenizer;

use crate::failure::Failure;
use crate::lines::Lines;

pub(crate) fn constrain(file: Option<&Path>) -> Result<(), Failure> {
    let profile = PROFILES[PROFILES.len() - 1];
    let tokenizer = profile.tokenizer();
    let bench = Bench { compiler: Compiler::new(&tokenizer), tokenizer, profile };
    let mut out = BufWriter::new(io::stdout().lock());
    for line in Lines::open(file)? {
        let result = match Json::parse(&line?) {
            Ok(job) => bench.run(&job),
            Err(error) => Json::from([("bad_job", error.to_string().into())]),
        };
        writeln!(out, "{result}")?;
        out.flush()?;
    }
    Ok(())
}

/// What all jobs share.
struct Bench {
    compiler: Compiler,
    tokenizer: Tokenizer,
    profile: &'static Profile,
}

/// What a job asks for.
struct Task {
    constraint: Constraint,
    start: Start,
    profile: &'static Profile,
    layout: Layout,
    /// Whether what cannot be enforced is left out.
    relax: bool,
}

impl Task {
    fn compile(&self, compiler: &Compiler) -> Result<(Arc<Compiled>, Vec<LeftOut>), ConstraintError> {
        if self.relax {
            return self.constraint.compile_relaxed(self.start, self.profile, compiler, self.layout);
        }
        Ok((self.constraint.compile(self.start, self.profile, compiler, self.layout)?, Vec::new()))
    }
}

impl Bench {
    fn run(&self, job: &Json) -> Json {
        let id = job.get("id").cloned().unwrap_or_default();
        let task = match self.task(job) {
            Ok(task) => task,
            Err(problem) => {
                return Json::from([("id", id), ("status", "invalid".into()), ("error", problem.into())]);
            }
        };
        let begun = Instant::now();
        let compiled = task.compile(&self.compiler);
        let compile_us = micros(begun.elapsed());
        let (compiled, left_out) = match compiled {
            Ok(compiled) => compiled,
            Err(error) => {
                return Json::from([
                    ("id", id),
                    ("status", status(&error).into()),
                    ("error", error.to_string().into()),
                    ("compile_us", compile_us),
                ]);
            }
        };
        let (mut masks, mut accepts) = (Vec::new(), Vec::new());
        let tests = job.get("tests").and_then(Json::as_array).unwrap_or_default();
        let results = tests
            .iter()
            .map(|test| {
                let data = test.get("data").cloned().unwrap_or_default();
                let tokens = self.tokens(&task.constraint, &data);
                let mut shown = job.get("masks").map(|_| Vec::new());
                let accepted = self.walk(&compiled, &tokens, &mut masks, &mut accepts, shown.as_mut());
                let mut result =
                    Object::from([("accepted", accepted.into()), ("tokens", (tokens.len() as u64).into())]);
                if let Some(shown) = shown {
                    result.insert("ids", Json::Array(tokens.iter().map(|id| id.0.into()).collect()));
                    result.insert("masks", Json::Array(shown));
                }
                Json::Object(result)
            })
            .collect();
        let mut result = Object::from([
            ("id", id),
            ("status", "ok".into()),
            ("error", Json::Null),
            ("compile_us", compile_us),
            ("tests", Json::Array(results)),
            ("mask_us", quantiles(masks)),
            ("accept_us", quantiles(accepts)),
        ]);
        if task.relax {
            let left_out = left_out.iter().map(|left| left.to_string().into()).collect();
            result.insert("left_out", Json::Array(left_out));
        }
        result.into()
    }

    fn task(&self, job: &Json) -> Result<Task, String> {
        let mut task = Task {
            constraint: Constraint::Json { schema: None },
            start: Start::Content,
            profile: self.profile,
            layout: Layout::default(),
            relax: job.get("relax") == Some(&Json::Bool(true)),
        };
        task.layout.order = match job.get("order").and_then(Json::as_str) {
            None | Some("any") => Order::Any,
            Some("schema") => Order::Schema,
            Some(other) => return Err(format!("unknown order {other}")),
        };
        if let Some(schema) = job.get("schema") {
            task.constraint = Constraint::Json { schema: Some(schema.clone()) };
        } else if let Some(regex) = job.get("regex").and_then(Json::as_str) {
            task.constraint = Constraint::Regex(regex.to_owned());
        } else if let Some(request) = job.get("request") {
            let api = job.get("protocol").and_then(Json::as_str).unwrap_or("chat");
            let api = Api::by_name(api).ok_or_else(|| format!("unknown protocol {api}"))?;
            let lowered = lower_json(api, request.clone(), &Options::default())
                .map_err(|error| error.message().to_owned())?;
            let plan = Plan::of(&lowered.conversation, &lowered.stops);
            task.constraint =
                Constraint::of(&lowered.conversation).ok_or("the request does not constrain its answer")?;
            (task.start, task.profile) = (plan.start, lowered.profile);
        } else {
            return Err("none of `schema`, `regex` and `request`".to_owned());
        }
        Ok(task)
    }

    /// The tokens of a test's data: JSON is written with `", "` and `": "`; what a regular expression or tools
    /// constrain is the text itself, special tokens spelled.
    fn tokens(&self, constraint: &Constraint, data: &Json) -> Vec<TokenId> {
        match (constraint, data) {
            (Constraint::Regex(_), Json::String(text)) => self.tokenizer.encode_text(text),
            (Constraint::Tools { .. }, Json::String(text)) => spelled_ids(&self.tokenizer, text),
            _ => self.tokenizer.encode_text(&data.text(Style::Spaced)),
        }
    }

    /// Whether the tokens are allowed, one after the other, and may then end.
    fn walk(
        &self,
        compiled: &Arc<Compiled>,
        tokens: &[TokenId],
        masks: &mut Vec<Duration>,
        accepts: &mut Vec<Duration>,
        mut shown: Option<&mut Vec<Json>>,
    ) -> bool {
        let mut matcher: Matcher = compiled.matcher();
        let mut mask = vec![0; self.compiler.mask_words()];
        for token in tokens {
            let begun = Instant::now();
            matcher.fill_mask(&mut mask);
            let filled = Instant::now();
            masks.push(filled - begun);
            if let Some(shown) = &mut shown {
                shown.push(base64_of(&mask));
            }
            if !is_allowed(&mask, *token) {
                return false;
            }
            let begun = Instant::now();
            let accepted = matcher.accept(*token);
            accepts.push(begun.elapsed());
            if accepted.is_err() {
                return false;
            }
        }
        matcher.is_complete()
    }
}

/// A mask's words, little-endian, in base64.
fn base64_of(mask: &[u32]) -> Json {
    let bytes: Vec<u8> = mask.iter().flat_map(|word| word.to_le_bytes()).collect();
    STANDARD.encode(bytes).into()
}

fn status(error: &ConstraintError) -> &'static str {
    if error.is_unsupported() { "unsupported" } else { "invalid" }
}

/// Microseconds, to the hundredth.
fn micros(time: Duration) -> Json {
    Json::Number(Number::Float((time.as_nanos() as f64 / 10.0).round() / 100.0))
}

fn quantiles(mut times: Vec<Duration>) -> Json {
    times.sort_unstable();
    let at = |share: f64| {
        let index = ((times.len() as f64 * share) as usize).min(times.len().saturating_sub(1));
        times.get(index).map_or(Json::Null, |time| micros(*time))
    };
    Json::from([
        ("n", (times.len() as u64).into()),
        ("p50", at(0.5)),
        ("p90", at(0.9)),
        ("p99", at(0.99)),
        ("max", at(1.0)),
    ])
}

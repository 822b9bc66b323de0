//! The differential test.

use std::collections::BTreeMap;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::process::ExitCode;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Instant;

use deepseek_codec::constraint::ConstraintError;
use deepseek_codec::schema::values::SchemaErrorKind;
use serde_json::Value;

use crate::dice::Dice;
use crate::generate;
use crate::instances;
use crate::jobs::Job;
use crate::shrink::shrink;
use crate::sides::{Masks, Verdict, is_valid, validator};
use crate::walk::{Walk, walk};

pub struct Plan {
    pub jobs: Vec<Job>,
    pub generated: u64,
    pub seed: u64,
    pub walks: usize,
    pub threads: usize,
}

/// A compilation that takes longer is a finding.
const SLOW_MS: u128 = 250;

/// How many findings of a kind are printed.
const SHOWN: usize = 12;

#[derive(Default)]
struct Totals {
    counts: BTreeMap<&'static str, usize>,
    findings: BTreeMap<&'static str, Vec<String>>,
    /// Why schemas were refused.
    refused: BTreeMap<String, usize>,
}

impl Totals {
    fn count(&mut self, what: &'static str) {
        *self.counts.entry(what).or_default() += 1;
    }

    fn finding(&mut self, kind: &'static str, text: impl FnOnce() -> String) {
        let found = self.findings.entry(kind).or_default();
        // Only those that will be shown are worked out.
        found.push(if found.len() < SHOWN { text() } else { String::new() });
    }

    fn add(&mut self, other: Self) {
        other.counts.into_iter().for_each(|(what, count)| *self.counts.entry(what).or_default() += count);
        other.refused.into_iter().for_each(|(why, count)| *self.refused.entry(why).or_default() += count);
        for (kind, found) in other.findings {
            self.findings.entry(kind).or_default().extend(found);
        }
    }
}

pub fn run(plan: &Plan) -> ExitCode {
    // A panic is a result like others; it needs no message.
    std::panic::set_hook(Box::new(|_| {}));
    let masks = Masks::new();
    let all = plan.jobs.len() + plan.generated as usize;
    let (next, totals) = (AtomicUsize::new(0), Mutex::new(Totals::default()));
    std::thread::scope(|scope| {
        for _ in 0..plan.threads.max(1) {
            scope.spawn(|| {
                let mut own = Totals::default();
                loop {
                    let at = next.fetch_add(1, Ordering::Relaxed);
                    if at >= all {
                        break;
                    }
                    let mut dice = Dice::new(plan.seed.wrapping_mul(1_000_003) + at as u64);
                    let generated;
                    let job = match plan.jobs.get(at) {
                        Some(job) => job,
                        None => {
                            generated = Job { schema: generate::schema(&mut dice), ..Job::default() };
                            &generated
                        }
                    };
                    let outcome = catch_unwind(AssertUnwindSafe(|| {
                        Check { masks: &masks, job, totals: &mut own, dice: &mut dice }.run(plan.walks);
                    }));
                    if outcome.is_err() {
                        own.finding("panic", || job.schema.to_string());
                    }
                }
                if let Ok(mut totals) = totals.lock() {
                    totals.add(own);
                }
            });
        }
    });
    report(&totals.into_inner().unwrap_or_default())
}

fn report(totals: &Totals) -> ExitCode {
    for (kind, found) in &totals.findings {
        println!("== {kind}: {}", found.len());
        for text in found.iter().filter(|text| !text.is_empty()).take(SHOWN) {
            println!("{text}\n");
        }
    }
    println!("== counts");
    for (what, count) in &totals.counts {
        println!("{count:9} {what}");
    }
    let mut refused: Vec<_> = totals.refused.iter().collect();
    refused.sort_by_key(|(_, count)| std::cmp::Reverse(**count));
    for (why, count) in refused.iter().take(25) {
        println!("{count:9} refused: {why}");
    }
    for (kind, found) in &totals.findings {
        println!("{:9} FOUND: {kind}", found.len());
    }
    ExitCode::from(u8::from(!totals.findings.is_empty()))
}

struct Check<'c> {
    masks: &'c Masks,
    job: &'c Job,
    totals: &'c mut Totals,
    dice: &'c mut Dice,
}

impl Check<'_> {
    fn run(&mut self, walks: usize) {
        let schema = &self.job.schema;
        self.totals.count("schemas");
        let Some(validator) = validator(schema) else {
            self.totals.count("schemas that jsonschema refuses");
            return;
        };
        let mut pool = instances::constants(schema);
        let mut known: Vec<Value> = self.job.tests.iter().map(|test| test.data.clone()).collect();
        known.extend(pool.iter().take(8).cloned());
        known.extend((0..4).map(|_| instances::any(self.dice, &pool, 2)));

        let begun = Instant::now();
        let compiled = self.masks.compile(schema);
        let took = begun.elapsed().as_millis();
        if took > SLOW_MS {
            self.totals.count("compilations that took more than 250 ms");
        }
        let compiled = match compiled {
            Ok(compiled) => compiled,
            Err(error) => {
                self.refused(&error, &validator, &known);
                return;
            }
        };
        self.totals.count("schemas compiled");

        for _ in 0..walks {
            match walk(self.masks, &compiled, self.dice) {
                Walk::Complete(text) => {
                    self.totals.count("walks complete");
                    known.extend(self.walked(&text, &validator));
                }
                Walk::Unfinished => self.totals.count("walks not finished"),
                Walk::DeadEnd(text) => {
                    self.totals.finding("dead end", || format!("schema {schema}\nafter  {text}"));
                }
                Walk::Disagrees(text, token) => {
                    let token = self
                        .masks
                        .tokenizer
                        .token_bytes(token)
                        .unwrap_or_default()
                        .escape_ascii()
                        .to_string();
                    self.totals.finding("mask and accept differ", || {
                        format!("schema {schema}\nafter  {text}\ntoken  {token}")
                    });
                }
            }
        }
        pool.extend(known.iter().take(6).cloned());
        for instance in known {
            let mut damaged = instance.clone();
            self.compare(&instance, &validator, &compiled);
            for _ in 0..3 {
                instances::damage(&mut damaged, self.dice, &pool);
                self.compare(&damaged, &validator, &compiled);
            }
        }
    }

    /// What was written under the masks must be valid.
    fn walked(&mut self, text: &str, validator: &jsonschema::Validator) -> Option<Value> {
        let schema = &self.job.schema;
        let Ok(instance) = serde_json::from_str::<Value>(text) else {
            self.totals.finding("walk: not JSON", || format!("schema {schema}\ntext   {text}"));
            return None;
        };
        if !is_valid(validator, &instance) {
            let masks = self.masks;
            self.totals.finding("walk: not valid", || {
                format!("{}as walked: {text}", shrunk(masks, schema, &instance, Shows::Unsound))
            });
        }
        Some(instance)
    }

    fn refused(&mut self, error: &ConstraintError, validator: &jsonschema::Validator, known: &[Value]) {
        let why = match error {
            ConstraintError::Schema { error, .. } => {
                if error.kind == SchemaErrorKind::Unsatisfiable
                    && let Some(instance) = known.iter().find(|instance| is_valid(validator, instance))
                {
                    let schema = &self.job.schema;
                    self.totals.finding("has instances, but counts as unsatisfiable", || {
                        shrunk(self.masks, schema, instance, Shows::Unsatisfiable)
                    });
                }
                match error.kind {
                    SchemaErrorKind::Unsatisfiable => "unsatisfiable".to_owned(),
                    kind => format!("{kind:?} {}: {}", error.keyword, error.detail),
                }
            }
            other => other.to_string(),
        };
        *self.totals.refused.entry(why).or_default() += 1;
    }

    /// Whether the tokens are accepted where no format is asked for.
    fn is_for_a_format(&mut self, tokens: &[deepseek_codec::token::TokenId]) -> bool {
        let mut schema = self.job.schema.clone();
        without_formats(&mut schema);
        schema != self.job.schema
            && self
                .masks
                .compile(&schema)
                .is_ok_and(|compiled| self.masks.verdict(&compiled, tokens, self.dice) == Verdict::Accepted)
    }

    fn compare(
        &mut self,
        instance: &Value,
        validator: &jsonschema::Validator,
        compiled: &std::sync::Arc<deepseek_codec::grammar::Compiled>,
    ) {
        let valid = is_valid(validator, instance);
        self.totals.count(if valid { "instances, valid" } else { "instances, invalid" });
        let shuffled = instances::shuffle(instance, self.dice);
        let (text, is_escaped) = instances::write(&shuffled, self.dice);
        let tokens = self.masks.tokens(&text, self.dice);
        let verdict = self.masks.verdict(compiled, &tokens, self.dice);
        let (schema, masks) = (&self.job.schema, self.masks);
        match (verdict, valid) {
            (Verdict::Accepted, true) | (Verdict::Rejected, false) => {}
            (Verdict::Accepted, false) => {
                self.totals.finding("invalid, but accepted", || {
                    format!("{}written: {text}", shrunk(masks, schema, instance, Shows::Unsound))
                });
            }
            // Keys that are known by name, constants and patterns are written as they are; the instance can be.
            (Verdict::Rejected, true) if is_escaped => {
                self.totals.count("valid, rejected for escapes that it does not need");
            }
            (Verdict::Rejected, true) if instances::has_long_number(instance) => {
                self.totals.count("valid, rejected for numbers beyond what doubles hold exactly");
            }
            (Verdict::Rejected, true) if self.is_for_a_format(&tokens) => {
                self.totals.count("valid, rejected by a format that masks have only in part");
            }
            (Verdict::Rejected, true) => {
                self.totals.finding("valid, but rejected", || {
                    format!("{}written: {text}", shrunk(masks, schema, instance, Shows::Incomplete))
                });
            }
            (Verdict::Disagrees, _) => {
                self.totals.finding("mask and accept differ", || format!("schema {schema}\ntext   {text}"));
            }
        }
    }
}

/// Removes the keyword `format`, wherever it stands.
fn without_formats(schema: &mut Value) {
    match schema {
        Value::Object(members) => {
            members.shift_remove("format");
            members.values_mut().for_each(without_formats);
        }
        Value::Array(items) => items.iter_mut().for_each(without_formats),
        _ => {}
    }
}

#[derive(Clone, Copy)]
enum Shows {
    Unsound,
    Incomplete,
    Unsatisfiable,
}

/// The smallest schema and instance found that show the same.
fn shrunk(masks: &Masks, schema: &Value, instance: &Value, what: Shows) -> String {
    let shows = |schema: &Value, instance: &Value| {
        catch_unwind(AssertUnwindSafe(|| {
            let Some(validator) = validator(schema) else { return false };
            let valid = is_valid(&validator, instance);
            let ours = masks.compile(schema);
            match (what, ours) {
                (Shows::Unsatisfiable, Err(ConstraintError::Schema { error, .. })) => {
                    valid && error.kind == SchemaErrorKind::Unsatisfiable
                }
                (Shows::Unsound | Shows::Incomplete, Ok(compiled)) => {
                    let tokens = masks.tokenizer.encode_text(&instance.to_string());
                    let accepted = compiled.matcher().try_accept(&tokens) == tokens.len() && {
                        let mut matcher = compiled.matcher();
                        matcher.try_accept(&tokens);
                        matcher.is_complete()
                    };
                    accepted != valid && accepted == matches!(what, Shows::Unsound)
                }
                _ => false,
            }
        }))
        .unwrap_or(false)
    };
    let (mut small, mut smaller_instance) = (schema.clone(), instance.clone());
    if !shows(schema, instance) {
        return format!("only as it was written\nschema   {schema}\ninstance {instance}\n");
    }
    shrink(&mut small, &mut smaller_instance, shows);
    format!("schema   {small}\ninstance {smaller_instance}\n")
}

/// Both verdicts on the instances of one schema.
pub fn show(job: &Job, texts: &[String]) {
    let masks = Masks::new();
    let validator = validator(&job.schema);
    if validator.is_none() {
        println!("jsonschema refuses the schema");
    }
    let begun = Instant::now();
    let compiled = masks.compile(&job.schema);
    println!("compiled in {} µs", begun.elapsed().as_micros());
    let compiled = match compiled {
        Ok(compiled) => compiled,
        Err(error) => {
            println!("masks: {error}");
            return;
        }
    };
    for text in texts {
        let tokens = masks.tokenizer.encode_text(text);
        let mut matcher = compiled.matcher();
        let accepted = matcher.try_accept(&tokens);
        let ours = if accepted < tokens.len() {
            format!("rejected after {:?}", masks.tokenizer.decode(&tokens[..accepted]))
        } else if matcher.is_complete() {
            "accepted".to_owned()
        } else {
            "not complete".to_owned()
        };
        let valid = match (serde_json::from_str::<Value>(text), &validator) {
            (Ok(instance), Some(validator)) => is_valid(validator, &instance).to_string(),
            (Err(error), _) => error.to_string(),
            (_, None) => "?".to_owned(),
        };
        println!("{text}\n  masks {ours}\n  valid {valid}");
    }
    let mut dice = Dice::new(1);
    for _ in 0..5 {
        match walk(&masks, &compiled, &mut dice) {
            Walk::Complete(text) => println!("walk {text}"),
            Walk::Unfinished => println!("walk not finished"),
            Walk::DeadEnd(text) => println!("DEAD END {text}"),
            Walk::Disagrees(text, token) => {
                let token = masks.tokenizer.token_bytes(token).unwrap_or_default().escape_ascii();
                println!("DIFFERS {text} {token}");
            }
        }
    }
}

//! Counts for Prometheus, and the line that the log has for each request.

use std::collections::BTreeMap;
use std::fmt::Write;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use deepseek_codec::protocol::Usage;

use crate::state::Gateway;

/// The bounds of the buckets for times, in milliseconds.
const BOUNDS: [u64; 12] = [1, 2, 5, 10, 25, 50, 100, 250, 1_000, 5_000, 30_000, 300_000];

/// Counts since the server began.
#[derive(Debug, Default)]
pub struct Metrics {
    /// By route and status.
    requests: Mutex<BTreeMap<(&'static str, u16), u64>>,
    active: AtomicU64,
    cancelled: AtomicU64,
    failed: AtomicU64,
    prompt_tokens: AtomicU64,
    completion_tokens: AtomicU64,
    masks_kept: AtomicU64,
    masks_compiled: AtomicU64,
    vocabularies: AtomicU64,
    first_token: Times,
    whole: Times,
}

/// How many took how long.
#[derive(Debug, Default)]
struct Times {
    buckets: [AtomicU64; BOUNDS.len() + 1],
    micros: AtomicU64,
}

impl Times {
    fn add(&self, time: Duration) {
        let millis = u64::try_from(time.as_millis()).unwrap_or(u64::MAX);
        let at = BOUNDS.partition_point(|bound| *bound < millis);
        self.buckets[at].fetch_add(1, Ordering::Relaxed);
        self.micros.fetch_add(u64::try_from(time.as_micros()).unwrap_or(u64::MAX), Ordering::Relaxed);
    }

    fn write(&self, name: &str, help: &str, out: &mut String) {
        let _ = writeln!(out, "# HELP {name} {help}\n# TYPE {name} histogram");
        let mut count = 0;
        for (at, bucket) in self.buckets.iter().enumerate() {
            count += bucket.load(Ordering::Relaxed);
            let _ = match BOUNDS.get(at) {
                Some(bound) => writeln!(out, "{name}_bucket{{le=\"{}\"}} {count}", *bound as f64 / 1e3),
                None => writeln!(out, "{name}_bucket{{le=\"+Inf\"}} {count}"),
            };
        }
        let sum = self.micros.load(Ordering::Relaxed) as f64 / 1e6;
        let _ = writeln!(out, "{name}_sum {sum}\n{name}_count {count}");
    }
}

impl Metrics {
    /// Counts a response.
    pub fn response(&self, route: &'static str, status: u16) {
        let mut requests = self.requests.lock().unwrap_or_else(PoisonError::into_inner);
        *requests.entry((route, status)).or_default() += 1;
    }

    /// Counts a vocabulary that is ready for masks.
    pub fn arranged(&self) {
        self.vocabularies.fetch_add(1, Ordering::Relaxed);
    }

    /// The text that Prometheus reads.
    #[must_use]
    pub fn text(&self) -> String {
        let mut out = String::from(
            "# HELP gateway_requests_total Responses by route and status.\n# TYPE gateway_requests_total counter\n",
        );
        for ((route, status), count) in &*self.requests.lock().unwrap_or_else(PoisonError::into_inner) {
            let _ = writeln!(out, "gateway_requests_total{{route=\"{route}\",status=\"{status}\"}} {count}");
        }
        let numbers = [
            ("gateway_active_answers", "gauge", "Answers on their way.", &self.active),
            ("gateway_cancelled_total", "counter", "Answers whose client went away.", &self.cancelled),
            ("gateway_failed_total", "counter", "Answers that the engine did not finish.", &self.failed),
            ("gateway_prompt_tokens_total", "counter", "Tokens of prompts.", &self.prompt_tokens),
            ("gateway_completion_tokens_total", "counter", "Generated tokens.", &self.completion_tokens),
            (
                "gateway_masks_kept_total",
                "counter",
                "Schemas that had been compiled before.",
                &self.masks_kept,
            ),
            (
                "gateway_masks_compiled_total",
                "counter",
                "Schemas compiled for a request.",
                &self.masks_compiled,
            ),
            (
                "gateway_mask_vocabularies",
                "gauge",
                "Vocabularies that are ready for masks.",
                &self.vocabularies,
            ),
        ];
        for (name, kind, help, number) in numbers {
            let number = number.load(Ordering::Relaxed);
            let _ = writeln!(out, "# HELP {name} {help}\n# TYPE {name} {kind}\n{name} {number}");
        }
        self.first_token.write("gateway_first_token_seconds", "Time until the first token.", &mut out);
        self.whole.write("gateway_answer_seconds", "Time of whole answers.", &mut out);
        out
    }
}

/// How an answer ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Outcome {
    /// With all that was asked for.
    Complete,
    /// The engine failed.
    Failed(String),
    /// The client went away.
    Cancelled,
}

/// What is known of an answer. When it is dropped, it is counted and logged.
pub struct Record {
    gateway: Arc<Gateway>,
    /// What the log says of the request.
    pub about: About,
    begun: Instant,
    first_token: Option<Duration>,
    usage: Usage,
    outcome: Outcome,
}

/// What the log says of a request.
#[derive(Debug, Clone, Default)]
pub struct About {
    /// Its id.
    pub id: String,
    /// Its route.
    pub route: &'static str,
    /// The name of its key.
    pub key: String,
    /// The model's name.
    pub model: String,
    /// Whether it is streamed.
    pub stream: bool,
    /// How many answers it asks for.
    pub answers: usize,
    /// Tokens of its prompt.
    pub prompt_tokens: usize,
    /// How many things about it were odd.
    pub warnings: usize,
    /// Whether its masks had been compiled before.
    pub had_masks: Option<bool>,
    /// How much of its schemas is not enforced.
    pub left_out: usize,
}

impl Record {
    /// Begins the record of a request that came at `begun` and is going to be answered.
    #[must_use]
    pub fn new(gateway: Arc<Gateway>, about: About, begun: Instant) -> Self {
        let metrics = &gateway.metrics;
        metrics.active.fetch_add(1, Ordering::Relaxed);
        metrics.prompt_tokens.fetch_add(about.prompt_tokens as u64, Ordering::Relaxed);
        match about.had_masks {
            Some(true) => metrics.masks_kept.fetch_add(1, Ordering::Relaxed),
            Some(false) => metrics.masks_compiled.fetch_add(1, Ordering::Relaxed),
            None => 0,
        };
        Self {
            gateway,
            about,
            begun,
            first_token: None,
            usage: Usage::default(),
            outcome: Outcome::Cancelled,
        }
    }

    /// Counts a token.
    pub fn token(&mut self) {
        if self.first_token.is_none() {
            self.first_token = Some(self.begun.elapsed());
        }
        self.gateway.metrics.completion_tokens.fetch_add(1, Ordering::Relaxed);
    }

    /// Adds what one of the answers used.
    pub const fn usage(&mut self, usage: Usage) {
        self.usage.completion += usage.completion;
        self.usage.cached = usage.cached;
    }

    /// Notes how it ended; the first failure counts.
    pub fn end(&mut self, outcome: Outcome) {
        if self.outcome == Outcome::Cancelled {
            self.outcome = outcome;
        }
    }
}

impl Drop for Record {
    fn drop(&mut self) {
        let metrics = &self.gateway.metrics;
        metrics.active.fetch_sub(1, Ordering::Relaxed);
        if let Some(first) = self.first_token {
            metrics.first_token.add(first);
        }
        let whole = self.begun.elapsed();
        let (outcome, detail) = match &self.outcome {
            Outcome::Complete => {
                metrics.whole.add(whole);
                ("complete", "")
            }
            Outcome::Failed(detail) => {
                metrics.failed.fetch_add(1, Ordering::Relaxed);
                ("failed", detail.as_str())
            }
            Outcome::Cancelled => {
                metrics.cancelled.fetch_add(1, Ordering::Relaxed);
                ("cancelled", "")
            }
        };
        let About { id, route, key, model, stream, answers, prompt_tokens, warnings, had_masks, left_out } =
            &self.about;
        tracing::info!(
            id,
            route,
            key,
            model,
            stream,
            answers,
            prompt_tokens,
            cached_tokens = self.usage.cached,
            completion_tokens = self.usage.completion,
            first_token_ms = self.first_token.map(|first| first.as_millis() as u64),
            ms = whole.as_millis() as u64,
            warnings,
            masks_kept = had_masks,
            left_out,
            outcome,
            detail,
            "answer"
        );
    }
}

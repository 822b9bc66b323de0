//! Engines inside this program, which work instead of waiting: each thread has one, and its sequences take turns.

use std::collections::HashMap;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::sync::mpsc;
use std::thread;

use deepseek_codec::engine::{Engine, LogitMask, Step};
use deepseek_codec::model::Profile;
use deepseek_codec::protocol::Sampling;
use deepseek_codec::token::TokenId;
use tokio::sync::oneshot;

use super::{EngineError, Next, Order};

/// Threads with engines.
#[derive(Debug)]
pub struct Local {
    threads: Vec<mpsc::Sender<Task>>,
    /// The thread of the next sequence.
    turn: AtomicUsize,
    numbers: AtomicU64,
}

/// A sequence of one of the threads.
#[derive(Debug)]
pub struct Sequence {
    number: u64,
    thread: mpsc::Sender<Task>,
}

/// What a thread is to do.
enum Task {
    Start { number: u64, profile: &'static Profile, prompt: Vec<TokenId>, sampling: Sampling, done: Done<()> },
    Step { number: u64, mask: Option<Vec<u32>>, done: Done<Step> },
    Stop { number: u64 },
}

type Done<T> = oneshot::Sender<Result<T, EngineError>>;

impl Local {
    /// So many threads, each with engines that `make` makes when a model is first asked for.
    pub fn new<E, F>(threads: usize, make: F) -> Self
    where
        E: Engine,
        F: Fn(&'static Profile) -> Result<E, EngineError> + Clone + Send + 'static,
    {
        let begin = |_| {
            let (sender, tasks) = mpsc::channel();
            let make = make.clone();
            thread::spawn(move || {
                Worker { make, engines: HashMap::new(), sequences: HashMap::new() }.work(&tasks)
            });
            sender
        };
        Self {
            threads: (0..threads.max(1)).map(begin).collect(),
            turn: AtomicUsize::new(0),
            numbers: AtomicU64::new(0),
        }
    }

    pub(super) async fn start(&self, order: Order<'_>) -> Result<Sequence, EngineError> {
        let turn = self.turn.fetch_add(1, Ordering::Relaxed);
        let sequence = Sequence {
            number: self.numbers.fetch_add(1, Ordering::Relaxed),
            thread: self.threads[turn % self.threads.len()].clone(),
        };
        let (done, result) = oneshot::channel();
        sequence.give(Task::Start {
            number: sequence.number,
            profile: order.lowered.profile,
            prompt: order.session.prompt().to_vec(),
            sampling: order.sampling(),
            done,
        })?;
        result.await.map_err(gone)??;
        Ok(sequence)
    }
}

fn gone<E>(_: E) -> EngineError {
    EngineError::failed("the engine's thread is gone")
}

impl Sequence {
    fn give(&self, task: Task) -> Result<(), EngineError> {
        self.thread.send(task).map_err(gone)
    }

    pub(super) async fn next(&mut self, mask: Option<LogitMask<'_>>) -> Result<Next, EngineError> {
        let (done, result) = oneshot::channel();
        self.give(Task::Step { number: self.number, mask: mask.map(|mask| mask.0.to_vec()), done })?;
        result.await.map_err(gone)?.map(Next::Token)
    }
}

impl Drop for Sequence {
    fn drop(&mut self) {
        // If the thread is gone, so is what it kept.
        let _ = self.give(Task::Stop { number: self.number });
    }
}

struct Worker<E: Engine, F> {
    make: F,
    engines: HashMap<&'static str, E>,
    sequences: HashMap<u64, (&'static str, E::Sequence)>,
}

impl<E: Engine, F: Fn(&'static Profile) -> Result<E, EngineError>> Worker<E, F> {
    fn work(mut self, tasks: &mpsc::Receiver<Task>) {
        while let Ok(task) = tasks.recv() {
            // Who asked may be gone: then nobody wants the result.
            match task {
                Task::Start { number, profile, prompt, sampling, done } => {
                    let _ = done.send(self.start(number, profile, &prompt, &sampling));
                }
                Task::Step { number, mask, done } if !done.is_closed() => {
                    let _ = done.send(self.step(number, mask.as_deref()));
                }
                Task::Step { .. } => {}
                Task::Stop { number } => {
                    if let Some((model, sequence)) = self.sequences.remove(&number)
                        && let Some(engine) = self.engines.get_mut(model)
                    {
                        engine.stop(sequence);
                    }
                }
            }
        }
    }

    fn start(
        &mut self,
        number: u64,
        profile: &'static Profile,
        prompt: &[TokenId],
        sampling: &Sampling,
    ) -> Result<(), EngineError> {
        let model = profile.name();
        if !self.engines.contains_key(model) {
            self.engines.insert(model, (self.make)(profile)?);
        }
        let engine = self.engines.get_mut(model).ok_or_else(|| gone(()))?;
        let sequence =
            engine.start(prompt, sampling).map_err(|error| EngineError::failed(error.to_string()))?;
        self.sequences.insert(number, (model, sequence));
        Ok(())
    }

    fn step(&mut self, number: u64, mask: Option<&[u32]>) -> Result<Step, EngineError> {
        let (model, sequence) = self.sequences.get_mut(&number).ok_or_else(|| gone(()))?;
        let engine = self.engines.get_mut(*model).ok_or_else(|| gone(()))?;
        engine.step(sequence, mask.map(LogitMask)).map_err(|error| EngineError::failed(error.to_string()))
    }
}

//! Engines of `deepseek-codec` in a Dynamo deployment.
//!
//! In Dynamo a frontend turns requests into ids and ids into text; its workers see ids alone. [`DynamoEngine`] is such a
//! worker's engine over any [`Engine`]: ids in, ids out, and what the request calls guided decoding becomes a mask of
//! this crate, which holds for what follows the reasoning. [`preprocessed`] is the other direction: a request that this
//! crate has lowered, as a Dynamo worker takes it.
//!
//! The engine runs in a thread of its own, a token for each request in turn.

mod request;
mod worker;

use std::sync::{Mutex, MutexGuard, PoisonError, mpsc};
use std::thread::JoinHandle;

use async_trait::async_trait;
use deepseek_codec::engine::{Engine, Step};
use deepseek_codec::grammar::{Compiler, Layout};
use deepseek_codec::model::Profile;
use deepseek_codec::tokenizer::Tokenizer;
use dynamo_backend_common::{
    BackendError, DynamoError, EngineConfig, ErrorType, GenerateContext, LLMEngine, LLMEngineOutput,
    LLMEngineOutputExt, LlmRegistration, PreprocessedRequest, TopLogprob, usage,
};
use futures::stream::{self, BoxStream, StreamExt};
use tokio::sync::mpsc::UnboundedReceiver;

pub use request::preprocessed;
use worker::{Job, Made};

/// How a [`DynamoEngine`] presents itself.
#[derive(Debug, Clone)]
pub struct DynamoOptions {
    /// The model's name.
    pub model: String,
    /// How many tokens prompt and answer may have together.
    pub context_limit: u32,
}

/// An engine as a Dynamo worker runs it.
///
/// Penalties, `top_k` and `min_p` have no effect; stop sequences that are text are the frontend's.
pub struct DynamoEngine<E> {
    options: DynamoOptions,
    profile: &'static Profile,
    tokenizer: Tokenizer,
    compiler: Compiler,
    /// Until it is started.
    engine: Mutex<Option<E>>,
    /// While it runs.
    running: Mutex<Option<Running>>,
}

struct Running {
    jobs: mpsc::Sender<Job>,
    thread: JoinHandle<()>,
}

impl<E: Engine + Send + 'static> DynamoEngine<E> {
    /// A worker's engine for a model of this crate and its vocabulary.
    pub fn new(engine: E, profile: &'static Profile, tokenizer: Tokenizer, options: DynamoOptions) -> Self {
        let compiler = Compiler::new(&tokenizer);
        let (engine, running) = (Mutex::new(Some(engine)), Mutex::new(None));
        Self { options, profile, tokenizer, compiler, engine, running }
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

fn failed(kind: BackendError, message: impl Into<String>) -> DynamoError {
    DynamoError::builder().error_type(ErrorType::Backend(kind)).message(message.into()).build()
}

#[async_trait]
impl<E: Engine + Send + 'static> LLMEngine for DynamoEngine<E> {
    async fn start(&self, _worker_id: u64) -> Result<EngineConfig, DynamoError> {
        if let Some(engine) = lock(&self.engine).take() {
            let (jobs, queue) = mpsc::channel();
            let thread = std::thread::spawn(move || worker::work(engine, &queue));
            *lock(&self.running) = Some(Running { jobs, thread });
        }
        Ok(EngineConfig {
            model: self.options.model.clone(),
            llm: Some(LlmRegistration {
                context_length: Some(self.options.context_limit),
                ..LlmRegistration::default()
            }),
            ..EngineConfig::default()
        })
    }

    async fn generate(
        &self,
        request: PreprocessedRequest,
        ctx: GenerateContext,
    ) -> Result<BoxStream<'static, Result<LLMEngineOutput, DynamoError>>, DynamoError> {
        let (job, made) = self.job(&request)?;
        let prompt = job.prompt.len() as u32;
        let gone = || failed(BackendError::EngineShutdown, "the engine is not running");
        let jobs = lock(&self.running).as_ref().map(|running| running.jobs.clone()).ok_or_else(gone)?;
        jobs.send(job).map_err(|_| gone())?;
        let answer = Answer { made, ctx, prompt, completion: 0, is_over: false };
        Ok(stream::unfold(answer, Answer::next).boxed())
    }

    async fn cleanup(&self) -> Result<(), DynamoError> {
        let Some(Running { jobs, thread }) = lock(&self.running).take() else { return Ok(()) };
        drop(jobs);
        let joined = tokio::task::spawn_blocking(move || thread.join().is_ok()).await;
        if joined.unwrap_or(false) {
            Ok(())
        } else {
            Err(failed(BackendError::Unknown, "the engine's thread panicked"))
        }
    }
}

/// The stream of one request.
struct Answer {
    made: UnboundedReceiver<Made>,
    ctx: GenerateContext,
    prompt: u32,
    completion: u32,
    is_over: bool,
}

impl Answer {
    async fn next(mut self) -> Option<(Result<LLMEngineOutput, DynamoError>, Self)> {
        if self.is_over {
            return None;
        }
        // Dropping the receiver tells the engine's thread.
        let made = tokio::select! {
            biased;
            () = self.ctx.stopped() => Some(Made::End(LLMEngineOutput::cancelled())),
            made = self.made.recv() => made,
        };
        let item = match made {
            Some(Made::Token(step)) => {
                self.completion += 1;
                Ok(token(&step))
            }
            Some(Made::End(output)) => {
                self.is_over = true;
                Ok(output.with_usage(usage(self.prompt, self.completion)))
            }
            Some(Made::Failed(message)) => {
                self.is_over = true;
                Err(failed(BackendError::Unknown, message))
            }
            None => {
                self.is_over = true;
                Err(failed(BackendError::EngineShutdown, "the engine was stopped"))
            }
        };
        Some((item, self))
    }
}

fn token(step: &Step) -> LLMEngineOutput {
    let mut output = LLMEngineOutput { token_ids: vec![step.id.0], ..LLMEngineOutput::default() };
    if let Some(logprob) = &step.logprob {
        output.log_probs = Some(vec![f64::from(logprob.logprob)]);
        let top = logprob.top.iter().zip(1..).map(|((id, logprob), rank)| TopLogprob {
            rank,
            token_id: id.0,
            token: None,
            logprob: f64::from(*logprob),
            bytes: None,
        });
        output.top_logprobs = Some(vec![top.collect()]);
    }
    output
}

impl<E> DynamoEngine<E> {
    /// What the engine's thread takes of a request, and where its tokens come out.
    fn job(&self, request: &PreprocessedRequest) -> Result<(Job, UnboundedReceiver<Made>), DynamoError> {
        let (sender, made) = tokio::sync::mpsc::unbounded_channel();
        let prompt = request::prompt(request)?;
        let length = u32::try_from(prompt.len()).unwrap_or(u32::MAX);
        let room = self.options.context_limit.saturating_sub(length);
        if room == 0 {
            let message = format!("{length} tokens fill a context of {}", self.options.context_limit);
            return Err(failed(BackendError::InvalidArgument, message));
        }
        let matcher = request::constraint(request)?
            .map(|constraint| {
                let start = request::start(&prompt, &self.tokenizer);
                constraint
                    .compile(start, self.profile, &self.compiler, Layout::default())
                    .map_err(|error| failed(BackendError::InvalidArgument, error.to_string()))
            })
            .transpose()?
            .map(|compiled| compiled.matcher());
        let job = Job {
            sampling: request::sampling(request)?,
            ends: request::ends(request, &self.tokenizer),
            least: request.stop_conditions.min_tokens.unwrap_or(0),
            left: request.stop_conditions.max_tokens.unwrap_or(room).min(room),
            matcher,
            words: self.compiler.mask_words(),
            prompt,
            sender,
        };
        Ok((job, made))
    }
}

//! The command-line program `deepseek-codec`: requests to token ids, and what became of them on the way.

use std::path::PathBuf;
use std::process::ExitCode;

use clap::{Args, Parser, Subcommand, ValueEnum};
use deepseek_codec::model::{PROFILES, Profile};
use deepseek_codec::protocol::{Api, Models, Options, Policy};

mod constrain;
mod decode;
mod diff;
mod encode;
mod explain;
mod failure;
mod lines;
mod mask;
mod output;
mod paint;
mod replay;
mod request;
mod text;

use failure::Failure;

/// Turns OpenAI and Anthropic requests into DeepSeek token ids.
#[derive(Debug, Parser)]
#[command(name = "deepseek-codec", version, max_term_width = 100)]
struct Cli {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// Print the prompt of a request: ids, text, or all about it as JSON.
    Encode {
        #[command(flatten)]
        request: RequestArgs,
        /// What to print.
        #[arg(long, value_enum, default_value_t)]
        format: Format,
    },
    /// Print how many tokens a request's prompt has.
    Count {
        #[command(flatten)]
        request: RequestArgs,
    },
    /// Show what each part of a request became: bytes, tokens, warnings.
    Explain {
        #[command(flatten)]
        request: RequestArgs,
        /// Print it as JSON.
        #[arg(long)]
        json: bool,
    },
    /// Show where the prompts of two requests part, and why: a prefix cache ends there.
    Diff {
        /// The first request.
        a: PathBuf,
        /// The second request.
        b: PathBuf,
        /// Print it as JSON.
        #[arg(long)]
        json: bool,
        #[command(flatten)]
        options: RequestOptions,
    },
    /// Turn plain text into ids. Spellings of special tokens are text.
    Tokenize {
        #[command(flatten)]
        text: TextArgs,
    },
    /// Turn ids into text.
    Detokenize {
        #[command(flatten)]
        text: TextArgs,
    },
    /// Turn what a model generated for a request into the API's response.
    Decode {
        #[command(flatten)]
        args: DecodeArgs,
    },
    /// Answer jobs, one JSON object a line, with one result a line.
    Replay {
        /// The jobs; standard input if absent or `-`.
        file: Option<PathBuf>,
    },
    /// Show which tokens may come next in an answer that a schema, a regular expression or a request constrains.
    Mask {
        #[command(flatten)]
        args: MaskArgs,
    },
    /// Compile schemas, regular expressions or requests to masks and try texts on them: one JSON object a line,
    /// one result a line.
    Constrain {
        /// The jobs; standard input if absent or `-`.
        file: Option<PathBuf>,
    },
}

#[derive(Debug, Args)]
struct RequestArgs {
    /// The request's JSON body; standard input if absent or `-`.
    file: Option<PathBuf>,
    #[command(flatten)]
    options: RequestOptions,
}

#[derive(Debug, Args)]
struct RequestOptions {
    /// The request's format; told from the body if absent.
    #[arg(long, value_enum)]
    protocol: Option<ProtocolArg>,
    /// Serve the request by this model, whatever model it names.
    #[arg(long)]
    model: Option<String>,
    /// How much is accepted.
    #[arg(long, value_enum, default_value_t)]
    policy: PolicyArg,
}

#[derive(Debug, Args)]
struct TextArgs {
    /// The text, or ids separated by white space; standard input if absent or `-`.
    file: Option<PathBuf>,
    /// The model whose vocabulary is used; all versions share their text tokens.
    #[arg(long, default_value = PROFILES[0].name())]
    model: String,
    /// Lines of `{"text": …}` or `{"ids": …}` in, the other out.
    #[arg(long)]
    jsonl: bool,
}

#[derive(Debug, Args)]
struct DecodeArgs {
    /// The request's JSON body; standard input if `-`.
    request: PathBuf,
    /// The generated ids, separated by white space or as a JSON list; standard input if absent or `-`.
    output: Option<PathBuf>,
    /// The output is text with special tokens spelled, not ids.
    #[arg(long)]
    text: bool,
    /// Print the streamed events instead of the complete response.
    #[arg(long)]
    stream: bool,
    /// Follow OpenAI's and Anthropic's specifications where the official API differs.
    #[arg(long)]
    vendor: bool,
    /// Why the engine stopped.
    #[arg(long, value_enum, default_value_t)]
    finish: FinishArg,
    /// An id that ends the output wherever it comes; can be repeated.
    #[arg(long, value_name = "ID", conflicts_with = "text")]
    stop_id: Vec<u32>,
    /// Keep the stop sequence in the answer, and the text of an id that ends the output.
    #[arg(long)]
    keep_stop: bool,
    #[command(flatten)]
    options: RequestOptions,
}

#[derive(Debug, Args)]
struct MaskArgs {
    /// A JSON Schema, or with --request a request's JSON body; standard input if absent or `-`.
    #[arg(conflicts_with = "regex")]
    file: Option<PathBuf>,
    /// The file is a request.
    #[arg(long, conflicts_with = "regex")]
    request: bool,
    /// A regular expression that the whole answer has to match.
    #[arg(long)]
    regex: Option<String>,
    /// What the model has generated so far, special tokens spelled.
    #[arg(long, default_value = "")]
    prefix: String,
    /// How many tokens are listed.
    #[arg(long, default_value_t = 20)]
    limit: usize,
    /// Leave out what of a schema cannot be enforced, with a warning.
    #[arg(long)]
    relax: bool,
    #[command(flatten)]
    options: RequestOptions,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, ValueEnum)]
enum FinishArg {
    /// The model ended its turn.
    #[default]
    Stop,
    /// The limit on tokens was reached.
    Length,
    /// The rest is withheld.
    ContentFilter,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, ValueEnum)]
enum Format {
    /// The ids on one line.
    #[default]
    Ids,
    /// The text, with special tokens highlighted on a terminal.
    Text,
    /// A JSON object with the prompt, its special tokens, ids, sampling and warnings.
    Json,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum ProtocolArg {
    /// OpenAI Chat Completions
    Chat,
    /// OpenAI Responses
    Responses,
    /// Anthropic Messages
    Messages,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, ValueEnum)]
enum PolicyArg {
    /// Also what has one obvious meaning.
    #[default]
    Lenient,
    /// Exactly what the official API accepts.
    Strict,
}

impl RequestOptions {
    fn api(&self) -> Option<Api> {
        self.protocol.map(|protocol| match protocol {
            ProtocolArg::Chat => Api::Chat,
            ProtocolArg::Responses => Api::Responses,
            ProtocolArg::Messages => Api::Messages,
        })
    }

    fn lowering(&self) -> Options {
        Options::new(match self.policy {
            PolicyArg::Lenient => Policy::Lenient,
            PolicyArg::Strict => Policy::Strict,
        })
    }
}

/// The model version called `name`.
fn profile(name: &str) -> Result<&'static Profile, Failure> {
    Profile::by_name(name).ok_or_else(|| {
        let models = Models::default();
        let names: Vec<&str> = models.iter().map(|(name, _)| name).collect();
        Failure::new(format!("unknown model {name}; there are {}", names.join(", ")))
    })
}

fn main() -> ExitCode {
    let result = match Cli::parse().command {
        Command::Encode { request, format } => encode::encode(&request, format),
        Command::Count { request } => encode::count(&request),
        Command::Explain { request, json } => explain::explain(&request, json),
        Command::Diff { a, b, json, options } => diff::diff(&a, &b, &options, json),
        Command::Tokenize { text } => text::tokenize(&text),
        Command::Detokenize { text } => text::detokenize(&text),
        Command::Decode { args } => decode::decode(&args),
        Command::Replay { file } => replay::replay(file.as_deref()),
        Command::Mask { args } => mask::mask(&args),
        Command::Constrain { file } => constrain::constrain(file.as_deref()),
    };
    match result {
        Ok(()) => ExitCode::SUCCESS,
        Err(failure) => failure.report(),
    }
}

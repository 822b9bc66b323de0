//! Reading a request and bringing it to its prompt.

use std::fs::File;
use std::io::{self, Read, Write};
use std::path::Path;

use deepseek_codec::inspect::View;
use deepseek_codec::json::{Json, LoneSurrogates};
use deepseek_codec::model::Profile;
use deepseek_codec::prompt::Prompt;
use deepseek_codec::protocol::{Api, Lowered, Options, lower};
use deepseek_codec::tokenizer::Tokenizer;

use crate::failure::Failure;
use crate::{RequestArgs, RequestOptions, profile};

/// A request that was accepted.
pub(crate) struct Accepted {
    pub(crate) lowered: Lowered,
    pub(crate) profile: &'static Profile,
    pub(crate) prompt: Prompt,
    /// Where the request came from.
    pub(crate) name: String,
    /// The size of its body in bytes.
    pub(crate) bytes: usize,
}

impl Accepted {
    pub(crate) fn view<'v>(&'v self, tokenizer: &'v Tokenizer) -> View<'v> {
        View { lowered: &self.lowered, prompt: &self.prompt, tokenizer }
    }
}

pub(crate) fn read(args: &RequestArgs) -> Result<Accepted, Failure> {
    read_file(args.file.as_deref(), &args.options)
}

pub(crate) fn read_file(file: Option<&Path>, options: &RequestOptions) -> Result<Accepted, Failure> {
    let (name, body) = read_bytes(file)?;
    if body.trim_ascii().is_empty() {
        return Err(Failure::new(format!("{name} is empty: a request's JSON body is needed")));
    }
    let api = match options.api() {
        Some(api) => api,
        None => detect(&name, &body)?,
    };
    let mut lowering = options.lowering();
    let profile = options.model.as_deref().map(profile).transpose()?;
    if let Some(profile) = profile {
        lowering = serve_by(lowering, &body, profile);
    }
    let lowered = lower(api, &body, &lowering).map_err(|error| match Failure::from(error) {
        Failure::Message(message) => Failure::Message(format!("{name}: {message}")),
        closed @ Failure::Closed => closed,
    })?;
    let profile = profile.unwrap_or(lowered.profile);
    let prompt = profile.render(&lowered.conversation);
    Ok(Accepted { prompt, profile, lowered, name, bytes: body.len() })
}

/// All bytes of `file`, or of standard input, with a name for messages.
pub(crate) fn read_bytes(file: Option<&Path>) -> Result<(String, Vec<u8>), Failure> {
    let mut bytes = Vec::new();
    match file.filter(|file| *file != Path::new("-")) {
        None => {
            io::stdin().lock().read_to_end(&mut bytes)?;
            Ok(("standard input".to_owned(), bytes))
        }
        Some(path) => {
            let name = path.display().to_string();
            let result = File::open(path).and_then(|mut file| file.read_to_end(&mut bytes));
            result.map_err(|error| Failure::new(format!("{name}: {error}")))?;
            Ok((name, bytes))
        }
    }
}

/// Tells the format from the body and says so.
fn detect(name: &str, body: &[u8]) -> Result<Api, Failure> {
    let (json, _) = Json::parse_with(body, LoneSurrogates::Replace)
        .map_err(|error| Failure::new(format!("{name}: not JSON: {error}")))?;
    if json.as_object().is_none() {
        return Err(Failure::new(format!("{name}: not a request: its JSON is not an object")));
    }
    let api = match Api::detect(&json) {
        Some(api) => api,
        None if json.get("messages").is_some() => Api::Chat,
        None => {
            let message = format!("{name}: neither `messages` nor `input`: name the format with --protocol");
            return Err(Failure::new(message));
        }
    };
    writeln!(io::stderr(), "deepseek-codec: {name}: read as {} (--protocol says otherwise)", api.as_str())?;
    Ok(api)
}

/// Options that serve whatever model the body names by `profile`.
fn serve_by(options: Options, body: &[u8], profile: &'static Profile) -> Options {
    let named = Json::parse_with(body, LoneSurrogates::Replace).ok();
    match named.as_ref().and_then(|(json, _)| json.get("model")?.as_str()) {
        Some(name) => options.with_model(name, profile),
        None => options,
    }
}

//! `decode`: generated ids or text become a response or its events.

use std::io::{self, BufWriter, Write};
use std::path::Path;

use deepseek_codec::output::Finish;
use deepseek_codec::protocol::{Chunk, Dialect, StreamOptions};
use deepseek_codec::token::TokenId;

use crate::failure::Failure;
use crate::request::{read_bytes, read_file};
use crate::text::read_ids;
use crate::{DecodeArgs, FinishArg, paint};

pub(crate) fn decode(args: &DecodeArgs) -> Result<(), Failure> {
    let is_input = |file: &Path| file == Path::new("-");
    if is_input(&args.request) && args.output.as_deref().is_none_or(is_input) {
        return Err(Failure::new("the request and the output cannot both come from standard input"));
    }
    let accepted = read_file(Some(&args.request), &args.options)?;
    let (name, output) = read_bytes(args.output.as_deref())?;
    let output =
        std::str::from_utf8(&output).map_err(|error| Failure::new(format!("{name}: not UTF-8: {error}")))?;
    let tokenizer = accepted.profile.tokenizer();
    let prompt_tokens = tokenizer.count(&accepted.prompt) as u64;
    let dialect = if args.vendor { Dialect::Vendor } else { Dialect::Deepseek };
    let options = StreamOptions {
        dialect,
        prompt_tokens,
        stop_ids: args.stop_id.iter().copied().map(TokenId).collect(),
        keep_stop: args.keep_stop,
        ..StreamOptions::new("resp-1")
    };
    let mut stream = accepted.lowered.stream(&tokenizer, options);
    let mut out = BufWriter::new(io::stdout().lock());
    let mut chunks = Vec::new();
    stream.start(&mut chunks);
    if args.text {
        stream.push_text(output, tokenizer.encode_text(output).len() as u64, &mut chunks);
        pass_on(args, &mut chunks, &mut out)?;
    } else {
        let ids = read_ids(&tokenizer, output)
            .map_err(|problem| Failure::new(format!("{name}: {problem} (--text reads text)")))?;
        for id in ids {
            stream.push_id(id, None, &mut chunks);
            pass_on(args, &mut chunks, &mut out)?;
        }
    }
    let finish = match args.finish {
        FinishArg::Stop => Finish::Stop,
        FinishArg::Length => Finish::Length,
        FinishArg::ContentFilter => Finish::ContentFilter,
    };
    stream.finish(finish, &mut chunks);
    pass_on(args, &mut chunks, &mut out)?;
    if !args.stream {
        let response = stream.response();
        if paint::is_colourful() {
            let pretty = serde_json::to_string_pretty(&response).map_err(io::Error::from)?;
            writeln!(out, "{pretty}")?;
        } else {
            writeln!(out, "{response}")?;
        }
    }
    out.flush()?;
    for warning in stream.warnings() {
        writeln!(io::stderr(), "deepseek-codec: output byte {}: {}", warning.at, warning.kind.as_str())?;
    }
    Ok(())
}

/// Writes the chunks as server-sent events if they are asked for.
fn pass_on(args: &DecodeArgs, chunks: &mut Vec<Chunk>, out: &mut impl Write) -> Result<(), Failure> {
    let mut bytes = Vec::new();
    for chunk in chunks.drain(..).filter(|_| args.stream) {
        chunk.write_sse(&mut bytes);
    }
    out.write_all(&bytes)?;
    Ok(())
}

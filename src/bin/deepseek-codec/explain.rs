//! `explain`: what each part of a request became.

use std::io::{self, BufWriter, Write};

use deepseek_codec::conversation::Thinking;
use deepseek_codec::inspect::Explanation;

use crate::failure::Failure;
use crate::request;
use crate::{RequestArgs, paint};

pub(crate) fn explain(args: &RequestArgs, json: bool) -> Result<(), Failure> {
    let accepted = request::read(args)?;
    let tokenizer = accepted.profile.tokenizer();
    let explanation = Explanation::of(accepted.view(&tokenizer));
    let mut out = BufWriter::new(io::stdout().lock());
    if json {
        writeln!(out, "{}", explanation.json())?;
        out.flush()?;
        return Ok(());
    }
    let thinking = match accepted.lowered.conversation.thinking {
        Thinking::Off => "no thinking".to_owned(),
        Thinking::On(effort) => format!("thinking, effort {effort:?}").to_lowercase(),
    };
    writeln!(
        out,
        "{} request of {} bytes for {}, {}, {} policy",
        accepted.lowered.api.as_str(),
        accepted.bytes,
        accepted.profile.name(),
        thinking,
        format!("{:?}", args.options.policy).to_lowercase(),
    )?;
    writeln!(
        out,
        "prompt: {} tokens, {} bytes, {} special tokens, {} images\n",
        explanation.tokens, explanation.bytes, explanation.specials, explanation.images,
    )?;
    writeln!(out, "{:>8}  {:>9}  part", "tokens", "bytes")?;
    for part in &explanation.parts {
        let says = paint::one_line(&part.summary, 60);
        let line = format!("{:>8}  {:>9}  {:<26} {says}", part.tokens, part.bytes, part.label);
        writeln!(out, "{}", line.trim_end())?;
    }
    let colourful = paint::is_colourful();
    if !accepted.lowered.warnings.is_empty() {
        writeln!(out, "\n{} warnings", accepted.lowered.warnings.len())?;
    }
    for warning in &accepted.lowered.warnings {
        let kind = paint::warning(warning.kind.as_str(), colourful);
        let place = if warning.path.is_empty() { "request" } else { &warning.path };
        writeln!(out, "  {place}: {kind}: {}", warning.message)?;
    }
    out.flush()?;
    Ok(())
}

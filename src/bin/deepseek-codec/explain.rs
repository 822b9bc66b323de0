//! `explain`: what each part of a request became.

use std::io::{self, BufWriter, Write};

use deepseek_codec::conversation::Thinking;
use deepseek_codec::prompt::{Position, Source};

use crate::failure::Failure;
use crate::places::{Label, placed_ids, summary};
use crate::request::{self, Accepted};
use crate::{RequestArgs, paint};

/// A row of the table.
struct Row {
    source: Source,
    bytes: usize,
    tokens: usize,
}

pub(crate) fn explain(args: &RequestArgs) -> Result<(), Failure> {
    let accepted = request::read(args)?;
    let mut out = BufWriter::new(io::stdout().lock());
    let conversation = &accepted.lowered.conversation;
    let rows = rows(&accepted);
    let tokens: usize = rows.iter().map(|row| row.tokens).sum();
    let thinking = match conversation.thinking {
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
    let images = accepted.profile.images(conversation).len();
    writeln!(
        out,
        "prompt: {tokens} tokens, {} bytes, {} special tokens, {images} images\n",
        accepted.prompt.display_len(),
        accepted.prompt.specials().len(),
    )?;
    writeln!(out, "{:>8}  {:>9}  part", "tokens", "bytes")?;
    for row in rows {
        let label = Label { source: row.source, conversation }.to_string();
        let says = paint::one_line(&summary(row.source, conversation), 60);
        let line = format!("{:>8}  {:>9}  {label:<26} {says}", row.tokens, row.bytes);
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

fn rows(accepted: &Accepted) -> Vec<Row> {
    let prompt = &accepted.prompt;
    let placed = placed_ids(&accepted.profile.tokenizer(), prompt);
    let begins: Vec<(Position, Source)> = prompt.sources().collect();
    let mut tokens = placed.iter().map(|&(_, at)| at).peekable();
    let mut rows = Vec::with_capacity(begins.len());
    for (index, &(begin, source)) in begins.iter().enumerate() {
        let end = begins.get(index + 1).map_or_else(|| prompt.end(), |&(position, _)| position);
        let is_last = index + 1 == begins.len();
        let mut count = 0;
        while tokens.next_if(|&at| is_last || at < end).is_some() {
            count += 1;
        }
        let specials = prompt.specials().skip(begin.specials).take(end.specials - begin.specials);
        let spelled: usize = specials.map(|(_, special)| special.spelling().len()).sum();
        rows.push(Row { source, bytes: end.text - begin.text + spelled, tokens: count });
    }
    rows
}

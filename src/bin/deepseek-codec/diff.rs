//! `diff`: where the prompts of two requests part.

use std::io::{self, BufWriter, Write};
use std::path::Path;

use deepseek_codec::inspect::Difference;

use crate::failure::Failure;
use crate::{RequestOptions, paint, request};

pub(crate) fn diff(a: &Path, b: &Path, options: &RequestOptions, json: bool) -> Result<(), Failure> {
    let sides = [request::read_file(Some(a), options)?, request::read_file(Some(b), options)?];
    let tokenizers = sides.each_ref().map(|side| side.profile.tokenizer());
    let difference = Difference::between(sides[0].view(&tokenizers[0]), sides[1].view(&tokenizers[1]));
    let mut out = BufWriter::new(io::stdout().lock());
    if json {
        writeln!(out, "{}", difference.json())?;
        out.flush()?;
        return Ok(());
    }
    let Difference { tokens, common, sides: partings, reason } = difference;
    for (name, (side, tokens)) in ["A", "B"].iter().zip(sides.iter().zip(tokens)) {
        writeln!(out, "{name}: {tokens} tokens for {} ({})", side.profile.name(), side.name)?;
    }
    let [in_a, in_b] = tokens.map(|tokens| percent(common, tokens));
    writeln!(out, "common prefix: {common} tokens ({in_a} of A, {in_b} of B)")?;
    let Some(partings) = partings else {
        writeln!(out, "the prompts are the same")?;
        out.flush()?;
        return Ok(());
    };
    writeln!(out)?;
    for (name, parting) in ["A", "B"].iter().zip(partings) {
        let (before, after) = (paint::one_line(&parting.before, 80), paint::one_line(&parting.after, 80));
        let mark =
            paint::special(if after.is_empty() { "(ends here)" } else { &after }, paint::is_colourful());
        writeln!(out, "{name} at token {common}, {}:\n   {before}▸{mark}", parting.label)?;
    }
    writeln!(out, "\nwhy: {reason}")?;
    out.flush()?;
    Ok(())
}

fn percent(part: usize, whole: usize) -> String {
    format!("{}%", (part * 100).checked_div(whole).unwrap_or(100))
}

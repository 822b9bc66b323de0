//! `encode` and `count`.

use std::io::{self, BufWriter, Write};

use deepseek_codec::inspect::report;
use deepseek_codec::prompt::Segment;

use crate::failure::Failure;
use crate::request::{self, Accepted};
use crate::{Format, RequestArgs, paint};

pub(crate) fn encode(args: &RequestArgs, format: Format) -> Result<(), Failure> {
    let accepted = request::read(args)?;
    let mut out = BufWriter::new(io::stdout().lock());
    match format {
        Format::Ids => {
            let ids = accepted.profile.tokenizer().encode(&accepted.prompt);
            for (index, id) in ids.iter().enumerate() {
                write!(out, "{}{id}", if index > 0 { " " } else { "" })?;
            }
            writeln!(out)?;
        }
        Format::Text => {
            let colourful = paint::is_colourful();
            for segment in accepted.prompt.segments() {
                match segment {
                    Segment::Special(special) => {
                        write!(out, "{}", paint::special(special.spelling(), colourful))?
                    }
                    Segment::Text(text) => write!(out, "{text}")?,
                }
            }
            writeln!(out)?;
        }
        Format::Json => {
            writeln!(out, "{}", report(accepted.view(&accepted.profile.tokenizer())))?;
        }
    }
    out.flush()?;
    warn(&accepted)
}

pub(crate) fn count(args: &RequestArgs) -> Result<(), Failure> {
    let accepted = request::read(args)?;
    writeln!(io::stdout(), "{}", accepted.profile.tokenizer().count(&accepted.prompt))?;
    warn(&accepted)
}

/// Says how many warnings there are; `explain` shows them.
fn warn(accepted: &Accepted) -> Result<(), Failure> {
    let count = accepted.lowered.warnings.len();
    if count > 0 {
        let name = &accepted.name;
        let plural = if count == 1 { "" } else { "s" };
        writeln!(io::stderr(), "deepseek-codec: {name}: {count} warning{plural} (see `explain`)")?;
    }
    Ok(())
}

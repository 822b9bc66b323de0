//! `diff`: where the prompts of two requests part.

use std::io::{self, BufWriter, Write};
use std::path::Path;

use deepseek_codec::conversation::Conversation;
use deepseek_codec::prompt::{Position, Source};
use deepseek_codec::token::TokenId;

use crate::failure::Failure;
use crate::places::{Label, placed_ids};
use crate::request::{self, Accepted};
use crate::{RequestOptions, paint};

/// How many tokens are shown before and after the place.
const CONTEXT: usize = 12;

pub(crate) fn diff(a: &Path, b: &Path, options: &RequestOptions) -> Result<(), Failure> {
    let sides = [request::read_file(Some(a), options)?, request::read_file(Some(b), options)?];
    let placed = sides.each_ref().map(|side| placed_ids(&side.profile.tokenizer(), &side.prompt));
    let common = placed[0].iter().zip(&placed[1]).take_while(|((a, _), (b, _))| a == b).count();
    let mut out = BufWriter::new(io::stdout().lock());
    for (name, (side, ids)) in ["A", "B"].iter().zip(sides.iter().zip(&placed)) {
        writeln!(out, "{name}: {} tokens for {} ({})", ids.len(), side.profile.name(), side.name)?;
    }
    let [in_a, in_b] = placed.each_ref().map(|ids| percent(common, ids.len()));
    writeln!(out, "common prefix: {common} tokens ({in_a} of A, {in_b} of B)")?;
    if common == placed[0].len() && common == placed[1].len() {
        writeln!(out, "the prompts are the same")?;
        out.flush()?;
        return Ok(());
    }
    writeln!(out)?;
    for (name, (side, ids)) in ["A", "B"].iter().zip(sides.iter().zip(&placed)) {
        show_side(&mut out, name, side, ids, common)?;
    }
    writeln!(out, "\nwhy: {}", reason(&sides, &placed, common))?;
    out.flush()?;
    Ok(())
}

fn percent(part: usize, whole: usize) -> String {
    format!("{}%", (part * 100).checked_div(whole).unwrap_or(100))
}

fn show_side(
    out: &mut impl Write,
    name: &str,
    side: &Accepted,
    ids: &[(TokenId, Position)],
    common: usize,
) -> Result<(), Failure> {
    let tokenizer = side.profile.tokenizer();
    let text = |range: &[(TokenId, Position)]| {
        let ids: Vec<TokenId> = range.iter().map(|&(id, _)| id).collect();
        paint::one_line(&tokenizer.decode(&ids), 80)
    };
    let before = text(&ids[common.saturating_sub(CONTEXT)..common]);
    let after = text(&ids[common..ids.len().min(common + CONTEXT)]);
    let at = ids.get(common).map_or_else(|| side.prompt.end(), |&(_, at)| at);
    let label = Label { source: source_at(side, at), conversation: &side.lowered.conversation };
    let mark = paint::special(if after.is_empty() { "(ends here)" } else { &after }, paint::is_colourful());
    writeln!(out, "{name} at token {common}, {label}:\n   {before}▸{mark}")?;
    Ok(())
}

fn source_at(side: &Accepted, at: Position) -> Source {
    side.prompt
        .sources()
        .take_while(|&(begin, _)| begin <= at)
        .last()
        .map_or(Source::Start, |(_, source)| source)
}

/// The likely reason, from where the prompts part.
fn reason(sides: &[Accepted; 2], placed: &[Vec<(TokenId, Position)>; 2], common: usize) -> String {
    let conversations = sides.each_ref().map(|side| &side.lowered.conversation);
    let [a, b] =
        [0, 1].map(|side: usize| placed[side].get(common).map(|&(_, at)| source_at(&sides[side], at)));
    if sides[0].profile != sides[1].profile {
        return "the requests go to different models".to_owned();
    }
    match (a, b) {
        (None, _) => "A ends here and B goes on: B reuses all of A".to_owned(),
        (_, None) => "B ends here and A goes on: A reuses all of B".to_owned(),
        (Some(a), Some(b)) => {
            let settings = settings_reason(conversations);
            match (a, b) {
                (Source::Start, _) | (_, Source::Start) if settings.is_some() => settings.unwrap_or_default(),
                (Source::Tools, Source::Tools) => tools_reason(conversations),
                (Source::Turn, Source::Message(index)) | (Source::Message(index), Source::Turn) => {
                    let longer = if matches!(a, Source::Turn) { "B" } else { "A" };
                    format!("{longer} goes on with message {index} where the other starts the model's turn")
                }
                (a, b) => {
                    let label =
                        |source, side: usize| Label { source, conversation: conversations[side] }.to_string();
                    let (a, b) = (label(a, 0), label(b, 1));
                    let place =
                        if a == b { format!("{a} differs") } else { format!("A has {a} where B has {b}") };
                    settings.map_or_else(|| place.clone(), |settings| format!("{place}; also, {settings}"))
                }
            }
        }
    }
}

/// A difference in settings that reaches into the prompt.
fn settings_reason([a, b]: [&Conversation; 2]) -> Option<String> {
    if a.thinking != b.thinking {
        return Some(format!("thinking differs: {:?} in A, {:?} in B", a.thinking, b.thinking));
    }
    if a.offers_tools() != b.offers_tools() {
        let with = if a.offers_tools() { "A" } else { "B" };
        return Some(format!("only {with} offers tools, and without tools earlier reasoning is left out"));
    }
    (a.response_format != b.response_format).then(|| "the response formats differ".to_owned())
}

fn tools_reason([a, b]: [&Conversation; 2]) -> String {
    let first = a.tools.iter().zip(&b.tools).position(|(a, b)| a != b);
    match first {
        Some(index) if a.tools[index].name == b.tools[index].name => {
            format!("the declarations of tool {} ({index}) differ", a.tools[index].name)
        }
        Some(index) => {
            format!("tool {index} is {} in A and {} in B", a.tools[index].name, b.tools[index].name)
        }
        None => format!("A declares {} tools, B {}", a.tools.len(), b.tools.len()),
    }
}

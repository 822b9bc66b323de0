//! `mask`: which tokens may come next.

use std::io::{self, Write};

use deepseek_codec::constraint::Constraint;
use deepseek_codec::grammar::{Compiler, Layout, is_allowed};
use deepseek_codec::inspect::spelled_ids;
use deepseek_codec::json::Json;
use deepseek_codec::model::PROFILES;
use deepseek_codec::output::{Plan, Start};
use deepseek_codec::token::TokenId;
use deepseek_codec::tokenizer::Tokenizer;

use crate::MaskArgs;
use crate::failure::Failure;
use crate::request;

pub(crate) fn mask(args: &MaskArgs) -> Result<(), Failure> {
    let mut profile = PROFILES[PROFILES.len() - 1];
    let mut start = Start::Content;
    let constraint = if let Some(regex) = &args.regex {
        Constraint::Regex(regex.clone())
    } else if args.request {
        let accepted = request::read_file(args.file.as_deref(), &args.options)?;
        let lowered = accepted.lowered;
        let plan = Plan::of(&lowered.conversation, &lowered.stops);
        (profile, start) = (accepted.profile, plan.start);
        Constraint::of(&lowered.conversation)
            .ok_or_else(|| Failure::new("the request does not constrain its answer: any token may come"))?
    } else {
        let (name, schema) = request::read_bytes(args.file.as_deref())?;
        let schema =
            Json::parse(&schema).map_err(|error| Failure::new(format!("{name}: not JSON: {error}")))?;
        Constraint::Json { schema: Some(schema) }
    };
    let tokenizer = profile.tokenizer();
    let compiler = Compiler::new(&tokenizer);
    let layout = Layout::default();
    let compiled = match args.relax {
        true => constraint.compile_relaxed(start, profile, &compiler, layout),
        false => constraint.compile(start, profile, &compiler, layout).map(|compiled| (compiled, Vec::new())),
    };
    let (compiled, left_out) = compiled.map_err(|error| Failure::new(error.to_string()))?;
    for left in &left_out {
        writeln!(io::stderr(), "deepseek-codec: {left}")?;
    }
    let mut matcher = compiled.matcher();
    let ids = spelled_ids(&tokenizer, &args.prefix);
    for (at, id) in ids.iter().enumerate() {
        matcher.accept(*id).map_err(|_| {
            let before = tokenizer.decode(&ids[..at]);
            Failure::new(format!("after {before:?}, {:?} is not allowed", tokenizer.decode(&[*id])))
        })?;
    }
    let mut mask = vec![0; compiler.mask_words()];
    matcher.fill_mask(&mut mask);
    let allowed: Vec<TokenId> =
        (0..tokenizer.len() as u32).map(TokenId).filter(|id| is_allowed(&mask, *id)).collect();
    let mut out = io::stdout().lock();
    writeln!(out, "{} of {} tokens may come", allowed.len(), tokenizer.len())?;
    writeln!(out, "because the text is {}", matcher.places().join(", or "))?;
    if matcher.is_complete() {
        writeln!(out, "it may end here")?;
    }
    let mut forced = Vec::new();
    matcher.forced(&mut forced);
    if !forced.is_empty() {
        writeln!(out, "must go on with {:?}", tokenizer.decode(&forced))?;
    }
    for id in allowed.iter().take(args.limit) {
        writeln!(out, "{id}\t{}", shown(&tokenizer, *id))?;
    }
    if allowed.len() > args.limit {
        writeln!(out, "and {} more", allowed.len() - args.limit)?;
    }
    Ok(())
}

/// A token as people read it: bytes that are not whole characters as escapes.
fn shown(tokenizer: &Tokenizer, id: TokenId) -> String {
    match tokenizer.token_bytes(id) {
        Some(bytes) => match std::str::from_utf8(bytes) {
            Ok(text) => format!("{text:?}"),
            Err(_) => format!("\"{}\"", bytes.escape_ascii()),
        },
        None => tokenizer.added_spelling(id).unwrap_or_default().to_owned(),
    }
}

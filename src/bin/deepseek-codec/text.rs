//! `tokenize` and `detokenize`: plain text and ids.

use std::io::{self, BufRead, BufWriter, Write};

use deepseek_codec::json::Json;
use deepseek_codec::token::TokenId;
use deepseek_codec::tokenizer::Tokenizer;

use crate::failure::Failure;
use crate::request::read_bytes;
use crate::{TextArgs, profile};

pub(crate) fn tokenize(args: &TextArgs) -> Result<(), Failure> {
    run(args, |tokenizer, input| {
        let text = std::str::from_utf8(input)
            .map_err(|error| Failure::new(format!("the text is not UTF-8: {error}")))?;
        let ids = tokenizer.encode_text(text);
        Ok(ids.iter().map(ToString::to_string).collect::<Vec<_>>().join(" "))
    })
}

pub(crate) fn detokenize(args: &TextArgs) -> Result<(), Failure> {
    run(args, |tokenizer, input| {
        let text = String::from_utf8_lossy(input);
        let is_separator = |c: char| c.is_whitespace() || matches!(c, ',' | '[' | ']');
        let ids = text.split(is_separator).filter(|word| !word.is_empty()).map(|word| {
            let id = word.parse().map_err(|_| Failure::new(format!("not a token id: {word}")))?;
            known_id(tokenizer, id)
        });
        Ok(tokenizer.decode(&ids.collect::<Result<Vec<_>, _>>()?))
    })
}

fn known_id(tokenizer: &Tokenizer, id: u32) -> Result<TokenId, Failure> {
    let is_known = usize::try_from(id).is_ok_and(|id| id < tokenizer.len());
    if is_known { Ok(TokenId(id)) } else { Err(Failure::new(format!("no token has the id {id}"))) }
}

fn run(
    args: &TextArgs,
    convert: impl Fn(&Tokenizer, &[u8]) -> Result<String, Failure>,
) -> Result<(), Failure> {
    let tokenizer = profile(&args.model)?.tokenizer();
    let (_, input) = read_bytes(args.file.as_deref())?;
    let mut out = BufWriter::new(io::stdout().lock());
    if args.jsonl {
        for (index, line) in input.lines().enumerate() {
            let line = line?;
            if !line.trim().is_empty() {
                let answer = answer(&tokenizer, &line)
                    .map_err(|message| Failure::new(format!("line {}: {message}", index + 1)))?;
                writeln!(out, "{answer}")?;
            }
        }
    } else {
        writeln!(out, "{}", convert(&tokenizer, &input)?)?;
    }
    out.flush()?;
    Ok(())
}

/// The answer to one line: ids for text, text for ids.
fn answer(tokenizer: &Tokenizer, line: &str) -> Result<Json, String> {
    let job = Json::parse(line.as_bytes()).map_err(|error| error.to_string())?;
    if let Some(text) = job.get("text").and_then(Json::as_str) {
        let ids = tokenizer.encode_text(text).into_iter().map(|id| id.0.into());
        return Ok([("ids", Json::Array(ids.collect()))].into());
    }
    let Some(ids) = job.get("ids").and_then(Json::as_array) else {
        return Err("neither `text` nor `ids`".to_owned());
    };
    let ids = ids.iter().map(|id| match id {
        Json::Number(number) => number
            .as_u64()
            .and_then(|id| u32::try_from(id).ok())
            .filter(|&id| usize::try_from(id).is_ok_and(|id| id < tokenizer.len()))
            .map(TokenId)
            .ok_or_else(|| "no such token id".to_owned()),
        other => Err(format!("not a token id: {other}")),
    });
    let text = tokenizer.decode(&ids.collect::<Result<Vec<_>, _>>()?);
    Ok([("text", text.into())].into())
}

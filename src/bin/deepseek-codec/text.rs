//! `tokenize` and `detokenize`: plain text and ids.

use std::io::{self, BufRead, BufWriter, Write};

use deepseek_codec::json::{Json, Number};
use deepseek_codec::token::TokenId;
use deepseek_codec::tokenizer::Tokenizer;

use crate::failure::Failure;
use crate::paint::one_line;
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
        let ids = read_ids(tokenizer, &String::from_utf8_lossy(input)).map_err(Failure::new)?;
        Ok(tokenizer.decode(&ids))
    })
}

/// The ids in `text`, separated by white space or written as a JSON list.
pub(crate) fn read_ids(tokenizer: &Tokenizer, text: &str) -> Result<Vec<TokenId>, String> {
    let is_separator = |c: char| c.is_whitespace() || matches!(c, ',' | '[' | ']');
    let words = text.split(is_separator).filter(|word| !word.is_empty());
    words
        .map(|word| {
            let id = word.parse().map_err(|_| format!("not a token id: {}", one_line(word, 80)))?;
            known_id(tokenizer, id)
        })
        .collect()
}

fn known_id(tokenizer: &Tokenizer, id: u64) -> Result<TokenId, String> {
    let known = u32::try_from(id).ok().filter(|&id| usize::try_from(id).is_ok_and(|id| id < tokenizer.len()));
    known.map(TokenId).ok_or_else(|| format!("no token has the id {id}"))
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
        Json::Number(Number::Unsigned(id)) => known_id(tokenizer, *id),
        other => Err(format!("not a token id: {other}")),
    });
    let text = tokenizer.decode(&ids.collect::<Result<Vec<_>, _>>()?);
    Ok([("text", text.into())].into())
}

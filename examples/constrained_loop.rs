//! Text under a mask, from random logits: `cargo run --release --example constrained_loop [SEED]`.
//!
//! In place of a model stand random numbers. Whatever they prefer, the text follows the schema.

#![allow(clippy::print_stdout, reason = "an example shows what it makes")]

use deepseek_codec::constraint::Constraint;
use deepseek_codec::grammar::{Compiler, Layout, Whitespace, is_allowed};
use deepseek_codec::json::Json;
use deepseek_codec::model::PROFILES;
use deepseek_codec::output::Start;
use deepseek_codec::token::TokenId;

const SCHEMA: &str = r#"{
    "type": "object",
    "properties": {
        "city": {"type": "string", "pattern": "^[A-Z][a-z]{2,9}$"},
        "celsius": {"type": "number", "minimum": -60, "maximum": 60, "multipleOf": 0.5},
        "sky": {"enum": ["clear", "clouds", "rain", "snow"]},
        "wind": {"type": "array", "items": {"type": "integer", "minimum": 0, "maximum": 120}, "minItems": 1, "maxItems": 3},
        "date": {"type": "string", "pattern": "^20[0-9]{2}-(0[1-9]|1[0-2])$"}
    },
    "required": ["city", "celsius", "sky", "wind"],
    "additionalProperties": false
}"#;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let profile = PROFILES[PROFILES.len() - 1];
    let tokenizer = profile.tokenizer();
    // Once for a vocabulary.
    let compiler = Compiler::new(&tokenizer);
    // Once for a schema.
    let constraint = Constraint::Json { schema: Some(Json::parse(SCHEMA.as_bytes())?) };
    let layout = Layout { whitespace: Whitespace::Spaced, ..Layout::default() };
    let compiled = constraint.compile(Start::Content, profile, &compiler, layout)?;
    // Once for a sequence.
    let mut matcher = compiled.matcher();
    let mut mask = vec![0; compiled.mask_words()];
    let mut model = Random(std::env::args().nth(1).map_or(Ok(7), |seed| seed.parse())?);
    let mut output = Vec::new();
    loop {
        matcher.fill_mask(&mut mask);
        let logits = model.logits(tokenizer.len());
        let best = (0..tokenizer.len())
            .filter(|id| is_allowed(&mask, TokenId(*id as u32)))
            .max_by(|a, b| logits[*a].total_cmp(&logits[*b]))
            .ok_or("a mask is never empty before the end")?;
        let token = TokenId(best as u32);
        matcher.accept(token)?;
        if compiled.stops().contains(&token) {
            break;
        }
        output.push(token);
    }
    let text = tokenizer.decode(&output);
    let value = Json::parse(text.as_bytes())?;
    let celsius = value.get("celsius").ok_or("the schema requires it")?;
    println!("{text}\n{} tokens; {celsius} °C", output.len());
    Ok(())
}

/// A model that has learnt nothing (xorshift64*).
struct Random(u64);

impl Random {
    fn logits(&mut self, tokens: usize) -> Vec<f32> {
        let mut next = || {
            self.0 ^= self.0 >> 12;
            self.0 ^= self.0 << 25;
            self.0 ^= self.0 >> 27;
            (self.0.wrapping_mul(0x2545_F491_4F6C_DD1D) >> 40) as f32
        };
        (0..tokens).map(|_| next()).collect()
    }
}

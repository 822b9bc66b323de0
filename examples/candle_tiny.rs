//! A request of each API, answered by an embedded model: `cargo run --profile test --example candle_tiny --features candle`.
//!
//! The weights are random numbers, so the words mean nothing; under the masks the answers are valid all the same.

#![allow(clippy::print_stdout, reason = "an example shows what it makes")]

use std::error::Error;
use std::ops::ControlFlow;

use deepseek_codec::engine::candle::CandleEngine;
use deepseek_codec::engine::{Masks, Session, SessionOptions, run};
use deepseek_codec::grammar::Compiler;
use deepseek_codec::model::Profile;
use deepseek_codec::protocol::{Api, Options, lower};

const REQUESTS: [(Api, &str); 3] = [
    (
        Api::Chat,
        r#"{"model": "deepseek-flash", "thinking": {"type": "disabled"}, "max_tokens": 500,
            "messages": [{"role": "user", "content": "Where is it raining?"}],
            "response_format": {"type": "json_schema", "json_schema": {"name": "place", "schema": {
                "type": "object", "required": ["city", "millimetres"], "additionalProperties": false, "properties": {
                    "city": {"type": "string", "pattern": "^[A-Z][a-z]{2,9}$"},
                    "millimetres": {"type": "integer", "minimum": 0, "maximum": 99}}}}}}"#,
    ),
    (
        Api::Responses,
        r#"{"model": "deepseek-flash", "reasoning": {"effort": "none"}, "max_output_tokens": 500,
            "input": "Which part number?",
            "text": {"format": {"type": "regex", "regex": "[A-Z]{3}-[0-9]{4}"}}}"#,
    ),
    (
        Api::Messages,
        r#"{"model": "deepseek-flash", "thinking": {"type": "disabled"}, "max_tokens": 500,
            "messages": [{"role": "user", "content": "Call a friend."}],
            "tools": [{"name": "call", "input_schema": {"type": "object", "required": ["whom"],
                "properties": {"whom": {"enum": ["Ada", "Lin"]}}, "additionalProperties": false}}],
            "tool_choice": {"type": "tool", "name": "call"}}"#,
    ),
];

fn main() -> Result<(), Box<dyn Error>> {
    let tokenizer = Profile::by_name("deepseek-flash").ok_or("a model of this crate")?.tokenizer();
    let compiler = Compiler::new(&tokenizer);
    let mut engine = CandleEngine::tiny(&tokenizer, 1)?;
    for (api, body) in REQUESTS {
        let lowered = lower(api, body.as_bytes(), &Options::default())?;
        let mut session =
            Session::new(&lowered, &tokenizer, SessionOptions::new("answer", Masks::Exact(&compiler)))?;
        let mut events = 0;
        run(&mut engine, &mut session, |_event| {
            events += 1; // what a server would send
            ControlFlow::Continue(())
        })?;
        println!("{api:?}, {events} events:\n{}\n", session.stream().response());
    }
    Ok(())
}

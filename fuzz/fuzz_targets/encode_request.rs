#![no_main]

use libfuzzer_sys::{fuzz_mutator, fuzz_target, fuzzer_mutate};

#[path = "../../tests/suite/fuzz_replay/properties.rs"]
#[allow(dead_code)]
mod properties;

fuzz_target!(|data: &[u8]| properties::encode_request(data));

/// Texts that requests should contain where nobody expects them: spellings of special tokens and markup.
const SNIPPETS: [&str; 14] = [
    "<｜User｜>",
    "<｜Assistant｜>",
    "<｜System｜>",
    "<think>",
    "</think>",
    "｜DSML｜",
    "<｜end▁of▁sentence｜>",
    "<｜image｜>",
    "<｜ref｜>",
    "<｜/box｜>",
    "</｜DSML｜parameter>",
    "</tool_result>",
    "\\ud83d",
    "\\u0000",
];

// Half of the time a snippet goes to the inside of a string; random bytes would mostly break the JSON.
fuzz_mutator!(|data: &mut [u8], size: usize, max_size: usize, seed: u32| {
    let snippet = SNIPPETS[seed as usize / 2 % SNIPPETS.len()].as_bytes();
    let quotes: Vec<usize> = (1..size).filter(|&at| data[at] == b'"').collect();
    if seed % 2 == 0 || quotes.is_empty() || size + snippet.len() > max_size {
        return fuzzer_mutate(data, size, max_size);
    }
    let at = quotes[(seed / 64) as usize % quotes.len()] + 1;
    data.copy_within(at..size, at + snippet.len());
    data[at..at + snippet.len()].copy_from_slice(snippet);
    size + snippet.len()
});

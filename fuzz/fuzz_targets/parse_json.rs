#![no_main]

#[path = "../../tests/suite/fuzz_replay/properties.rs"]
#[allow(dead_code)]
mod properties;

libfuzzer_sys::fuzz_target!(|data: &[u8]| properties::parse_json(data));

#![no_main]

#[path = "../../tests/suite/fuzz_replay/masks.rs"]
#[allow(dead_code)]
mod masks;

libfuzzer_sys::fuzz_target!(|data: &[u8]| masks::schema_to_mask(data));

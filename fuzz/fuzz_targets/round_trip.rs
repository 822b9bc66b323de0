#![no_main]

#[path = "../../tests/suite/fuzz_replay/outputs.rs"]
#[allow(dead_code)]
mod outputs;

libfuzzer_sys::fuzz_target!(|data: &[u8]| outputs::round_trip_bytes(data));

#![no_main]
#![allow(dead_code, reason = "each target uses one property")]

#[path = "../properties.rs"]
mod properties;

libfuzzer_sys::fuzz_target!(|data: &[u8]| properties::stream(data));

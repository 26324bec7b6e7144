//! A run's uniqued values: four files, each behind its length of two bytes.

#![no_main]

#[path = "../parts.rs"]
mod parts;

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| {
    let mut parts = parts::split(bytes);
    let mut next = || parts.next().unwrap_or_default();
    let (index, data, strings, types) = (next(), next(), next(), next());
    metalens_trace::fuzzing::uniques(index, data, strings, types);
});

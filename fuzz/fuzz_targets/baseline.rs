//! Fuzzes the reader of `baseline.json`; see [`metalens_fuzz::documents::baseline`].

#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| metalens_fuzz::documents::baseline(bytes));

//! Fuzzes the reader of uniqued values; see [`metalens_fuzz::traces::uniques`].

#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| metalens_fuzz::traces::uniques(bytes));

//! Fuzzes the reader of query documents; see [`metalens_fuzz::traces::xml`].

#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| metalens_fuzz::traces::xml(bytes));

//! Fuzzes the reader of scenarios; see [`metalens_fuzz::documents::scenario`].

#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| metalens_fuzz::documents::scenario(bytes));

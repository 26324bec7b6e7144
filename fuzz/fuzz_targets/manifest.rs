//! Fuzzes the reader of `export.json`; see [`metalens_fuzz::documents::manifest`].

#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| metalens_fuzz::documents::manifest(bytes));

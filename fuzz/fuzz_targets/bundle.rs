//! Fuzzes the reader of bundles; see [`metalens_fuzz::traces::bundle`].

#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| metalens_fuzz::traces::bundle(bytes));

//! Fuzzes the reader of `X.work.json`; see [`metalens_fuzz::documents::work`].

#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| metalens_fuzz::documents::work(bytes));

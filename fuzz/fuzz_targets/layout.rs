//! Fuzzes the reader of the layout of stores; see [`metalens_fuzz::traces::layout`].

#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| metalens_fuzz::traces::layout(bytes));

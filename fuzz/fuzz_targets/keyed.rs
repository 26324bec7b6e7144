//! Fuzzes the reader of keyed archives; see [`metalens_fuzz::traces::keyed`].

#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| metalens_fuzz::traces::keyed(bytes));

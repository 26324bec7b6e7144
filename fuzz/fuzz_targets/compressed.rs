//! Fuzzes the readers of compressed files; see [`metalens_fuzz::traces::compressed`].

#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| metalens_fuzz::traces::compressed(bytes));

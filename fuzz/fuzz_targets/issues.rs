//! Fuzzes the reader of issues of a run; see [`metalens_fuzz::traces::issues`].

#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| metalens_fuzz::traces::issues(bytes));

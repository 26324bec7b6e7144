//! Fuzzes the reader of tables of contents; see [`metalens_fuzz::traces::toc`].

#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| metalens_fuzz::traces::toc(bytes));

//! Fuzzes the reader of command-buffer logs; see [`metalens_fuzz::traces::log`].

#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| metalens_fuzz::traces::log(bytes));

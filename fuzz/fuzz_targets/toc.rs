//! A table of contents.

#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| metalens_trace::fuzzing::toc(bytes));

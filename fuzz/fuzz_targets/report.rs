//! Fuzzes the reader of `report.json`; see [`metalens_fuzz::documents::report`].

#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| metalens_fuzz::documents::report(bytes));

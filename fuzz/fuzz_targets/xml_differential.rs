//! Compares the two readers of query documents; see [`metalens_fuzz::traces::xml_differential`].

#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| metalens_fuzz::traces::xml_differential(bytes));

//! Compares the reader of query documents with another XML library; see [`metalens_fuzz::traces::xml_judge`].

#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| metalens_fuzz::traces::xml_judge(bytes));

//! A query document, judged by a second reader: see [`metalens_fuzz::traces::xml_judge`].

#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| metalens_fuzz::traces::xml_judge(bytes));

//! A keyed archive of any bytes, walked through every accessor.

#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| metalens_trace::fuzzing::keyed(bytes));

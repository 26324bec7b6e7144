//! A store's `schema.xml` and `bulkstore_descriptor`: the one, a zero byte, the other.

#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| {
    let mut parts = bytes.splitn(2, |&byte| byte == 0);
    let schema = parts.next().unwrap_or_default();
    metalens_trace::fuzzing::layout(schema, parts.next().unwrap_or_default());
});

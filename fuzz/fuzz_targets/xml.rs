//! A query document: from memory, strictly, and as a file, however it is
//! compressed and wherever it breaks off.

#![no_main]

#[path = "../file.rs"]
mod file;

use metalens_trace::{Names, Selection, read_document};

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| {
    let selection = Selection::everything().with_rendered_labels();
    let _ = read_document(bytes, "fuzz.xml", &mut Names::new(), &selection);
    file::read_all(bytes);
});

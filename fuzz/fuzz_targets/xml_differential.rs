//! A query document, read by way of quick-xml alone and with its plain rows
//! taken ahead: both must say the same, of good documents and of broken ones.
//!
//! The first byte says how: size of the windows, threads, whether a document
//! may break off, which columns are kept.

#![no_main]

use metalens_trace::fuzzing::{Taking, xml};
use metalens_trace::{Names, Selection};

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| {
    let Some((&how, document)) = bytes.split_first() else {
        return;
    };
    let window = [64, 200, 700, 4096][usize::from(how & 3)];
    // Threads cost more than the reading of so small a document: seldom.
    let workers = usize::from((how >> 2) & 7).saturating_sub(5);
    let cut = how & 32 != 0;
    let selection = match how >> 6 {
        0 | 1 => Selection::everything().with_rendered_labels(),
        2 => Selection::columns(&[("metal-gpu-intervals", &["start", "process"])]),
        _ => Selection::counts(),
    };
    let read = |taking| {
        let mut names = Names::new();
        let read = xml(document, &mut names, &selection, cut, taking);
        format!("{names:?} {read:?}")
    };
    let expected = read(Taking::Reference);
    let found = read(Taking::Windows(window, workers));
    assert_eq!(found, expected, "window {window}, workers {workers}");
});

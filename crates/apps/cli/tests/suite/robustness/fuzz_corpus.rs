//! Runs every file of the fuzzing corpus through its fuzz target.

#[expect(unreachable_pub, reason = "the fuzz targets use it from outside")]
#[path = "../../../../../../fuzz/documents.rs"]
mod documents;
#[expect(unreachable_pub, reason = "the fuzz targets use it from outside")]
#[path = "../../../../../../fuzz/walk.rs"]
mod walk;

use std::path::Path;

use walk::Entry;

#[test]
fn every_fuzz_corpus_file_is_handled() {
    let corpus = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../fuzz/corpus");
    walk::walk(&corpus, &documents::ENTRIES);
}

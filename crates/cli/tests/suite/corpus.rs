//! What fuzzing starts from and what it found, file by file.

#[expect(unreachable_pub, reason = "the fuzz targets use it from outside")]
#[path = "../../../../fuzz/documents.rs"]
mod documents;
#[expect(unreachable_pub, reason = "the fuzz targets use it from outside")]
#[path = "../../../../fuzz/walk.rs"]
mod walk;

use std::path::Path;

use walk::Entry;

#[test]
fn of_every_target() {
    let corpus = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fuzz/corpus");
    walk::walk(&corpus, &documents::ENTRIES);
}

//! Runs every file of the fuzzing corpus.

#[expect(unreachable_pub, reason = "the fuzz targets use it from outside")]
#[path = "../../../../../fuzz/traces.rs"]
mod traces;
#[expect(unreachable_pub, reason = "the fuzz targets use it from outside")]
#[path = "../../../../../fuzz/walk.rs"]
mod walk;

use std::path::Path;

use walk::Entry;

#[test]
fn every_file_of_every_target_is_read() {
    let corpus = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../fuzz/corpus");
    walk::walk(&corpus, &traces::ENTRIES);
}

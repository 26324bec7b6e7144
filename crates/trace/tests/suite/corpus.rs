//! What fuzzing starts from and what it found, file by file, by way of the same entries:
//! none of it panics, and none takes longer than a moment.

#[expect(unreachable_pub, reason = "the fuzz targets use it from outside")]
#[path = "../../../../fuzz/traces.rs"]
mod traces;

use std::path::Path;
use std::time::{Duration, Instant};

/// All of these take milliseconds.
const MOMENT: Duration = Duration::from_secs(20);

#[test]
fn of_every_target() {
    let corpus = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fuzz/corpus");
    for (target, entry) in traces::ENTRIES {
        let mut files = 0;
        for file in std::fs::read_dir(corpus.join(target)).unwrap() {
            let file = file.unwrap().path();
            let bytes = std::fs::read(&file).unwrap();
            let began = Instant::now();
            entry(&bytes);
            let took = began.elapsed();
            assert!(took < MOMENT, "{} took {took:?}", file.display());
            files += 1;
        }
        assert!(files > 0, "{target}");
    }
}

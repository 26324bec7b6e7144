//! Runs the fuzz targets on every file of `corpus/`, for the tests of the main workspace. No file may
//! cause a panic or take long.

use std::path::Path;
use std::time::{Duration, Instant};

/// The function that a target calls with an input.
pub type Entry = fn(&[u8]);

/// Maximum duration of one file. Real ones take milliseconds.
const LIMIT: Duration = Duration::from_secs(20);

/// Calls each entry with the seeds of its target and with the inputs that fuzzing found.
pub fn walk(corpus: &Path, entries: &[(&str, Entry)]) {
    for (target, entry) in entries {
        let mut files = 0;
        for file in std::fs::read_dir(corpus.join(target)).unwrap() {
            let file = file.unwrap().path();
            let bytes = std::fs::read(&file).unwrap();
            let began = Instant::now();
            entry(&bytes);
            let took = began.elapsed();
            assert!(took < LIMIT, "{} took {took:?}", file.display());
            files += 1;
        }
        assert!(files > 0, "{target}");
    }
}

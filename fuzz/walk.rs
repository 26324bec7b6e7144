//! Every file of `corpus/` by way of the targets' own entries, for the tests of the main
//! workspace: none of it panics, and none takes longer than a moment.

use std::path::Path;
use std::time::{Duration, Instant};

/// What a target does with its input.
pub type Entry = fn(&[u8]);

/// All of these take milliseconds.
const MOMENT: Duration = Duration::from_secs(20);

/// Hands each entry what fuzzing its target starts from, and what it found.
pub fn walk(corpus: &Path, entries: &[(&str, Entry)]) {
    for (target, entry) in entries {
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

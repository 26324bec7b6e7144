//! Real recordings, where they are: their datasets' figures are their reports'.

use std::path::{Path, PathBuf};

use metalens_analyzer::Request;
use metalens_dataset::{WriteOptions, write};

use super::{analysis, ask_one, dataset_of, stored};

#[test]
fn real_recordings_add_up() {
    let Some(real) = metalens_testing::real_recordings() else {
        return;
    };
    let dataset = tempfile::tempdir().unwrap();
    let mut checked = 0;
    for path in inputs(&real) {
        // Some are there for what is wrong with them.
        let Ok(analysis) = analysis(&path, Request::default()) else {
            continue;
        };
        write(&analysis, dataset.path(), WriteOptions::default()).unwrap();
        let (_kept, library) = dataset_of(&analysis);
        // A recording of one interval has no gap, and a sum of no rows is null.
        let sum = "SELECT coalesce(sum(duration_ns), 0) FROM gaps";
        let report = &analysis.report;
        assert_eq!(ask_one(&library, sum), [report.gaps.total_ns.to_string()]);
        checked += 1;
    }
    let runs = stored(dataset.path()).len();
    assert!(runs > 0 && runs <= checked, "{runs} of {checked}");
}

/// The folders in a folder, and those in them.
fn inputs(folder: &Path) -> Vec<PathBuf> {
    let inside = |folder: &Path| {
        let entries = std::fs::read_dir(folder).unwrap().flatten();
        entries
            .map(|entry| entry.path())
            .filter(|path| path.is_dir())
            .collect::<Vec<_>>()
    };
    let mut all = inside(folder);
    let nested: Vec<PathBuf> = all.iter().flat_map(|folder| inside(folder)).collect();
    all.extend(nested);
    all
}

//! Compares datasets of real recordings with their reports, if this machine has recordings.

use std::path::{Path, PathBuf};

use metalens_analyzer::Request;
use metalens_dataset::{WriteOptions, write};

use super::{analysis, ask_one, dataset_of, stored};

#[test]
fn gaps_of_real_recordings_sum_to_the_report() {
    let Some(real) = metalens_testing::real_recordings() else {
        return;
    };
    let dataset = metalens_testing::scratch();
    let mut checked = 0;
    for path in inputs(&real) {
        // Some recordings are damaged on purpose.
        let Ok(analysis) = analysis(&path, Request::default()) else {
            continue;
        };
        write(&analysis, dataset.path(), WriteOptions::default()).unwrap();
        let (_kept, library) = dataset_of(&analysis);
        // A recording of one interval has no gap, and a sum of no rows is null.
        let sum = "SELECT coalesce(sum(duration_ns), 0) FROM gaps";
        let report = &analysis.report;
        assert_eq!(ask_one(&library, sum), [report.gaps.total_ns.0.to_string()]);
        checked += 1;
    }
    let runs = stored(dataset.path()).len();
    assert!(runs > 0 && runs <= checked, "{runs} of {checked}");
}

/// Returns the folders in a folder, and the folders in those.
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

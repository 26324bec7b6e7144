//! Compares the table of kernels by phase with the truth of a scenario.

use std::collections::BTreeMap;
use std::fmt::Write;
use std::fs::File;

use metalens_dataset::{WriteOptions, write};
use metalens_simulator::{Scenario, truths};
use parquet::file::reader::{FileReader, SerializedFileReader};
use parquet::record::RowAccessor;

use super::analysis_of;

/// Number and time of intervals by phase and kernel.
type Work = BTreeMap<(String, Option<String>), (i64, i64)>;

/// Checks a process with this many kernels, whose command buffers are in the phase `step` by tens.
///
/// ```text
/// step     ├────────── 10 buffers ──────────┤├─ …
/// whole  ├──────────────────────────────────────── …
/// ```
fn check(kernels: usize, rest: bool) {
    let labels = (0..kernels).fold(String::new(), |mut labels, number| {
        write!(labels, "\"k{number:02}\", ").unwrap();
        labels
    });
    let durations = (0..kernels).fold(String::new(), |mut durations, number| {
        write!(durations, "\"{}us\", ", 10 + number).unwrap();
        durations
    });
    let scenario = format!(
        r#"
        seed = 1
        [[process]]
        name = "bench"
        pid = 4200
        role = "target"
        [[process.signpost]]
        name = "step"
        every = 10
        [[process.signpost]]
        name = "whole"
        from = "0ms"
        to = "900ms"
        [[process.stream]]
        count = 120
        duration = {{ cycle = [{durations}] }}
        encoder-label = [{labels}]
        "#
    );
    let scenario = Scenario::from_toml(&scenario).unwrap();
    let truth = truths(&scenario).unwrap().remove(0);
    let expected = truth.optional.signposts.iter().flat_map(|phase| {
        phase.encoded.iter().map(|kernel| {
            let work = [kernel.instances, kernel.total_ns].map(|n| i64::try_from(n).unwrap());
            let key = (phase.name.clone(), Some(kernel.name.clone()));
            (key, (work[0], work[1]))
        })
    });
    let expected: Work = expected.collect();
    assert_eq!(expected.len(), 2 * kernels);

    let folder = metalens_testing::scratch();
    let analysis = analysis_of(&scenario).unwrap();
    let written = write(&analysis, folder.path(), WriteOptions::default()).unwrap();
    let mut files = written.files.iter();
    let file = files.find(|file| file.starts_with(folder.path().join("phase_kernels")));
    let reader = SerializedFileReader::new(File::open(file.unwrap()).unwrap()).unwrap();
    let mut found = Work::new();
    for row in reader.get_row_iter(None).unwrap() {
        let row = row.unwrap();
        let kernel = row.get_string(3).ok().cloned();
        let work = (row.get_long(5).unwrap(), row.get_long(6).unwrap());
        found.insert((row.get_string(0).unwrap().clone(), kernel), work);
    }

    assert_eq!(found.keys().any(|(_, kernel)| kernel.is_none()), rest);
    if !rest {
        assert_eq!(found, expected);
    }
    for phase in ["step", "whole"] {
        let sum = |work: &Work| {
            let rows = work.iter().filter(|((name, _), _)| name == phase);
            rows.fold((0, 0), |sum, (_, work)| (sum.0 + work.0, sum.1 + work.1))
        };
        assert_eq!(sum(&found), sum(&expected), "{phase}");
        assert_eq!(sum(&found).0, 120, "{phase}");
    }
}

#[test]
fn kernels_of_phases_are_those_of_the_truth() {
    check(4, false);
    check(24, true);
}

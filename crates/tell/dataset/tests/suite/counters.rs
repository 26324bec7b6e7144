//! Checks that a dataset has every value of the real hardware counters, as the bytes of the bundle
//! give them.

use std::collections::BTreeMap;
use std::fs::File;

use metalens_analyzer::Request;
use metalens_dataset::{WriteOptions, write};
use metalens_testing::{raw_counters, real_recordings};
use metalens_text::number::whole;
use parquet::file::reader::{FileReader, SerializedFileReader};
use parquet::record::RowAccessor;

use super::analysis;

#[test]
fn a_dataset_has_the_values_of_the_stored_bytes() {
    let Some(recordings) = real_recordings() else {
        return;
    };
    let raw = raw_counters(&recordings);
    let mut expected: BTreeMap<(String, u64), i128> = BTreeMap::new();
    for (time_ns, id, billionths) in raw.values {
        let name = raw.names[id as usize].clone();
        expected.insert((name, time_ns), billionths);
    }
    assert_eq!(expected.len(), 7_050);

    let folder = metalens_testing::scratch();
    let analysis = analysis(&raw.bundle, Request::default()).unwrap();
    let written = write(&analysis, folder.path(), WriteOptions::default()).unwrap();
    let mut files = written.files.iter();
    let file = files.find(|file| file.starts_with(folder.path().join("counters")));
    let reader = SerializedFileReader::new(File::open(file.unwrap()).unwrap()).unwrap();
    let mut found: BTreeMap<(String, u64), i128> = BTreeMap::new();
    for row in reader.get_row_iter(None).unwrap() {
        let row = row.unwrap();
        let start_ns = u64::try_from(row.get_long(2).unwrap()).unwrap();
        let billionths = i128::from(whole((row.get_double(4).unwrap() * 1e9).round()));
        let name = row.get_string(0).unwrap().clone();
        found.insert((name, start_ns), billionths);
    }
    assert!(found == expected, "{} values", found.len());
}

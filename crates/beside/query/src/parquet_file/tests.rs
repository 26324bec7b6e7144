//! Tests that no number in a file is believed.

use std::fs;
use std::path::PathBuf;

use metalens_dataset::{ColumnInfo, WriteOptions, describe, write};
use metalens_simulator::Scenario;
use parquet::basic::Compression;
use parquet::file::metadata::{
    ColumnChunkMetaData, ColumnChunkMetaDataBuilder, ParquetMetaDataWriter, RowGroupMetaData,
};
use tempfile::TempDir;

use super::*;

#[expect(dead_code, reason = "the tests of crates/analyze/trace use all of it")]
#[path = "../../../../analyze/trace/tests/suite/mutation.rs"]
mod mutation;

use mutation::{Chance, RandomFault};

/// A good file of a table, and the place where its damaged copies are written.
struct Sample {
    folder: TempDir,
    table: &'static str,
    columns: Vec<ColumnInfo>,
    bytes: Vec<u8>,
}

impl Sample {
    fn place(&self) -> PathBuf {
        self.folder.path().join("copy.parquet")
    }

    /// Reads all columns of a file; returns its number of rows.
    fn read(&self, bytes: &[u8]) -> Result<usize, Damage> {
        fs::write(self.place(), bytes).unwrap();
        let file = ParquetFile::new(FileBytes::open(&self.place())?)?;
        for column in &self.columns {
            let mut cells = ColumnBuilder::new(column.name, column.kind);
            file.read(column.name, &mut cells)?;
            let cells = cells.finish().unwrap();
            assert_eq!(cells.len(), file.rows(), "{}: {}", self.table, column.name);
        }
        Ok(file.rows())
    }

    /// Returns the place where the data ends and the footer begins.
    fn data_end(&self) -> usize {
        let tail = self.bytes.len() - 8;
        let size = self.bytes[tail..tail + 4].try_into().unwrap();
        tail - u32::from_le_bytes(size) as usize
    }

    fn metadata(&self) -> ParquetMetaData {
        let footer = &self.bytes[self.data_end()..self.bytes.len() - 8];
        ParquetMetaDataReader::decode_metadata(footer).unwrap()
    }

    /// Returns the file with another footer.
    fn with_footer(&self, metadata: &ParquetMetaData) -> Vec<u8> {
        let mut bytes = self.bytes[..self.data_end()].to_vec();
        ParquetMetaDataWriter::new(&mut bytes, metadata)
            .finish()
            .unwrap();
        bytes
    }
}

/// Writes a dataset, and returns a sample of each of its tables.
fn samples() -> Vec<Sample> {
    samples_of("shared-machine")
}

fn samples_of(preset: &str) -> Vec<Sample> {
    let scenario = Scenario::preset(preset).unwrap();
    let analysis = metalens_testing::analyze_everyone_of(&scenario).unwrap();
    let dataset = tempfile::tempdir().unwrap();
    let written = write(&analysis, dataset.path(), WriteOptions::default()).unwrap();
    let tables = describe().into_iter().map(|table| {
        let folder = dataset.path().join(table.name);
        let mut files = written.files.iter();
        let file = files.find(|file| file.starts_with(&folder)).unwrap();
        let own = table
            .columns
            .into_iter()
            .filter(|column| !column.is_partition);
        Sample {
            folder: tempfile::tempdir().unwrap(),
            table: table.name,
            columns: own.collect(),
            bytes: fs::read(file).unwrap(),
        }
    });
    tables.collect()
}

#[test]
fn numbers_of_a_footer_are_checked() {
    let samples = samples();
    let sample = samples
        .iter()
        .find(|sample| sample.table == "kernels")
        .unwrap();
    let rows = sample.read(&sample.bytes).unwrap();
    assert!(rows > 1, "{rows}");
    assert_eq!(
        sample
            .read(&sample.with_footer(&sample.metadata()))
            .unwrap(),
        rows
    );

    let check_group = |change: &dyn Fn(RowGroupMetaData) -> RowGroupMetaData, expected: &str| {
        let mut metadata = sample.metadata().into_builder();
        let groups = metadata.take_row_groups().into_iter().map(change);
        let metadata = metadata.set_row_groups(groups.collect()).build();
        let damage = sample.read(&sample.with_footer(&metadata)).err();
        let damage = damage.map(|damage| damage.to_string()).unwrap_or_default();
        assert!(damage.contains(expected), "{expected}: {damage}");
    };
    let check = |change: &dyn Fn(
        &ColumnChunkMetaData,
        ColumnChunkMetaDataBuilder,
    ) -> ColumnChunkMetaDataBuilder,
                 expected: &str| {
        let of_group = |group: RowGroupMetaData| {
            let mut group = group.into_builder();
            let mut columns = group.take_columns();
            let first = columns.remove(0);
            let changed = change(&first, first.clone().into_builder());
            columns.insert(0, changed.build().unwrap());
            group.set_column_metadata(columns).build().unwrap()
        };
        check_group(&of_group, expected);
    };

    let outside = "is outside the file's data";
    for place in [-1, 0, 3, i64::MAX / 2] {
        check(
            &|_, chunk| {
                chunk
                    .set_dictionary_page_offset(None)
                    .set_data_page_offset(place)
            },
            outside,
        );
        check(
            &|_, chunk| chunk.set_dictionary_page_offset(Some(place)),
            outside,
        );
    }
    check(
        &|old, chunk| chunk.set_dictionary_page_offset(Some(old.data_page_offset())),
        outside,
    );
    for size in [-1, 0, i64::MIN / 2, i64::MAX / 2] {
        check(&|_, chunk| chunk.set_total_compressed_size(size), outside);
    }
    let end = sample.data_end() as i64;
    check(
        &|_, chunk| chunk.set_total_compressed_size(end - 3),
        outside,
    );
    check(
        &|_, chunk| chunk.set_file_path("/etc/passwd".to_owned()),
        outside,
    );
    check(
        &|old, chunk| chunk.set_total_compressed_size(old.compressed_size() + 1),
        "two of its columns overlap",
    );
    check(
        &|old, chunk| chunk.set_total_compressed_size(old.compressed_size() - 1),
        "a page is longer than its column",
    );
    for cells in [-1, 0, rows as i64 + 1, i64::MAX] {
        check(
            &|_, chunk| chunk.set_num_values(cells),
            "cells in a group of",
        );
    }
    check(
        &|_, chunk| chunk.set_compression(Compression::LZ4),
        "it is compressed with LZ4, not with Snappy",
    );

    let with_rows = |group: RowGroupMetaData, rows: i64| {
        let mut group = group.into_builder().set_num_rows(rows);
        let columns = group.take_columns().into_iter();
        let columns = columns.map(|column| {
            let one = column.into_builder().set_num_values(rows);
            one.build().unwrap()
        });
        let columns = columns.collect();
        group.set_column_metadata(columns).build().unwrap()
    };
    for other in [0, rows as i64 + 1, i64::MAX] {
        check_group(&|group| with_rows(group, other), "its pages have 2 cells");
    }
    check_group(&|group| with_rows(group, -1), "less than no rows");
}

/// The decoder makes room for what a page claims to have.
#[test]
fn a_page_cannot_claim_more_than_its_bytes_can_hold() {
    // A thousand like values take few bytes.
    let samples = samples_of("eager");
    let mut seen = 0;
    for (sample, metadata) in samples.iter().map(|sample| (sample, sample.metadata())) {
        let groups = metadata.row_groups().iter();
        for chunk in groups.flat_map(RowGroupMetaData::columns) {
            seen += u32::from(claims_too_much(sample, chunk));
        }
    }
    assert!(seen > 0);
}

/// Makes the first page of a chunk claim 8 KiB; returns whether that is more than its bytes can hold.
fn claims_too_much(sample: &Sample, chunk: &ColumnChunkMetaData) -> bool {
    let start = usize::try_from(chunk.byte_range().0).unwrap();
    // The kind of the page, its size, and its size in the file, as groups of seven bits.
    let &[0x15, _, 0x15, low, high, 0x15, small, ..] = &sample.bytes[start..] else {
        return false;
    };
    if low < 0x80 || high >= 0x80 || small >= 0x80 {
        return false;
    }
    let mut bytes = sample.bytes.clone();
    // The lowest bit is the sign.
    bytes[start + 3] = low & 0xfe;
    bytes[start + 4] = 0x7f;
    let damage = sample.read(&bytes).unwrap_err().to_string();
    assert!(damage.contains("a page claims to be larger"), "{damage}");
    true
}

/// Number of damaged files, unless `METALENS_MUTATIONS` names another.
const MUTATIONS: u64 = 3_000;

/// Damages footers, page headers and whole files. Each is read, or refused. A build with debug
/// assertions would abort at undefined behavior.
#[test]
fn damaged_files_are_read_or_refused() {
    let wanted =
        std::env::var("METALENS_MUTATIONS").map_or(MUTATIONS, |text| text.parse().unwrap());
    let samples = samples();
    let (mut read, mut refused) = (0, 0);
    for seed in 0..wanted {
        let mut chance = Chance(seed.wrapping_mul(0x9E37_79B9_7F4A_7C15) | 1);
        let sample = &samples[chance.below(samples.len())];
        let mut bytes = sample.bytes.clone();
        let (data_end, tail) = (sample.data_end(), sample.bytes.len() - 8);
        match chance.below(4) {
            // The length of the footer stays right, so that more of it is read.
            0 | 1 => {
                let mut footer = bytes[data_end..tail].to_vec();
                RandomFault::apply_several(seed, &mut footer);
                bytes.truncate(data_end);
                bytes.extend_from_slice(&footer);
                bytes.extend_from_slice(&u32::try_from(footer.len()).unwrap().to_le_bytes());
                bytes.extend_from_slice(b"PAR1");
            }
            2 => {
                let metadata = sample.metadata();
                let columns = metadata
                    .row_groups()
                    .iter()
                    .flat_map(RowGroupMetaData::columns);
                let starts: Vec<u64> = columns.map(|column| column.byte_range().0).collect();
                if !starts.is_empty() {
                    let start = usize::try_from(starts[chance.below(starts.len())]).unwrap();
                    let place = start + chance.below(40.min(data_end - start));
                    bytes[place] = u8::try_from(chance.below(256)).unwrap();
                }
            }
            _ => RandomFault::apply_several(seed, &mut bytes),
        }
        match sample.read(&bytes) {
            Ok(_) => read += 1,
            Err(_) => refused += 1,
        }
    }
    assert!(refused > read && read > 0, "{read} read, {refused} refused");
}

//! Writes `bulkstore`: a header, then rows of one size, then zeros to the end of a block.

use std::path::Path;

use flate2::Compression;

use super::shuffle::Shuffle;
use super::zlib::ZlibFile;
use crate::error::Error;
use crate::random::Random;
use crate::scenario::Scenario;
use crate::values::kinds::Generation;

/// Magic number: the bytes `0A 0A 34 12`.
const MAGIC: u32 = 0x1234_0a0a;
const VERSION: u32 = 3;
const HEADER_BYTES: u32 = 40;
/// Offset of the first row.
const ROWS_AT: u32 = 0x1000;

/// A file of rows that is being written.
#[derive(Debug)]
pub(super) struct Bulkstore {
    file: ZlibFile,
    shuffle: Shuffle,
    block_bytes: u64,
    rows: u64,
}

impl Bulkstore {
    /// Starts the file of a store and writes its header.
    pub(super) fn create(
        path: &Path,
        row_bytes: usize,
        rows_per_block: u32,
        random: Random,
    ) -> Result<Self, Error> {
        // Rows are mostly zeros; the default level takes twice the time.
        let mut file = ZlibFile::create(path, Compression::fast())?;
        // A row has a few hundred bytes, so that the size fits.
        let row = u32::try_from(row_bytes).unwrap_or(u32::MAX);
        let block = row.saturating_mul(rows_per_block);

        let header = [
            MAGIC,
            VERSION,
            HEADER_BYTES,
            ROWS_AT,
            row,
            block,
            rows_per_block,
        ];
        for word in header {
            file.push(&word.to_le_bytes());
        }
        file.fill_to(u64::from(ROWS_AT))?;
        Ok(Self {
            file,
            shuffle: Shuffle::new(random, row_bytes),
            block_bytes: u64::from(block),
            rows: 0,
        })
    }

    /// Adds a row to the file.
    pub(super) fn push(&mut self, row: &[u8]) -> Result<(), Error> {
        self.rows += 1;
        let file = &mut self.file;
        self.shuffle.push(row, &mut |row| file.push(row));
        self.file.flush_full()
    }

    /// Fills the last block, ends the file, and returns its number of rows.
    pub(super) fn finish(mut self) -> Result<u64, Error> {
        let file = &mut self.file;
        self.shuffle.finish(&mut |row| file.push(row));
        let rows_at = u64::from(ROWS_AT);
        let blocks = (self.file.len() - rows_at).div_ceil(self.block_bytes);
        self.file.fill_to(rows_at + blocks * self.block_bytes)?;
        self.file.finish()?;
        Ok(self.rows)
    }
}

/// Returns the rows per block, which grew after Xcode 16.
pub(super) const fn rows_per_block(scenario: &Scenario) -> u32 {
    match scenario.xcode {
        _ if !scenario.recording.large_blocks => 0x400,
        Generation::Xcode16 => 0x4000,
        Generation::Xcode26 | Generation::Xcode27 => 0x1_0000,
    }
}

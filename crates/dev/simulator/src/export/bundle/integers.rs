//! Writes `integeruniquer`: lists of 64-bit numbers that rows refer to by their index.

use std::path::Path;

use flate2::Compression;
use rustc_hash::FxHashMap;

use super::zlib::ZlibFile;
use crate::error::Error;

/// Size of a block. Lists never cross its end.
const BLOCK_BYTES: u64 = 1 << 20;
/// Start of both files: magic, version, and numbers of unknown meaning.
const HEADER: [u32; 6] = [0x0123_4567, 0x000a_337e, 1, 0, 1, 0];
/// Rest of the headers: the index has a size that varies, the block size and two zeros; the data
/// has zeros.
const INDEX_HEADER: [u32; 4] = [0x0040_0000, 1 << 20, 0, 0];
const DATA_HEADER: [u32; 2] = [0, 0];

/// Number of lists that are remembered and written once. Further lists are written each time, so that
/// memory stays small.
const REMEMBERED: usize = 200_000;

/// A uniquer that is being written.
#[derive(Debug)]
pub(super) struct Integers {
    index: ZlibFile,
    data: ZlibFile,
    known: FxHashMap<Box<[u64]>, u32>,
    next: u32,
}

impl Integers {
    /// Starts both files in an existing folder.
    pub(super) fn create(dir: &Path) -> Result<Self, Error> {
        // The level of Instruments: its files begin with the bytes `78 9C`, and have exactly the size
        // that this level gives.
        let mut index =
            ZlibFile::create(&dir.join("integeruniquer.index"), Compression::default())?;
        let mut data = ZlibFile::create(&dir.join("integeruniquer.data"), Compression::default())?;
        for word in HEADER.iter().chain(&INDEX_HEADER) {
            index.push(&word.to_le_bytes());
        }
        for word in HEADER.iter().chain(&DATA_HEADER) {
            data.push(&word.to_le_bytes());
        }
        Ok(Self {
            index,
            data,
            known: FxHashMap::default(),
            next: 0,
        })
    }

    /// Returns the index of a list, which is added if it is new.
    pub(super) fn index_of(&mut self, list: &[u64]) -> u32 {
        if let Some(known) = self.known.get(list) {
            return *known;
        }
        let index = self.push(list);
        if self.known.len() < REMEMBERED {
            self.known.insert(list.into(), index);
        }
        index
    }

    /// Adds a list and returns the index that rows refer to.
    pub(super) fn push(&mut self, list: &[u64]) -> u32 {
        let bytes = 4 + 8 * list.len() as u64;
        let left_in_block = BLOCK_BYTES - self.data.len() % BLOCK_BYTES;
        if bytes > left_in_block {
            let padding = usize::try_from(left_in_block).unwrap_or(0);
            self.data.push(&vec![0; padding]);
        }

        let offset = self.data.len();
        for part in [offset % BLOCK_BYTES, offset / BLOCK_BYTES] {
            // Both fit into 32 bits: the lists of a run have a few hundred MB.
            self.index
                .push(&u32::try_from(part).unwrap_or(u32::MAX).to_le_bytes());
        }

        let count = u32::try_from(list.len()).unwrap_or(u32::MAX);
        self.data.push(&count.to_le_bytes());
        for number in list {
            self.data.push(&number.to_le_bytes());
        }

        self.next += 1;
        self.next - 1
    }

    /// Returns the number of lists.
    pub(super) const fn len(&self) -> u32 {
        self.next
    }

    /// Writes full buffers to disk.
    pub(super) fn flush_full(&mut self) -> Result<(), Error> {
        self.index.flush_full()?;
        self.data.flush_full()
    }

    /// Fills the data up to a full block and ends both files.
    pub(super) fn finish(mut self) -> Result<(), Error> {
        let full_blocks = self.data.len().div_ceil(BLOCK_BYTES) * BLOCK_BYTES;
        self.data.fill_to(full_blocks)?;
        self.data.finish()?;
        self.index.finish()
    }
}

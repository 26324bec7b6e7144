//! `integeruniquer`: lists of 64-bit numbers that rows refer to by their place in an index.

use std::path::Path;

use super::zlib::ZlibFile;
use crate::error::Error;

/// Lists never cross the border of a block.
const BLOCK_BYTES: u64 = 1 << 20;
/// How both files start: magic, version, and ones and zeros nobody has explained.
const HEADER: [u32; 6] = [0x0123_4567, 0x000a_337e, 1, 0, 1, 0];
/// The index goes on with a size that varies, the block size and two zeros; the data with zeros.
const INDEX_HEADER: [u32; 4] = [0x0040_0000, 1 << 20, 0, 0];
const DATA_HEADER: [u32; 2] = [0, 0];

/// One uniquer being written.
#[derive(Debug)]
pub(super) struct Integers {
    index: ZlibFile,
    data: ZlibFile,
    next: u32,
}

impl Integers {
    /// Starts both files in an existing folder.
    pub(super) fn create(dir: &Path) -> Result<Self, Error> {
        let mut index = ZlibFile::create(&dir.join("integeruniquer.index"))?;
        let mut data = ZlibFile::create(&dir.join("integeruniquer.data"))?;
        for word in HEADER {
            index.push(&word.to_le_bytes());
            data.push(&word.to_le_bytes());
        }
        for word in INDEX_HEADER {
            index.push(&word.to_le_bytes());
        }
        for word in DATA_HEADER {
            data.push(&word.to_le_bytes());
        }
        Ok(Self {
            index,
            data,
            next: 0,
        })
    }

    /// Adds a list; the answer is what rows refer to it by.
    pub(super) fn push(&mut self, list: &[u64]) -> u32 {
        let bytes = 4 + 8 * list.len() as u64;
        let left = BLOCK_BYTES - self.data.len() % BLOCK_BYTES;
        if bytes > left {
            self.pad(left);
        }
        let at = self.data.len();
        for part in [at % BLOCK_BYTES, at / BLOCK_BYTES] {
            // Both are far below 2^32: a run's lists are some hundred MB.
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

    /// How many lists there are.
    pub(super) const fn len(&self) -> u32 {
        self.next
    }

    /// Hands on what has gathered.
    pub(super) fn flush_full(&mut self) -> Result<(), Error> {
        self.index.flush_full()?;
        self.data.flush_full()
    }

    /// Ends both files; the data is whole blocks.
    pub(super) fn finish(mut self) -> Result<(), Error> {
        let whole = self.data.len().div_ceil(BLOCK_BYTES) * BLOCK_BYTES;
        self.data.fill_to(whole)?;
        self.data.finish()?;
        self.index.finish()
    }

    /// A block's tail that is too short for the next list.
    fn pad(&mut self, bytes: u64) {
        let zero = [0; 8];
        let mut left = usize::try_from(bytes).unwrap_or(0);
        while left > 0 {
            let step = left.min(zero.len());
            self.data.push(&zero[..step]);
            left -= step;
        }
    }
}

//! Reads lists of numbers with an index, as they are stored.

use super::files::{Files, LISTS};
use super::little_endian::{long, word};
use crate::error::Result;

/// Lists of numbers with an index. A list never crosses a block, and the rest of a block is
/// padding, so lists are found only by the index.
pub(crate) struct Arrays {
    pub(super) index: Vec<u8>,
    pub(super) data: Vec<u8>,
    pub(super) block_size: usize,
}

pub(crate) const MAGIC: [u32; 6] = [0x0123_4567, 0x000a_337e, 1, 0, 1, 0];
pub(crate) const INDEX_HEADER: usize = 40;

impl Arrays {
    /// Reads the lists of a folder. Refuses a header that is unknown.
    pub(crate) fn read(files: &Files, folder: &str) -> Result<Self> {
        let index_path = format!("{folder}/integeruniquer.index");
        let data_path = format!("{folder}/integeruniquer.data");
        let index = files.read(&index_path, LISTS)?;
        let data = files.read_up_to(&data_path, used(&index), LISTS)?;
        for (path, bytes) in [(&index_path, &index), (&data_path, &data)] {
            let header: Vec<Option<u32>> = (0..6).map(|at| word(bytes, 4 * at)).collect();
            if !header.iter().eq(MAGIC.map(Some).iter()) {
                return Err(files.unsupported(path, "its header is unknown"));
            }
        }

        let block_size = word(&index, 28).map(|size| size as usize).unwrap_or(0);
        if block_size == 0 || !(index.len() - INDEX_HEADER.min(index.len())).is_multiple_of(8) {
            return Err(files.unsupported(&index_path, "its sizes are inconsistent"));
        }

        Ok(Self {
            index,
            data,
            block_size,
        })
    }

    /// Returns a list by its number, or `None` if there is no such list.
    pub(crate) fn get(&self, number: u64) -> Option<Array<'_>> {
        let entry = INDEX_HEADER.checked_add(usize::try_from(number).ok()?.checked_mul(8)?)?;
        let offset = word(&self.index, entry)? as usize;
        let block = word(&self.index, entry + 4)? as usize;
        let start = block.checked_mul(self.block_size)?.checked_add(offset)?;
        let count = word(&self.data, start)? as usize;
        let first = start.checked_add(4)?;
        let bytes = first..first.checked_add(count.checked_mul(8)?)?;
        let inside = offset.checked_add(count.checked_mul(8)?.checked_add(4)?)? <= self.block_size;
        let bytes = self.data.get(bytes).filter(|_| inside)?;
        Some(Array::new(bytes, None))
    }

    /// Returns the approximate number of lists, for fuzzing.
    pub(crate) fn count(&self) -> usize {
        self.index.len() / 8
    }
}

/// A list of numbers.
#[derive(Clone, Copy)]
pub(crate) struct Array<'a> {
    bytes: &'a [u8],
    /// Position and value of a number that replaces the stored one.
    own: Option<(usize, u64)>,
}

impl<'a> Array<'a> {
    pub(crate) fn new(bytes: &'a [u8], own: Option<(usize, u64)>) -> Self {
        Self { bytes, own }
    }

    pub(crate) fn len(self) -> usize {
        self.bytes.len() / 8
    }

    /// Returns the number at an index, or `None` beyond the end.
    pub(crate) fn get(self, at: usize) -> Option<u64> {
        if let Some((_, own)) = self.own.filter(|&(place, _)| place == at) {
            return Some(own);
        }
        long(self.bytes, at.checked_mul(8)?)
    }

    pub(crate) fn iter(self) -> impl Iterator<Item = u64> + 'a {
        (0..self.len()).filter_map(move |at| self.get(at))
    }
}

/// Returns the size of the data that an index refers to, in bytes. Blocks are preallocated, and a
/// recording without a clean end has a hundred of them.
pub(crate) fn used(index: &[u8]) -> u64 {
    let entries = index.get(INDEX_HEADER..).unwrap_or(&[]).chunks_exact(8);
    let last = entries.filter_map(|entry| word(entry, 4)).max();
    let block_size = word(index, 28).unwrap_or(0);
    let blocks = last.map_or(0, u64::from).saturating_add(1);
    blocks.saturating_mul(u64::from(block_size))
}

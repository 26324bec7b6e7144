//! Reads ranges of a file.

use std::fs::File;
use std::ops::Range;
use std::os::unix::fs::FileExt;
use std::path::Path;

use bytes::Bytes;

use crate::damage::{Damage, wrong};

/// Number of bytes that are read with the end of a file: small files are read at once.
const TAIL: u64 = 64 << 10;

/// A file whose ranges are read when they are needed.
pub(crate) struct FileBytes {
    file: File,
    length: u64,
    tail: Bytes,
}

impl FileBytes {
    /// Opens a file of a dataset. A link in its place is refused, because the folder names the file.
    pub(crate) fn open(path: &Path) -> Result<Self, Damage> {
        let file = metalens_files::open_unlinked(path)?;
        let length = file.metadata()?.len();
        let mut bytes = Self {
            file,
            length,
            tail: Bytes::new(),
        };
        bytes.tail = bytes.range(length.saturating_sub(TAIL)..length)?;
        Ok(bytes)
    }

    /// Returns the length in bytes.
    pub(crate) fn len(&self) -> u64 {
        self.length
    }

    /// Returns the bytes of a range, which must be inside the file.
    pub(crate) fn range(&self, range: Range<u64>) -> Result<Bytes, Damage> {
        let outside = || wrong("a part of it is outside the file");
        let size = range.end.checked_sub(range.start).ok_or_else(outside)?;
        let size = usize::try_from(size).map_err(|_| outside())?;
        if range.end > self.length {
            return Err(outside());
        }
        let tail_start = self.length - self.tail.len() as u64;
        if let Some(skipped) = range.start.checked_sub(tail_start) {
            let skipped = usize::try_from(skipped).map_err(|_| outside())?;
            return Ok(self.tail.slice(skipped..skipped + size));
        }
        let mut bytes = vec![0; size];
        self.file.read_exact_at(&mut bytes, range.start)?;
        Ok(bytes.into())
    }
}

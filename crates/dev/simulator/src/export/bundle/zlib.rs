//! Writes a file that is one zlib stream, piece by piece.

use std::fs::File;
use std::io::{BufWriter, Write};
use std::path::{Path, PathBuf};

use flate2::Compression;
use flate2::write::ZlibEncoder;

use crate::error::Error;

/// Number of bytes passed to the encoder at a time.
const CHUNK_BYTES: usize = 1 << 17;

static ZEROS: [u8; 1 << 12] = [0; 1 << 12];

/// A compressed file that is being written.
#[derive(Debug)]
pub(super) struct ZlibFile {
    path: PathBuf,
    encoder: ZlibEncoder<BufWriter<File>>,
    pending: Vec<u8>,
    len: u64,
}

impl ZlibFile {
    /// Creates the file and starts its compressed stream.
    pub(super) fn create(path: &Path, level: Compression) -> Result<Self, Error> {
        let file = File::create(path).map_err(Error::io("create", path))?;
        Ok(Self {
            path: path.to_owned(),
            encoder: ZlibEncoder::new(BufWriter::new(file), level),
            pending: Vec::with_capacity(CHUNK_BYTES * 2),
            len: 0,
        })
    }

    /// Adds bytes. They reach the disk with [`flush_full`](Self::flush_full).
    pub(super) fn push(&mut self, bytes: &[u8]) {
        self.pending.extend_from_slice(bytes);
        self.len += bytes.len() as u64;
    }

    /// Returns the number of bytes so far, before compression.
    pub(super) const fn len(&self) -> u64 {
        self.len
    }

    /// Writes the buffer to disk if it is full.
    pub(super) fn flush_full(&mut self) -> Result<(), Error> {
        if self.pending.len() < CHUNK_BYTES {
            return Ok(());
        }
        self.flush()
    }

    /// Adds zeros up to a length in bytes.
    pub(super) fn fill_to(&mut self, len: u64) -> Result<(), Error> {
        while self.len < len {
            let step = usize::try_from(len - self.len).unwrap_or(usize::MAX);
            let zeros = ZEROS.get(..step).unwrap_or(&ZEROS);
            self.push(zeros);
            self.flush_full()?;
        }
        Ok(())
    }

    /// Ends the compressed stream and the file.
    pub(super) fn finish(mut self) -> Result<(), Error> {
        self.flush()?;
        self.encoder
            .finish()
            .and_then(|mut out| out.flush())
            .map_err(Error::io("write", &self.path))
    }

    fn flush(&mut self) -> Result<(), Error> {
        self.encoder
            .write_all(&self.pending)
            .map_err(Error::io("write", &self.path))?;
        self.pending.clear();
        Ok(())
    }
}

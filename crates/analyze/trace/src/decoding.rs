//! Decompresses streams, within limits, and counts what is read of them.

use std::cell::Cell;
use std::io::{self, Read};
use std::rc::Rc;

use metalens_files::{too_large, too_large_error};

use crate::error::DecoderFailure;

/// Decompressed size that is always allowed, in bytes.
const ALWAYS_ALLOWED: u64 = 64 << 20;

/// Maximum ratio of decompressed to stored size beyond that. Real exports have a ratio of up to 17
/// with gzip and 24 with zstd. This limits the memory that a small file can take.
const MAX_INFLATION: u64 = 100;

/// The progress of reading stored bytes, for their decoder.
#[derive(Debug, Default)]
pub(crate) struct StoredProgress {
    read: Cell<u64>,
    ended: Cell<bool>,
}

/// A reader that counts the stored bytes and remembers their end.
pub(crate) struct CountingReader<'a, R> {
    pub(crate) inner: R,
    pub(crate) count: &'a dyn Fn(u64),
    pub(crate) progress: Rc<StoredProgress>,
}

impl<R: Read> Read for CountingReader<'_, R> {
    fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
        let count = self.inner.read(out)?;
        if count == 0 && !out.is_empty() {
            self.progress.ended.set(true);
        }
        let read = &self.progress.read;
        read.set(read.get() + count as u64);
        (self.count)(count as u64);
        Ok(count)
    }
}

/// A decoder whose errors contain the format, and whether only the end is missing: then the decoder
/// failed after it reached the end. With a known progress it limits the decompressed size.
pub(crate) struct DecodingReader<R> {
    inner: R,
    format: &'static str,
    progress: Option<Rc<StoredProgress>>,
    decoded: u64,
}

impl<R> DecodingReader<R> {
    pub(crate) fn new(inner: R, format: &'static str) -> Self {
        Self {
            inner,
            format,
            progress: None,
            decoded: 0,
        }
    }

    pub(crate) fn with_progress(
        inner: R,
        format: &'static str,
        progress: Rc<StoredProgress>,
    ) -> Self {
        Self {
            progress: Some(progress),
            ..Self::new(inner, format)
        }
    }

    pub(crate) fn into_inner(self) -> R {
        self.inner
    }

    fn failed(&self, error: io::Error) -> io::Error {
        let has_ended = self
            .progress
            .as_ref()
            .is_some_and(|progress| progress.ended.get());
        match error.kind() {
            io::ErrorKind::Interrupted | io::ErrorKind::UnexpectedEof => error,
            _ if error.raw_os_error().is_some() || too_large(&error).is_some() => error,
            _ if has_ended && self.format != "gzip" => {
                io::Error::from(io::ErrorKind::UnexpectedEof)
            }
            _ => io::Error::other(DecoderFailure {
                format: self.format,
                detail: error.to_string(),
            }),
        }
    }
}

impl<R: Read> Read for DecodingReader<R> {
    fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
        let read = self.inner.read(out);
        let count = read.map_err(|error| self.failed(error))?;
        self.decoded += count as u64;
        let limit = self
            .progress
            .as_ref()
            .map(|progress| max_decoded(progress.read.get()));
        match limit.filter(|&limit| self.decoded > limit) {
            Some(limit) => Err(too_large_error(limit)),
            None => Ok(count),
        }
    }
}

/// Returns the maximum decompressed size of a number of stored bytes.
pub(crate) fn max_decoded(stored: u64) -> u64 {
    stored.saturating_mul(MAX_INFLATION).max(ALWAYS_ALLOWED)
}

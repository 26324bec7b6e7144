//! Decompresses streams, within limits, and counts what is read of them.

use std::cell::Cell;
use std::io::{self, Read};
use std::rc::Rc;

use metalens_files::{too_large, too_large_error};

use crate::error::DecoderFailure;

/// Decompressed size that is always allowed, in bytes.
const ALWAYS_ALLOWED: u64 = 64 << 20;

/// Maximum ratio of decompressed to stored size beyond that. Real exports have a ratio of up to
/// 17. This limits the memory that a small file can take.
const MAX_INFLATION: u64 = 100;

/// A reader that counts the stored bytes.
pub(crate) struct CountingReader<'a, R> {
    pub(crate) inner: R,
    pub(crate) count: &'a dyn Fn(u64),
    /// Number of stored bytes that were read, for their decoder.
    pub(crate) stored: Rc<Cell<u64>>,
}

impl<R: Read> Read for CountingReader<'_, R> {
    fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
        let count = self.inner.read(out)?;
        self.stored.set(self.stored.get() + count as u64);
        (self.count)(count as u64);
        Ok(count)
    }
}

/// A decoder whose errors contain the format. With a count of the stored bytes it limits the
/// decompressed size.
pub(crate) struct DecodingReader<R> {
    inner: R,
    format: &'static str,
    stored: Option<Rc<Cell<u64>>>,
    decoded: u64,
}

impl<R> DecodingReader<R> {
    pub(crate) fn new(inner: R, format: &'static str) -> Self {
        Self {
            inner,
            format,
            stored: None,
            decoded: 0,
        }
    }

    pub(crate) fn with_limit(inner: R, format: &'static str, stored: Rc<Cell<u64>>) -> Self {
        Self {
            stored: Some(stored),
            ..Self::new(inner, format)
        }
    }

    pub(crate) fn into_inner(self) -> R {
        self.inner
    }

    fn failed(&self, error: io::Error) -> io::Error {
        match error.kind() {
            io::ErrorKind::Interrupted | io::ErrorKind::UnexpectedEof => error,
            _ if error.raw_os_error().is_some() || too_large(&error).is_some() => error,
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
        let stored = self.stored.as_ref();
        let limit = stored.map(|stored| max_decoded(stored.get()));
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

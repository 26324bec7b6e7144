//! Limits the number of bytes read from a stream.

use std::io::{self, Read};

/// The error for a file that is larger than expected. An [`io::Error`] contains it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("the file is too large: more than {limit} bytes")]
pub struct TooLarge {
    /// Maximum size that is read, in bytes.
    pub limit: u64,
}

/// Returns a reader that passes bytes on, and fails with [`TooLarge`] after `limit` bytes.
pub fn limited<R: Read>(bytes: R, limit: u64) -> impl Read {
    Limited {
        bytes,
        limit,
        left: limit,
    }
}

/// Returns the [`TooLarge`] inside an error of this crate, if there is one.
pub fn too_large(error: &io::Error) -> Option<TooLarge> {
    error.get_ref()?.downcast_ref().copied()
}

/// Returns the error for more than `limit` bytes.
pub fn too_large_error(limit: u64) -> io::Error {
    io::Error::new(io::ErrorKind::FileTooLarge, TooLarge { limit })
}

struct Limited<R> {
    bytes: R,
    limit: u64,
    left: u64,
}

impl<R: Read> Read for Limited<R> {
    fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
        let count = self.bytes.read(out)?;
        let left = self.left.checked_sub(count as u64);
        self.left = left.ok_or_else(|| too_large_error(self.limit))?;
        Ok(count)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn streams_have_a_limit() {
        let read = |limit| {
            let mut all = Vec::new();
            let read = limited(&b"12345"[..], limit).read_to_end(&mut all);
            read.map_err(|error| too_large(&error).unwrap().limit)
        };
        assert_eq!(read(u64::MAX), Ok(5));
        assert_eq!(read(5), Ok(5));
        assert_eq!(read(4), Err(4));
        assert_eq!(too_large(&io::Error::other("x")), None);
    }
}

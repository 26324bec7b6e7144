//! Provides the writer to a reader who may leave.

use std::io::{self, ErrorKind, Write};

/// A writer that drops everything once its reader has closed the pipe, as `head` does. A closed
/// pipe ends the printing only: no code that prints sees an error, so none takes it for a result.
#[derive(Debug)]
pub struct UntilClosed<W> {
    out: W,
    is_closed: bool,
}

impl<W: Write> UntilClosed<W> {
    /// Returns a writer to a reader who may leave.
    pub fn new(out: W) -> Self {
        Self {
            out,
            is_closed: false,
        }
    }

    /// Returns the result of an operation, or the one for a closed pipe.
    fn unless_closed<T>(
        &mut self,
        operation: impl FnOnce(&mut W) -> io::Result<T>,
        closed: T,
    ) -> io::Result<T> {
        if self.is_closed {
            return Ok(closed);
        }
        match operation(&mut self.out) {
            Err(error) if error.kind() == ErrorKind::BrokenPipe => {
                self.is_closed = true;
                Ok(closed)
            }
            result => result,
        }
    }
}

impl<W: Write> Write for UntilClosed<W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.unless_closed(|out| out.write(bytes), bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        self.unless_closed(Write::flush, ())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Fails each write with an error of a kind.
    struct Fails(ErrorKind);

    impl Write for Fails {
        fn write(&mut self, _: &[u8]) -> io::Result<usize> {
            Err(self.0.into())
        }

        fn flush(&mut self) -> io::Result<()> {
            Err(self.0.into())
        }
    }

    #[test]
    fn only_a_closed_pipe_is_no_error() {
        let check = |kind: ErrorKind, is_error: bool| {
            let mut out = UntilClosed::new(Fails(kind));
            assert_eq!(out.flush().is_err(), is_error, "{kind}");
            assert_eq!(out.write_all(b"words").is_err(), is_error, "{kind}");
        };
        check(ErrorKind::BrokenPipe, false);
        check(ErrorKind::StorageFull, true);
        check(ErrorKind::PermissionDenied, true);
    }
}

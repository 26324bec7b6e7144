//! A buffered reader that knows where it is and refuses what XML forbids.
//!
//! It stands between the bytes and the XML parser, sees every block once, and
//! there does what would be costly per element: it counts lines, refuses
//! control characters, and stops a tag or text that would never end (a parser
//! would otherwise buffer all of a 100 MB attribute).

use std::io::{self, BufRead, Read};

/// A token longer than this is refused. The longest in real exports is the
/// path of a binary, a few hundred bytes; a backtrace's frames are tokens apart.
pub(crate) const TOKEN_LIMIT: u64 = 4 << 20;

const BLOCK: usize = 64 << 10;

/// What the guard refused; travels inside an [`io::Error`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub(crate) enum Fault {
    #[error("a byte that XML forbids")]
    ControlCharacter { byte: u8, line: u64, offset: u64 },
    #[error("a token without end")]
    TokenTooLong,
    #[error("the compressed stream ends early")]
    EndsEarly,
}

pub(crate) struct Guard<R> {
    inner: R,
    block: Vec<u8>,
    /// Of `block`: what is filled, and what of it was consumed.
    filled: usize,
    consumed: usize,
    /// Bytes and lines in the blocks before this one.
    offset_before: u64,
    lines_before: u64,
    /// Where the token began that is being read.
    mark: Mark,
    at_end: bool,
}

/// The place of a token's first byte.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Mark {
    pub(crate) offset: u64,
    /// Known once the block it lies in is left, else counted when asked for.
    line: Option<u64>,
}

impl<R: Read> Guard<R> {
    pub(crate) fn new(inner: R) -> Self {
        Self {
            inner,
            block: vec![0; BLOCK],
            filled: 0,
            consumed: 0,
            offset_before: 0,
            lines_before: 0,
            mark: Mark {
                offset: 0,
                line: None,
            },
            at_end: false,
        }
    }

    /// Says that a token begins here.
    pub(crate) fn mark(&mut self) {
        self.mark = Mark {
            offset: self.offset_before + self.consumed as u64,
            line: None,
        };
    }

    /// Byte and 1-based line of the token that began last.
    pub(crate) fn marked(&self) -> (u64, u64) {
        let line = self.mark.line.unwrap_or_else(|| self.line_of_mark());
        (self.mark.offset, line)
    }

    /// Whether every byte of the input was consumed.
    pub(crate) fn exhausted(&self) -> bool {
        self.at_end && self.consumed == self.filled
    }

    fn line_of_mark(&self) -> u64 {
        let into_block = self.mark.offset.saturating_sub(self.offset_before);
        let into_block = usize::try_from(into_block).unwrap_or(self.filled);
        1 + self.lines_before + newlines(self.block.get(..into_block).unwrap_or(&[]))
    }

    fn next_block(&mut self) -> io::Result<()> {
        if self.mark.line.is_none() {
            self.mark.line = Some(self.line_of_mark());
        }
        let left = self.block.get(..self.filled).unwrap_or(&[]);
        self.lines_before += newlines(left);
        self.offset_before += self.filled as u64;
        self.consumed = 0;
        self.filled = 0;
        if self.offset_before - self.mark.offset > TOKEN_LIMIT {
            return Err(io::Error::other(Fault::TokenTooLong));
        }
        self.filled = self.read_some()?;
        self.at_end = self.filled == 0;
        self.refuse_control_characters()
    }

    fn read_some(&mut self) -> io::Result<usize> {
        loop {
            match self.inner.read(&mut self.block) {
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) if error.kind() == io::ErrorKind::UnexpectedEof => {
                    return Err(io::Error::other(Fault::EndsEarly));
                }
                result => return result,
            }
        }
    }

    fn refuse_control_characters(&self) -> io::Result<()> {
        let fresh = self.block.get(..self.filled).unwrap_or(&[]);
        // Without an early exit the loop vectorizes: this scans at memory speed.
        if !fresh.iter().fold(false, |bad, &b| bad | forbidden(b)) {
            return Ok(());
        }
        let Some(at) = fresh.iter().position(|&b| forbidden(b)) else {
            return Ok(());
        };
        let before = fresh.get(..at).unwrap_or(&[]);
        Err(io::Error::other(Fault::ControlCharacter {
            byte: fresh.get(at).copied().unwrap_or(0),
            line: 1 + self.lines_before + newlines(before),
            offset: self.offset_before + at as u64,
        }))
    }
}

impl<R: Read> Read for Guard<R> {
    fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
        let available = self.fill_buf()?;
        let count = available.len().min(out.len());
        let (Some(to), Some(from)) = (out.get_mut(..count), available.get(..count)) else {
            return Ok(0);
        };
        to.copy_from_slice(from);
        self.consume(count);
        Ok(count)
    }
}

impl<R: Read> BufRead for Guard<R> {
    fn fill_buf(&mut self) -> io::Result<&[u8]> {
        if self.consumed == self.filled && !self.at_end {
            self.next_block()?;
        }
        Ok(self.block.get(self.consumed..self.filled).unwrap_or(&[]))
    }

    fn consume(&mut self, count: usize) {
        self.consumed = (self.consumed + count).min(self.filled);
    }
}

fn forbidden(byte: u8) -> bool {
    byte < 0x20 && !matches!(byte, b'\t' | b'\n' | b'\r')
}

fn newlines(bytes: &[u8]) -> u64 {
    memchr::memchr_iter(b'\n', bytes).count() as u64
}

#[cfg(test)]
mod tests {
    use super::*;

    fn fault(error: &io::Error) -> Option<Fault> {
        error.get_ref()?.downcast_ref::<Fault>().copied()
    }

    #[test]
    fn a_mark_keeps_its_line_when_its_block_is_gone() {
        let text = "x\n".repeat(BLOCK);
        let mut guard = Guard::new(text.as_bytes());
        guard.fill_buf().unwrap();
        guard.consume(7);
        guard.mark();
        assert_eq!(guard.marked(), (7, 4));
        while !guard.fill_buf().unwrap().is_empty() {
            let all = guard.fill_buf().unwrap().len();
            guard.consume(all);
        }
        assert_eq!(guard.marked(), (7, 4));
        assert!(guard.exhausted());
    }

    #[test]
    fn a_control_character_is_refused_with_its_place() {
        let mut text = "ok\n".repeat(BLOCK).into_bytes();
        text.push(0);
        let error = io::copy(&mut Guard::new(&text[..]), &mut io::sink()).unwrap_err();
        let expected = Fault::ControlCharacter {
            byte: 0,
            line: BLOCK as u64 + 1,
            offset: 3 * BLOCK as u64,
        };
        assert_eq!(fault(&error), Some(expected));
    }

    #[test]
    fn a_token_without_end_is_refused() {
        let endless = io::repeat(b'a');
        let error = io::copy(&mut Guard::new(endless), &mut io::sink()).unwrap_err();
        assert_eq!(fault(&error), Some(Fault::TokenTooLong));
    }
}

//! Provides a buffered reader that tracks its position and refuses bytes that XML forbids.
//!
//! The reader lies between the bytes and the XML parser and sees every block once. It does work
//! that would be slow for each element: it counts lines, refuses control characters, and stops a
//! tag or text without end (a parser would buffer all of a 100 MB attribute). The result does not
//! depend on how the bytes are cut into blocks.

use std::io::{self, BufRead, Read};

use super::put_back::{Block, PutBackReader};

/// Maximum length of a token, in bytes. The longest in real exports is the path of a binary, with
/// a few hundred bytes; each frame of a backtrace is a token of its own.
pub(crate) const TOKEN_LIMIT: u64 = 4 << 20;

/// The reason why the guard refused bytes. An [`io::Error`] contains it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub(crate) enum Fault {
    #[error("a byte that XML forbids")]
    ControlCharacter { byte: u8, line: u64, offset: u64 },
    #[error("a token without end")]
    TokenTooLong,
    #[error("the compressed stream ends early")]
    EndsEarly,
}

/// A reader that passes on only bytes that XML allows, and knows their positions.
pub(crate) struct Guard<R> {
    input: PutBackReader<R>,
    block: Block,
    /// Number of allowed bytes at the start of `block`, and of consumed ones among them.
    clean: usize,
    consumed: usize,
    /// Number of bytes and lines before this block.
    offset_before: u64,
    lines_before: u64,
    /// Start of the current token.
    mark: Mark,
    at_end: bool,
}

/// The position of the first byte of a token.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Mark {
    pub(crate) offset: u64,
    /// Line number, once its block was left; before that it is counted on demand.
    line: Option<u64>,
}

impl<R: Read> Guard<R> {
    pub(crate) fn new(inner: R) -> Self {
        Self {
            input: PutBackReader::new(inner),
            block: Block::default(),
            clean: 0,
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

    /// Marks the current position as the start of a token.
    pub(crate) fn mark(&mut self) {
        self.mark = Mark {
            offset: self.position(),
            line: None,
        };
    }

    /// Returns the byte offset and the line number, from 1, of the current token.
    pub(crate) fn marked(&self) -> (u64, u64) {
        let line = self.mark.line.unwrap_or_else(|| self.line_of_mark());
        (self.mark.offset, line)
    }

    /// Returns true if every byte of the input was consumed.
    pub(crate) fn exhausted(&self) -> bool {
        self.at_end && self.consumed == self.block.len()
    }

    /// Returns the input from the current position on, for reading without the parser. The caller
    /// reports the number of bytes to [`passed`](Self::passed).
    pub(crate) fn raw_input(&mut self) -> &mut PutBackReader<R> {
        let mut rest = self.leave_block();
        rest.skip(self.consumed);
        self.consumed = 0;
        self.input.put_back(rest);
        &mut self.input
    }

    /// Adds bytes that were read without the parser, and the lines in them.
    pub(crate) fn passed(&mut self, bytes: u64, lines: u64) {
        self.offset_before += bytes;
        self.lines_before += lines;
    }

    fn position(&self) -> u64 {
        self.offset_before + self.consumed as u64
    }

    fn line_of_mark(&self) -> u64 {
        let into_block = self.mark.offset.saturating_sub(self.offset_before);
        1 + self.lines_before + newlines(self.start_of_block(into_block))
    }

    /// Returns the first bytes of the block.
    fn start_of_block(&self, count: u64) -> &[u8] {
        let bytes = self.block.bytes();
        let count = usize::try_from(count).unwrap_or(usize::MAX);
        bytes.get(..count).unwrap_or(bytes)
    }

    /// Counts the consumed bytes of the block, and returns the block.
    fn leave_block(&mut self) -> Block {
        if self.mark.line.is_none() {
            self.mark.line = Some(self.line_of_mark());
        }
        self.lines_before += newlines(self.start_of_block(self.consumed as u64));
        self.offset_before += self.consumed as u64;
        self.clean = 0;
        std::mem::take(&mut self.block)
    }

    fn next_block(&mut self) -> io::Result<()> {
        let left = self.leave_block();
        self.consumed = 0;
        self.block = self.input.next(left).map_err(|error| match error.kind() {
            io::ErrorKind::UnexpectedEof => io::Error::other(Fault::EndsEarly),
            _ => error,
        })?;
        self.clean = clean_length(self.block.bytes());
        self.at_end = self.block.is_empty();
        Ok(())
    }

    fn control_character(&self) -> Option<Fault> {
        let &byte = self.block.bytes().get(self.consumed)?;
        Some(Fault::ControlCharacter {
            byte,
            line: 1 + self.lines_before + newlines(self.start_of_block(self.consumed as u64)),
            offset: self.position(),
        })
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
        let token = self.position() - self.mark.offset;
        if token >= TOKEN_LIMIT {
            return Err(io::Error::other(Fault::TokenTooLong));
        }
        if self.consumed == self.clean && !self.at_end {
            if let Some(fault) = self.control_character() {
                return Err(io::Error::other(fault));
            }
            self.next_block()?;
            if self.clean == 0
                && let Some(fault) = self.control_character()
            {
                return Err(io::Error::other(fault));
            }
        }
        let left = usize::try_from(TOKEN_LIMIT - token).unwrap_or(usize::MAX);
        let end = self.clean.min(self.consumed.saturating_add(left));
        Ok(self.block.bytes().get(self.consumed..end).unwrap_or(&[]))
    }

    fn consume(&mut self, count: usize) {
        self.consumed = (self.consumed + count).min(self.clean);
    }
}

fn forbidden(byte: u8) -> bool {
    byte < 0x20 && !matches!(byte, b'\t' | b'\n' | b'\r')
}

/// Returns the number of bytes before the first one that XML forbids.
pub(crate) fn clean_length(bytes: &[u8]) -> usize {
    // A loop without an early exit is vectorized and scans at memory speed.
    if !bytes.iter().fold(false, |bad, &b| bad | forbidden(b)) {
        return bytes.len();
    }
    let first = bytes.iter().position(|&b| forbidden(b));
    first.unwrap_or(bytes.len())
}

pub(crate) fn newlines(bytes: &[u8]) -> u64 {
    memchr::memchr_iter(b'\n', bytes).count() as u64
}

#[cfg(test)]
mod tests {
    use super::*;

    const BLOCK: usize = 64 << 10;

    fn fault(error: &io::Error) -> Option<Fault> {
        error.get_ref()?.downcast_ref::<Fault>().copied()
    }

    #[test]
    fn a_mark_keeps_its_line_after_its_block() {
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

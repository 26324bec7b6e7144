//! A buffered reader that knows where it is and refuses what XML forbids.
//!
//! It stands between the bytes and the XML parser, sees every block once, and
//! there does what would be costly per element: it counts lines, refuses
//! control characters, and stops a tag or text that would never end (a parser
//! would otherwise buffer all of a 100 MB attribute). What it refuses, and
//! where, does not depend on how the bytes happened to be cut into blocks.

use std::io::{self, BufRead, Read};

use super::ahead::{Ahead, Block};

/// A token longer than this is refused. The longest in real exports is the
/// path of a binary, a few hundred bytes; a backtrace's frames are tokens apart.
pub(crate) const TOKEN_LIMIT: u64 = 4 << 20;

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
    ahead: Ahead<R>,
    block: Block,
    /// Of `block`: what may be seen, and what of it was consumed.
    clean: usize,
    consumed: usize,
    /// Bytes and lines before this block.
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
            ahead: Ahead::new(inner),
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

    /// Says that a token begins here.
    pub(crate) fn mark(&mut self) {
        self.mark = Mark {
            offset: self.position(),
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
        self.at_end && self.consumed == self.block.len()
    }

    /// The bytes that come next, for whoever takes some of them without the
    /// parser; [`passed`](Self::passed) must be told how many.
    pub(crate) fn ahead(&mut self) -> &mut Ahead<R> {
        let mut rest = self.leave_block();
        rest.skip(self.consumed);
        self.consumed = 0;
        self.ahead.give_back(rest);
        &mut self.ahead
    }

    /// Bytes that others took, and the lines in them.
    pub(crate) fn passed(&mut self, bytes: u64, lines: u64) {
        self.offset_before += bytes;
        self.lines_before += lines;
    }

    fn position(&self) -> u64 {
        self.offset_before + self.consumed as u64
    }

    fn line_of_mark(&self) -> u64 {
        let into_block = self.mark.offset.saturating_sub(self.offset_before);
        1 + self.lines_before + newlines(self.seen(into_block))
    }

    /// The beginning of the block.
    fn seen(&self, count: u64) -> &[u8] {
        let bytes = self.block.bytes();
        let count = usize::try_from(count).unwrap_or(usize::MAX);
        bytes.get(..count).unwrap_or(bytes)
    }

    /// Counts what was consumed of the block, and lets go of it.
    fn leave_block(&mut self) -> Block {
        if self.mark.line.is_none() {
            self.mark.line = Some(self.line_of_mark());
        }
        self.lines_before += newlines(self.seen(self.consumed as u64));
        self.offset_before += self.consumed as u64;
        self.clean = 0;
        std::mem::take(&mut self.block)
    }

    fn next_block(&mut self) -> io::Result<()> {
        let left = self.leave_block();
        self.consumed = 0;
        self.block = self.ahead.next(left).map_err(|error| match error.kind() {
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
            line: 1 + self.lines_before + newlines(self.seen(self.consumed as u64)),
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

/// How many bytes there are before the first that XML forbids.
pub(crate) fn clean_length(bytes: &[u8]) -> usize {
    // Without an early exit the loop vectorizes: this scans at memory speed.
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

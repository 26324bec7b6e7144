//! Provides a reader that takes back bytes that were read too early.
//!
//! The fast path reads the plain rows of a document in windows, before the reader for all of XML.
//! Unused bytes of a window are put back, so that this reader finds every byte in its place.

use std::collections::VecDeque;
use std::io::{self, Read};

/// Number of bytes that [`PutBackReader::next`] reads at once.
const BLOCK_SIZE: usize = 64 << 10;

/// A block of the input. The buffer never shrinks, so that a reused one need not be cleared.
#[derive(Debug, Default)]
pub(crate) struct Block {
    bytes: Vec<u8>,
    from: usize,
    to: usize,
}

impl Block {
    pub(crate) fn bytes(&self) -> &[u8] {
        self.bytes.get(self.from..self.to).unwrap_or(&[])
    }

    pub(crate) fn len(&self) -> usize {
        self.to - self.from
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.from == self.to
    }

    /// Skips the first bytes.
    pub(crate) fn skip(&mut self, count: usize) {
        self.from = (self.from + count).min(self.to);
    }

    /// Drops the bytes, and keeps the buffer.
    pub(crate) fn clear(&mut self) {
        self.from = 0;
        self.to = 0;
    }

    /// Keeps the first bytes and returns the others.
    fn split_off(&mut self, at: usize) -> Self {
        let rest = self.bytes().get(at..).unwrap_or(&[]).to_vec();
        self.to = self.from + at.min(self.len());
        Self {
            to: rest.len(),
            bytes: rest,
            from: 0,
        }
    }

    /// Returns the space for the next bytes, up to a total size.
    fn room(&mut self, size: usize) -> &mut [u8] {
        let end = self.from + size;
        if self.bytes.is_empty() {
            // The allocator has zeros: to write them took a small document longer than to read it.
            self.bytes = vec![0; end];
        } else if self.bytes.len() < end {
            self.bytes.resize(end, 0);
        }
        self.bytes.get_mut(self.to..end).unwrap_or(&mut [])
    }
}

/// An input that takes back bytes.
pub(crate) struct PutBackReader<R> {
    inner: R,
    blocks: VecDeque<Block>,
    /// End of the input or its error, once it is reached.
    end: Option<Result<(), io::Error>>,
}

impl<R: Read> PutBackReader<R> {
    pub(crate) fn new(inner: R) -> Self {
        Self {
            inner,
            blocks: VecDeque::new(),
            end: None,
        }
    }

    /// Returns the next bytes, or none at the end. An error is returned once, then the end.
    pub(crate) fn next(&mut self, mut spare: Block) -> io::Result<Block> {
        if let Some(block) = self.blocks.pop_front() {
            return Ok(block);
        }
        spare.clear();
        while spare.is_empty() && self.end.is_none() {
            self.read_once(&mut spare, BLOCK_SIZE);
        }
        match &mut self.end {
            Some(end) if spare.is_empty() => std::mem::replace(end, Ok(())).map(|()| spare),
            _ => Ok(spare),
        }
    }

    /// Fills a window up to a size, or to the end of the input. An error is kept until its place
    /// is read.
    pub(crate) fn fill(&mut self, window: &mut Block, size: usize) {
        while window.len() < size {
            if let Some(block) = self.blocks.front_mut() {
                let room = window.room(size);
                let count = room.len().min(block.len());
                if let (Some(to), Some(from)) = (room.get_mut(..count), block.bytes().get(..count))
                {
                    to.copy_from_slice(from);
                }
                window.to += count;
                block.skip(count);
                if block.is_empty() {
                    self.blocks.pop_front();
                }
            } else if self.end.is_none() {
                self.read_once(window, size);
            } else {
                return;
            }
        }
    }

    /// Puts back the end of a window.
    pub(crate) fn put_back_from(&mut self, window: &mut Block, at: usize) {
        let rest = window.split_off(at);
        self.put_back(rest);
    }

    /// Puts back bytes that come before all others.
    pub(crate) fn put_back(&mut self, block: Block) {
        if !block.is_empty() {
            self.blocks.push_front(block);
        }
    }

    fn read_once(&mut self, block: &mut Block, size: usize) {
        match self.inner.read(block.room(size)) {
            Ok(0) => self.end = Some(Ok(())),
            Ok(count) => block.to += count,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => self.end = Some(Err(error)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// An input that fails after its bytes.
    struct Failing<'a>(&'a [u8]);

    impl Read for Failing<'_> {
        fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
            match self.0.read(out)? {
                0 => Err(io::Error::other("torn")),
                count => Ok(count),
            }
        }
    }

    #[test]
    fn bytes_put_back_come_again_and_an_error_keeps_its_place() {
        let mut reader = PutBackReader::new(Failing(b"one two three"));
        let mut window = Block::default();
        reader.fill(&mut window, 7);
        assert_eq!(window.bytes(), b"one two");
        reader.put_back_from(&mut window, 4);
        assert_eq!(window.bytes(), b"one ");
        window.skip(1);
        reader.put_back(window);
        let mut all = Block::default();
        reader.fill(&mut all, 100);
        assert_eq!(all.bytes(), b"ne two three");
        reader.put_back(all);
        let again = reader.next(Block::default()).unwrap();
        assert_eq!(again.bytes(), b"ne two three");
        assert_eq!(reader.next(again).unwrap_err().to_string(), "torn");
        assert!(reader.next(Block::default()).unwrap().is_empty());
    }
}

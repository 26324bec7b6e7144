//! Where a document's bytes come from, and their decompression on the way.
//!
//! Compression is told from the content, never from the name, and undone while
//! reading: nothing is unpacked to disk or held whole.

use std::cell::Cell;
use std::fs::File;
use std::io::{self, BufReader, Read};
use std::path::{Path, PathBuf};
use std::rc::Rc;
use std::sync::Arc;

use flate2::bufread::MultiGzDecoder;
use metalens_files::{limited, too_large, too_large_error};

use super::archive::{Archive, Entry};
use super::sniff::{Looks, PREFIX, sniff};
use super::zstd::ZstdReader;
use crate::error::{Error, Problem, Result};

/// Opens a stream of a table's document.
pub type Opener = dyn Fn() -> io::Result<Box<dyn Read>>;

const BUFFER: usize = 256 << 10;

/// A document's bytes.
#[derive(Clone)]
pub(crate) enum Stored {
    File(PathBuf),
    /// A file of a zip archive.
    Entry(Arc<Archive>, Entry),
    StandardInput,
    /// Opened when it is read.
    Stream(Rc<Opener>),
}

impl std::fmt::Debug for Stored {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::File(path) => f.debug_tuple("File").field(path).finish(),
            Self::Entry(_, entry) => f.debug_tuple("Entry").field(entry).finish(),
            Self::StandardInput => f.write_str("StandardInput"),
            Self::Stream(_) => f.write_str("Stream"),
        }
    }
}

impl Stored {
    /// Opens the document, decompresses it, and hands it to `read`; `count` is
    /// told of the stored bytes as they go by.
    pub(crate) fn with<T>(
        &self,
        name: &str,
        count: &dyn Fn(u64),
        read: impl FnOnce(&mut dyn Read) -> Result<T>,
    ) -> Result<T> {
        match self {
            Self::File(path) => decompressed(open(path, name)?, name, count, read),
            Self::StandardInput => decompressed(io::stdin().lock(), name, count, read),
            Self::Stream(open) => {
                let stream = open().map_err(|error| Error::in_file(error.into(), name))?;
                decompressed(stream, name, count, read)
            }
            Self::Entry(archive, entry) => archive.read(*entry, name, |bytes| {
                // What comes out of the archive is more than what is stored, so
                // it is counted at once.
                count(entry.stored);
                let bytes = limited(bytes, credible(entry.stored));
                decompressed(bytes, name, &|_| (), read)
            }),
        }
    }

    /// How many bytes are stored; not known of what streams.
    pub(crate) fn size(&self) -> Option<u64> {
        match self {
            Self::File(path) => std::fs::metadata(path).ok().map(|metadata| metadata.len()),
            Self::Entry(_, entry) => Some(entry.stored),
            Self::StandardInput | Self::Stream(_) => None,
        }
    }
}

/// What the beginning of a file is.
pub(crate) fn looks(path: &Path, name: &str) -> Result<Looks> {
    let mut start = Vec::new();
    let file = open(path, name)?;
    let read = file.take(PREFIX as u64).read_to_end(&mut start);
    read.map_err(|error| Error::in_file(error.into(), name))?;
    Ok(sniff(&start))
}

fn open(path: &Path, name: &str) -> Result<File> {
    metalens_files::open(path).map_err(|error| Error::in_file(error.into(), name))
}

/// A compressed document may hold this much, however small it is stored.
const ALWAYS_READ: u64 = 64 << 20;
/// And so many times what is stored: real exports hold up to 17 times as much as gzip
/// stores of them, 24 times as much as zstd. What is read of a row takes its place in
/// memory, so that this bounds how much a small file can take.
const INFLATION: u64 = 100;

/// Sniffs, decompresses what is compressed, refuses what is not XML.
fn decompressed<T>(
    input: impl Read,
    name: &str,
    count: &dyn Fn(u64),
    read: impl FnOnce(&mut dyn Read) -> Result<T>,
) -> Result<T> {
    let source = Rc::new(Source::default());
    let raw = Watched {
        inner: input,
        count,
        source: Rc::clone(&source),
    };
    let (looks, raw) = peek(raw, name)?;
    let raw = BufReader::with_capacity(BUFFER, raw);
    match looks {
        Looks::Xml => read(&mut { raw }),
        Looks::Gzip => {
            let plain = Decoding::of_source(MultiGzDecoder::new(raw), "gzip", source);
            expect_xml(plain, name, read)
        }
        Looks::Zstd => {
            let plain = Decoding::of_source(ZstdReader::new(raw), "zstd", source);
            expect_xml(plain, name, read)
        }
        Looks::Zip => Err(refuse("a zip archive inside another input", name)),
        Looks::Other(problem) => Err(Error::in_file(problem, name)),
    }
}

/// What comes out of decompression must be XML at last.
fn expect_xml<T>(
    plain: impl Read,
    name: &str,
    read: impl FnOnce(&mut dyn Read) -> Result<T>,
) -> Result<T> {
    let (looks, mut plain) = peek(plain, name)?;
    match looks {
        Looks::Xml => read(&mut plain),
        Looks::Gzip | Looks::Zstd | Looks::Zip => Err(refuse("compressed twice", name)),
        Looks::Other(problem) => Err(Error::in_file(problem, name)),
    }
}

fn refuse(found: &'static str, name: &str) -> Error {
    Error::in_file(Problem::NotXml { found }, name)
}

/// Looks at the first bytes and puts them back.
fn peek<R: Read>(mut input: R, name: &str) -> Result<(Looks, impl Read + use<R>)> {
    let mut start = Vec::with_capacity(PREFIX);
    if let Err(error) = input.by_ref().take(PREFIX as u64).read_to_end(&mut start) {
        let problem = match error.kind() {
            io::ErrorKind::UnexpectedEof => Problem::Truncated { whole_rows: 0 },
            _ => Problem::from(error),
        };
        return Err(Error::in_file(problem, name));
    }
    let looks = sniff(&start);
    Ok((looks, io::Cursor::new(start).chain(input)))
}

/// What is known of stored bytes while they are decoded.
#[derive(Debug, Default)]
struct Source {
    read: Cell<u64>,
    ended: Cell<bool>,
}

/// Counts the stored bytes, and remembers that they came to their end.
struct Watched<'a, R> {
    inner: R,
    count: &'a dyn Fn(u64),
    source: Rc<Source>,
}

impl<R: Read> Read for Watched<'_, R> {
    fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
        let count = self.inner.read(out)?;
        if count == 0 && !out.is_empty() {
            self.source.ended.set(true);
        }
        let read = &self.source.read;
        read.set(read.get() + count as u64);
        (self.count)(count as u64);
        Ok(count)
    }
}

/// A decoder whose failures say which format failed, and whether only the end
/// is missing: a decoder that fails after asking for more than there is. Of a source
/// that is watched no more comes out than is credible.
pub(crate) struct Decoding<R> {
    inner: R,
    format: &'static str,
    source: Option<Rc<Source>>,
    made: u64,
}

impl<R> Decoding<R> {
    pub(crate) fn new(inner: R, format: &'static str) -> Self {
        Self {
            inner,
            format,
            source: None,
            made: 0,
        }
    }

    fn of_source(inner: R, format: &'static str, source: Rc<Source>) -> Self {
        Self {
            source: Some(source),
            ..Self::new(inner, format)
        }
    }

    pub(crate) fn into_inner(self) -> R {
        self.inner
    }

    fn failed(&self, error: io::Error) -> io::Error {
        let has_ended = self.source.as_ref().is_some_and(|one| one.ended.get());
        match error.kind() {
            io::ErrorKind::Interrupted | io::ErrorKind::UnexpectedEof => error,
            _ if error.raw_os_error().is_some() || too_large(&error).is_some() => error,
            _ if has_ended && self.format != "gzip" => {
                io::Error::from(io::ErrorKind::UnexpectedEof)
            }
            _ => io::Error::other(Damaged {
                format: self.format,
                detail: error.to_string(),
            }),
        }
    }
}

impl<R: Read> Read for Decoding<R> {
    fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
        let read = self.inner.read(out);
        let count = read.map_err(|error| self.failed(error))?;
        self.made += count as u64;
        let limit = self.source.as_ref().map(|one| credible(one.read.get()));
        match limit.filter(|&limit| self.made > limit) {
            Some(limit) => Err(too_large_error(limit)),
            None => Ok(count),
        }
    }
}

/// How much may come out of so many stored bytes.
fn credible(stored: u64) -> u64 {
    stored.saturating_mul(INFLATION).max(ALWAYS_READ)
}

/// A decoder's failure; travels inside an [`io::Error`].
#[derive(Debug, thiserror::Error)]
#[error("{format}: {detail}")]
struct Damaged {
    format: &'static str,
    detail: String,
}

/// The decoder's failure inside an error, if that is what it is.
pub(crate) fn compression_problem(error: &io::Error) -> Option<Problem> {
    let damaged = error.get_ref()?.downcast_ref::<Damaged>()?;
    Some(Problem::Compression {
        format: damaged.format,
        detail: damaged.detail.clone(),
    })
}

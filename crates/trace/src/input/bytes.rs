//! Where a document's bytes come from, and their decompression on the way.
//!
//! Compression is told from the content, never from the name, and undone while
//! reading: nothing is unpacked to disk or held whole.

use std::cell::Cell;
use std::fs::File;
use std::io::{self, BufReader, Read};
use std::path::{Path, PathBuf};
use std::rc::Rc;

use flate2::bufread::MultiGzDecoder;

use super::list::Opener;
use super::sniff::{Looks, PREFIX, sniff};
use super::zstd::ZstdReader;
use crate::error::{Error, Problem, Result};

const BUFFER: usize = 256 << 10;

/// A document's bytes.
#[derive(Clone)]
pub(crate) enum Stored {
    File(PathBuf),
    /// An entry of a zip archive, by its place in it.
    Entry {
        archive: PathBuf,
        index: usize,
        /// Bytes in the archive.
        stored: u64,
    },
    StandardInput,
    /// Opened when it is read.
    Stream(Rc<Opener>),
}

impl std::fmt::Debug for Stored {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::File(path) => f.debug_tuple("File").field(path).finish(),
            Self::Entry { archive, index, .. } => {
                f.debug_tuple("Entry").field(archive).field(index).finish()
            }
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
                let stream = open().map_err(|error| Error::in_file(Problem::Io(error), name))?;
                decompressed(stream, name, count, read)
            }
            Self::Entry { archive, index, .. } => {
                let mut archive = zip_archive(archive)?;
                let entry = archive.by_index(*index).map_err(|e| zip_error(e, name))?;
                // What comes out of the archive is more than what is stored, so
                // it is counted at once.
                count(self.size().unwrap_or(0));
                let entry = Decoding::new(entry, "zip", Rc::default());
                decompressed(entry, name, &|_| (), read)
            }
        }
    }

    /// How many bytes are stored; not known of what streams.
    pub(crate) fn size(&self) -> Option<u64> {
        match self {
            Self::File(path) => std::fs::metadata(path).ok().map(|metadata| metadata.len()),
            Self::Entry { stored, .. } => Some(*stored),
            Self::StandardInput | Self::Stream(_) => None,
        }
    }
}

/// What the beginning of a file is.
pub(crate) fn looks(path: &Path, name: &str) -> Result<Looks> {
    let mut start = Vec::new();
    let file = open(path, name)?;
    let read = file.take(PREFIX as u64).read_to_end(&mut start);
    read.map_err(|error| Error::in_file(Problem::Io(error), name))?;
    Ok(sniff(&start))
}

pub(crate) fn zip_archive(path: &Path) -> Result<zip::ZipArchive<BufReader<File>>> {
    let name = path.display().to_string();
    let file = BufReader::with_capacity(BUFFER, open(path, &name)?);
    zip::ZipArchive::new(file).map_err(|error| zip_error(error, &name))
}

pub(crate) fn zip_error(error: zip::result::ZipError, name: &str) -> Error {
    let problem = match error {
        zip::result::ZipError::Io(error) => Problem::Io(error),
        other => Problem::Compression {
            format: "zip",
            detail: other.to_string(),
        },
    };
    Error::in_file(problem, name)
}

fn open(path: &Path, name: &str) -> Result<File> {
    File::open(path).map_err(|error| Error::in_file(Problem::Io(error), name))
}

/// Sniffs, decompresses what is compressed, refuses what is not XML.
fn decompressed<T>(
    input: impl Read,
    name: &str,
    count: &dyn Fn(u64),
    read: impl FnOnce(&mut dyn Read) -> Result<T>,
) -> Result<T> {
    let ended = Rc::new(Cell::new(false));
    let raw = Watched {
        inner: input,
        count,
        ended: Rc::clone(&ended),
    };
    let (looks, raw) = peek(raw, name)?;
    let raw = BufReader::with_capacity(BUFFER, raw);
    match looks {
        Looks::Xml => read(&mut { raw }),
        Looks::Gzip => {
            let plain = Decoding::new(MultiGzDecoder::new(raw), "gzip", ended);
            expect_xml(plain, name, read)
        }
        Looks::Zstd => {
            let plain = Decoding::new(ZstdReader::new(raw), "zstd", ended);
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
        let problem = match compression_problem(&error) {
            Some(problem) => problem,
            None if error.kind() == io::ErrorKind::UnexpectedEof => {
                Problem::Truncated { whole_rows: 0 }
            }
            None => Problem::Io(error),
        };
        return Err(Error::in_file(problem, name));
    }
    let looks = sniff(&start);
    Ok((looks, io::Cursor::new(start).chain(input)))
}

/// Counts the stored bytes, and remembers that they came to their end.
struct Watched<'a, R> {
    inner: R,
    count: &'a dyn Fn(u64),
    ended: Rc<Cell<bool>>,
}

impl<R: Read> Read for Watched<'_, R> {
    fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
        let count = self.inner.read(out)?;
        if count == 0 && !out.is_empty() {
            self.ended.set(true);
        }
        (self.count)(count as u64);
        Ok(count)
    }
}

/// A decoder whose failures say which format failed, and whether only the end
/// is missing: a decoder that fails after asking for more than there is.
struct Decoding<R> {
    inner: R,
    format: &'static str,
    source_ended: Rc<Cell<bool>>,
}

impl<R> Decoding<R> {
    fn new(inner: R, format: &'static str, source_ended: Rc<Cell<bool>>) -> Self {
        Self {
            inner,
            format,
            source_ended,
        }
    }
}

impl<R: Read> Read for Decoding<R> {
    fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
        self.inner.read(out).map_err(|error| match error.kind() {
            io::ErrorKind::Interrupted | io::ErrorKind::UnexpectedEof => error,
            _ if self.source_ended.get() && self.format != "gzip" => {
                io::Error::from(io::ErrorKind::UnexpectedEof)
            }
            _ => io::Error::other(Damaged {
                format: self.format,
                detail: error.to_string(),
            }),
        })
    }
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

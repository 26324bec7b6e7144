//! Opens and decompresses the bytes of a document.
//!
//! The content decides about the compression, not the name. Documents are decompressed while they
//! are read: nothing is unpacked to a disk or held completely in memory.

use std::fs::File;
use std::io::{self, BufReader, Read};
use std::path::{Path, PathBuf};
use std::rc::Rc;
use std::sync::Arc;

use flate2::bufread::MultiGzDecoder;
use metalens_files::limited;

use super::sniff::{FileFormat, PREFIX, sniff};
use crate::archive::{Archive, Entry};
use crate::decoding::{CountingReader, DecodingReader, max_decoded};
use crate::error::{Error, Problem, Result};
use crate::xml::{Header, read_header};

const BUFFER_SIZE: usize = 256 << 10;

/// The place of the bytes of a document.
#[derive(Debug, Clone)]
pub(crate) enum ByteSource {
    File(PathBuf),
    /// A file in a zip archive.
    Entry(Arc<Archive>, Entry),
    StandardInput,
    /// A path of an open file descriptor, which is opened when it is read.
    Descriptor(PathBuf),
}

impl ByteSource {
    /// Opens the document, decompresses it, and passes it to `read`. Calls `count` with the number
    /// of stored bytes as they are read.
    pub(crate) fn with<T>(
        &self,
        name: &str,
        count: &dyn Fn(u64),
        read: impl FnOnce(&mut dyn Read) -> Result<T>,
    ) -> Result<T> {
        match self {
            Self::File(path) => decompressed(open(path, name)?, name, count, read),
            Self::StandardInput => decompressed(io::stdin().lock(), name, count, read),
            Self::Descriptor(path) => {
                let stream =
                    File::open(path).map_err(|error| Error::in_file(error.into(), name))?;
                decompressed(stream, name, count, read)
            }
            Self::Entry(archive, entry) => archive.read(*entry, name, |bytes| {
                // The bytes from the archive are decompressed, so the stored bytes are counted
                // at once.
                count(entry.stored);
                let bytes = limited(bytes, max_decoded(entry.stored));
                decompressed(bytes, name, &|_| (), read)
            }),
        }
    }

    /// Returns the number of stored bytes, unless the source is a stream.
    pub(crate) fn size(&self) -> Option<u64> {
        match self {
            Self::File(path) => std::fs::metadata(path).ok().map(|metadata| metadata.len()),
            Self::Entry(_, entry) => Some(entry.stored),
            Self::StandardInput | Self::Descriptor(_) => None,
        }
    }
}

/// Returns the format of a file, from its beginning.
pub(crate) fn file_format(path: &Path, name: &str) -> Result<FileFormat> {
    let mut start = Vec::new();
    let file = open(path, name)?;
    let read = file.take(PREFIX as u64).read_to_end(&mut start);
    read.map_err(|error| Error::in_file(error.into(), name))?;
    Ok(sniff(&start))
}

fn open(path: &Path, name: &str) -> Result<File> {
    metalens_files::open(path).map_err(|error| Error::in_file(error.into(), name))
}

/// Detects the format, decompresses, and refuses everything that is not a document.
fn decompressed<T>(
    input: impl Read,
    name: &str,
    count: &dyn Fn(u64),
    read: impl FnOnce(&mut dyn Read) -> Result<T>,
) -> Result<T> {
    let stored = Rc::default();
    let raw = CountingReader {
        inner: input,
        count,
        stored: Rc::clone(&stored),
    };
    let (format, raw) = detect(raw, name)?;
    let raw = BufReader::with_capacity(BUFFER_SIZE, raw);

    match format {
        FileFormat::Xml | FileFormat::Log => read(&mut { raw }),
        FileFormat::Gzip => {
            let plain = DecodingReader::with_limit(MultiGzDecoder::new(raw), "gzip", stored);
            expect_document(plain, name, read)
        }
        FileFormat::Zip => Err(refuse("a zip archive inside another input", name)),
        FileFormat::Other(problem) => Err(Error::in_file(problem, name)),
    }
}

/// Passes decompressed bytes to `read`. They must be a document.
fn expect_document<T>(
    plain: impl Read,
    name: &str,
    read: impl FnOnce(&mut dyn Read) -> Result<T>,
) -> Result<T> {
    let (format, mut plain) = detect(plain, name)?;
    match format {
        FileFormat::Xml | FileFormat::Log => read(&mut plain),
        FileFormat::Gzip | FileFormat::Zip => Err(refuse("compressed twice", name)),
        FileFormat::Other(problem) => Err(Error::in_file(problem, name)),
    }
}

fn refuse(found: &'static str, name: &str) -> Error {
    Error::in_file(Problem::NotXml { found }, name)
}

/// Reads the header of a document.
pub(super) fn header_of(source: &ByteSource, name: &str) -> Result<Header> {
    source.with(name, &|_| (), |bytes| match detect(bytes, name)? {
        (FileFormat::Log, _) => Ok(Header::Log),
        (_, bytes) => read_header(bytes, name),
    })
}

/// Detects the format from the first bytes, and returns a reader with all bytes.
pub(super) fn detect<R: Read>(
    mut input: R,
    name: &str,
) -> Result<(FileFormat, impl Read + use<R>)> {
    let mut start = Vec::with_capacity(PREFIX);
    if let Err(error) = input.by_ref().take(PREFIX as u64).read_to_end(&mut start) {
        let problem = match error.kind() {
            io::ErrorKind::UnexpectedEof => Problem::Truncated { whole_rows: 0 },
            _ => Problem::from(error),
        };
        return Err(Error::in_file(problem, name));
    }
    let format = sniff(&start);
    Ok((format, io::Cursor::new(start).chain(input)))
}

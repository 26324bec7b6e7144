//! Reads the files of a bundle from a folder or a zip archive.
//!
//! Most files are one zlib stream, the others are plain; only their first two bytes tell which.
//! Bundles come from strangers: the inflated size is limited (stores are preallocated, so that 2 MB
//! contain 250 MB of zeros), and neither `..` nor a link may lead out of the bundle. Every file is
//! inflated to its end, even if the caller needs less, because its checksum is there.

use std::collections::BTreeMap;
use std::fs::File;
use std::io::{self, BufReader, Read};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use flate2::bufread::ZlibDecoder;
use metalens_files::{NotAFile, limited};

use crate::archive::{Archive, Entry};
use crate::decoding::DecodingReader;
use crate::error::{Error, Problem, Result};
use crate::note::TraceNote;

/// Maximum size of lists of tables and of types, layouts and manifests, in bytes. Real ones have at
/// most 50 KB.
pub(crate) const SMALL: u64 = 4 << 20;
/// The file with the process, the device and the addresses of binaries.
pub(crate) const TEMPLATE: &str = "form.template";
/// Maximum size of this file, in bytes. Real ones have at most 9 MB, for hundreds of processes.
pub(crate) const TEMPLATE_LIMIT: u64 = 64 << 20;
/// Maximum total size of symbol archives, in bytes. Real ones have at most 2 MB each, and more for
/// a browser.
pub(crate) const SYMBOLS: u64 = 512 << 20;
/// Maximum size of the strings of a run, in bytes. Real ones have at most 100 KB, and another line
/// for each different label, of which there may be millions.
pub(crate) const STRINGS: u64 = 256 << 20;
/// Maximum size of the index and the data of lists of numbers, in bytes. Real ones have at most 3
/// MB, and another 8 bytes for each label and each frame of a stack.
pub(crate) const LISTS: u64 = 512 << 20;

/// Inflated size that is always allowed, in bytes. Most files have less than 1 MB.
const ALWAYS_ALLOWED: u64 = 4 << 20;
/// Maximum ratio of inflated to stored size beyond that. In real bundles it is up to 6, for rows
/// 10, for labels 24, for a million synthetic labels 39, and for preallocated zeros, which are not
/// kept, 1,000.
const MAX_INFLATION: u64 = 100;
/// Maximum ratio to the size in a zip archive, which compresses the compressed file again. For a
/// million synthetic labels, which repeat without end, it is 590; for real labels 25.
const MAX_INFLATION_FROM_ZIP: u64 = 1_000;
/// Maximum size after the needed part of a file, in bytes, which is inflated only for the checksum.
/// Real bundles have 100 MB of zeros there.
const MAX_REST: u64 = 2 << 30;

/// Size of the pieces in which the rest of a file is read. Most files have none, so that to clear a
/// large piece would take longer than to read it.
pub(crate) const REST_PIECE: usize = 8 << 10;

/// The files of a bundle, wherever it is stored.
#[derive(Debug)]
pub(crate) struct Files {
    /// Path of the bundle, for messages.
    name: String,
    storage: Storage,
    /// Number of stored bytes that were read so far, for the progress.
    taken: AtomicU64,
}

/// The place where a bundle is stored.
#[derive(Debug)]
enum Storage {
    Folder(PathBuf),
    Zip {
        archive: Arc<Archive>,
        /// Files by their paths inside the bundle.
        files: BTreeMap<String, Entry>,
    },
    /// Files in memory, for fuzzing.
    Memory(BTreeMap<String, Vec<u8>>),
}

impl Files {
    /// Returns the files of a bundle in memory.
    pub(crate) fn memory(files: BTreeMap<String, Vec<u8>>) -> Self {
        Self::new("memory".to_owned(), Storage::Memory(files))
    }

    pub(crate) fn folder(path: &Path) -> Self {
        let storage = Storage::Folder(path.to_owned());
        Self::new(path.display().to_string(), storage)
    }

    /// Returns the files of a bundle in an archive, as CI services make it.
    pub(crate) fn zip(name: &str, archive: Arc<Archive>, files: BTreeMap<String, Entry>) -> Self {
        Self::new(name.to_owned(), Storage::Zip { archive, files })
    }

    fn new(name: String, storage: Storage) -> Self {
        Self {
            name,
            storage,
            taken: AtomicU64::new(0),
        }
    }

    pub(crate) fn name(&self) -> &str {
        &self.name
    }

    pub(crate) fn exists(&self, path: &str) -> bool {
        match &self.storage {
            Storage::Folder(root) => is_inside(path) && root.join(path).symlink_metadata().is_ok(),
            Storage::Zip { files, .. } => files.contains_key(path),
            Storage::Memory(files) => files.contains_key(path),
        }
    }

    /// Returns whether the bundle has a file or folder. Fails if that cannot be seen.
    pub(crate) fn try_exists(&self, path: &str) -> Result<bool> {
        match &self.storage {
            Storage::Folder(root) => {
                // Links inside a bundle are not followed.
                match root.join(path).symlink_metadata() {
                    Ok(_) => Ok(true),
                    Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(false),
                    Err(error) => Err(self.io_error(path, error)),
                }
            }
            Storage::Zip { .. } | Storage::Memory(_) => Ok(self.exists(path)),
        }
    }

    /// Returns the names directly inside a folder; none if there is no such folder.
    pub(crate) fn names(&self, folder: &str) -> Result<Vec<String>> {
        match &self.storage {
            Storage::Folder(root) => {
                names_in(&root.join(folder)).map_err(|error| self.io_error(folder, error))
            }
            Storage::Zip { files, .. } => Ok(names_inside(folder, files.keys())),
            Storage::Memory(files) => Ok(names_inside(folder, files.keys())),
        }
    }

    /// Returns the numbers N of all `folder/prefixN`, ascending; none if there is no such folder.
    pub(crate) fn numbered(&self, folder: &str, prefix: &str) -> Result<Vec<u64>> {
        let names = self.names(folder)?;
        let numbers = names
            .iter()
            .filter_map(|name| name.strip_prefix(prefix)?.parse().ok());
        let mut numbers: Vec<u64> = numbers.collect();
        numbers.sort_unstable();
        numbers.dedup();
        Ok(numbers)
    }

    /// Reads a complete file, inflated, unless it has more than `limit` bytes.
    pub(crate) fn read(&self, path: &str, limit: u64) -> Result<Vec<u8>> {
        self.read_up_to(path, u64::MAX, limit)
    }

    /// Reads the first bytes of a file, inflated, or all of it if it has fewer.
    pub(crate) fn read_up_to(&self, path: &str, wanted: u64, limit: u64) -> Result<Vec<u8>> {
        self.stream_up_to(path, limit, |bytes| {
            let mut content = Vec::new();
            let read = bytes.take(wanted).read_to_end(&mut content);
            read.map_err(|error| self.io_error(path, error))?;
            Ok(content)
        })
    }

    /// Streams a file whose content is kept in memory, unless it has more than `limit` bytes, or
    /// more than its stored size allows.
    pub(crate) fn stream_up_to<T>(
        &self,
        path: &str,
        limit: u64,
        read: impl FnOnce(&mut dyn Read) -> Result<T>,
    ) -> Result<T> {
        let limit = self.max_inflated(path, ALWAYS_ALLOWED).min(limit);
        self.stream(path, |bytes| read(&mut limited(bytes, limit)))
    }

    /// Streams the first bytes of a file in pieces of a size; the last piece may be smaller. The
    /// file may be large, since it is never completely in memory.
    pub(crate) fn read_in_pieces(
        &self,
        path: &str,
        wanted: u64,
        size: usize,
        each: impl FnMut(&[u8]),
    ) -> Result<()> {
        let limit = self.max_inflated(path, ALWAYS_ALLOWED);
        self.stream(path, |bytes| {
            let length = in_pieces(
                &mut limited(bytes, limit).take(wanted),
                &mut vec![0; size],
                each,
            );
            length.map_err(|error| self.io_error(path, error))?;
            Ok(())
        })
    }

    /// Returns the maximum inflated size of a file, since a few bytes can inflate to any number of
    /// zeros.
    pub(crate) fn max_inflated(&self, path: &str, always: u64) -> u64 {
        let mut allowed = self.size(path).saturating_mul(MAX_INFLATION);
        if let Storage::Zip { files, .. } = &self.storage {
            // The directory of a hostile archive may claim any size before compression.
            let stored = files.get(path).map_or(0, |entry| entry.stored);
            allowed = allowed.min(stored.saturating_mul(MAX_INFLATION_FROM_ZIP));
        }
        allowed.max(always)
    }

    /// Returns the size of a file as the bundle has it, before it is inflated; 0 if there is none.
    pub(crate) fn size(&self, path: &str) -> u64 {
        match &self.storage {
            Storage::Folder(root) => {
                let facts = std::fs::symlink_metadata(root.join(path));
                facts.map_or(0, |file| file.len())
            }
            Storage::Zip { files, .. } => files.get(path).map_or(0, |entry| entry.size),
            Storage::Memory(files) => files.get(path).map_or(0, |bytes| bytes.len() as u64),
        }
    }

    /// Returns the number of bytes that were read so far, before they were inflated.
    pub(crate) fn taken(&self) -> u64 {
        self.taken.load(Ordering::Relaxed)
    }

    /// Streams a file and inflates it. `read` may stop early; the rest is then read only for the
    /// checksum.
    pub(crate) fn stream<T>(
        &self,
        path: &str,
        read: impl FnOnce(&mut dyn Read) -> Result<T>,
    ) -> Result<T> {
        let missing = || self.io_error(path, io::Error::from(io::ErrorKind::NotFound));
        match &self.storage {
            Storage::Folder(root) => {
                let file = open_inside(root, path).map_err(|e| self.io_error(path, e))?;
                self.inflated(path, file, read)
            }
            Storage::Zip { archive, files } => {
                let entry = *files.get(path).ok_or_else(missing)?;
                archive.read(entry, &self.shown(path), |bytes| {
                    self.inflated(path, bytes, read)
                })
            }
            Storage::Memory(files) => {
                let bytes = files.get(path).ok_or_else(missing)?;
                self.inflated(path, bytes.as_slice(), read)
            }
        }
    }

    /// Calls `read` with the inflated content of a file, and checks the rest of the file.
    fn inflated<T>(
        &self,
        path: &str,
        file: impl Read,
        read: impl FnOnce(&mut dyn Read) -> Result<T>,
    ) -> Result<T> {
        let mut file = CountedFile {
            file,
            taken: &self.taken,
        };
        let mut head = [0; 2];
        let filled = fill(&mut file, &mut head).map_err(|error| self.io_error(path, error))?;
        let head = head.get(..filled).unwrap_or(&[]).to_vec();
        let zlib = is_zlib(&head);
        let mut all = io::Cursor::new(head).chain(file);
        if !zlib {
            let found = read(&mut all)?;
            self.drain(path, &mut all, |_| ())?;
            return Ok(found);
        }

        let inflating = ZlibDecoder::new(BufReader::with_capacity(64 << 10, all));
        let mut inflating = DecodingReader::new(inflating, "zlib");
        let found = read(&mut inflating)?;
        self.drain(path, &mut inflating, |_| ())?;

        // A zip archive has its own checksum, which is at the end of the entry.
        match self.drain(path, &mut inflating.into_inner().into_inner(), |_| ())? {
            0 => Ok(found),
            more => {
                let detail = format!("{more} bytes follow the end of its compressed data");
                Err(self.unsupported(path, detail))
            }
        }
    }

    /// Calls `each` with the rest of a file, piece by piece, and returns its size.
    pub(crate) fn drain(
        &self,
        path: &str,
        rest: &mut dyn Read,
        each: impl FnMut(&[u8]),
    ) -> Result<u64> {
        let length = in_pieces(&mut limited(rest, MAX_REST), &mut [0; REST_PIECE], each);
        length.map_err(|error| self.io_error(path, error))
    }

    /// Returns the path of a file, for messages.
    pub(crate) fn shown(&self, path: &str) -> String {
        format!("{}/{path}", self.name)
    }

    /// Returns the path inside the bundle of the file of an error.
    pub(crate) fn inside<'e>(&self, error: &'e Error) -> &'e str {
        let file = error.place().file.as_str();
        let inside = file.strip_prefix(&self.name);
        inside.map_or(file, |path| path.trim_start_matches('/'))
    }

    /// Returns the note on a file that could not be read and was not needed.
    pub(crate) fn unreadable(&self, error: &Error) -> TraceNote {
        TraceNote::Unreadable {
            file: self.inside(error).to_owned(),
            why: error.problem().to_string(),
        }
    }

    /// Returns the error of a file whose layout was never compared with an export.
    pub(crate) fn unsupported(&self, path: &str, detail: impl Into<String>) -> Error {
        let detail = detail.into();
        self.error(path, Problem::UnsupportedBundle { detail })
    }

    pub(crate) fn error(&self, path: &str, problem: Problem) -> Error {
        Error::in_file(problem, self.shown(path))
    }

    /// Converts an input error. A missing file or one that is cut off is a damaged bundle.
    pub(crate) fn io_error(&self, path: &str, error: io::Error) -> Error {
        let detail = match error.kind() {
            io::ErrorKind::NotFound => "the file is missing",
            io::ErrorKind::UnexpectedEof => "the file is cut off",
            _ => return self.error(path, error.into()),
        };
        let detail = detail.to_owned();
        self.error(path, Problem::IncompleteBundle { detail })
    }
}

/// A file that counts the bytes that are read of it.
struct CountedFile<'a, R> {
    file: R,
    taken: &'a AtomicU64,
}

impl<R: Read> Read for CountedFile<'_, R> {
    fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
        let count = self.file.read(out)?;
        self.taken.fetch_add(count as u64, Ordering::Relaxed);
        Ok(count)
    }
}

/// Calls `each` with all bytes in pieces as long as `piece`, the last of which may be shorter, and
/// returns their number.
fn in_pieces(
    bytes: &mut impl Read,
    piece: &mut [u8],
    mut each: impl FnMut(&[u8]),
) -> io::Result<u64> {
    let mut length = 0;
    loop {
        let filled = fill(bytes, piece)?;
        match piece.get(..filled) {
            Some(filled) if !filled.is_empty() => each(filled),
            _ => return Ok(length),
        }
        length += filled as u64;
    }
}

/// Reads until a buffer is full or nothing is left.
pub(crate) fn fill(file: &mut (impl Read + ?Sized), buffer: &mut [u8]) -> io::Result<usize> {
    let mut filled = 0;
    while filled < buffer.len() {
        match file.read(buffer.get_mut(filled..).unwrap_or(&mut [])) {
            Ok(0) => break,
            Ok(count) => filled += count,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
    Ok(filled)
}

/// Returns the names directly inside a folder on disk; none if there is no such folder.
fn names_in(folder: &Path) -> io::Result<Vec<String>> {
    let entries = match std::fs::read_dir(folder) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
        entries => entries?,
    };
    entries
        .map(|entry| Ok(entry?.file_name().to_string_lossy().into_owned()))
        .collect()
}

/// Returns the names directly inside a folder of an archive.
fn names_inside<'a>(folder: &str, paths: impl Iterator<Item = &'a String>) -> Vec<String> {
    let inside = paths.filter_map(|path| path.strip_prefix(folder)?.strip_prefix('/'));
    let names = inside.filter_map(|path| path.split('/').next());
    names.map(str::to_owned).collect()
}

/// Returns true for the header of a zlib stream (RFC 1950) with a window of at most 32 KB.
fn is_zlib(head: &[u8]) -> bool {
    match head {
        [first, second] => {
            *first == 0x78 && (u16::from(*first) * 256 + u16::from(*second)).is_multiple_of(31)
        }
        _ => false,
    }
}

fn is_inside(path: &str) -> bool {
    !path.starts_with('/') && path.split('/').all(|part| part != "..")
}

/// Opens a file below `root` without following any link on the way.
fn open_inside(root: &Path, path: &str) -> io::Result<File> {
    let refused = |kind| Err(io::Error::other(NotAFile { kind }));
    let mut at = root.to_owned();
    for part in path.split('/') {
        if part == ".." || part.is_empty() {
            return refused("a path out of the bundle");
        }
        at.push(part);
        if std::fs::symlink_metadata(&at)?.file_type().is_symlink() {
            return refused("a link, which is not followed inside a bundle");
        }
    }
    metalens_files::open_unlinked(&at)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_must_stay_inside() {
        assert!(is_inside("corespace/run1/core"));
        assert!(!is_inside("../x") && !is_inside("a/../x") && !is_inside("/etc/passwd"));
    }

    #[cfg(unix)]
    #[test]
    fn links_are_not_followed() {
        let folder = tempfile::tempdir().unwrap();
        std::fs::create_dir(folder.path().join("inside")).unwrap();
        std::os::unix::fs::symlink("/etc", folder.path().join("inside/link")).unwrap();
        let files = Files::folder(folder.path());
        let error = files
            .read("inside/link/passwd", SMALL)
            .unwrap_err()
            .to_string();
        assert!(error.contains("not followed"), "{error}");
        assert!(files.read("inside/../../x", SMALL).is_err());
    }
}

//! The files of a bundle, from a folder or straight out of a zip archive.
//!
//! Most files are one zlib stream, the rest are plain; which, only their first
//! two bytes say. Bundles come from strangers: sizes are capped while inflating
//! (stores are preallocated, so that 2 MB hold 250 MB of zeros), and nothing
//! outside the bundle is followed, neither by `..` nor by a link. Every file is
//! inflated to its end, whoever has had enough before: its checksum stands there.

use std::collections::BTreeMap;
use std::fs::File;
use std::io::{self, BufReader, Read};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use flate2::bufread::ZlibDecoder;
use metalens_files::{NotAFile, limited};

use crate::error::{Error, Problem, Result};
use crate::input::{Archive, Decoding, Entry};
use crate::note::Note;

/// Lists of tables and of types, layouts, manifests: 50 KB at most in real bundles.
pub(crate) const SMALL: u64 = 4 << 20;
/// What was recorded, on what, and where each binary lay.
pub(crate) const TEMPLATE: &str = "form.template";
/// It has 9 MB at most, of hundreds of processes.
pub(crate) const TEMPLATE_LIMIT: u64 = 64 << 20;
/// The functions of all binaries: 2 MB at most of one, and more of a browser's.
pub(crate) const SYMBOLS: u64 = 512 << 20;
/// All strings of a run: 100 KB at most, and a line more for each label that is unlike
/// all others, of which there may be millions.
pub(crate) const STRINGS: u64 = 256 << 20;
/// Numbers that stand for lists of numbers, and those lists: 3 MB at most, and 8 bytes
/// more for each label and each frame of each stack.
pub(crate) const LISTS: u64 = 512 << 20;

/// A file may hold this much, however small it is stored: most are below 1 MB.
const ALWAYS_READ: u64 = 4 << 20;
/// And so many times what is stored. In the real bundles at hand it is up to 6 times as
/// much, of rows 10, of a million synthetic labels 18; preallocated zeros, which nobody
/// reads, 1,000.
const INFLATION: u64 = 100;
/// So much may lie behind what is wanted, for which it is inflated if only to test its
/// checksum: 100 MB of zeros in real bundles.
const REST_LIMIT: u64 = 2 << 30;

pub(crate) struct Files {
    /// As people know it.
    name: String,
    place: Place,
}

enum Place {
    Folder(PathBuf),
    Zip {
        archive: Arc<Archive>,
        /// By their paths inside the bundle.
        files: BTreeMap<String, Entry>,
    },
    /// For fuzzing.
    Memory(BTreeMap<String, Vec<u8>>),
}

impl Files {
    /// A bundle that is nowhere but in memory.
    pub(crate) fn memory(files: BTreeMap<String, Vec<u8>>) -> Self {
        Self {
            name: "memory".to_owned(),
            place: Place::Memory(files),
        }
    }

    pub(crate) fn folder(path: &Path) -> Self {
        Self {
            name: path.display().to_string(),
            place: Place::Folder(path.to_owned()),
        }
    }

    /// The bundle in an archive, as CI services zip it.
    pub(crate) fn zip(name: &str, archive: Arc<Archive>, files: BTreeMap<String, Entry>) -> Self {
        Self {
            name: name.to_owned(),
            place: Place::Zip { archive, files },
        }
    }

    pub(crate) fn name(&self) -> &str {
        &self.name
    }

    pub(crate) fn exists(&self, path: &str) -> bool {
        match &self.place {
            Place::Folder(root) => is_inside(path) && root.join(path).symlink_metadata().is_ok(),
            Place::Zip { files, .. } => files.contains_key(path),
            Place::Memory(files) => files.contains_key(path),
        }
    }

    /// The numbers N of `folder/prefixN`, ascending.
    pub(crate) fn numbered(&self, folder: &str, prefix: &str) -> Vec<u64> {
        let names = match &self.place {
            Place::Folder(root) => {
                let entries = std::fs::read_dir(root.join(folder));
                let entries = entries.into_iter().flatten().flatten();
                let name =
                    |entry: std::fs::DirEntry| entry.file_name().to_string_lossy().into_owned();
                entries.map(name).collect()
            }
            Place::Zip { files, .. } => names_inside(folder, files.keys()),
            Place::Memory(files) => names_inside(folder, files.keys()),
        };
        let numbers = names
            .iter()
            .filter_map(|name| name.strip_prefix(prefix)?.parse().ok());
        let mut numbers: Vec<u64> = numbers.collect();
        numbers.sort_unstable();
        numbers.dedup();
        numbers
    }

    /// A whole file, inflated, unless that is more than `limit`.
    pub(crate) fn read(&self, path: &str, limit: u64) -> Result<Vec<u8>> {
        self.read_up_to(path, u64::MAX, limit)
    }

    /// A file's first so many bytes, inflated; all of it if it has less.
    pub(crate) fn read_up_to(&self, path: &str, wanted: u64, limit: u64) -> Result<Vec<u8>> {
        self.stream_up_to(path, limit, |bytes| {
            let mut content = Vec::new();
            let read = bytes.take(wanted).read_to_end(&mut content);
            read.map_err(|error| self.io_error(path, error))?;
            Ok(content)
        })
    }

    /// Streams a file of which most is held, unless that is more than `limit`, or than
    /// what is stored could hold.
    pub(crate) fn stream_up_to<T>(
        &self,
        path: &str,
        limit: u64,
        read: impl FnOnce(&mut dyn Read) -> Result<T>,
    ) -> Result<T> {
        let limit = self.credible(path, ALWAYS_READ).min(limit);
        self.stream(path, |bytes| read(&mut limited(bytes, limit)))
    }

    /// The same of its first so many bytes, a piece of this size at a time; the
    /// last may have less. However large, since it is never all in memory.
    pub(crate) fn read_in_pieces(
        &self,
        path: &str,
        wanted: u64,
        size: usize,
        each: impl FnMut(&[u8]),
    ) -> Result<()> {
        let limit = self.credible(path, ALWAYS_READ);
        self.stream(path, |bytes| {
            let length = in_pieces(&mut limited(bytes, limit).take(wanted), size, each);
            length.map_err(|error| self.io_error(path, error))?;
            Ok(())
        })
    }

    /// How much a file may hold and still be believed: a few bytes can inflate to any
    /// number of zeros.
    pub(crate) fn credible(&self, path: &str, always: u64) -> u64 {
        self.stored(path).saturating_mul(INFLATION).max(always)
    }

    /// How many bytes a file has as it is stored.
    fn stored(&self, path: &str) -> u64 {
        match &self.place {
            Place::Folder(root) => {
                let facts = std::fs::symlink_metadata(root.join(path));
                facts.map_or(0, |file| file.len())
            }
            Place::Zip { files, .. } => files.get(path).map_or(0, |entry| entry.stored),
            Place::Memory(files) => files.get(path).map_or(0, |bytes| bytes.len() as u64),
        }
    }

    /// Streams a file, inflating it on the way; who has enough may stop. The rest is then
    /// read for its checksum alone.
    pub(crate) fn stream<T>(
        &self,
        path: &str,
        read: impl FnOnce(&mut dyn Read) -> Result<T>,
    ) -> Result<T> {
        let missing = || self.io_error(path, io::Error::from(io::ErrorKind::NotFound));
        match &self.place {
            Place::Folder(root) => {
                let file = open_inside(root, path).map_err(|e| self.io_error(path, e))?;
                self.inflated(path, file, read)
            }
            Place::Zip { archive, files } => {
                let entry = *files.get(path).ok_or_else(missing)?;
                archive.read(entry, &self.shown(path), |bytes| {
                    self.inflated(path, bytes, read)
                })
            }
            Place::Memory(files) => {
                let bytes = files.get(path).ok_or_else(missing)?;
                self.inflated(path, bytes.as_slice(), read)
            }
        }
    }

    fn inflated<T>(
        &self,
        path: &str,
        mut file: impl Read,
        read: impl FnOnce(&mut dyn Read) -> Result<T>,
    ) -> Result<T> {
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
        let mut inflating = Decoding::new(inflating, "zlib");
        let found = read(&mut inflating)?;
        self.drain(path, &mut inflating, |_| ())?;
        // A zip archive has a checksum of its own, behind all that.
        match self.drain(path, &mut inflating.into_inner().into_inner(), |_| ())? {
            0 => Ok(found),
            more => {
                let detail = format!("{more} bytes follow the end of its compressed data");
                Err(self.error(path, Problem::UnsupportedBundle { detail }))
            }
        }
    }

    /// Shows what is left of a file, a piece after the other; says how much that is.
    pub(crate) fn drain(
        &self,
        path: &str,
        rest: &mut dyn Read,
        each: impl FnMut(&[u8]),
    ) -> Result<u64> {
        let length = in_pieces(&mut limited(rest, REST_LIMIT), 64 << 10, each);
        length.map_err(|error| self.io_error(path, error))
    }

    /// Returns a file's path, as people know it.
    pub(crate) fn shown(&self, path: &str) -> String {
        format!("{}/{path}", self.name)
    }

    /// Returns the path, inside the bundle, of the file that an error is about.
    pub(crate) fn inside<'e>(&self, error: &'e Error) -> &'e str {
        let file = error.place().file.as_str();
        let inside = file.strip_prefix(&self.name);
        inside.map_or(file, |path| path.trim_start_matches('/'))
    }

    /// Says that a file could not be read, and was not needed.
    pub(crate) fn unreadable(&self, error: &Error) -> Note {
        Note::Unreadable {
            file: self.inside(error).to_owned(),
            why: error.problem().to_string(),
        }
    }

    pub(crate) fn error(&self, path: &str, problem: Problem) -> Error {
        Error::in_file(problem, self.shown(path))
    }

    pub(crate) fn io_error(&self, path: &str, error: io::Error) -> Error {
        let detail = match error.kind() {
            io::ErrorKind::NotFound => "there is no such file",
            io::ErrorKind::UnexpectedEof => "it breaks off",
            _ => return self.error(path, error.into()),
        };
        let detail = detail.to_owned();
        self.error(path, Problem::UnsupportedBundle { detail })
    }
}

/// Shows all of it, a piece of this size after the other, of which the last may have
/// less; says how much that is.
fn in_pieces(bytes: &mut impl Read, size: usize, mut each: impl FnMut(&[u8])) -> io::Result<u64> {
    let (mut piece, mut length) = (vec![0; size], 0);
    loop {
        let filled = fill(bytes, &mut piece)?;
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

/// The names directly inside a folder.
fn names_inside<'a>(folder: &str, paths: impl Iterator<Item = &'a String>) -> Vec<String> {
    let inside = paths.filter_map(|path| path.strip_prefix(folder)?.strip_prefix('/'));
    let names = inside.filter_map(|path| path.split('/').next());
    names.map(str::to_owned).collect()
}

/// RFC 1950: a deflate stream with a window of at most 32 KB, and the header's check.
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
    fn paths() {
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

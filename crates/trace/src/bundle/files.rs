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
use std::sync::{Mutex, PoisonError};

use flate2::bufread::ZlibDecoder;

use crate::error::{Error, Problem, Result};

/// The largest file that is held whole: real ones are below 30 MB.
const WHOLE_LIMIT: u64 = 1 << 30;
/// A file may hold this much, however small it is stored: most are below 1 MB.
const ALWAYS_READ: u64 = 4 << 20;
/// And so many times what is stored. In the real bundles at hand it is up to 6
/// times as much, of rows 10; preallocated zeros, which nobody reads, 1,000.
const INFLATION: u64 = 200;
/// No file is inflated any further, if only to test its checksum.
const END_LIMIT: u64 = 64 << 30;

pub(crate) struct Files {
    /// As people know it.
    name: String,
    place: Place,
}

enum Place {
    Folder(PathBuf),
    Zip {
        archive: Mutex<zip::ZipArchive<BufReader<File>>>,
        /// Path inside the bundle → entry.
        entries: BTreeMap<String, usize>,
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

    /// The bundle in an archive, as CI services zip it. `None` if there is none.
    pub(crate) fn zip(
        name: &str,
        mut archive: zip::ZipArchive<BufReader<File>>,
    ) -> Result<Option<Self>> {
        let mut entries = BTreeMap::new();
        let mut bundles: Vec<String> = Vec::new();
        refuse_overlap(name, &mut archive)?;
        for index in 0..archive.len() {
            let entry = archive
                .by_index_raw(index)
                .map_err(|error| damaged(name, error.to_string()))?;
            let Ok(path) = entry.name().map(std::borrow::Cow::into_owned) else {
                continue;
            };
            let Some((bundle, inside)) = split_bundle(&path) else {
                continue;
            };
            if bundles.last() != Some(&bundle) && !bundles.contains(&bundle) {
                bundles.push(bundle);
            }
            if entries.insert(inside, index).is_some() {
                return Err(damaged(name, format!("{path} is in it twice")));
            }
        }
        match bundles.as_slice() {
            [] => Ok(None),
            [_] => Ok(Some(Self {
                name: name.to_owned(),
                place: Place::Zip {
                    archive: Mutex::new(archive),
                    entries,
                },
            })),
            _ => {
                let problem = Problem::SeveralExports { folders: bundles };
                Err(Error::in_file(problem, name))
            }
        }
    }

    pub(crate) fn name(&self) -> &str {
        &self.name
    }

    pub(crate) fn exists(&self, path: &str) -> bool {
        match &self.place {
            Place::Folder(root) => is_inside(path) && root.join(path).exists(),
            Place::Zip { entries, .. } => entries.contains_key(path),
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
            Place::Zip { entries, .. } => names_inside(folder, entries.keys()),
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

    /// A whole file, inflated.
    pub(crate) fn read(&self, path: &str) -> Result<Vec<u8>> {
        self.read_up_to(path, u64::MAX)
    }

    /// A file's first so many bytes, inflated; all of it if it has less.
    pub(crate) fn read_up_to(&self, path: &str, wanted: u64) -> Result<Vec<u8>> {
        let limit = self.credible(path, ALWAYS_READ).min(WHOLE_LIMIT);
        self.stream(path, |bytes| {
            let mut content = Vec::new();
            let mut bytes = bytes.take(wanted.min(limit + 1));
            let read = bytes.read_to_end(&mut content);
            read.map_err(|error| self.io_error(path, error))?;
            self.check_length(path, content.len() as u64, limit)?;
            Ok(content)
        })
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
            let mut bytes = bytes.take(wanted.min(limit.saturating_add(1)));
            let length = in_pieces(&mut bytes, size, each);
            let length = length.map_err(|error| self.io_error(path, error))?;
            self.check_length(path, length, limit)
        })
    }

    fn check_length(&self, path: &str, length: u64, limit: u64) -> Result<()> {
        if length <= limit {
            return Ok(());
        }
        let detail = format!("it holds more than {limit} bytes");
        Err(self.error(path, Problem::UnsupportedBundle { detail }))
    }

    /// How much a file may hold and still be believed: a few bytes can inflate
    /// to any number of zeros.
    pub(crate) fn credible(&self, path: &str, always: u64) -> u64 {
        let stored = match &self.place {
            Place::Folder(root) => std::fs::metadata(root.join(path)).map_or(0, |file| file.len()),
            Place::Zip { archive, entries } => {
                // A thread that panicked left no archive half read: each entry is opened anew.
                let mut archive = archive.lock().unwrap_or_else(PoisonError::into_inner);
                let entry = entries.get(path).map(|&index| archive.by_index_raw(index));
                entry.map_or(0, |entry| entry.map_or(0, |entry| entry.compressed_size()))
            }
            Place::Memory(files) => files.get(path).map_or(0, |bytes| bytes.len() as u64),
        };
        stored.saturating_mul(INFLATION).max(always)
    }

    /// Streams a file, inflating it on the way; who has enough may stop. The rest is then
    /// read for its checksum alone.
    pub(crate) fn stream<T>(
        &self,
        path: &str,
        read: impl FnOnce(&mut dyn Read) -> Result<T>,
    ) -> Result<T> {
        match &self.place {
            Place::Folder(root) => {
                let file = open_inside(root, path).map_err(|e| self.io_error(path, e))?;
                self.inflated(path, file, read)
            }
            Place::Zip { archive, entries } => {
                let missing = || self.io_error(path, io::Error::from(io::ErrorKind::NotFound));
                let &index = entries.get(path).ok_or_else(missing)?;
                // A thread that panicked left no archive half read: each entry is opened anew.
                let mut archive = archive.lock().unwrap_or_else(PoisonError::into_inner);
                let entry = archive.by_index(index);
                let entry = entry.map_err(|e| self.io_error(path, io::Error::other(e)))?;
                self.inflated(path, entry, read)
            }
            Place::Memory(files) => {
                let missing = || self.io_error(path, io::Error::from(io::ErrorKind::NotFound));
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
            self.to_the_end(path, &mut all)?;
            return Ok(found);
        }
        let mut inflating = ZlibDecoder::new(BufReader::with_capacity(64 << 10, all));
        let found = read(&mut inflating)?;
        self.to_the_end(path, &mut inflating)?;
        // A zip archive has a checksum of its own, behind all that.
        match self.to_the_end(path, &mut inflating.into_inner())? {
            0 => Ok(found),
            more => {
                let detail = format!("{more} bytes follow the end of its compressed data");
                Err(self.error(path, Problem::UnsupportedBundle { detail }))
            }
        }
    }

    /// Reads what is left, and says how much that is.
    fn to_the_end(&self, path: &str, rest: &mut dyn Read) -> Result<u64> {
        drain(rest, |_| ()).map_err(|error| {
            let detail = format!("it is damaged: {error}");
            self.error(path, Problem::UnsupportedBundle { detail })
        })
    }

    pub(crate) fn error(&self, path: &str, problem: Problem) -> Error {
        Error::in_file(problem, format!("{}/{path}", self.name))
    }

    pub(crate) fn io_error(&self, path: &str, error: io::Error) -> Error {
        self.error(path, Problem::Io(error))
    }
}

/// Shows what is left of a file, a piece after the other; says how much that is.
pub(crate) fn drain(rest: &mut dyn Read, each: impl FnMut(&[u8])) -> io::Result<u64> {
    let length = in_pieces(&mut rest.take(END_LIMIT + 1), 64 << 10, each)?;
    if length > END_LIMIT {
        let detail = format!("it holds more than {END_LIMIT} bytes");
        return Err(io::Error::other(detail));
    }
    Ok(length)
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
fn fill(file: &mut impl Read, buffer: &mut [u8]) -> io::Result<usize> {
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

/// Entries that share their bytes inflate to any size.
fn refuse_overlap(name: &str, archive: &mut zip::ZipArchive<BufReader<File>>) -> Result<()> {
    match archive.has_overlapping_files() {
        Ok(false) => Ok(()),
        Ok(true) => Err(damaged(name, "its entries overlap".to_owned())),
        Err(error) => Err(damaged(name, error.to_string())),
    }
}

fn damaged(name: &str, detail: String) -> Error {
    let format = "zip";
    Error::in_file(Problem::Compression { format, detail }, name)
}

/// `run/X.trace/corespace/…` → (`run/X.trace`, `corespace/…`), unless it is what
/// macOS adds when it zips a folder, or leads out of the bundle.
fn split_bundle(path: &str) -> Option<(String, String)> {
    if path.starts_with("__MACOSX/") || !is_inside(path) {
        return None;
    }
    let end = path.find(".trace/")? + ".trace".len();
    let (bundle, inside) = path.split_at_checked(end)?;
    let inside = inside.strip_prefix('/')?;
    let fork = inside
        .rsplit('/')
        .next()
        .is_some_and(|name| name.starts_with("._"));
    (!inside.is_empty() && !fork).then(|| (bundle.to_owned(), inside.to_owned()))
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
    let mut at = root.to_owned();
    for part in path.split('/') {
        if part == ".." || part.is_empty() {
            return Err(io::Error::other("the path leads out of the bundle"));
        }
        at.push(part);
        if std::fs::symlink_metadata(&at)?.file_type().is_symlink() {
            return Err(io::Error::other("a link inside a bundle is not followed"));
        }
    }
    File::open(at)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths() {
        assert!(is_inside("corespace/run1/core"));
        assert!(!is_inside("../x") && !is_inside("a/../x") && !is_inside("/etc/passwd"));
        let split = |path| split_bundle(path).map(|(bundle, inside)| format!("{bundle}|{inside}"));
        assert_eq!(split("a/X.trace/b/c").as_deref(), Some("a/X.trace|b/c"));
        assert_eq!(split("X.trace/b").as_deref(), Some("X.trace|b"));
        assert_eq!(split("__MACOSX/X.trace/b"), None);
        assert_eq!(split("X.trace/._b"), None);
        assert_eq!(split("X.trace/../../b"), None);
        assert_eq!(split("toc.xml"), None);
    }

    #[cfg(unix)]
    #[test]
    fn links_are_not_followed() {
        let folder = tempfile::tempdir().unwrap();
        std::fs::create_dir(folder.path().join("inside")).unwrap();
        std::os::unix::fs::symlink("/etc", folder.path().join("inside/link")).unwrap();
        let files = Files::folder(folder.path());
        let error = files.read("inside/link/passwd").unwrap_err().to_string();
        assert!(error.contains("not followed"), "{error}");
        assert!(files.read("inside/../../x").is_err());
    }
}

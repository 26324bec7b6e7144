//! Reads the directory of a zip archive, and finds the recordings in it.
//!
//! Nothing is unpacked. Names of entries are only compared; a name that leads out of the archive
//! is skipped.

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};
use std::fs::File;
use std::io::{BufReader, Read};
use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};

use zip::ZipArchive;
use zip::result::ZipError;

use crate::decoding::DecodingReader;
use crate::error::{Error, Problem, Result};

/// Size of the read buffer, in bytes. It is small because each entry needs a seek, which discards
/// the buffer, and decompression has its own buffer.
const BUFFER_SIZE: usize = 4 << 10;

/// A zip archive that is open.
#[derive(Debug)]
pub(crate) struct Archive {
    /// Path of the archive, for messages.
    name: String,
    zip: Mutex<ZipArchive<BufReader<File>>>,
    /// Files of the archive, by their paths.
    entries: BTreeMap<String, Entry>,
}

/// A file in an archive.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Entry {
    index: usize,
    /// Compressed size, in bytes.
    pub(crate) stored: u64,
    /// Size before compression, in bytes, as the directory claims it.
    pub(crate) size: u64,
}

/// The contents of an archive, or of a folder in it.
pub(crate) enum ArchiveContents {
    /// The files of a bundle, by their paths inside it.
    Bundle(BTreeMap<String, Entry>),
    /// The documents of one export, by their paths in the archive.
    Documents(BTreeMap<String, Entry>),
}

impl Archive {
    /// Opens an archive and reads its directory.
    pub(crate) fn open(path: &Path) -> Result<Arc<Self>> {
        let name = path.display().to_string();
        let file = metalens_files::open(path)
            .map_err(|error| Error::in_file(Problem::from(error), &name))?;
        let file = BufReader::with_capacity(BUFFER_SIZE, file);
        let mut zip = ZipArchive::new(file).map_err(|error| zip_error(error, &name))?;
        if zip.has_duplicate_names() {
            return Err(damaged(&name, "two entries have the same name"));
        }
        // Entries that share their bytes can inflate to any size.
        match zip.has_overlapping_files() {
            Ok(false) => {}
            Ok(true) => return Err(damaged(&name, "entries overlap")),
            Err(error) => return Err(zip_error(error, &name)),
        }
        Ok(Arc::new(Self {
            entries: entries(&zip, &name)?,
            zip: Mutex::new(zip),
            name,
        }))
    }

    /// Passes the decompressed bytes of an entry to `read`. Errors name the entry `name`.
    pub(crate) fn read<T>(
        &self,
        entry: Entry,
        name: &str,
        read: impl FnOnce(&mut dyn Read) -> Result<T>,
    ) -> Result<T> {
        // A panic in another thread does not matter, since each entry is opened again.
        let mut zip = self.zip.lock().unwrap_or_else(PoisonError::into_inner);
        let opened = zip.by_index(entry.index);
        let opened = opened.map_err(|error| zip_error(error, name))?;
        read(&mut DecodingReader::new(opened, "zip"))
    }

    /// Returns the one recording in a folder of the archive, or in all of it if the folder is "".
    pub(crate) fn contents(&self, folder: &str) -> Result<ArchiveContents> {
        let inside: Vec<(&str, Entry)> = self.inside(folder).collect();
        let bundles: BTreeSet<&str> = inside.iter().filter_map(|(path, _)| bundle(path)).collect();
        let below = |root: &str| -> BTreeMap<String, Entry> {
            let files = inside.iter();
            let files =
                files.filter_map(|(path, entry)| Some((inside_of(root, path)?.to_owned(), *entry)));
            files.collect()
        };

        let mut bundles = bundles.into_iter();
        let recordings = match (bundles.next(), bundles.next()) {
            (Some(bundle), None) => return Ok(ArchiveContents::Bundle(below(bundle))),
            (Some(first), Some(second)) => [first, second].into_iter().chain(bundles).collect(),
            (None, _) => {
                let documents = inside.iter().filter(|(path, _)| is_document(path));
                let documents: BTreeMap<&str, Entry> = documents.copied().collect();
                let folders: BTreeSet<&str> = documents.keys().map(|path| parent(path)).collect();
                if folders.len() <= 1 {
                    let documents = documents.into_iter();
                    let documents =
                        documents.map(|(path, entry)| (joined(folder, path).into_owned(), entry));
                    return Ok(ArchiveContents::Documents(documents.collect()));
                }
                folders
            }
        };

        let shown = |inside: &str| match joined(folder, inside) {
            root if root.is_empty() => "its root".to_owned(),
            inner => inner.into_owned(),
        };

        let problem = Problem::SeveralRecordings {
            recordings: recordings.into_iter().map(shown).collect(),
        };
        Err(Error::in_file(problem, &self.name))
    }

    /// Returns the files below a folder, with their paths relative to it.
    fn inside(&self, folder: &str) -> impl Iterator<Item = (&str, Entry)> {
        let entries = self.entries.iter();
        entries.filter_map(move |(path, &entry)| Some((inside_of(folder, path)?, entry)))
    }
}

/// Returns all files, except those that macOS adds to zip archives and those whose names lead out
/// of the archive.
fn entries(zip: &ZipArchive<BufReader<File>>, archive: &str) -> Result<BTreeMap<String, Entry>> {
    let mut named = Vec::new();
    for index in 0..zip.len() {
        let entry = zip.by_index_data(index);
        let entry = entry.map_err(|error| zip_error(error, archive))?;
        let (stored, size) = (entry.compressed_size(), entry.size());
        if let Ok(name) = entry.name() {
            named.push((
                name.into_owned(),
                Entry {
                    index,
                    stored,
                    size,
                },
            ));
        }
    }

    // Some Windows programs write backslashes, which the zip format does not allow.
    let is_windows = !named.iter().any(|(name, _)| name.contains('/'));
    let separators: &[char] = if is_windows { &['/', '\\'] } else { &['/'] };
    let mut entries = BTreeMap::new();
    for (name, entry) in named {
        let Some(path) = normalized(&name, separators) else {
            continue;
        };
        if entries.insert(path, entry).is_some() {
            return Err(damaged(archive, &format!("{name} appears twice")));
        }
    }

    Ok(entries)
}

/// Returns the normalized path of a file: `/a//./b` becomes `a/b`. `None` for a folder, for files
/// that macOS adds, and for names that lead out of the archive.
fn normalized(name: &str, separators: &[char]) -> Option<String> {
    let parts = name.split(separators);
    let parts: Vec<&str> = parts
        .filter(|part| !part.is_empty() && *part != ".")
        .collect();
    let is_hidden = |part: &&str| *part == "__MACOSX" || part.starts_with("._") || *part == "..";
    let is_folder = name.ends_with(separators) || parts.is_empty();
    (!is_folder && !parts.iter().any(is_hidden)).then(|| parts.join("/"))
}

/// Returns the bundle that contains a file: a folder that ends with `.trace`, or has the files of a
/// bundle directly in it.
fn bundle(path: &str) -> Option<&str> {
    if let Some(at) = path.find(".trace/") {
        return path.get(..at + ".trace".len());
    }
    if path == "form.template" || path.starts_with("corespace/") {
        return Some("");
    }
    let end = path.strip_suffix("/form.template").map(str::len);
    path.get(..end.or_else(|| path.find("/corespace/"))?)
}

/// Returns a path relative to a folder, or `None` if it lies elsewhere.
fn inside_of<'p>(folder: &str, path: &'p str) -> Option<&'p str> {
    match folder {
        "" => Some(path),
        folder => path.strip_prefix(folder)?.strip_prefix('/'),
    }
}

fn joined<'p>(folder: &str, path: &'p str) -> Cow<'p, str> {
    match (folder, path) {
        ("", path) => Cow::Borrowed(path),
        (folder, "") => Cow::Owned(folder.to_owned()),
        (folder, path) => Cow::Owned(format!("{folder}/{path}")),
    }
}

fn parent(path: &str) -> &str {
    path.rsplit_once('/').map_or("", |(parent, _)| parent)
}

fn damaged(archive: &str, detail: &str) -> Error {
    let problem = Problem::Compression {
        format: "zip",
        detail: detail.to_owned(),
    };
    Error::in_file(problem, archive)
}

fn zip_error(error: ZipError, archive: &str) -> Error {
    match error {
        ZipError::Io(error) if error.raw_os_error().is_some() => {
            Error::in_file(Problem::from(error), archive)
        }
        // The directory of a zip is at its end.
        ZipError::InvalidArchive(detail) if detail.contains("EOCD") => {
            damaged(archive, "its end is missing, so it was cut off")
        }
        other => damaged(archive, &other.to_string()),
    }
}

/// Returns true if a file with this name is a document.
pub(crate) fn is_document(name: &str) -> bool {
    let name = name.rsplit('/').next().unwrap_or(name);
    // A partial document is refused later, unless the user allows it; so is one that zstd packed.
    let name = name.strip_suffix(".partial").unwrap_or(name);
    let is_xml = [".xml", ".xml.gz", ".xml.zst"]
        .iter()
        .any(|end| name.ends_with(end));
    is_xml && !name.starts_with('.')
}

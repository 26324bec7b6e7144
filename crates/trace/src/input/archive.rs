//! A zip archive: its directory, which is read once, and the traces that lie in it.
//!
//! Nothing is unpacked. An entry's name is only ever compared with what is looked for:
//! one that leads out of the archive is passed over.

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};
use std::fs::File;
use std::io::{BufReader, Read};
use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};

use zip::ZipArchive;
use zip::result::ZipError;

use super::bytes::Decoding;
use super::sniff::is_document;
use crate::error::{Error, Problem, Result};

/// Small, because each entry is looked for anew and what was read ahead is then lost;
/// decompression has a buffer of its own.
const BUFFER: usize = 4 << 10;

/// An archive that is open.
pub(crate) struct Archive {
    /// Its path, as people know it.
    name: String,
    zip: Mutex<ZipArchive<BufReader<File>>>,
    /// Its files, by their paths.
    entries: BTreeMap<String, Entry>,
}

/// A file of an archive.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Entry {
    index: usize,
    /// Bytes in the archive.
    pub(crate) stored: u64,
}

/// What an archive, or a folder in it, holds.
pub(crate) enum Holds {
    /// A bundle: its files by their paths inside it.
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
        let file = BufReader::with_capacity(BUFFER, file);
        let mut zip = ZipArchive::new(file).map_err(|error| zip_error(error, &name))?;
        if zip.has_duplicate_names() {
            return Err(damaged(&name, "two of its entries have one name"));
        }
        // Entries that share their bytes inflate to any size.
        match zip.has_overlapping_files() {
            Ok(false) => {}
            Ok(true) => return Err(damaged(&name, "its entries overlap")),
            Err(error) => return Err(zip_error(error, &name)),
        }
        Ok(Arc::new(Self {
            entries: entries(&zip, &name)?,
            zip: Mutex::new(zip),
            name,
        }))
    }

    /// Hands the bytes of an entry, which errors call `name`, to `read`, decompressed.
    pub(crate) fn read<T>(
        &self,
        entry: Entry,
        name: &str,
        read: impl FnOnce(&mut dyn Read) -> Result<T>,
    ) -> Result<T> {
        // A thread that panicked left no archive half read: each entry is opened anew.
        let mut zip = self.zip.lock().unwrap_or_else(PoisonError::into_inner);
        let opened = zip.by_index(entry.index);
        let opened = opened.map_err(|error| zip_error(error, name))?;
        read(&mut Decoding::new(opened, "zip"))
    }

    /// The one trace in a folder of the archive, or in all of it, if the folder is "".
    pub(crate) fn holds(&self, folder: &str) -> Result<Holds> {
        let inside: Vec<(&str, Entry)> = self.inside(folder).collect();
        let bundles: BTreeSet<&str> = inside.iter().filter_map(|(path, _)| bundle(path)).collect();
        let below = |root: &str| -> BTreeMap<String, Entry> {
            let files = inside.iter();
            let files =
                files.filter_map(|(path, entry)| Some((inside_of(root, path)?.to_owned(), *entry)));
            files.collect()
        };
        let mut bundles = bundles.into_iter();
        let traces = match (bundles.next(), bundles.next()) {
            (Some(bundle), None) => return Ok(Holds::Bundle(below(bundle))),
            (Some(first), Some(second)) => [first, second].into_iter().chain(bundles).collect(),
            (None, _) => {
                let documents = inside.iter().filter(|(path, _)| is_document(path));
                let documents: BTreeMap<&str, Entry> = documents.copied().collect();
                let folders: BTreeSet<&str> = documents.keys().map(|path| parent(path)).collect();
                if folders.len() <= 1 {
                    let documents = documents.into_iter();
                    let documents =
                        documents.map(|(path, entry)| (joined(folder, path).into_owned(), entry));
                    return Ok(Holds::Documents(documents.collect()));
                }
                folders
            }
        };
        let shown = |trace: &str| match joined(folder, trace) {
            root if root.is_empty() => "its top".to_owned(),
            inner => inner.into_owned(),
        };
        let problem = Problem::SeveralTraces {
            traces: traces.into_iter().map(shown).collect(),
        };
        Err(Error::in_file(problem, &self.name))
    }

    /// The files below a folder, by their paths from there.
    fn inside(&self, folder: &str) -> impl Iterator<Item = (&str, Entry)> {
        let entries = self.entries.iter();
        entries.filter_map(move |(path, &entry)| Some((inside_of(folder, path)?, entry)))
    }
}

/// All files, but for those that macOS adds when it zips a folder and those that lead
/// out of the archive.
fn entries(zip: &ZipArchive<BufReader<File>>, archive: &str) -> Result<BTreeMap<String, Entry>> {
    let mut named = Vec::new();
    for index in 0..zip.len() {
        let entry = zip.by_index_data(index);
        let entry = entry.map_err(|error| zip_error(error, archive))?;
        let stored = entry.compressed_size();
        if let Ok(name) = entry.name() {
            named.push((name.into_owned(), Entry { index, stored }));
        }
    }
    // Some programs for Windows write its own separators, which zip does not know.
    let is_windows = !named.iter().any(|(name, _)| name.contains('/'));
    let separators: &[char] = if is_windows { &['/', '\\'] } else { &['/'] };
    let mut entries = BTreeMap::new();
    for (name, entry) in named {
        let Some(path) = plain(&name, separators) else {
            continue;
        };
        if entries.insert(path, entry).is_some() {
            return Err(damaged(archive, &format!("{name} is in it twice")));
        }
    }
    Ok(entries)
}

/// The path of a file without what means nothing: `/a//./b` is `a/b`. `None` of a folder,
/// of what is not the user's, and of what leads out.
fn plain(name: &str, separators: &[char]) -> Option<String> {
    let parts = name.split(separators);
    let parts: Vec<&str> = parts
        .filter(|part| !part.is_empty() && *part != ".")
        .collect();
    let is_hidden = |part: &&str| *part == "__MACOSX" || part.starts_with("._") || *part == "..";
    let is_folder = name.ends_with(separators) || parts.is_empty();
    (!is_folder && !parts.iter().any(is_hidden)).then(|| parts.join("/"))
}

/// The bundle that a file is of: what ends with `.trace`, or what has a bundle's own
/// files directly in it.
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

/// What is left of a path inside a folder; `None` if it lies elsewhere.
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
        other => damaged(archive, &other.to_string()),
    }
}

//! Finds the documents of an input, and reads the header of each.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use metalens_files::{has_bundle_files, is_bundle};

use super::bytes::{ByteSource, file_format, header_of};
use super::mistaken;
use super::sniff::FileFormat;
use crate::archive::{Archive, ArchiveContents, is_document};
use crate::bundle::{Bundle, Files};
use crate::error::{Error, Problem, Result};
use crate::toc::{self, Toc};
use crate::trace::InputKind;
use crate::xml::Header;

/// An input with known documents, before any table is read.
#[derive(Debug)]
pub struct Input {
    path: String,
    kind: InputKind,
    toc: Option<Toc>,
    pub(crate) documents: Vec<Document>,
    /// The bundle, if the input has no documents.
    pub(crate) bundle: Option<Bundle>,
}

/// A document of an input.
#[derive(Debug)]
pub(crate) struct Document {
    /// Path of the document, or its name in the archive, for messages.
    pub(crate) name: String,
    pub(crate) source: ByteSource,
    /// Beginning of the document; unknown for standard input, which can be read only once.
    pub(crate) header: Option<Result<Header>>,
}

impl Document {
    fn new(name: String, source: ByteSource) -> Self {
        let header = Some(header_of(&source, &name));
        Self {
            name,
            source,
            header,
        }
    }

    /// Returns the schema of its first table, from its header or else from its name.
    pub(crate) fn schema(&self) -> &str {
        match &self.header {
            Some(Ok(Header::Table { schema, .. })) => schema,
            _ => self.schema_from_name(),
        }
    }

    /// Returns the schema in the file name: `X` for `X.xml`, `X.run-2.xml.gz` and
    /// `X.table-12.xml`.
    pub(crate) fn schema_from_name(&self) -> &str {
        let file = self.name.rsplit(['/', '\\']).next().unwrap_or(&self.name);
        let stem = file.split(".xml").next().unwrap_or(file);
        let of_run = stem.split(".run-").next().unwrap_or(stem);
        of_run.split(".table-").next().unwrap_or(of_run)
    }
}

impl Input {
    /// Opens a folder, an archive, a document, or `-` for standard input.
    ///
    /// ```no_run
    /// use metalens_trace::{Input, LoadOptions, Selection};
    ///
    /// let input = Input::open("run.export".as_ref())?;
    /// let trace = input.load(&Selection::everything(), LoadOptions::default())?;
    /// println!("{} intervals", trace.table("metal-gpu-intervals")?.rows());
    /// # Ok::<(), metalens_trace::Error>(())
    /// ```
    pub fn open(path: &Path) -> Result<Self> {
        if path.as_os_str() == "-" {
            let source = ByteSource::StandardInput;
            return Ok(Self::read_once("-", "standard input", source));
        }

        let name = path.display().to_string();
        let facts = match std::fs::metadata(path) {
            Ok(facts) => facts,
            Err(error) => {
                return match inside_archive(path) {
                    Some((archive, folder)) => Self::archive(archive, &folder, name),
                    None => Err(Error::in_file(error.into(), name)),
                };
            }
        };

        if facts.is_dir() {
            return Self::folder(path, name);
        }
        if !facts.is_file() && is_descriptor(path) {
            let source = ByteSource::Descriptor(path.to_owned());
            return Ok(Self::read_once(&name, &name, source));
        }

        match file_format(path, &name)? {
            FileFormat::Zip => Self::archive(path, "", name),
            _ => Self::single(path, name),
        }
    }

    /// Returns the table of contents, if the input has one.
    pub fn toc(&self) -> Option<&Toc> {
        self.toc.as_ref()
    }

    /// Returns the path as given by the user.
    pub fn path(&self) -> &str {
        &self.path
    }

    /// Returns the kind of the input.
    pub fn kind(&self) -> InputKind {
        self.kind
    }

    /// Returns an input that can be read only once, so that its header stays unknown.
    fn read_once(path: &str, name: &str, source: ByteSource) -> Self {
        let document = Document {
            name: name.to_owned(),
            source,
            header: None,
        };
        Self {
            path: path.to_owned(),
            kind: InputKind::Xml,
            toc: None,
            documents: vec![document],
            bundle: None,
        }
    }

    fn single(path: &Path, name: String) -> Result<Self> {
        let document = Document::new(name.clone(), ByteSource::File(path.to_owned()));
        let kind = match document.header {
            Some(Ok(Header::Toc)) => return Err(Error::in_file(Problem::TocAlone, name)),
            Some(Ok(Header::Empty)) => return Err(Error::in_file(Problem::NothingSelected, name)),
            Some(Ok(Header::Log)) => InputKind::Log,
            _ => InputKind::Xml,
        };
        Ok(Self {
            path: name,
            kind,
            toc: None,
            documents: vec![document],
            bundle: None,
        })
    }

    /// Opens a folder: a bundle, or an export.
    fn folder(path: &Path, name: String) -> Result<Self> {
        let entries = sorted_entries(path, &name)?;
        let is_document = |entry: &PathBuf| is_document(&entry.display().to_string());
        let has_recording = has_bundle_files(path) || entries.iter().any(is_document);
        if let Some(problem) = mistaken::folder(path, has_recording) {
            return Err(Error::in_file(problem, name));
        }
        if is_bundle(path) {
            return Ok(Self::from_bundle(name, Bundle::open_folder(path)?));
        }
        let mut documents = Vec::new();
        let (mut folders, mut bundles) = (Vec::new(), Vec::new());
        for entry in entries {
            let shown = entry.display().to_string();
            if entry.is_dir() && is_bundle(&entry) {
                bundles.push(shown);
            } else if entry.is_dir() {
                folders.push(entry);
            } else if is_document(&entry) {
                documents.push(Document::new(shown, ByteSource::File(entry)));
            }
        }

        if documents.is_empty() && !bundles.is_empty() {
            let problem = Problem::SeveralExports { folders: bundles };
            return Err(Error::in_file(problem, name));
        }

        if documents.is_empty() {
            return Err(nothing_in(&name, &folders));
        }
        Self::from_documents(name, documents)
    }

    /// Opens the recording in a folder of an archive, or in all of it if the folder is "".
    fn archive(path: &Path, folder: &str, name: String) -> Result<Self> {
        let archive = Archive::open(path)?;
        match archive.contents(folder)? {
            ArchiveContents::Bundle(files) => {
                let files = Files::zip(&name, archive, files);
                Ok(Self::from_bundle(name, Bundle::open(files)?))
            }
            ArchiveContents::Documents(entries) => {
                let documents = entries.into_iter().map(|(inside, entry)| {
                    let source = ByteSource::Entry(Arc::clone(&archive), entry);
                    Document::new(format!("{}/{inside}", path.display()), source)
                });
                Self::from_documents(name, documents.collect())
            }
        }
    }

    fn from_bundle(path: String, bundle: Bundle) -> Self {
        Self {
            path,
            kind: InputKind::Bundle,
            toc: Some(bundle.toc().clone()),
            documents: Vec::new(),
            bundle: Some(bundle),
        }
    }

    /// Returns the input of an export, and reads its table of contents.
    fn from_documents(path: String, documents: Vec<Document>) -> Result<Self> {
        let (tocs, documents): (Vec<_>, Vec<_>) = documents
            .into_iter()
            .partition(|document| matches!(document.header, Some(Ok(Header::Toc))));
        if tocs.is_empty() && documents.is_empty() {
            return Err(Error::in_file(Problem::EmptyFolder, path));
        }

        if let [first, second, ..] = tocs.as_slice() {
            let problem = Problem::SameTableTwice {
                first: first.name.clone(),
                second: second.name.clone(),
            };
            return Err(Error::in_file(problem, path));
        }

        // A broken toc.xml must not be treated as a missing one.
        let mut documents = documents;
        let broken = documents
            .iter()
            .position(|d| d.schema_from_name() == "toc" && matches!(d.header, Some(Err(_))));
        if let Some(at) = broken
            && let Some(Err(error)) = documents.swap_remove(at).header
        {
            return Err(error);
        }

        let toc = tocs.first().map(|document| {
            let read = |bytes: &mut dyn std::io::Read| toc::read(bytes, &document.name);
            document.source.with(&document.name, &|_| (), read)
        });
        Ok(Self {
            path,
            kind: InputKind::Export,
            toc: toc.transpose()?,
            documents,
            bundle: None,
        })
    }
}

/// Splits a path such as `runs.zip/a.trace` into the archive and the folder in it.
fn inside_archive(path: &Path) -> Option<(&Path, String)> {
    let archive = path.ancestors().skip(1).find(|outer| outer.is_file())?;
    let inside = path.strip_prefix(archive).ok()?;
    let parts = inside
        .components()
        .map(|part| part.as_os_str().to_string_lossy());
    let folder = parts.collect::<Vec<_>>().join("/");
    let is_zip = matches!(file_format(archive, ""), Ok(FileFormat::Zip));
    is_zip.then_some((archive, folder))
}

/// Returns true for a path of an open file descriptor, such as `/dev/fd/63` of
/// `<(xctrace export …)`.
fn is_descriptor(path: &Path) -> bool {
    path == Path::new("/dev/stdin")
        || path.starts_with("/dev/fd")
        || path.starts_with("/proc/self/fd")
}

fn sorted_entries(path: &Path, name: &str) -> Result<Vec<PathBuf>> {
    let entries = std::fs::read_dir(path)
        .and_then(|entries| entries.map(|entry| Ok(entry?.path())).collect());
    let mut entries: Vec<PathBuf> = entries.map_err(|error| Error::in_file(error.into(), name))?;
    entries.sort();
    Ok(entries)
}

/// Returns the error of a folder without documents. It names inner folders that have an export.
fn nothing_in(name: &str, folders: &[PathBuf]) -> Error {
    let folders: Vec<String> = folders
        .iter()
        .filter(|folder| folder.join("toc.xml").is_file() || folder.join("toc.xml.gz").is_file())
        .map(|f| f.display().to_string())
        .collect();
    let problem = if folders.is_empty() {
        Problem::EmptyFolder
    } else {
        Problem::SeveralExports { folders }
    };
    Error::in_file(problem, name)
}

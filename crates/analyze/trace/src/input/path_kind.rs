//! Detects quickly whether a path is a recording, for searches in folders.

use std::fs::File;
use std::io;
use std::path::Path;

use metalens_files::is_bundle;

use super::bytes::{ByteSource, file_format, header_of};
use super::sniff::FileFormat;
use crate::archive::{Archive, ArchiveContents, is_document};
use crate::xml::Header;

/// The apparent kind of a path. A recording may still be broken, which only reading it shows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PathKind {
    /// A `.trace` bundle that is a folder.
    Bundle,
    /// A folder of exported documents.
    Export,
    /// An archive with a bundle or an export, or one that cannot be opened.
    Archive,
    /// A single exported document.
    Document,
    /// A folder that is not a recording itself.
    Folder,
    /// Anything else that exists.
    Other,
}

/// Returns the kind of a path, by the names in a folder or the beginning of a file.
///
/// # Errors
///
/// Fails if the path does not exist or cannot be read.
pub fn path_kind(path: &Path) -> io::Result<PathKind> {
    let facts = std::fs::metadata(path)?;
    if facts.is_dir() {
        return folder(path);
    }
    if facts.is_file() && is_named_like_recording(path) {
        // What may be a recording must not be taken for something else because it cannot be read.
        File::open(path)?;
    }
    Ok(file(path))
}

/// Returns the kind of a folder.
fn folder(path: &Path) -> io::Result<PathKind> {
    if is_bundle(path) {
        return Ok(PathKind::Bundle);
    }
    let names = std::fs::read_dir(path)?
        .map(|entry| Ok(entry?.file_name().to_string_lossy().into_owned()))
        .collect::<io::Result<Vec<String>>>()?;
    let documents = || names.iter().filter(|name| is_document(name));
    // All exports have these names. Checking them first makes a search in hundreds of folders fast.
    let has_usual_name =
        documents().any(|name| matches!(schema_from_name(name), "toc" | "metal-gpu-intervals"));
    if has_usual_name || documents().any(|name| has_named_table(&path.join(name))) {
        Ok(PathKind::Export)
    } else {
        Ok(PathKind::Folder)
    }
}

/// Returns the schema in the name of a document.
fn schema_from_name(name: &str) -> &str {
    name.split(".xml").next().unwrap_or(name)
}

/// Returns true if a document has the table in its name, as documents of an export do.
fn has_named_table(path: &Path) -> bool {
    let name = path.file_name().map(|name| name.to_string_lossy());
    let name = name.unwrap_or_default();
    matches!(header(path), Some(Header::Table { schema, .. }) if schema == schema_from_name(&name))
}

/// Returns whether a document may have GPU work: it is neither the list of the tables of an export, nor
/// a table about something else.
pub fn may_have_gpu_work(path: &Path) -> bool {
    match header(path) {
        Some(Header::Table { schema, .. }) => schema.starts_with("metal-"),
        Some(Header::Toc) => false,
        _ => true,
    }
}

fn header(path: &Path) -> Option<Header> {
    let name = path.display().to_string();
    header_of(&ByteSource::File(path.to_owned()), &name).ok()
}

/// Returns whether a file has a name that recordings have.
fn is_named_like_recording(path: &Path) -> bool {
    let has_ending = |ending: &str| path.extension().is_some_and(|found| found == ending);
    has_ending("trace") || has_ending("zip") || is_document(&path.display().to_string())
}

/// Returns the kind of a file, by its content and its name.
fn file(path: &Path) -> PathKind {
    let name = path.display().to_string();
    match file_format(path, &name) {
        Ok(FileFormat::Zip) if is_archive(path) => PathKind::Archive,
        Ok(FileFormat::Log) => PathKind::Document,
        Ok(FileFormat::Xml | FileFormat::Gzip)
            if is_document(&name) || name.ends_with(".jsonl.gz") =>
        {
            match header(path) {
                Some(_) => PathKind::Document,
                None => PathKind::Other,
            }
        }
        // Its name says that it is a recording, so reading it shows what is wrong.
        _ if path.extension().is_some_and(|found| found == "trace") => PathKind::Document,
        Ok(FileFormat::Other(_)) if path.extension().is_some_and(|found| found == "zip") => {
            PathKind::Archive
        }
        _ => PathKind::Other,
    }
}

/// Returns true if an archive has a recording in it. One that cannot be opened may have one.
fn is_archive(path: &Path) -> bool {
    match Archive::open(path).and_then(|archive| archive.contents("")) {
        Ok(ArchiveContents::Documents(documents)) => !documents.is_empty(),
        Ok(ArchiveContents::Bundle(_)) | Err(_) => true,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const TABLE: &str = "<?xml version='1.0'?><trace-query-result><node xpath='/x'>\
        <schema name='hitches'><col><mnemonic>a</mnemonic><name>A</name>\
        <engineering-type>duration</engineering-type></col></schema></node></trace-query-result>";

    #[test]
    fn kinds_of_paths_are_detected() {
        let root = tempfile::tempdir().unwrap();
        let check = |path: &str, content: Option<&str>, expected: PathKind| {
            let at = root.path().join(path);
            std::fs::create_dir_all(at.parent().unwrap()).unwrap();
            match content {
                Some(content) => std::fs::write(&at, content).unwrap(),
                None => std::fs::create_dir_all(&at).unwrap(),
            }
            assert_eq!(path_kind(&at).unwrap(), expected, "{path}");
        };

        check("a.trace", None, PathKind::Bundle);
        check(
            "stub.trace",
            Some("version https://git-lfs."),
            PathKind::Document,
        );
        check("b/corespace", None, PathKind::Folder);
        check("b", None, PathKind::Bundle);
        check("c/toc.xml", Some("<trace-toc/>"), PathKind::Document);
        check("c", None, PathKind::Export);
        check("d/hitches.xml", Some(TABLE), PathKind::Document);
        check("d", None, PathKind::Export);
        check("e/one.xml", Some(TABLE), PathKind::Document);
        check("e/two.xml", Some("<svg/>"), PathKind::Other);
        check("e", None, PathKind::Folder);
        check(
            "f.zip",
            Some("PK\u{3}\u{4} and nothing else"),
            PathKind::Archive,
        );
        check("g.zip", Some("no zip at all"), PathKind::Archive);
        check("h.txt", Some("words"), PathKind::Other);
        check("i", None, PathKind::Folder);
        assert!(path_kind(&root.path().join("none")).is_err());
    }
}

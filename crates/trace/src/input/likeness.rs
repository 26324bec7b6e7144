//! What a path is at a glance, for those who look for traces in folders.

use std::io;
use std::path::Path;

use super::archive::{Archive, Holds};
use super::bytes::{Stored, looks};
use super::list::is_bundle;
use super::sniff::Looks;
use super::sniff::is_document;
use crate::xml::{Header, read_header};

/// What a path seems to be. What seems a trace may still be broken: reading tells.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Likeness {
    /// A `.trace` bundle, as a folder.
    Bundle,
    /// A folder of exported documents.
    Export,
    /// An archive of either, or one that cannot be opened.
    Archive,
    /// A single exported document.
    Document,
    /// A folder that is no trace itself.
    Folder,
    /// Nothing of the kind.
    Other,
}

/// Looks at a path: at a folder's names and at a file's beginning.
///
/// # Errors
///
/// If there is nothing, or it cannot be looked at.
pub fn likeness(path: &Path) -> io::Result<Likeness> {
    match std::fs::metadata(path)?.is_dir() {
        true => folder(path),
        false => Ok(file(path)),
    }
}

fn folder(path: &Path) -> io::Result<Likeness> {
    if is_bundle(path) {
        return Ok(Likeness::Bundle);
    }
    let names = std::fs::read_dir(path)?
        .map(|entry| Ok(entry?.file_name().to_string_lossy().into_owned()))
        .collect::<io::Result<Vec<String>>>()?;
    let documents = || names.iter().filter(|name| is_document(name));
    // By its name, which all exports have: hundreds of folders are looked at quickly.
    let is_listed = documents().any(|name| matches!(promised(name), "toc" | "metal-gpu-intervals"));
    let is_export = is_listed || documents().any(|name| keeps_its_promise(&path.join(name)));
    Ok(match is_export {
        true => Likeness::Export,
        false => Likeness::Folder,
    })
}

/// The table that a document of an export is named after.
fn promised(name: &str) -> &str {
    name.split(".xml").next().unwrap_or(name)
}

/// Whether a document has the table that it is named after, as those of an export do.
fn keeps_its_promise(path: &Path) -> bool {
    let name = path.file_name().map(|name| name.to_string_lossy());
    let name = name.unwrap_or_default();
    matches!(header(path), Some(Header::Table { schema, .. }) if schema == promised(&name))
}

fn header(path: &Path) -> Option<Header> {
    let name = path.display().to_string();
    let stored = Stored::File(path.to_owned());
    let read = stored.with(&name, &|_| (), |bytes| read_header(bytes, &name));
    read.ok()
}

fn file(path: &Path) -> Likeness {
    let name = path.display().to_string();
    match looks(path, &name) {
        Ok(Looks::Zip) if is_archive(path) => Likeness::Archive,
        Ok(Looks::Xml | Looks::Gzip | Looks::Zstd) if is_document(&name) => match header(path) {
            Some(_) => Likeness::Document,
            None => Likeness::Other,
        },
        // It says that it is one: reading it tells what is wrong.
        _ if path.extension().is_some_and(|is| is == "trace") => Likeness::Document,
        Ok(Looks::Other(_)) if path.extension().is_some_and(|is| is == "zip") => Likeness::Archive,
        _ => Likeness::Other,
    }
}

/// Whether an archive has a trace in it. One that cannot be opened may have.
fn is_archive(path: &Path) -> bool {
    match Archive::open(path).and_then(|archive| archive.holds("")) {
        Ok(Holds::Documents(documents)) => !documents.is_empty(),
        Ok(Holds::Bundle(_)) | Err(_) => true,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const TABLE: &str = "<?xml version='1.0'?><trace-query-result><node xpath='/x'>\
        <schema name='hitches'><col><mnemonic>a</mnemonic><name>A</name>\
        <engineering-type>duration</engineering-type></col></schema></node></trace-query-result>";

    #[test]
    fn at_a_glance() {
        let root = tempfile::tempdir().unwrap();
        let check = |path: &str, content: Option<&str>, expected: Likeness| {
            let at = root.path().join(path);
            std::fs::create_dir_all(at.parent().unwrap()).unwrap();
            match content {
                Some(content) => std::fs::write(&at, content).unwrap(),
                None => std::fs::create_dir_all(&at).unwrap(),
            }
            assert_eq!(likeness(&at).unwrap(), expected, "{path}");
        };
        check("a.trace", None, Likeness::Bundle);
        check(
            "stub.trace",
            Some("version https://git-lfs."),
            Likeness::Document,
        );
        check("b/corespace", None, Likeness::Folder);
        check("b", None, Likeness::Bundle);
        check("c/toc.xml", Some("<trace-toc/>"), Likeness::Document);
        check("c", None, Likeness::Export);
        check("d/hitches.xml", Some(TABLE), Likeness::Document);
        check("d", None, Likeness::Export);
        check("e/one.xml", Some(TABLE), Likeness::Document);
        check("e/two.xml", Some("<svg/>"), Likeness::Other);
        check("e", None, Likeness::Folder);
        check(
            "f.zip",
            Some("PK\u{3}\u{4} and nothing else"),
            Likeness::Archive,
        );
        check("g.zip", Some("no zip at all"), Likeness::Archive);
        check("h.txt", Some("words"), Likeness::Other);
        check("i", None, Likeness::Folder);
        assert!(likeness(&root.path().join("none")).is_err());
    }
}

//! Reads a folder that `analyze -o`, `compare -o` or `bench -o` wrote, with the files that its manifest
//! lists.
//!
//! The folder may come from a stranger, as an artifact of a run on a fork. A listed file is read
//! only if it is a regular file inside the folder, with the listed length and hash.

use std::io;
use std::path::{Component, Path, PathBuf};

use metalens_analyzer::{LONGEST_REPORT, Report, SCHEMA};
use metalens_bench::Bench;
use metalens_comparison::Comparison;
use metalens_files::sha256;
use serde::de::{DeserializeOwned, Error as _};

use super::manifest::{File, Kind, MANIFEST, Manifest, SCHEMA as MANIFEST_SCHEMA};

/// A folder that was written, and is whole.
#[derive(Debug)]
pub struct WrittenFolder {
    /// The document that the folder is about.
    pub document: WrittenDocument,
    /// The charts, each with its bytes.
    pub charts: Vec<(File, Vec<u8>)>,
}

/// The document of a folder.
#[derive(Debug)]
pub enum WrittenDocument {
    /// A report of `analyze -o`.
    Report(Box<Report>),
    /// A comparison of `compare -o`.
    Comparison(Box<Comparison>),
    /// A result of `bench -o`.
    Bench(Box<Bench>),
}

/// The reason why a folder cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum ReadError {
    /// The folder is not what it should be.
    #[error("{0}")]
    Refused(String),
    /// A file cannot be read.
    #[error("cannot read {}", file.display())]
    CannotRead {
        /// Path of the file.
        file: PathBuf,
        /// Reason of the system.
        #[source]
        cause: io::Error,
    },
    /// A file is not in the form that its name promises.
    #[error("{what}")]
    OtherForm {
        /// Path of the file, and the expected form.
        what: String,
        /// First difference from that form.
        #[source]
        cause: serde_json::Error,
    },
}

/// The longest manifest, in bytes.
const LONGEST_MANIFEST: u64 = 1 << 20;
/// The largest number of files in a manifest.
const MOST_FILES: usize = 64;

impl WrittenFolder {
    /// Checks a folder, and reads its document and charts.
    ///
    /// # Errors
    ///
    /// If the folder has no manifest, or a file differs from it.
    pub fn read(path: &Path) -> Result<Self, ReadError> {
        let manifest = manifest(path)?;
        let shown = path.display();
        if manifest.files.len() > MOST_FILES {
            return Err(ReadError::Refused(format!(
                "{shown} is not a report: its manifest lists more than {MOST_FILES} files"
            )));
        }

        let (mut document, mut charts) = (None, Vec::new());
        for file in manifest.files {
            let bytes = listed(path, &file)?;
            match file.kind {
                Kind::Report => document = Some((file.path, bytes)),
                Kind::Page => {}
                Kind::Chart => charts.push((file, bytes)),
            }
        }

        let (name, bytes) = document.ok_or_else(|| {
            ReadError::Refused(format!("the manifest in {shown} lists no report"))
        })?;
        let document = parse(&manifest.report_schema, &bytes, &format!("{shown}: {name}"))?;
        Ok(Self { document, charts })
    }
}

/// Reads the manifest of a folder.
fn manifest(folder: &Path) -> Result<Manifest, ReadError> {
    let shown = folder.display();
    let file = inside(folder, MANIFEST)?;
    if file.symlink_metadata().is_err() {
        return Err(ReadError::Refused(format!(
            "{shown} has no {MANIFEST}, so it is not a complete report: write the folder with \
             `metalens analyze INPUT -o {shown}`, `metalens compare BASE NEW -o {shown}` or `metalens \
             bench COMMAND … -o {shown}`"
        )));
    }

    let text = read_file(&file, LONGEST_MANIFEST)?;
    let manifest: Manifest =
        serde_json::from_slice(&text).map_err(|cause| ReadError::OtherForm {
            what: format!("{} is not the manifest of a report", file.display()),
            cause,
        })?;
    if manifest.schema != MANIFEST_SCHEMA {
        return Err(ReadError::Refused(format!(
            "another version of metalens wrote {}: its schema is {:?}, not {MANIFEST_SCHEMA:?}",
            file.display(),
            manifest.schema
        )));
    }
    Ok(manifest)
}

/// Reads a file that a manifest lists. Refuses one that is not as listed.
fn listed(folder: &Path, file: &File) -> Result<Vec<u8>, ReadError> {
    let path = inside(folder, &file.path)?;
    let bytes = read_file(&path, LONGEST_REPORT)?;
    if bytes.len() as u64 != file.bytes || sha256(&bytes) != file.sha256 {
        return Err(ReadError::Refused(format!(
            "{} differs from its manifest: it changed after it was written; write the folder again",
            path.display()
        )));
    }
    Ok(bytes)
}

/// Returns the path of a listed file. Refuses paths and links that lead out of the folder, because
/// anybody may have written the manifest.
fn inside(folder: &Path, listed: &str) -> Result<PathBuf, ReadError> {
    let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || b"._-/".contains(&byte);
    let parts = Path::new(listed).components();
    let is_inside = parts
        .clone()
        .all(|part| matches!(part, Component::Normal(_)));
    if !is_inside || listed.is_empty() || !listed.bytes().all(is_plain) || listed.starts_with('-') {
        return Err(ReadError::Refused(format!(
            "the manifest in {} lists {listed:?}, which is not a path inside a report",
            folder.display()
        )));
    }

    let mut path = folder.to_path_buf();
    for part in parts {
        path.push(part);
        let found = path.symlink_metadata();
        if found.is_ok_and(|found| found.is_symlink()) {
            return Err(ReadError::Refused(format!(
                "{} is a link, and a report has no links",
                path.display()
            )));
        }
    }
    Ok(path)
}

fn read_file(path: &Path, longest: u64) -> Result<Vec<u8>, ReadError> {
    metalens_files::read(path, longest).map_err(|cause| ReadError::CannotRead {
        file: path.to_path_buf(),
        cause,
    })
}

/// Parses the document of a folder, by its schema.
fn parse(schema: &str, bytes: &[u8], place: &str) -> Result<WrittenDocument, ReadError> {
    match schema {
        SCHEMA => Ok(WrittenDocument::Report(Box::new(read(bytes, place)?))),
        metalens_comparison::SCHEMA => {
            Ok(WrittenDocument::Comparison(Box::new(read(bytes, place)?)))
        }
        metalens_bench::SCHEMA => Ok(WrittenDocument::Bench(Box::new(read(bytes, place)?))),
        _ => Err(ReadError::Refused(format!(
            "{place}: this version of metalens can post {SCHEMA}, {} and {}, not {schema:?}",
            metalens_comparison::SCHEMA,
            metalens_bench::SCHEMA
        ))),
    }
}

fn read<T: DeserializeOwned>(bytes: &[u8], place: &str) -> Result<T, ReadError> {
    // Parses text, as other code does: parsing bytes would compile the large parser a second time.
    let text = std::str::from_utf8(bytes).map_err(serde_json::Error::custom);
    let parsed = text.and_then(serde_json::from_str);
    parsed.map_err(|cause| ReadError::OtherForm {
        what: format!("{place}: not a document that this version of metalens reads"),
        cause,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn listed_paths_stay_inside_the_folder() {
        let folder = tempfile::tempdir().unwrap();
        let check = |path: &str, expected: bool| {
            assert_eq!(inside(folder.path(), path).is_ok(), expected, "{path}");
        };
        check("report.json", true);
        check("charts/timeline-dark.png", true);
        check("../report.json", false);
        check("charts/../../a", false);
        check("/etc/passwd", false);
        check("", false);
        check("--attach", false);
        check("a](b)", false);
        check("a b", false);
    }

    #[cfg(unix)]
    #[test]
    fn links_are_refused() {
        let folder = tempfile::tempdir().unwrap();
        std::os::unix::fs::symlink("/etc", folder.path().join("charts")).unwrap();
        std::os::unix::fs::symlink("/etc/passwd", folder.path().join("report.json")).unwrap();
        assert!(inside(folder.path(), "charts/passwd").is_err());
        assert!(inside(folder.path(), "report.json").is_err());
    }
}

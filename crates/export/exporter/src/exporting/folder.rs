//! Checks and clears the files of an export folder.

use std::io;
use std::path::Path;

use super::call::remove_if_there;
use super::error::{Error, Result};
use crate::manifest::{ExportManifest, MANIFEST};

/// The possible endings of a table's file name: people compress exports.
pub(crate) const FORMS: [&str; 5] = [
    ".xml",
    ".xml.gz",
    ".xml.zst",
    ".xml.partial",
    ".xml.gz.partial",
];

/// Returns the manifest of an earlier export of this bundle. Fails if the folder contains other
/// files that a reader could take for exported tables.
pub(crate) fn load_earlier_export(
    folder: &Path,
    bundle: &str,
    force: bool,
) -> Result<Option<ExportManifest>> {
    let occupied = |holds: String| Error::Occupied {
        folder: folder.display().to_string(),
        holds,
    };

    let documents = documents(folder)?;
    let manifest = ExportManifest::load(folder).map_err(Error::at(folder))?;
    match manifest {
        _ if force => Ok(manifest),
        Some(manifest) if manifest.bundle != bundle => Err(occupied(format!(
            "contains the export of another bundle, {}",
            manifest.bundle
        ))),
        Some(manifest) => {
            let is_ours = |name: &String| {
                let is_table = |table: &crate::TableFile| table.file == *name;
                name == "toc.xml" || manifest.tables.iter().any(is_table)
            };
            match documents.iter().find(|name| !is_ours(name)) {
                Some(name) => Err(occupied(format!(
                    "contains {name}, which metalens did not export"
                ))),
                None => Ok(Some(manifest)),
            }
        }
        None if folder.join(MANIFEST).symlink_metadata().is_ok() => Err(occupied(format!(
            "contains an {MANIFEST} that cannot be read"
        ))),
        None => match documents.first() {
            Some(name) => Err(occupied(format!(
                "contains {name}, which metalens did not export"
            ))),
            None => Ok(None),
        },
    }
}

/// Returns the names of files that a reader of the folder would take for tables.
fn documents(folder: &Path) -> Result<Vec<String>> {
    let entries = match std::fs::read_dir(folder) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
        entries => entries.map_err(Error::at(folder))?,
    };
    let mut names = Vec::new();
    for entry in entries {
        let name = entry.map_err(Error::at(folder))?.file_name();
        let name = name.to_string_lossy().into_owned();
        if FORMS.iter().any(|form| name.ends_with(form)) {
            names.push(name);
        }
    }
    names.sort();
    Ok(names)
}

/// Removes the files of an earlier export, and nothing else.
pub(crate) fn clear(folder: &Path, stale: &ExportManifest) -> Result<()> {
    let files = stale.tables.iter().map(|table| table.file.as_str());
    for name in files.chain(["toc.xml", MANIFEST]) {
        remove_if_there(&folder.join(name))?;
    }
    Ok(())
}

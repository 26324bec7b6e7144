//! Reads and writes `export.json`, which lists the tables of an export folder, so that the next
//! export writes only missing ones.

use std::path::Path;

use metalens_files::Folder;
use serde::{Deserialize, Serialize};

use crate::basis::Basis;
use crate::error::{Error, Result};

/// Name of the manifest file.
pub const MANIFEST: &str = "export.json";

const FORM: &str = "metalens.export/1";

/// Maximum size of a manifest, in bytes. Real ones have some hundred bytes for each of some
/// hundred tables.
const MAX_SIZE: u64 = 16 << 20;

/// The contents of an export folder.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Manifest {
    /// Name and version of the form of this file.
    pub schema: String,
    /// The bundle and the range that were exported.
    #[serde(flatten)]
    pub basis: Basis,
    /// True if the folder has a table of contents.
    pub toc: bool,
    /// All tables that were requested, by name.
    pub tables: Vec<TableFile>,
}

/// A table that was requested.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct TableFile {
    /// Schema of the table.
    pub schema: String,
    /// Number of its run.
    pub run: u64,
    /// Position in the run, if the run has several tables of this schema; else null.
    pub place: Option<usize>,
    /// Result of the export.
    pub state: TableState,
    /// Name of its file in the folder; null if the bundle has no such table.
    pub file: Option<String>,
    /// Size of the file, in bytes.
    pub bytes: u64,
    /// Version of xctrace that wrote it.
    pub xctrace: String,
}

/// The result of exporting a table.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum TableState {
    /// The table is complete.
    Whole,
    /// xctrace ended while it wrote the table: only the first rows exist.
    CutOff,
    /// The bundle has no such table.
    Absent,
}

impl Manifest {
    /// Returns the manifest of an export that has no files yet.
    pub(crate) fn new(basis: Basis) -> Self {
        Self {
            schema: FORM.to_owned(),
            basis,
            toc: false,
            tables: Vec::new(),
        }
    }

    /// Returns the manifest of a folder, if it has a valid one. A manifest that names a file
    /// outside the folder is not valid, since anybody may have written it.
    #[must_use]
    pub fn load(folder: &Path) -> Option<Self> {
        let text = metalens_files::read(&folder.join(MANIFEST), MAX_SIZE).ok()?;
        let found: Self = serde_json::from_slice(&text).ok()?;
        let files = found
            .tables
            .iter()
            .filter_map(|table| table.file.as_deref());
        let lie_inside = files
            .map(Path::new)
            .all(|file| file.file_name() == Some(file.as_os_str()));
        (found.schema == FORM && lie_inside).then_some(found)
    }

    /// Writes the manifest into a folder, completely or not at all.
    pub(crate) fn save(&self, folder: &Folder) -> Result<()> {
        let path = Path::new(MANIFEST);
        let text = serde_json::to_vec_pretty(self).map_err(|error| Error::at(path)(error.into()));
        let mut text = text?;
        text.push(b'\n');
        Ok(folder.write_bytes(path, true, &text)?)
    }

    /// Returns the table of a schema, run and place, if it was requested before.
    pub(crate) fn find(&self, schema: &str, run: u64, place: Option<usize>) -> Option<&TableFile> {
        self.tables
            .iter()
            .find(|table| table.schema == schema && table.run == run && table.place == place)
    }

    /// Returns the files that a table replaces: its own old file, or one that was exported by
    /// name when its place was unknown, or the reverse.
    pub(crate) fn rivals(&self, schema: &str, run: u64, place: Option<usize>) -> Vec<String> {
        let rivals = self.tables.iter();
        let rivals = rivals.filter(|table| table.is_rival_of(schema, run, place));
        rivals.filter_map(|table| table.file.clone()).collect()
    }

    /// Adds a table, and replaces an earlier entry of the same table.
    pub(crate) fn set(&mut self, table: TableFile) {
        let TableFile {
            schema, run, place, ..
        } = &table;
        self.tables
            .retain(|other| !other.is_rival_of(schema, *run, *place));
        self.tables.push(table);
        self.tables.sort();
    }

    /// Returns the number of complete tables.
    #[must_use]
    pub fn complete_tables(&self) -> usize {
        self.in_state(TableState::Whole).count()
    }

    /// Returns the tables with a state.
    pub fn in_state(&self, state: TableState) -> impl Iterator<Item = &TableFile> {
        self.tables.iter().filter(move |table| table.state == state)
    }

    /// Returns true if only a range of the recording was exported.
    #[must_use]
    pub const fn is_part(&self) -> bool {
        self.basis.from_ns.is_some() || self.basis.to_ns.is_some()
    }
}

impl TableFile {
    fn is_rival_of(&self, schema: &str, run: u64, place: Option<usize>) -> bool {
        let is_same_table = self.place == place || self.place.is_some() != place.is_some();
        self.schema == schema && self.run == run && is_same_table
    }

    /// Returns true if the table needs no export: its file has the size that was written.
    pub(crate) fn is_done(&self, folder: &Path) -> bool {
        match (self.state, &self.file) {
            (TableState::Absent, _) => true,
            (TableState::Whole, Some(file)) => has_size(&folder.join(file), self.bytes),
            _ => false,
        }
    }
}

fn has_size(path: &Path, bytes: u64) -> bool {
    let found = path.symlink_metadata();
    found.is_ok_and(|found| found.is_file() && found.len() == bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// This matters because listed files are removed when their table is exported again.
    #[test]
    fn a_manifest_names_only_files_inside_its_folder() {
        let root = tempfile::tempdir().unwrap();
        let check = |file: &str, expected: bool| {
            let text = format!(
                r#"{{"schema": "{FORM}", "bundle": "x.trace", "files": 1, "bytes": 1,
                     "modified_ns": 1, "from_ns": null, "to_ns": null, "toc": true,
                     "tables": [{{"schema": "a", "run": 1, "place": null, "state": "whole",
                                  "file": "{file}", "bytes": 1, "xctrace": "26"}}]}}"#
            );
            std::fs::write(root.path().join(MANIFEST), text).unwrap();
            assert_eq!(Manifest::load(root.path()).is_some(), expected, "{file}");
        };
        check("a.xml", true);
        check("../a.xml", false);
        check("/etc/passwd", false);
        check("inner/a.xml", false);
        check("a.xml/", false);
        check("..", false);
        check("", false);
    }
}

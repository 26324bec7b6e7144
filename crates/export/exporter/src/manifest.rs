//! Defines and reads `export.json`, which lists the tables of an export folder.

use std::io;
use std::path::Path;

use serde::{Deserialize, Serialize};

/// Name of the manifest file.
pub const MANIFEST: &str = "export.json";

pub(crate) const FORM: &str = "metalens.export/1";

/// Maximum size of a manifest, in bytes. A real manifest has some hundred bytes for each of some
/// hundred tables.
const MAX_SIZE: u64 = 16 << 20;

/// The contents of an export folder.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ExportManifest {
    /// Name and version of the form of this file.
    pub schema: String,
    /// Name of the bundle.
    pub bundle: String,
    /// Start of the exported range, in nanoseconds of the recording; null for its start.
    pub from_ns: Option<u64>,
    /// End of the exported range, in nanoseconds of the recording; null for its end.
    pub to_ns: Option<u64>,
    /// Tables in the folder, in the order in which they were exported.
    pub tables: Vec<TableFile>,
}

/// A table that was exported.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct TableFile {
    /// Schema of the table.
    pub schema: String,
    /// Number of the table's run.
    pub run: u64,
    /// Result of exporting the table.
    pub state: TableState,
    /// Name of the table's file in the folder.
    pub file: String,
    /// Size of the file, in bytes.
    pub bytes: u64,
}

/// The result of exporting a table.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum TableState {
    /// The table is complete.
    Whole,
    /// xctrace ended while it wrote the table: only the first rows exist.
    CutOff,
}

impl ExportManifest {
    /// Returns the manifest of a folder, if it has a valid one. A manifest that names a file
    /// outside the folder is not valid, since anybody may have written it.
    ///
    /// # Errors
    ///
    /// Fails if there is a manifest that cannot be read.
    pub fn load(folder: &Path) -> io::Result<Option<Self>> {
        let text = metalens_files::read_optional(&folder.join(MANIFEST), MAX_SIZE)?;
        Ok(text.and_then(|text| Self::parse(&text)))
    }

    fn parse(text: &[u8]) -> Option<Self> {
        let manifest: Self = serde_json::from_slice(text).ok()?;
        let mut files = manifest.tables.iter().map(|table| Path::new(&table.file));
        let are_inside = files.all(|file| file.file_name() == Some(file.as_os_str()));
        (manifest.schema == FORM && are_inside).then_some(manifest)
    }

    /// Returns the number of complete tables.
    pub fn complete_tables(&self) -> usize {
        self.in_state(TableState::Whole).count()
    }

    /// Returns the tables with a state.
    pub fn in_state(&self, state: TableState) -> impl Iterator<Item = &TableFile> {
        self.tables.iter().filter(move |table| table.state == state)
    }

    /// Returns true if only a range of the recording was exported.
    pub const fn is_part(&self) -> bool {
        self.from_ns.is_some() || self.to_ns.is_some()
    }
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
                r#"{{"schema": "{FORM}", "bundle": "x.trace", "from_ns": null, "to_ns": null,
                     "tables": [{{"schema": "a", "run": 1, "state": "whole", "file": "{file}",
                                  "bytes": 1}}]}}"#
            );
            std::fs::write(root.path().join(MANIFEST), text).unwrap();
            assert_eq!(
                ExportManifest::load(root.path()).unwrap().is_some(),
                expected,
                "{file}"
            );
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

//! Changes and writes `export.json`, so that the next export writes only missing tables.

use std::path::Path;

use metalens_files::Folder;

use super::error::{Error, Result};
use crate::manifest::{Basis, ExportManifest, FORM, MANIFEST, TableFile, TableState};

impl ExportManifest {
    /// Returns the manifest of an export that has no files yet.
    pub(crate) fn new(basis: Basis) -> Self {
        Self {
            schema: FORM.to_owned(),
            basis,
            toc: false,
            tables: Vec::new(),
        }
    }

    /// Writes the manifest into a folder, completely or not at all.
    pub(crate) fn save(&self, folder: &Folder) -> Result<()> {
        let path = Path::new(MANIFEST);
        let mut text =
            serde_json::to_vec_pretty(self).map_err(|error| Error::at(path)(error.into()))?;
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
        let tables = self.tables.iter();
        let rivals = tables.filter(|table| table.is_rival_of(schema, run, place));
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
}

impl TableFile {
    fn is_rival_of(&self, schema: &str, run: u64, place: Option<usize>) -> bool {
        let is_same_table = self.place == place || self.place.is_some() != place.is_some();
        self.schema == schema && self.run == run && is_same_table
    }

    /// Returns true if the table needs no export, because its file has the size that was written.
    pub(crate) fn is_done(&self, folder: &Path) -> bool {
        match (self.state, &self.file) {
            (TableState::Absent, _) => true,
            (TableState::Whole, Some(file)) => has_size(&folder.join(file), self.bytes),
            _ => false,
        }
    }
}

fn has_size(path: &Path, bytes: u64) -> bool {
    path.symlink_metadata()
        .is_ok_and(|file| file.is_file() && file.len() == bytes)
}

//! `export.json`: what an export's folder holds, so that a second run does only
//! what is missing.

use std::path::Path;

use metalens_files::Folder;
use serde::{Deserialize, Serialize};

use crate::basis::Basis;
use crate::error::{Error, Result};

/// What it is called.
pub const MANIFEST: &str = "export.json";

const FORM: &str = "metalens.export/1";

/// Some hundred bytes for each of some hundred tables.
const LONGEST: u64 = 16 << 20;

/// What an export's folder holds.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Manifest {
    /// The form of this file.
    pub schema: String,
    /// What it was exported from.
    #[serde(flatten)]
    pub basis: Basis,
    /// Whether there is a table of contents.
    pub toc: bool,
    /// The tables, by name.
    pub tables: Vec<TableFile>,
}

/// A table that was asked for.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct TableFile {
    /// Its schema.
    pub schema: String,
    /// The number of its run.
    pub run: u64,
    /// Its place in the run, where the run has several of its schema.
    pub place: Option<usize>,
    /// What became of it.
    pub state: State,
    /// Its file in the folder; none if there is no such table.
    pub file: Option<String>,
    /// The file's size.
    pub bytes: u64,
    /// The version of xctrace that wrote it.
    pub xctrace: String,
}

/// What became of a table.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum State {
    /// It is there, whole.
    Whole,
    /// xctrace died while it wrote it: only its first rows are there.
    CutOff,
    /// The bundle has no such table.
    Absent,
}

impl Manifest {
    pub(crate) fn new(basis: Basis) -> Self {
        Self {
            schema: FORM.to_owned(),
            basis,
            toc: false,
            tables: Vec::new(),
        }
    }

    /// Returns that of a folder, if it has one that can be read. Anybody may have written it:
    /// a table whose file lies elsewhere makes it none.
    #[must_use]
    pub fn load(folder: &Path) -> Option<Self> {
        let text = metalens_files::read(&folder.join(MANIFEST), LONGEST).ok()?;
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

    /// Writes it into a folder, whole or not at all.
    pub(crate) fn save(&self, folder: &Folder) -> Result<()> {
        let path = Path::new(MANIFEST);
        let text = serde_json::to_vec_pretty(self).map_err(|error| Error::at(path)(error.into()));
        let mut text = text?;
        text.push(b'\n');
        Ok(folder.write_bytes(path, true, &text)?)
    }

    /// The table of this run and place, if it was asked for before.
    pub(crate) fn find(&self, schema: &str, run: u64, place: Option<usize>) -> Option<&TableFile> {
        let is_it = |one: &&TableFile| one.schema == schema && one.run == run && one.place == place;
        self.tables.iter().find(is_it)
    }

    /// The files of what a table takes the place of: itself as it was, or what
    /// was asked for by name when its place was not known, or the reverse.
    pub(crate) fn rivals(&self, schema: &str, run: u64, place: Option<usize>) -> Vec<String> {
        let rivals = self.tables.iter();
        let rivals = rivals.filter(|one| one.is_rival_of(schema, run, place));
        rivals.filter_map(|one| one.file.clone()).collect()
    }

    pub(crate) fn set(&mut self, table: TableFile) {
        let TableFile {
            schema, run, place, ..
        } = &table;
        self.tables
            .retain(|one| !one.is_rival_of(schema, *run, *place));
        self.tables.push(table);
        self.tables.sort();
    }

    /// How many tables are whole.
    #[must_use]
    pub fn whole(&self) -> usize {
        self.in_state(State::Whole).count()
    }

    /// The tables in a state.
    pub fn in_state(&self, state: State) -> impl Iterator<Item = &TableFile> {
        self.tables.iter().filter(move |one| one.state == state)
    }

    /// Whether only a part of the recording was exported.
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

    /// Whether nothing is left to be done: its file is there as it was written.
    pub(crate) fn is_done(&self, folder: &Path) -> bool {
        match (self.state, &self.file) {
            (State::Absent, _) => true,
            (State::Whole, Some(file)) => has_size(&folder.join(file), self.bytes),
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

    /// What it lists is removed when the table is exported anew.
    #[test]
    fn no_file_of_a_manifest_lies_elsewhere() {
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

//! `export.json`: what an export's folder holds, so that a second run does only
//! what is missing.

use std::io::{self, Write};
use std::path::Path;

use serde::{Deserialize, Serialize};

use crate::basis::Basis;
use crate::error::{Error, Result};

/// What it is called.
pub const MANIFEST: &str = "export.json";

const FORM: &str = "metalens.export/1";

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

    /// That of a folder, if it has one that can be read.
    #[must_use]
    pub fn load(folder: &Path) -> Option<Self> {
        let text = std::fs::read(folder.join(MANIFEST)).ok()?;
        let found: Self = serde_json::from_slice(&text).ok()?;
        (found.schema == FORM).then_some(found)
    }

    /// Writes it, whole or not at all; `drafts` is where beginnings are made.
    pub(crate) fn save(&self, folder: &Path, drafts: &Path) -> Result<()> {
        let (path, draft) = (folder.join(MANIFEST), drafts.join(MANIFEST));
        let write = || -> io::Result<()> {
            let mut text = serde_json::to_vec_pretty(self)?;
            text.push(b'\n');
            std::fs::File::create(&draft)?.write_all(&text)?;
            std::fs::rename(&draft, &path)
        };
        write().map_err(Error::at(&path))
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

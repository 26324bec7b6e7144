//! A run into the folder of a dataset: whole, or not at all.
//!
//! Its files are written beside their places and then renamed, `runs` last:
//! a run that `runs` lists is whole. One that is replaced by different rows leaves
//! `runs` first, so that nobody reads half of the old and half of the new. Several
//! may write into one folder at once; of the same run the last one stays.

use std::fs::File;
use std::io::{self, BufReader, BufWriter, Read, Seek, Write as _};
use std::path::{Path, PathBuf};

use metalens_analyzer::Analysis;
use metalens_files::{Draft, Folder};

use crate::cells::Table;
use crate::error::{Error, Result};
use crate::hive::{FILE, Partition};
use crate::parquet_write::{self, FORM_KEY};
use crate::tables::{Which, findings, gaps, intervals, kernels, runs};
use crate::{FORM, folder, identity};

/// How to write a run.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Choices {
    /// Keep other processes' names and numbers, which are left out otherwise.
    pub show_names: bool,
}

/// What was written.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Written {
    /// The run's name.
    pub run: String,
    /// Its files, `runs` last.
    pub files: Vec<PathBuf>,
    /// Their size.
    pub bytes: u64,
    /// Whether the run was there already.
    pub replaced: bool,
}

/// Writes a run's tables into the folder of a dataset, which is made if it
/// is not there. The analysis must have been made with `Request::keep_everyone`.
pub fn write(analysis: &Analysis, dataset: &Path, choices: Choices) -> Result<Written> {
    let partition = identity::partition(analysis)?;
    let dataset = Dataset {
        folder: Folder::make(dataset)?,
        path: dataset,
    };
    let mut folders = Vec::new();
    for which in IN_ORDER {
        folders.push(dataset.folder.inner(&partition.folder(which.name()))?);
    }
    let mut drafts = Vec::new();
    for (which, folder) in IN_ORDER.into_iter().zip(&folders) {
        let draft = folder.draft(FILE.as_ref())?;
        let file = partition.file(dataset.path, which.name());
        write_table(&table(analysis, which, choices)?, which, draft.file())
            .map_err(|why| Error::write(&file, why))?;
        drafts.push((draft, file));
    }

    let moved = dataset.displace(&partition)?;
    let replaced = dataset.withdraw(&partition, &drafts)? || moved;
    let mut written = Written {
        run: partition.run,
        files: Vec::new(),
        bytes: 0,
        replaced,
    };
    for (draft, file) in drafts {
        let facts = draft.file().metadata();
        written.bytes += facts.map_err(|why| Error::write(&file, why))?.len();
        draft.finish(true)?;
        written.files.push(file);
    }
    Ok(written)
}

/// Refuses a dataset whose tables' folders are links, before anything is read for it.
///
/// # Errors
///
/// If one is.
pub fn refuse_links(dataset: &Path) -> Result<()> {
    for which in IN_ORDER {
        metalens_files::refuse_link(&dataset.join(which.name()))?;
    }
    Ok(())
}

/// `runs` last: it lists what is whole.
const IN_ORDER: [Which; 5] = [
    Which::Intervals,
    Which::Gaps,
    Which::Kernels,
    Which::Findings,
    Which::Runs,
];

/// The table of a run.
pub(crate) fn table(analysis: &Analysis, which: Which, choices: Choices) -> Result<Table> {
    match which {
        Which::Runs => runs::table(&analysis.report),
        Which::Intervals => intervals::table(analysis, choices.show_names),
        Which::Gaps => gaps::table(analysis),
        Which::Kernels => kernels::table(&analysis.report),
        Which::Findings => findings::table(&analysis.report, choices.show_names),
    }
}

fn write_table(table: &Table, which: Which, file: &File) -> Result<(), String> {
    let form = [(FORM_KEY, FORM), ("metalens.table", which.name())];
    let mut out = BufWriter::new(file);
    parquet_write::write(&mut out, table, which.name(), &form).map_err(|why| why.to_string())?;
    out.flush().map_err(|why| why.to_string())
}

/// A dataset that is written to.
struct Dataset<'a> {
    folder: Folder,
    path: &'a Path,
}

impl Dataset<'_> {
    /// Takes the run away from under another device or day: of one recording, the bundle and
    /// the export do not know the same of both. Returns whether it was there.
    fn displace(&self, partition: &Partition) -> Result<bool> {
        let mut moved = false;
        if !folder::is_dataset(self.path) {
            return Ok(moved);
        }
        for run in folder::runs(self.path)? {
            if run.partition.run != partition.run || run.partition == *partition {
                continue;
            }
            moved = true;
            // First of all what lists it.
            for which in IN_ORDER.into_iter().rev() {
                self.folder.remove(&run.file(which))?;
            }
        }
        Ok(moved)
    }

    /// Takes a run that will differ out of `runs`. Returns whether it was there.
    fn withdraw(&self, partition: &Partition, drafts: &[(Draft<'_>, PathBuf)]) -> Result<bool> {
        if !partition.file(self.path, Which::Runs.name()).exists() {
            return Ok(false);
        }
        let is_same = |(draft, file): &(Draft<'_>, PathBuf)| {
            let old = metalens_files::open_unlinked(file);
            old.and_then(|old| is_same(draft.file(), &old))
                .unwrap_or(false)
        };
        if !drafts.iter().all(is_same) {
            let listed = partition.folder(Which::Runs.name()).join(FILE);
            self.folder.remove(&listed)?;
        }
        Ok(true)
    }
}

/// Returns whether two files have the same bytes.
fn is_same(mut one: &File, other: &File) -> io::Result<bool> {
    if one.metadata()?.len() != other.metadata()?.len() {
        return Ok(false);
    }
    one.rewind()?;
    let (mut one, mut other) = (BufReader::new(one), BufReader::new(other));
    let (mut left, mut right) = ([0; 8192], [0; 8192]);
    loop {
        let count = one.read(&mut left)?;
        other.read_exact(&mut right[..count])?;
        if left[..count] != right[..count] {
            return Ok(false);
        }
        if count == 0 {
            return Ok(true);
        }
    }
}

//! Writes a run into the folder of a dataset: completely, or not at all.
//!
//! The files are written beside their final names and then renamed, `runs` last: a run that `runs`
//! lists is complete. If the rows of a run change, the run is removed from `runs` first, so that no
//! reader gets a mix of old and new rows. Several processes may write to one folder at once. If two
//! write the same run, the last version stays.

use std::fs::File;
use std::io::{self, BufReader, BufWriter, Read, Seek, Write as _};
use std::path::{Path, PathBuf};

use metalens_analyzer::Analysis;
use metalens_files::{Draft, Folder, refused};

use crate::cells::MemoryTable;
use crate::error::Result;
use crate::hive::{FILE, Partition};
use crate::parquet_write::{self, FORM_KEY, RUN_KEY, TABLE_KEY};
use crate::tables::{RUNS, TABLES};
use crate::{FORM, folder, identity};

/// Options for writing a run.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct WriteOptions {
    /// True to keep the names and ids of other processes, which are left out otherwise.
    pub show_names: bool,
}

/// Result of writing a run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct WrittenRun {
    /// Name of the run in the dataset.
    pub run: String,
    /// Files of the run; the file of the table `runs` comes last.
    pub files: Vec<PathBuf>,
    /// Size of all files in bytes.
    pub bytes: u64,
    /// True if the run was in the dataset before.
    pub replaced: bool,
}

/// Writes the tables of a run into the folder of a dataset, which is created if it does not exist.
/// The analysis must have been made with `Request::keep_everyone`.
pub fn write(analysis: &Analysis, dataset: &Path, options: WriteOptions) -> Result<WrittenRun> {
    let partition = identity::partition(analysis)?;
    let dataset = Dataset {
        folder: Folder::make(dataset)?,
        path: dataset,
    };

    let mut folders = Vec::new();
    for which in &TABLES {
        folders.push(dataset.folder.inner(&partition.folder(which.name))?);
    }

    // All tables are drafts until the last one is written, so that a failure changes nothing.
    let mut drafts = Vec::new();
    for (which, folder) in TABLES.iter().zip(&folders) {
        let draft = folder.draft(FILE.as_ref())?;
        let file = partition.file(dataset.path, which.name);
        let table = (which.rows)(analysis, options.show_names)?;
        write_table(&table, which.name, &partition.run, draft.file())
            .map_err(refused("write", &file))?;
        drafts.push((draft, file));
    }

    // The run leaves the table `runs` before its other tables change, and is back in it last.
    let is_moved = dataset.remove_elsewhere(&partition)?;
    let replaced = dataset.remove_changed(&partition, &drafts)? || is_moved;
    let mut written = WrittenRun {
        run: partition.run,
        files: Vec::new(),
        bytes: 0,
        replaced,
    };

    for (draft, file) in drafts {
        let metadata = draft.file().metadata();
        written.bytes += metadata.map_err(refused("write", &file))?.len();
        draft.finish(true)?;
        written.files.push(file);
    }
    Ok(written)
}

/// Refuses a dataset in which the folder of a table is a link, before anything is read for it.
///
/// # Errors
///
/// If the folder of a table is a link.
pub fn refuse_links(dataset: &Path) -> Result<()> {
    for which in &TABLES {
        metalens_files::refuse_link(&dataset.join(which.name))?;
    }
    Ok(())
}

fn write_table(table: &MemoryTable, name: &str, run: &str, file: &File) -> io::Result<()> {
    let form = [(FORM_KEY, FORM), (TABLE_KEY, name), (RUN_KEY, run)];
    let mut out = BufWriter::new(file);
    parquet_write::write(&mut out, table, name, &form).map_err(io::Error::other)?;
    out.flush()
}

/// A dataset that is being written to.
struct Dataset<'a> {
    folder: Folder,
    path: &'a Path,
}

impl Dataset<'_> {
    /// Removes the run from the folders of other devices and days: a bundle and its export can have
    /// different facts about both. Returns whether the run was there.
    fn remove_elsewhere(&self, partition: &Partition) -> Result<bool> {
        let mut is_moved = false;
        if !folder::is_dataset(self.path) {
            return Ok(is_moved);
        }

        for run in folder::runs(self.path)? {
            if run.partition.run != partition.run || run.below == partition.below() {
                continue;
            }
            is_moved = true;
            // The table `runs` first, because it lists the run.
            for which in TABLES.iter().rev() {
                self.folder.remove(&run.file(which.name))?;
            }
        }
        Ok(is_moved)
    }

    /// Removes a run from `runs` if its rows will change. Returns whether the run was there.
    fn remove_changed(
        &self,
        partition: &Partition,
        drafts: &[(Draft<'_>, PathBuf)],
    ) -> Result<bool> {
        if !partition.file(self.path, RUNS).exists() {
            return Ok(false);
        }

        let are_same = drafts.iter().all(|(draft, file)| {
            let old = metalens_files::open_unlinked(file);
            old.and_then(|old| is_same(draft.file(), &old))
                .unwrap_or(false)
        });
        if !are_same {
            let listed = partition.folder(RUNS).join(FILE);
            self.folder.remove(&listed)?;
        }
        Ok(true)
    }
}

/// Returns whether two files have the same bytes.
fn is_same(mut draft: &File, old: &File) -> io::Result<bool> {
    if draft.metadata()?.len() != old.metadata()?.len() {
        return Ok(false);
    }

    draft.rewind()?;
    let (mut draft, mut old) = (BufReader::new(draft), BufReader::new(old));
    let (mut draft_bytes, mut old_bytes) = ([0; 8192], [0; 8192]);
    loop {
        let count = draft.read(&mut draft_bytes)?;
        old.read_exact(&mut old_bytes[..count])?;
        if draft_bytes[..count] != old_bytes[..count] {
            return Ok(false);
        }
        if count == 0 {
            return Ok(true);
        }
    }
}

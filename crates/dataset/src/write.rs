//! A run into the folder of a dataset: whole, or not at all.
//!
//! Its files are written beside their places and then renamed, `runs` last:
//! a run that `runs` lists is whole. One that is replaced by different rows leaves
//! `runs` first, so that nobody reads half of the old and half of the new. Several
//! may write into one folder at once; of the same run the last one stays.

use std::fs;
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};

use metalens_analyzer::Analysis;
use tempfile::NamedTempFile;

use crate::cells::Table;
use crate::error::{Error, Result};
use crate::hive::Partition;
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
    let mut drafts = Vec::new();
    for which in IN_ORDER {
        let table = table(analysis, which, choices)?;
        let file = partition.file(dataset, which.name());
        drafts.push((draft(&table, which, &file)?, file));
    }
    let moved = displace(&partition, dataset)?;
    let replaced = withdraw(&partition, dataset, &drafts)? || moved;
    let mut written = Written {
        run: partition.run,
        files: Vec::new(),
        bytes: 0,
        replaced,
    };
    for (draft, file) in drafts {
        let failed = |error: io::Error| Error::write(&file, error);
        written.bytes += draft.as_file().metadata().map_err(failed)?.len();
        draft.persist(&file).map_err(|error| failed(error.error))?;
        written.files.push(file);
    }
    Ok(written)
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

/// Under a name that no reader of datasets looks at, beside the file to be.
fn draft(table: &Table, which: Which, file: &Path) -> Result<NamedTempFile> {
    let folder = file.parent().unwrap_or(Path::new("."));
    fs::create_dir_all(folder).map_err(|error| Error::write(folder, error))?;
    let draft = draft_in(folder).map_err(|error| Error::write(file, error))?;
    let form = [(FORM_KEY, FORM), ("metalens.table", which.name())];
    let mut out = io::BufWriter::new(draft);
    parquet_write::write(&mut out, table, which.name(), &form)
        .map_err(|error| Error::write(file, error))?;
    out.flush().map_err(|error| Error::write(file, error))?;
    out.into_inner()
        .map_err(|error| Error::write(file, error.into_error()))
}

/// A nameless beginning, readable by whom the user's umask lets.
fn draft_in(folder: &Path) -> io::Result<NamedTempFile> {
    let mut builder = tempfile::Builder::new();
    builder.prefix(".metalens-");
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        builder.permissions(fs::Permissions::from_mode(0o666));
    }
    builder.tempfile_in(folder)
}

/// Takes the run away from where another device or day is told: of one recording the
/// bundle and the export do not know the same of both. Whether it was there.
fn displace(partition: &Partition, dataset: &Path) -> Result<bool> {
    let mut moved = false;
    if !folder::is_dataset(dataset) {
        return Ok(moved);
    }
    for run in folder::runs(dataset)? {
        if run.partition.run != partition.run || run.partition == *partition {
            continue;
        }
        moved = true;
        // First of all what lists it.
        for which in IN_ORDER.into_iter().rev() {
            remove(&run.file(which))?;
        }
    }
    Ok(moved)
}

/// Removes a file, unless somebody else was as quick.
fn remove(file: &Path) -> Result<()> {
    match fs::remove_file(file) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => Err(Error::write(file, error)),
        _ => Ok(()),
    }
}

/// Takes a run that will differ out of `runs`. Whether it was there.
fn withdraw(
    partition: &Partition,
    dataset: &Path,
    drafts: &[(NamedTempFile, PathBuf)],
) -> Result<bool> {
    let listed = partition.file(dataset, Which::Runs.name());
    if !listed.exists() {
        return Ok(false);
    }
    let same = |(draft, file): &(NamedTempFile, PathBuf)| {
        let (new, old) = (fs::read(draft.path()), fs::read(file));
        matches!((new, old), (Ok(new), Ok(old)) if new == old)
    };
    if !drafts.iter().all(same) {
        remove(&listed)?;
    }
    Ok(true)
}

//! Which runs lie in the folder of a dataset.

use std::collections::BTreeSet;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use crate::error::{Error, Result};
use crate::hive::{FILE, Partition};
use crate::tables::Which;

/// A run in a folder.
#[derive(Debug, Clone)]
pub(crate) struct StoredRun {
    pub(crate) partition: Partition,
    /// `device=…/date=…/run=…`, as the folders are called.
    below: PathBuf,
}

impl StoredRun {
    /// Returns the file of one of its tables, below the dataset's folder.
    pub(crate) fn file(&self, which: Which) -> PathBuf {
        Path::new(which.name()).join(&self.below).join(FILE)
    }
}

/// Whether a folder is a dataset's: there are runs in it.
#[must_use]
pub fn is_dataset(path: &Path) -> bool {
    let names = names(&path.join(Which::Runs.name()));
    names.is_ok_and(|names| names.iter().any(|name| name.starts_with("device=")))
}

/// The names of the runs that a dataset has; of no folder, none.
///
/// # Errors
///
/// If the folder cannot be read.
pub fn run_names(dataset: &Path) -> Result<BTreeSet<String>> {
    if !is_dataset(dataset) {
        return Ok(BTreeSet::new());
    }
    let runs = runs(dataset)?.into_iter();
    Ok(runs.map(|run| run.partition.run).collect())
}

/// Returns the whole runs of a dataset, by device, date and name: the name of each, and the path
/// of its file below the folder of any table.
///
/// # Errors
///
/// If the folder cannot be read.
pub fn whole_runs(dataset: &Path) -> Result<Vec<(String, String)>> {
    let runs = runs(dataset)?.into_iter().map(|run| {
        let file = run.below.join(FILE);
        (run.partition.run, file.to_string_lossy().into_owned())
    });
    Ok(runs.collect())
}

/// Returns the name of the run whose file has this path below the folder of a table; none if it
/// is no run's.
#[must_use]
pub fn run_name(file: &str) -> Option<String> {
    let mut parts = file.split('/');
    let mut next = || parts.next();
    let partition = Partition::of_folders(next()?, next()?, next()?)?;
    (next() == Some(FILE)).then_some(partition.run)
}

/// The runs that are whole, by device, date and name. What is called otherwise is
/// somebody else's, and left alone; so are runs without a row in `runs`, which are
/// just being written.
pub(crate) fn runs(dataset: &Path) -> Result<Vec<StoredRun>> {
    let top = dataset.join(Which::Runs.name());
    let mut runs = Vec::new();
    for device in folders(&top, "device=")? {
        let of_device = top.join(&device);
        for date in folders(&of_device, "date=")? {
            let of_date = of_device.join(&date);
            for run in folders(&of_date, "run=")? {
                let partition = Partition::of_folders(&device, &date, &run);
                let below: PathBuf = [&device, &date, &run].iter().collect();
                if let Some(partition) = partition
                    && top.join(&below).join(FILE).is_file()
                {
                    runs.push(StoredRun { partition, below });
                }
            }
        }
    }
    Ok(runs)
}

fn folders(path: &Path, prefix: &str) -> Result<Vec<String>> {
    let mut names = match names(path) {
        // A file that is called as a folder is.
        Err(error) if error.kind() == io::ErrorKind::NotADirectory => Vec::new(),
        names => names.map_err(|error| Error::read(path, error))?,
    };
    names.retain(|name| name.starts_with(prefix));
    names.sort();
    Ok(names)
}

fn names(path: &Path) -> io::Result<Vec<String>> {
    let mut names = Vec::new();
    for entry in fs::read_dir(path)? {
        names.extend(entry?.file_name().into_string());
    }
    Ok(names)
}

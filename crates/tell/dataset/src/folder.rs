//! Lists the runs in the folder of a dataset.

use std::collections::BTreeSet;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use crate::error::{Error, Result};
use crate::hive::{FILE, Partition};
use crate::tables::RUNS;

/// A run in a dataset's folder.
#[derive(Debug, Clone)]
pub(crate) struct StoredRun {
    pub(crate) partition: Partition,
    /// Path of its folder below a table's: `device=…/date=…/run=…`.
    pub(crate) below: PathBuf,
}

impl StoredRun {
    /// Returns the file of one of the run's tables, below the dataset's folder.
    pub(crate) fn file(&self, table: &str) -> PathBuf {
        Path::new(table).join(&self.below).join(FILE)
    }
}

/// Returns whether a folder is a dataset, which has runs.
pub fn is_dataset(path: &Path) -> bool {
    let names = names(&path.join(RUNS));
    names.is_ok_and(|names| names.iter().any(|name| name.starts_with("device=")))
}

/// Returns the names of a dataset's runs; none if the folder does not exist.
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

/// Returns the complete runs of a dataset, sorted by device, date and name: each with the path of
/// its file below the folder of any table.
///
/// # Errors
///
/// If the folder cannot be read.
pub fn complete_runs(dataset: &Path) -> Result<Vec<(Partition, String)>> {
    let runs = runs(dataset)?.into_iter().map(|run| {
        let file = run.below.join(FILE);
        (run.partition, file.to_string_lossy().into_owned())
    });
    Ok(runs.collect())
}

/// Returns the complete runs, sorted by device, date and name. Folders with other names are not part
/// of the dataset and are ignored. Runs without a file in `runs` are still being written, and are
/// ignored too.
pub(crate) fn runs(dataset: &Path) -> Result<Vec<StoredRun>> {
    let top = dataset.join(RUNS);

    let mut runs = Vec::new();
    for device in folders(&top, "device=")? {
        let device_folder = top.join(&device);
        for date in folders(&device_folder, "date=")? {
            let date_folder = device_folder.join(&date);
            for run in folders(&date_folder, "run=")? {
                let partition = Partition::from_folders(&device, &date, &run);
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
        // A file may have the name of a folder.
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

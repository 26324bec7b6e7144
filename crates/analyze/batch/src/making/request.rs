//! Defines the request to a batch.

use std::collections::BTreeSet;
use std::path::PathBuf;

/// The settings of a batch.
#[derive(Debug)]
pub struct BatchRequest {
    /// Folder in which each report has a folder.
    pub output: PathBuf,
    /// Text that identifies everything that determines a report, except for its input.
    pub fingerprint: String,
    /// True if files may be replaced that were changed, or that metalens did not write.
    pub force: bool,
    /// Runs that the dataset had before, or `None` if the recordings are not written to a dataset.
    pub runs_before: Option<BTreeSet<String>>,
    /// Number of recordings that are analyzed at once.
    pub jobs: usize,
}

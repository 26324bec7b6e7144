//! The request to a batch.

use std::collections::BTreeSet;
use std::path::PathBuf;

/// A request to a batch.
#[derive(Debug)]
pub struct Request {
    /// The folder of the reports' folders.
    pub output: PathBuf,
    /// A text that differs if reports would: of everything that makes one but its input.
    pub fingerprint: String,
    /// Whether files that are not ours, or were changed, may be replaced.
    pub force: bool,
    /// Whether what is done is done again.
    pub redo: bool,
    /// The runs that a dataset had before, if the traces are written to one, too.
    pub runs_before: Option<BTreeSet<String>>,
    /// The number of traces that are analyzed at once.
    pub jobs: usize,
    /// The bytes of memory that they may take together.
    pub memory: u64,
}

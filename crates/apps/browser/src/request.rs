//! Defines the request that the page sends.

use std::path::PathBuf;

use serde::Deserialize;

/// A request of the page.
#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub(crate) struct PageRequest {
    /// The folder for the answer.
    pub(crate) output: PathBuf,
    /// One input to analyze, or two to compare.
    pub(crate) inputs: Vec<PathBuf>,
    /// True to keep folders and names of other processes in pages, as `--show-names` does.
    pub(crate) show_names: bool,
    /// The process to report on, by name or id, as `--process`. Null for the recorded one.
    pub(crate) process: Option<String>,
    /// Start of the window, such as `1.5s`, as `--from`. Null for the start of the work.
    pub(crate) from: Option<String>,
    /// End of the window, as `--to`. Null for the end of the work.
    pub(crate) to: Option<String>,
    /// What a step is, as `--step`.
    pub(crate) step: Option<String>,
    /// Number of the run, as `--run`. Null for the last run.
    pub(crate) run: Option<u64>,
    /// True to read a truncated file up to its last complete row, as `--allow-truncated` does.
    pub(crate) allow_truncated: bool,
    /// True to compare sides that were recorded differently, as `--allow-different` does.
    pub(crate) allow_different: bool,
}

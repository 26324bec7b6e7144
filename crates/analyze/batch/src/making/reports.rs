//! Defines the maker of reports, which the caller of a batch provides.

use std::error::Error;
use std::path::{Path, PathBuf};

use metalens_analyzer::Analysis;
use metalens_comparison::many::IndexRow;
use metalens_failure::in_one_line;

/// Analyzes recordings, writes their reports, and recognizes its own reports. Several threads use it at
/// once.
pub trait Reports: Send + Sync {
    /// Returns the files outside an input that the report also depends on, if they exist.
    fn files_beside(&self, input: &Path) -> Vec<PathBuf>;

    /// Refuses a folder with a link, through which a report would be written elsewhere.
    fn refuse_links(&self, folder: &Path) -> Result<(), ReportProblem>;

    /// Refuses a folder with a report file that was changed since it was written.
    fn refuse_changed(&self, folder: &Path) -> Result<(), ReportProblem>;

    /// Refuses a folder that no batch made, if a file in it has the name of a report file.
    fn refuse_others(&self, folder: &Path) -> Result<(), ReportProblem>;

    /// Returns a text that identifies the report in a folder, if it is complete.
    fn identity(&self, folder: &Path) -> Option<String>;

    /// Reads and analyzes a recording.
    fn analyze(&self, input: &Path) -> Result<Analysis, ReportProblem>;

    /// Writes the report to a folder, replacing what is there.
    fn write(&self, analysis: Analysis, folder: &Path) -> Result<WrittenReport, ReportProblem>;
}

/// A report that was written.
#[derive(Debug)]
pub struct WrittenReport {
    /// Row of the index. The batch fills in its folder, name and input.
    pub row: IndexRow,
    /// True if every part of the report is in the folder.
    pub is_complete: bool,
    /// Name of the run in a dataset, if it was written to one.
    pub run: Option<String>,
}

/// Reason why a recording has no report, in words.
#[derive(Debug)]
pub struct ReportProblem {
    /// Reason why there is no report.
    pub why: String,
    /// Advice on how to solve the problem, or `None`.
    pub hint: Option<String>,
    /// Reason and advice without the names of other processes, for pages. `None` if neither names
    /// one.
    pub unnamed: Option<(String, Option<String>)>,
}

impl ReportProblem {
    /// Makes a problem from a reason alone.
    pub(crate) fn from_reason(why: &str) -> Self {
        Self {
            why: why.to_owned(),
            hint: None,
            unnamed: None,
        }
    }
}

impl<E: Error> From<E> for ReportProblem {
    fn from(error: E) -> Self {
        Self::from_reason(&in_one_line(&error))
    }
}

//! The maker of reports, as a batch sees it.

use std::error::Error;
use std::path::{Path, PathBuf};

use metalens_analyzer::Analysis;
use metalens_comparison::many::Row;
use metalens_failure::in_one_line;

/// Analyzes traces, writes their reports, and knows its own reports again. Several threads use
/// it at once.
pub trait Reports: Send + Sync {
    /// Returns the file outside an input that its report depends on, too, if there can be one.
    fn file_beside(&self, input: &Path) -> Option<PathBuf>;

    /// Refuses a folder if a link in it leads a report elsewhere.
    fn refuse_links(&self, folder: &Path) -> Result<(), Problem>;

    /// Refuses a folder with a file of a report that was changed since it was written.
    fn refuse_changed(&self, folder: &Path) -> Result<(), Problem>;

    /// Refuses a folder, not of a batch, with a file that has the name of one of a report.
    fn refuse_others(&self, folder: &Path) -> Result<(), Problem>;

    /// Returns what tells the report in a folder from all others, if it is whole.
    fn identity(&self, folder: &Path) -> Option<String>;

    /// Reads and analyzes a trace.
    fn analyze(&self, input: &Path) -> Result<Analysis, Problem>;

    /// Writes the report into a folder, replacing what is there.
    fn write(&self, analysis: Analysis, folder: &Path) -> Result<Written, Problem>;
}

/// A report that was written.
#[derive(Debug)]
pub struct Written {
    /// The report at a glance; its folder, name and input are the batch's to fill in.
    pub row: Row,
    /// Whether every part of the report is in the folder.
    pub is_whole: bool,
    /// The name of the run in a dataset, if it was written to one.
    pub run: Option<String>,
}

/// The reason why there is no report of a trace, in words.
#[derive(Debug)]
pub struct Problem {
    /// The reason.
    pub why: String,
    /// The advice that goes with it.
    pub hint: Option<String>,
    /// Texts in both that pages leave out, each with the text that stands there instead.
    pub hidden: Vec<(String, String)>,
}

impl Problem {
    /// Makes a problem of a reason alone.
    pub(crate) fn of(why: &str) -> Self {
        Self {
            why: why.to_owned(),
            hint: None,
            hidden: Vec::new(),
        }
    }
}

impl<E: Error> From<E> for Problem {
    fn from(error: E) -> Self {
        Self::of(&in_one_line(&error))
    }
}

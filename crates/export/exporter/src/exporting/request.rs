//! Defines the request and the result of an export.

use std::path::PathBuf;

use metalens_xctrace::command::TimeRange;
use serde::Serialize;

use crate::manifest::{ExportManifest, TableState};

/// A request to export a bundle into a folder.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ExportRequest {
    /// The `.trace` bundle to export.
    pub bundle: PathBuf,
    /// The folder to write.
    pub folder: PathBuf,
    /// Number of the run; `None` for the last run.
    pub run: Option<u64>,
    /// The tables that the export should have.
    pub wanted: TableSelection,
    /// Schemas of the tables that metalens reads, which are exported unless others are wanted.
    pub default_tables: Vec<String>,
    /// Range of time to export. Needs Xcode 27.
    pub range: TimeRange,
    /// True to write into a folder with other files.
    pub force: bool,
}

/// A selection of tables to export.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum TableSelection {
    /// The tables that metalens reads; absent ones are not an error.
    Known,
    /// The tables with these names; the result lists absent ones.
    These(Vec<String>),
    /// All tables that the contents list.
    All,
}

/// The result of an export.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Exported {
    /// Path of the export folder.
    pub folder: String,
    /// Contents of the export folder.
    pub holds: ExportManifest,
    /// Tables that were requested by name and are not in the bundle.
    pub absent: Vec<String>,
    /// Tables that could not be exported.
    pub failed: Vec<TableFailure>,
}

/// A table that could not be exported.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct TableFailure {
    /// Schema of the table.
    pub schema: String,
    /// Reason why it could not be exported.
    pub why: String,
}

impl Exported {
    /// Returns true if all requested tables are complete.
    pub fn is_complete(&self) -> bool {
        let cut_off = self.holds.in_state(TableState::CutOff).count();
        self.failed.is_empty() && self.absent.is_empty() && cut_off == 0
    }
}

//! Reads and writes `batch.json`, which has the input of the report in a folder, and the settings of
//! its analysis. The file is written before the first and after the last file of a report, so that an
//! interrupted report is recognized as unfinished and as one of metalens.

use std::path::Path;

use metalens_comparison::many::IndexRow;
use serde::{Deserialize, Serialize};

use super::reports::ReportProblem;
use super::stamp::InputStamp;

/// Name of the file in the folder of a report.
const STATE: &str = "batch.json";
pub(crate) const SCHEMA: &str = "metalens.batch/1";
/// Largest size of the file, in bytes: it has one row and some names.
const MAX_BYTES: u64 = 16 << 20;

/// Contents of `batch.json`.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct EntryState {
    pub(crate) schema: String,
    /// Path of the input.
    pub(crate) input: String,
    /// Size and time of the input's files.
    pub(crate) stamp: InputStamp,
    /// Fingerprint of the settings and the version of metalens.
    pub(crate) settings: String,
    /// The finished report. Null while it is made.
    pub(crate) done: Option<FinishedReport>,
}

#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct FinishedReport {
    /// SHA-256 of the report's manifest.
    pub(crate) manifest: String,
    pub(crate) row: IndexRow,
    /// Name of the run in a dataset, if it was written to one.
    #[serde(default)]
    pub(crate) run: Option<String>,
}

/// Returns the path of the input whose report is in a folder.
pub(crate) fn owner(folder: &Path) -> Option<String> {
    EntryState::load(folder).map(|state| state.input)
}

/// Returns whether a folder has, or had, a report of a batch.
pub(crate) fn is_entry(folder: &Path) -> bool {
    EntryState::load(folder).is_some()
}

impl EntryState {
    pub(crate) fn load(folder: &Path) -> Option<Self> {
        let text = metalens_files::read_text(&folder.join(STATE), MAX_BYTES).ok()?;
        let state: Self = serde_json::from_str(&text).ok()?;
        (state.schema == SCHEMA).then_some(state)
    }

    pub(crate) fn save(&self, folder: &Path) -> Result<(), ReportProblem> {
        let mut text = serde_json::to_vec(self).map_err(|error| {
            ReportProblem::from_reason(&format!("cannot write {STATE}: {error}"))
        })?;
        text.push(b'\n');
        Ok(metalens_files::write_bytes(
            &folder.join(STATE),
            true,
            &text,
        )?)
    }
}

//! `batch.json`: of which input, analyzed how, the report in a folder is. It is written before
//! the first file and after the last, so that whatever was interrupted is known to be ours and
//! not done.

use std::path::Path;

use metalens_comparison::many::Row;
use serde::{Deserialize, Serialize};

use crate::reports::Problem;

/// What says whose report a folder has.
const STATE: &str = "batch.json";
pub(crate) const SCHEMA: &str = "metalens.batch/1";
/// It has one row, and some names.
const LONGEST_STATE: u64 = 16 << 20;

/// What `batch.json` holds.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct State {
    pub(crate) schema: String,
    /// The input's path.
    pub(crate) input: String,
    /// What the system says of its files.
    pub(crate) stamp: String,
    /// Their bytes.
    pub(crate) content: String,
    /// How it was analyzed, and by which metalens.
    pub(crate) settings: String,
    /// Null while it is made.
    pub(crate) done: Option<Done>,
}

#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct Done {
    /// The SHA-256 of the report's manifest.
    pub(crate) manifest: String,
    pub(crate) row: Row,
    /// What it is called in a dataset, if it was written to one.
    #[serde(default)]
    pub(crate) run: Option<String>,
}

/// Whose report is in a folder: the path of its input.
pub(crate) fn owner(folder: &Path) -> Option<String> {
    State::load(folder).map(|state| state.input)
}

/// Whether a folder has, or had, a report of a batch.
pub(crate) fn is_entry(folder: &Path) -> bool {
    State::load(folder).is_some()
}

impl State {
    pub(crate) fn load(folder: &Path) -> Option<Self> {
        let text = metalens_files::read(&folder.join(STATE), LONGEST_STATE).ok()?;
        let state: Self = serde_json::from_slice(&text).ok()?;
        (state.schema == SCHEMA).then_some(state)
    }

    pub(crate) fn save(&self, folder: &Path) -> Result<(), Problem> {
        let text = serde_json::to_vec(self);
        let mut text =
            text.map_err(|error| Problem::of(&format!("cannot write what was done: {error}")))?;
        text.push(b'\n');
        Ok(metalens_files::write_bytes(
            &folder.join(STATE),
            true,
            &text,
        )?)
    }
}

//! What can be asked of an export, and what comes of it.

use std::path::PathBuf;

use metalens_xctrace::command::Part;
use serde::Serialize;

use crate::manifest::{Manifest, State};

/// What is to be exported, and where to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Request {
    /// The `.trace`.
    pub bundle: PathBuf,
    /// The folder to write, or to complete.
    pub folder: PathBuf,
    /// The number of the run; the last one if none.
    pub run: Option<u64>,
    /// Which tables.
    pub wanted: Wanted,
    /// What to ask for by name if there is no table of contents.
    pub known: Vec<String>,
    /// Only rows of a part of the recording. Needs Xcode 27.
    pub part: Part,
    /// Compress the tables.
    pub gzip: bool,
    /// Export again what is there, and write into a folder that is in use.
    pub force: bool,
}

/// Which tables.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Wanted {
    /// Those that metalens knows; what is not there is not missed.
    Known,
    /// Those of these names; what is not there is told.
    These(Vec<String>),
    /// All that the contents list.
    All,
}

/// What came of it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Exported {
    /// The folder.
    pub folder: String,
    /// What it holds.
    pub holds: Manifest,
    /// How many tables were written now; the others were there.
    pub written: usize,
    /// Tables that were asked for by name and are not in the bundle.
    pub absent: Vec<String>,
    /// Tables that could not be exported.
    pub failed: Vec<Failure>,
}

/// A table that could not be exported.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Failure {
    /// Its schema.
    pub schema: String,
    /// Why.
    pub why: String,
}

impl Exported {
    /// Whether all that was asked for is there, and whole.
    #[must_use]
    pub fn is_whole(&self) -> bool {
        let cut_off = self.holds.in_state(State::CutOff).count();
        self.failed.is_empty() && self.absent.is_empty() && cut_off == 0
    }
}

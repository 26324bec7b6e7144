//! Defines the `xctrace` executable to run.

use std::ffi::OsString;
use std::path::PathBuf;

/// The `xctrace` executable to run, or a fake one.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Tool {
    /// Path of the executable.
    pub program: PathBuf,
    /// Arguments before all others: none for the real `xctrace`.
    pub before: Vec<OsString>,
    /// Environment variables to set in addition to those of this process.
    pub environment: Vec<(OsString, OsString)>,
}

impl Tool {
    /// Returns the tool with this executable.
    #[must_use]
    pub fn at(program: PathBuf) -> Self {
        Self {
            program,
            before: Vec::new(),
            environment: Vec::new(),
        }
    }
}

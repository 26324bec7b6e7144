//! Defines the `xctrace` executable to run.

use std::ffi::OsString;
use std::path::PathBuf;
use std::time::Duration;

/// The `xctrace` executable to run, or a fake one.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Tool {
    /// Path of the executable.
    pub program: PathBuf,
    /// Arguments before all others: none for the real `xctrace`.
    pub before: Vec<OsString>,
    /// Environment variables to set in addition to those of this process.
    pub environment: Vec<(OsString, OsString)>,
    /// Time after which a short command, such as `version`, is stopped.
    pub time_limit: Duration,
}

/// Usual time limit of short commands. The first answer after an update of Xcode is slow.
const TIME_LIMIT: Duration = Duration::from_secs(60);

impl Tool {
    /// Returns the tool with this executable.
    #[must_use]
    pub fn at(program: PathBuf) -> Self {
        Self {
            program,
            before: Vec::new(),
            environment: Vec::new(),
            time_limit: TIME_LIMIT,
        }
    }
}

//! Apple's tool, or what takes its place.

use std::ffi::OsString;
use std::path::PathBuf;

/// An `xctrace` that can be run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Tool {
    /// The program.
    pub program: PathBuf,
    /// What comes before every other argument: nothing for the real one.
    pub before: Vec<OsString>,
    /// What is set in its environment beside ours.
    pub environment: Vec<(OsString, OsString)>,
}

impl Tool {
    /// A program that is, or takes the place of, `xctrace`.
    #[must_use]
    pub fn at(program: PathBuf) -> Self {
        Self {
            program,
            before: Vec::new(),
            environment: Vec::new(),
        }
    }
}

//! Defines the kind and the hint that an error carries beside its message, and the same error without
//! the names of other processes. Libraries set them; the command line turns them into an exit code
//! and a line of advice.
//!
//! Depends on no other crate of metalens.

pub mod shell;
mod similar;
mod system;

use std::error::Error;

pub use similar::{did_you_mean, similar};
pub use system::{in_plain_words, what_to_do};

/// The kind of a failure.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FailureKind {
    /// Any failure that no other kind describes.
    Failed,
    /// The request itself is invalid.
    Misuse,
    /// This machine cannot do what was requested.
    Unavailable,
    /// The recording is unusable, or has no rows for the process.
    Unusable,
    /// The two sides cannot be compared.
    NotComparable,
    /// The user stopped the command.
    Interrupted,
}

/// Choice whether texts show the names of other processes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum OtherNames {
    /// Texts show them.
    Shown,
    /// Texts show a number in the place of each.
    Hidden,
}

impl OtherNames {
    /// Variable of the environment, not empty if messages shall hide names.
    pub const VARIABLE: &str = "METALENS_HIDE_NAMES";
}

/// Returns what stands in the place of the name of another process, by its number from 1.
pub fn other_process(number: usize) -> String {
    format!("other process {number}")
}

/// An error that says what kind of failure it is, and what to do about it.
pub trait Failure: Error {
    /// Returns the kind of the failure.
    fn kind(&self) -> FailureKind {
        FailureKind::Failed
    }

    /// Returns advice on what to do about it, if there is any.
    fn hint(&self) -> Option<String> {
        None
    }

    /// Returns the same failure without the names of other processes. None if it names none.
    fn without_names(&self) -> Option<Box<dyn Failure>> {
        None
    }
}

/// Returns an error and its causes in one line, and in plain words.
pub fn in_one_line(error: &dyn Error) -> String {
    let mut line = error.to_string();
    let mut cause = error.source();
    while let Some(inner) = cause {
        line.push_str(&format!(": {inner}"));
        cause = inner.source();
    }
    in_plain_words(&line)
}

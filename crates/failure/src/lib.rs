//! Defines the kind and the hint that an error carries beside its message. Libraries set them;
//! the command line turns them into an exit code and a line of advice.
//!
//! Depends on no other crate of metalens.

mod similar;

use std::error::Error;

pub use similar::{did_you_mean, similar};

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
}

/// Returns an error and its causes in one line.
#[must_use]
pub fn in_one_line(error: &dyn Error) -> String {
    let mut line = error.to_string();
    let mut cause = error.source();
    while let Some(inner) = cause {
        line.push_str(&format!(": {inner}"));
        cause = inner.source();
    }
    line
}

//! An error's kind and hint, beside its message: a library says them, and a command line makes
//! an exit code and a line of advice of them.
//!
//! Depends on no other crate.

use std::error::Error;

/// The kind of a failure.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FailureKind {
    /// Something failed.
    Failed,
    /// Something was asked for that cannot be asked for.
    Misuse,
    /// This machine cannot do it.
    Unavailable,
    /// The trace is unusable, or has no rows for the target.
    Unusable,
    /// Two sides cannot be compared.
    NotComparable,
    /// The user stopped it.
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

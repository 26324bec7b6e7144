//! Defines the reasons why a batch cannot begin.

use std::io;
use std::path::PathBuf;

use metalens_failure::{Failure, FailureKind};

/// Result of preparing a batch.
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// Reason why a batch cannot begin.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The user named standard input, which a batch cannot read.
    #[error("batch cannot read standard input: use `metalens analyze -`")]
    StandardInput,
    /// The syntax of a pattern is invalid.
    #[error("invalid pattern `{pattern}`: {} at character {}", cause.msg, cause.pos + 1)]
    Pattern {
        /// The pattern, as it was given.
        pattern: String,
        /// Reason why it is invalid.
        cause: glob::PatternError,
    },
    /// Another process of metalens writes to the folder.
    #[error(
        "another metalens process is writing to {}: wait for it, or choose another folder with -o",
        .0.display()
    )]
    Locked(PathBuf),
    /// The folder cannot be locked.
    #[error("cannot lock {}: {cause}", folder.display())]
    CannotLock {
        /// Path of the folder.
        folder: PathBuf,
        /// Error of the operating system.
        cause: io::Error,
    },
}

impl Failure for Error {
    fn kind(&self) -> FailureKind {
        match self {
            Self::StandardInput | Self::Pattern { .. } => FailureKind::Misuse,
            _ => FailureKind::Failed,
        }
    }
}

//! The reasons why a batch cannot begin.

use std::io;
use std::path::PathBuf;

use metalens_failure::{Failure, FailureKind};

/// The result of preparing a batch.
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// The reason why a batch cannot begin.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// Standard input was named.
    #[error("batch reads no standard input: `metalens analyze -` does")]
    StandardInput,
    /// A pattern that is none.
    #[error("`{pattern}` is no pattern: {cause}")]
    Pattern {
        /// The pattern.
        pattern: String,
        /// The reason.
        cause: glob::PatternError,
    },
    /// A file that is not ours has the name of the lock.
    #[error(
        "{} is no lock of metalens: move it away, or name another folder with -o", .0.display()
    )]
    NotALock(PathBuf),
    /// Another batch writes into the folder.
    #[error(
        "another metalens batch{holder} is writing into {}: wait for it, or name another folder \
         with -o",
        folder.display()
    )]
    Locked {
        /// The process that does, in words.
        holder: String,
        /// The folder.
        folder: PathBuf,
    },
    /// The folder cannot be locked.
    #[error("cannot write into {}: {cause}", folder.display())]
    CannotLock {
        /// The folder.
        folder: PathBuf,
        /// The reason.
        cause: io::Error,
    },
    /// A file could not be opened or made.
    #[error(transparent)]
    Files(#[from] metalens_files::Error),
}

impl Failure for Error {
    fn kind(&self) -> FailureKind {
        match self {
            Self::StandardInput | Self::Pattern { .. } => FailureKind::Misuse,
            _ => FailureKind::Failed,
        }
    }
}

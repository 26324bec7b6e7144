//! What can go wrong with datasets and queries: cause, where, what to do.

use std::path::{Path, PathBuf};

use metalens_failure::Failure;

/// What went wrong.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// A file or a folder cannot be written.
    #[error("cannot write {}: {why}", path.display())]
    Write {
        /// Which.
        path: PathBuf,
        /// Why.
        why: String,
    },
    /// A folder or a file in it is a link, or the system refuses to write it.
    #[error(transparent)]
    Files(#[from] metalens_files::Error),
    /// A file or a folder cannot be read.
    #[error("cannot read {}: {why}", path.display())]
    Read {
        /// Which.
        path: PathBuf,
        /// Why.
        why: String,
    },
    /// A count or a time that does not fit into 63 bits.
    #[error("{number} is too large for the column `{column}`: the recording is broken there")]
    TooLarge {
        /// Where it was to be.
        column: &'static str,
        /// The number.
        number: u64,
    },
    /// The analysis was made without everyone's intervals.
    #[error("the analysis has only the target's intervals (Request::keep_everyone was not set)")]
    OnlyTarget,
}

/// A result of this crate.
pub type Result<T, E = Error> = std::result::Result<T, E>;

impl Error {
    pub(crate) fn write(path: &Path, why: impl std::fmt::Display) -> Self {
        let (path, why) = (path.to_owned(), why.to_string());
        Self::Write { path, why }
    }

    pub(crate) fn read(path: &Path, why: impl std::fmt::Display) -> Self {
        let (path, why) = (path.to_owned(), why.to_string());
        Self::Read { path, why }
    }
}

impl Failure for Error {
    fn hint(&self) -> Option<String> {
        match self {
            Self::Write { .. } | Self::Files(metalens_files::Error::Io { .. }) => {
                Some("name another folder with --parquet, or make room there".to_owned())
            }
            _ => None,
        }
    }
}

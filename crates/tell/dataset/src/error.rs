//! Defines the errors of datasets.

use std::path::{Path, PathBuf};

use metalens_failure::Failure;

/// Error of writing or listing a dataset.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// A folder or a file in it is a link, or cannot be written.
    #[error(transparent)]
    Files(#[from] metalens_files::Error),
    /// A file or a folder cannot be read.
    #[error("cannot read {}: {why}", path.display())]
    Read {
        /// Path of the file or folder.
        path: PathBuf,
        /// Reason why it cannot be read.
        why: String,
    },
    /// A count or a time does not fit into 63 bits.
    #[error("{number} is too large for the column `{column}`: the recording is damaged")]
    TooLarge {
        /// Column that the number belongs to.
        column: String,
        /// The number that is too large.
        number: u64,
    },
    /// The analysis was made without the intervals of other processes.
    #[error("the analysis lacks the intervals of other processes (set Request::keep_everyone)")]
    OnlyTarget,
}

/// Result of this crate's functions.
pub type Result<T, E = Error> = std::result::Result<T, E>;

impl Error {
    pub(crate) fn read(path: &Path, why: impl std::fmt::Display) -> Self {
        let (path, why) = (path.to_owned(), why.to_string());
        Self::Read { path, why }
    }
}

impl Failure for Error {
    fn hint(&self) -> Option<String> {
        match self {
            Self::Files(metalens_files::Error::Io { .. }) => {
                Some("choose another folder with --parquet, or free disk space".to_owned())
            }
            _ => None,
        }
    }
}

//! Defines the reasons why a page or a folder could not be made.

use std::path::PathBuf;

/// The result of rendering.
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// The reason why a page or a folder could not be made.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The picture of a page could not be drawn.
    #[error("cannot draw a picture of the page")]
    Timeline(#[source] metalens_charts::ChartError),
    /// A frame has a placeholder without a text, or a text has no placeholder.
    #[error("the frame of the page and its texts differ: {0}")]
    Frame(String),
    /// A comment has no room for its mandatory parts.
    #[error("even the shortest comment has {bytes} bytes; the limit is {limit}")]
    TooLong {
        /// Length of the shortest possible comment, in bytes.
        bytes: usize,
        /// The limit, in bytes.
        limit: usize,
    },
    /// A value could not be written as JSON.
    #[error("cannot write {what}")]
    Json {
        /// The file that the value was for.
        what: String,
        /// The reason of the failure.
        #[source]
        cause: serde_json::Error,
    },
    /// Something else is in the place of a folder.
    #[error("cannot write into {}: {} is not a folder", folder.display(), at.display())]
    NotAFolder {
        /// The folder that was requested.
        folder: PathBuf,
        /// The path that is not a folder.
        at: PathBuf,
    },
    /// The folder cannot hold new files.
    #[error("cannot write into {}: cannot create a file in {}", folder.display(), at.display())]
    CannotWrite {
        /// The folder that was requested.
        folder: PathBuf,
        /// The folder in which no file can be written.
        at: PathBuf,
        /// The reason of the failure.
        #[source]
        cause: std::io::Error,
    },
    /// A folder for an index has a report.
    #[error(
        "{} has the report of one recording: choose another folder, or --force writes beside it",
        folder.display()
    )]
    HasReport {
        /// The folder that was requested.
        folder: PathBuf,
    },
    /// Writing stopped after older files were replaced.
    #[error("the report in {} is incomplete, and has no manifest", folder.display())]
    NotWhole {
        /// The folder that is incomplete.
        folder: PathBuf,
        /// The reason of the failure.
        #[source]
        cause: Box<Error>,
    },
    /// A file or folder could not be opened or made.
    #[cfg(unix)]
    #[error(transparent)]
    Files(#[from] metalens_files::Error),
}

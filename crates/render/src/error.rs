//! The reasons why a page or a folder could not be made.

use std::path::PathBuf;

/// The result of rendering.
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// The reason why a page or a folder could not be made.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The picture of a page could not be drawn.
    #[error("cannot draw the timeline of the page")]
    Timeline(#[source] metalens_charts::ChartError),
    /// The frame of a page has a place for which there is no text, or none for a text.
    #[error("the frame of the page and its texts differ: {0}")]
    Frame(String),
    /// A comment has no room for the parts that must be in it.
    #[error("even the shortest comment has {bytes} bytes; the limit is {limit}")]
    TooLong {
        /// The bytes of the shortest comment.
        bytes: usize,
        /// The limit.
        limit: usize,
    },
    /// A value could not be written as JSON.
    #[error("cannot write {what}")]
    Json {
        /// The file.
        what: String,
        /// The reason.
        #[source]
        cause: serde_json::Error,
    },
    /// The place of a folder is taken by something else.
    #[error("cannot write into {}: {} is not a folder", folder.display(), at.display())]
    NotAFolder {
        /// The folder that was asked for.
        folder: PathBuf,
        /// The place that is none.
        at: PathBuf,
    },
    /// The folder cannot hold new files.
    #[error("cannot write into {}: cannot create a file in {}", folder.display(), at.display())]
    CannotWrite {
        /// The folder that was asked for.
        folder: PathBuf,
        /// The folder that takes no file.
        at: PathBuf,
        /// The reason.
        #[source]
        cause: std::io::Error,
    },
    /// Writing broke off where older files were replaced.
    #[error("the report in {} is incomplete, and has no manifest", folder.display())]
    NotWhole {
        /// The folder.
        folder: PathBuf,
        /// The reason.
        #[source]
        cause: Box<Error>,
    },
    /// A file or folder could not be opened or made.
    #[error(transparent)]
    Files(#[from] metalens_files::Error),
}

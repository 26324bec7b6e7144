//! Defines the errors of writing files and changing their owner.

use std::io;
use std::path::PathBuf;

/// The result of writing a file or changing its owner.
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// The reason why a file could not be written or its owner not changed.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// A file or folder with that name exists.
    #[error("{} exists; --force replaces it", .0.display())]
    Exists(PathBuf),
    /// A folder around the path is a bundle.
    #[error(
        "{} is inside the recording {}: choose another place for the output",
        path.display(),
        bundle.display()
    )]
    InsideBundle {
        /// Path to write.
        path: PathBuf,
        /// The bundle around it.
        bundle: PathBuf,
    },
    /// A device, a pipe or a socket has that name, or a link leads to one.
    #[error("{} is not a regular file and is not replaced", .0.display())]
    NotReplaced(PathBuf),
    /// A link stands in the place of a folder that metalens makes.
    #[error(
       "{} is a link, and metalens does not write through links: remove it, or name the folder \
        that it leads to",
        .0.display()
    )]
    Link(PathBuf),
    /// A folder was replaced while it was being read.
    #[error("{} was replaced by another one meanwhile; stopped", .0.display())]
    Tampered(PathBuf),
    /// The system refused an operation.
    #[error("cannot {what} {}: {cause}", path.display())]
    Io {
        /// The operation that failed, as a verb.
        what: &'static str,
        /// The file or folder of the operation.
        path: PathBuf,
        /// The system's reason.
        cause: io::Error,
    },
}

/// Returns a function that turns the system's refusal into an error with the operation and
/// the path.
pub fn io<C: Into<io::Error>>(
    what: &'static str,
    path: impl Into<PathBuf>,
) -> impl FnOnce(C) -> Error {
    let path = path.into();
    move |cause| Error::Io {
        what,
        path,
        cause: cause.into(),
    }
}

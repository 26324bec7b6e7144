//! Why a file could not be written or given away.

use std::io;
use std::path::PathBuf;

/// The result of writing or giving away.
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// The reason why a file could not be written or given away.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// Something has that name.
    #[error("{} exists; --force replaces it", .0.display())]
    Exists(PathBuf),
    /// A device, a pipe or a socket has that name, or a link leads to one.
    #[error("{} is neither a file nor a link to one, and is not replaced", .0.display())]
    NotReplaced(PathBuf),
    /// A link in the place of a folder of ours.
    #[error(
        "{} is a link, and nothing is written through it: remove it, or name the folder that it \
         leads to",
        .0.display()
    )]
    Link(PathBuf),
    /// Somebody changed a folder while it was given away.
    #[error(
        "{} was replaced while its owner was changed: stopped, since somebody tampers with it",
        .0.display()
    )]
    Tampered(PathBuf),
    /// The system refused.
    #[error("cannot {what} {}: {cause}", path.display())]
    Io {
        /// What could not be done.
        what: &'static str,
        /// To what.
        path: PathBuf,
        /// Why not.
        cause: io::Error,
    },
}

/// Turns the system's refusal into an error that says what was refused, and where.
pub(crate) fn io<C: Into<io::Error>>(
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

//! Defines the errors of exporting a bundle.

use std::io;
use std::path::Path;

use metalens_failure::{Failure, FailureKind};

/// The result of exporting something.
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// The reason why a bundle could not be exported.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The tool `xctrace` cannot be used.
    #[error(transparent)]
    Xctrace(#[from] metalens_xctrace::Error),
    /// The path is not a bundle that `xctrace` can open.
    #[error("{path} is not a .trace bundle: {why}")]
    NoBundle {
        /// Path of the supposed bundle.
        path: String,
        /// Reason why it is not a bundle.
        why: &'static str,
    },
    /// The folder contains something that must not be mixed with an export.
    #[error("{folder} {holds}")]
    Occupied {
        /// Path of the folder.
        folder: String,
        /// Description of the contents, beginning with a verb.
        holds: String,
    },
    /// The export folder has the name of a bundle, or is inside the bundle.
    #[error("cannot export to {folder}: its name ends with .trace, or it is inside the bundle")]
    BadFolder {
        /// Path of the folder.
        folder: String,
    },
    /// The bundle has no run with the requested number.
    #[error("the bundle has no run {number}; its runs: {present}")]
    NoSuchRun {
        /// Number of the requested run.
        number: u64,
        /// Numbers of the runs in the bundle.
        present: String,
    },
    /// Neither the table of contents nor any table could be exported.
    #[error("xctrace cannot export {bundle}: {why}")]
    NotExportable {
        /// Path of the bundle.
        bundle: String,
        /// Description of how xctrace ended.
        why: String,
    },
    /// The disk has no room for the next table.
    #[error(
        "the disk became full during the export of {schema}; {folder} keeps the tables before it"
    )]
    DiskFull {
        /// Schema of the table.
        schema: String,
        /// Path of the export folder.
        folder: String,
    },
    /// The user stopped the export.
    #[error("interrupted; {}", match complete {
        0 => "nothing was exported".to_owned(),
        1 => format!("1 table is complete in {folder}"),
        complete => format!("{complete} tables are complete in {folder}"),
    })]
    Interrupted {
        /// Number of complete tables.
        complete: usize,
        /// Path of the export folder.
        folder: String,
    },
    /// A file cannot be read or written, or is a link or a special file.
    #[error(transparent)]
    Files(#[from] metalens_files::Error),
    /// A file cannot be read or written.
    #[error("{path}: {cause}")]
    File {
        /// Path of the file.
        path: String,
        /// Reason that the system gives.
        cause: io::Error,
    },
}

impl Error {
    /// Returns a function that turns an error of the system into the error of a path.
    pub(crate) fn at(path: &Path) -> impl FnOnce(io::Error) -> Self + use<'_> {
        move |cause| Self::File {
            path: path.display().to_string(),
            cause,
        }
    }
}

impl Failure for Error {
    fn kind(&self) -> FailureKind {
        match self {
            Self::Xctrace(error) => error.kind(),
            Self::Interrupted { .. } => FailureKind::Interrupted,
            Self::NotExportable { .. } => FailureKind::Unusable,
            _ => FailureKind::Failed,
        }
    }

    fn hint(&self) -> Option<String> {
        let hint = match self {
            Self::Xctrace(error) => return error.hint(),
            Self::Occupied { .. } => {
                "choose another folder with -o, or use --force to write into it"
            }
            Self::BadFolder { .. } => "choose another folder with -o, such as X.export",
            Self::NotExportable { .. } => {
                "xctrace cannot export a recording that was cut off or is still being saved, and crashes on \
                some; try `metalens analyze`, which reads the bundle without xctrace"
            }
            Self::DiskFull { .. } => {
                "free disk space and run the same command again, or read the bundle without an export: \
                `metalens analyze X.trace`"
            }
            Self::NoBundle { .. } => "unpack it first: xctrace opens folders named X.trace",
            _ => return None,
        };
        Some(hint.to_owned())
    }
}

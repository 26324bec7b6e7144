//! Why a bundle could not be exported.

use std::io;
use std::path::Path;

use metalens_failure::{Failure, FailureKind};

/// The result of exporting something.
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// Why not.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// Apple's tool cannot be used.
    #[error(transparent)]
    Xctrace(#[from] metalens_xctrace::Error),
    /// Not something that `xctrace` opens.
    #[error("{path} is no .trace bundle: {why}")]
    NoBundle {
        /// The path.
        path: String,
        /// What it is instead.
        why: &'static str,
    },
    /// The folder has something in it that must not be mixed with an export.
    #[error("{folder} {holds}")]
    Occupied {
        /// The folder.
        folder: String,
        /// What it holds.
        holds: String,
    },
    /// A folder that would be taken for a bundle, or would change one.
    #[error("{folder} cannot hold an export: it is, or lies in, what is called a bundle")]
    BadFolder {
        /// The folder.
        folder: String,
    },
    /// There is no such run.
    #[error("there is no run {asked} in it, only {present}")]
    NoSuchRun {
        /// The number that was asked for.
        asked: u64,
        /// Those that are there.
        present: String,
    },
    /// Neither the contents nor a table could be exported.
    #[error("xctrace cannot export {bundle}: {why}")]
    NotExportable {
        /// The bundle.
        bundle: String,
        /// What it said.
        why: String,
    },
    /// There is no room left for the next table.
    #[error(
        "the disk is full while {schema} is exported; the tables before it are kept in {folder}"
    )]
    DiskFull {
        /// The table.
        schema: String,
        /// The folder.
        folder: String,
    },
    /// It was asked to stop.
    #[error("interrupted; {}", match whole {
        0 => "nothing was exported".to_owned(),
        1 => format!("1 table is whole in {folder}, and the same command goes on from there"),
        whole => format!("{whole} tables are whole in {folder}, and the same command goes on from there"),
    })]
    Interrupted {
        /// How many tables are whole.
        whole: usize,
        /// Where.
        folder: String,
    },
    /// A file cannot be read or written where links and odd files are refused.
    #[error(transparent)]
    Files(#[from] metalens_files::Error),
    /// A file cannot be read or written.
    #[error("{path}: {cause}")]
    File {
        /// The file.
        path: String,
        /// Why not.
        cause: io::Error,
    },
}

impl Error {
    /// A failure at a file.
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
            Self::Occupied { .. } => "name another folder with -o, or write into it with --force",
            Self::BadFolder { .. } => "name another folder with -o; X.export is usual",
            Self::NotExportable { .. } => {
                "a recording that was cut off or is still being saved cannot be exported; \
                 `metalens analyze` may read the bundle all the same, without xctrace"
            }
            Self::DiskFull { .. } => {
                "make room and give the same command again, or read the bundle without an export: \
                 `metalens analyze X.trace`"
            }
            Self::NoBundle { .. } => "unzip it first: xctrace opens folders called X.trace",
            _ => return None,
        };
        Some(hint.to_owned())
    }
}

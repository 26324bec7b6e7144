//! Why there is no recording, and what there is instead.

use std::io;
use std::path::{Path, PathBuf};

use metalens_failure::{Failure, FailureKind};

/// The result of recording.
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// Why there is no recording.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// Apple's tool could not be used.
    #[error(transparent)]
    Xctrace(#[from] metalens_xctrace::Error),
    /// Something of that name exists.
    #[error("{} exists; --force replaces it, --append-run adds a run to it", .0.display())]
    Exists(PathBuf),
    /// There is nothing to append to.
    #[error("{} is no .trace bundle: there is nothing to append a run to", .0.display())]
    NothingToAppendTo(PathBuf),
    /// The target cannot be started.
    #[error("{0}")]
    Target(String),
    /// A length of time that is nothing.
    #[error("{0} must be longer than nothing")]
    NoLength(&'static str),
    /// A changed template for a bundle that has one.
    #[error("{0} does not go with --append-run: a bundle keeps its first template")]
    TemplateIsKept(&'static str),
    /// A changed template cannot be made.
    #[error("{wanted} needs a changed copy of Apple's template: {why}")]
    Template {
        /// The options that need it.
        wanted: String,
        /// Why not.
        why: String,
    },
    /// It did not begin to record.
    #[error("xctrace did not record: {said}")]
    NotStarted {
        /// What it said, and what that means.
        said: String,
    },
    /// It did not even say that it begins.
    #[error(
        "xctrace did not begin to record within {seconds} s, and was stopped; nothing was recorded. \
         Try again; if it hangs again, restart the Mac (a simulator as the target is known to hang)"
    )]
    NeverBegan {
        /// How long was waited.
        seconds: u64,
    },
    /// It ended, and there is no bundle.
    #[error("xctrace left no bundle: {said}")]
    NoBundle {
        /// What it said, and what that means.
        said: String,
    },
    /// There is a bundle that is not whole.
    #[error("the recording is not whole: {why}. What there is of it is kept as {}", kept.display())]
    NotWhole {
        /// Why.
        why: String,
        /// Where it is.
        kept: PathBuf,
    },
    /// There is a recording, and it cannot have the name that was asked for.
    #[error("the recording was made, but {why}. It is kept as {}", kept.display())]
    Elsewhere {
        /// Why not.
        why: String,
        /// Where it is.
        kept: PathBuf,
    },
    /// The recorder was lost sight of.
    #[error("{why}. What xctrace wrote, or still writes, is kept as {}", kept.display())]
    NotFollowed {
        /// Why.
        why: Box<Error>,
        /// Where it is.
        kept: PathBuf,
    },
    /// A bundle was moved away to be replaced, and could not be put back.
    #[error("{why}; what was {} before is {} now", was.display(), is.display())]
    Displaced {
        /// Why it was not replaced.
        why: Box<Error>,
        /// Where it was.
        was: PathBuf,
        /// Where it is.
        is: PathBuf,
    },
    /// The recording has nothing of what it is for.
    #[error("{why}. The recording is kept as {}", kept.display())]
    Empty {
        /// What is missing.
        why: String,
        /// Where it is.
        kept: PathBuf,
    },
    /// It saves and saves.
    #[error(
        "xctrace (process {pid}) has not finished saving, and its bundle has not grown for {seconds} s. It \
         was left running, since one that is stopped while it saves loses everything: when it \
         ends, the bundle is {}",
        bundle.display()
    )]
    StillSaving {
        /// Its process.
        pid: u32,
        /// Where it writes.
        bundle: PathBuf,
        /// For how long nothing was seen.
        seconds: u64,
    },
    /// The user did not want to wait.
    #[error("xctrace (process {pid}) still saves: when it ends, the bundle is {}", bundle.display())]
    GaveUp {
        /// Its process.
        pid: u32,
        /// Where it writes.
        bundle: PathBuf,
    },
    /// The user stopped it before it began.
    #[error("interrupted before the recording began; nothing was recorded")]
    Interrupted,
    /// A file could not be given away or read.
    #[error(transparent)]
    Files(#[from] metalens_files::Error),
    /// A file could not be made, moved or removed.
    #[error("cannot {what} {}: {cause}", path.display())]
    File {
        /// What could not be done.
        what: &'static str,
        /// To what.
        path: PathBuf,
        /// Why not.
        cause: io::Error,
    },
}

impl Error {
    /// Returns where there is a bundle, or will be one, in spite of the error.
    #[must_use]
    pub fn bundle(&self) -> Option<&Path> {
        match self {
            Self::NotWhole { kept, .. }
            | Self::Empty { kept, .. }
            | Self::Elsewhere { kept, .. }
            | Self::NotFollowed { kept, .. } => Some(kept),
            Self::StillSaving { bundle, .. } | Self::GaveUp { bundle, .. } => Some(bundle),
            _ => None,
        }
    }
}

impl Failure for Error {
    fn kind(&self) -> FailureKind {
        match self {
            Self::Xctrace(error) => error.kind(),
            Self::NoLength(_) => FailureKind::Misuse,
            Self::NotWhole { .. } | Self::Empty { .. } => FailureKind::Unusable,
            Self::Interrupted | Self::GaveUp { .. } => FailureKind::Interrupted,
            _ => FailureKind::Failed,
        }
    }

    fn hint(&self) -> Option<String> {
        let hint = match self {
            Self::Xctrace(error) => return error.hint(),
            Self::NotStarted { .. } => "metalens doctor looks for what may be in the way",
            Self::NotWhole { .. } => "record again: what was not saved cannot be saved afterwards",
            _ => return None,
        };
        Some(hint.to_owned())
    }
}

/// A failure with a file, told where and what.
pub(crate) fn file(
    what: &'static str,
    path: impl Into<PathBuf>,
) -> impl FnOnce(io::Error) -> Error {
    let path = path.into();
    move |cause| Error::File { what, path, cause }
}

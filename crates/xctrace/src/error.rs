//! Why Apple's tool could not be used.

use std::io;

use metalens_failure::{Failure, FailureKind};

use crate::version::{Feature, Version};

/// The result of using it.
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// Why not, and what to do.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// This is no Mac.
    #[error(
        "xctrace exists on macOS only, as a part of Xcode: record and export on a Mac; what it saves \
         can be analyzed here"
    )]
    NoMac,
    /// A Mac without Xcode.
    #[error(
        "xctrace was not found: it comes with Xcode, not with the Command Line Tools. Install Xcode \
         from the App Store, open it once, then `sudo xcode-select -s \
         /Applications/Xcode.app/Contents/Developer` (or set DEVELOPER_DIR). xcrun said: {said}"
    )]
    NoXcode {
        /// What `xcrun` said.
        said: String,
    },
    /// `METALENS_XCTRACE` names nothing that can be run.
    #[error("METALENS_XCTRACE names {path}, which is no file")]
    NoSuchTool {
        /// What it names.
        path: String,
    },
    /// It is there and cannot be started.
    #[error("{what} cannot be started: {cause}")]
    CannotStart {
        /// What.
        what: String,
        /// The system's reason.
        cause: io::Error,
    },
    /// Its answer is not understood.
    #[error("xctrace did not answer `{asked}` as expected: {said}")]
    Unexpected {
        /// What was asked.
        asked: String,
        /// What it said instead.
        said: String,
    },
    /// This version cannot do it.
    #[error("{option} needs Xcode {} or newer, and this is xctrace {version}", feature.first_xcode())]
    TooOld {
        /// The option.
        option: &'static str,
        /// What it lacks.
        feature: Feature,
        /// What it is.
        version: Version,
    },
    /// The program that is to be recorded cannot be started.
    #[error("{0}")]
    Program(String),
    /// A request that `xctrace` has no words for.
    #[error("{0}")]
    Request(String),
    /// A pipe or a signal failed.
    #[error("xctrace cannot be followed: {0}")]
    Follow(#[from] io::Error),
}

impl Failure for Error {
    fn kind(&self) -> FailureKind {
        match self {
            Self::NoMac
            | Self::NoXcode { .. }
            | Self::NoSuchTool { .. }
            | Self::CannotStart { .. }
            | Self::TooOld { .. } => FailureKind::Unavailable,
            Self::Request(_) => FailureKind::Misuse,
            Self::Program(_) | Self::Unexpected { .. } | Self::Follow(_) => FailureKind::Failed,
        }
    }

    fn hint(&self) -> Option<String> {
        let hint = match self {
            Self::NoMac | Self::NoXcode { .. } => {
                "a .trace bundle that is there needs no export: metalens reads it itself, on any \
                 machine (`metalens analyze X.trace`)"
            }
            Self::TooOld {
                feature: Feature::ExportOfAPart,
                ..
            } => {
                "leave --from and --to out here, and give them to the command that reads the export \
                 (`metalens analyze --from T --to T`)"
            }
            _ => return None,
        };
        Some(hint.to_owned())
    }
}

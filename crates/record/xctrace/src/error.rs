//! Defines the errors of running `xctrace`.

use std::io;
use std::time::Duration;

use metalens_failure::{Failure, FailureKind};

use crate::version::{Feature, Version};

/// The result of running `xctrace`.
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// Refuses an option for a feature that a version does not have.
pub(crate) fn require(version: &Version, feature: Feature, option: &'static str) -> Result<()> {
    if version.has(feature) {
        return Ok(());
    }
    Err(Error::TooOld {
        option,
        feature,
        version: version.clone(),
    })
}

/// The reason why `xctrace` could not be used.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// This machine is not a Mac.
    #[error("this is not a Mac: xctrace exists on macOS only, as a part of Xcode")]
    NoMac,
    /// A Mac without Xcode.
    #[error(
        "xctrace was not found: it comes with Xcode, not with the Command Line Tools. Install Xcode \
        from the App Store, open it once, then run `sudo xcode-select -s \
        /Applications/Xcode.app/Contents/Developer` (or set DEVELOPER_DIR). xcrun printed: {output}"
    )]
    NoXcode {
        /// Output of `xcrun`, in one line.
        output: String,
    },
    /// The license of Xcode is not accepted, so that its tools refuse to run.
    #[error(
        "the Xcode license is not accepted, so xctrace refuses to run: read and accept it with \
        `sudo xcodebuild -license accept`, then run `sudo xcodebuild -runFirstLaunch`. It printed: \
        {output}"
    )]
    License {
        /// Output of the tool, in one line.
        output: String,
    },
    /// `METALENS_XCTRACE` does not name a file.
    #[error("METALENS_XCTRACE is set to {path}, which is not a file")]
    NoSuchTool {
        /// Value of `METALENS_XCTRACE`.
        path: String,
    },
    /// The tool exists but cannot be started.
    #[error("{what} cannot be started: {cause}")]
    CannotStart {
        /// Path of the program.
        what: String,
        /// Reason that the system gives.
        cause: io::Error,
    },
    /// The output of the tool is not understood.
    #[error("unexpected output of `xctrace {command}`: {output}")]
    Unexpected {
        /// Arguments of `xctrace`.
        command: String,
        /// Output of `xctrace`, in one line.
        output: String,
    },
    /// A short command did not end in time.
    #[error("`{command}` did not end within {} s, and was stopped", limit.as_secs())]
    Hangs {
        /// The command line.
        command: String,
        /// Time that it had.
        limit: Duration,
    },
    /// A short command printed too much.
    #[error("`{command}` printed more than {most} bytes, and was stopped")]
    TooMuch {
        /// The command line.
        command: String,
        /// Largest length of the output, in bytes.
        most: usize,
    },
    /// This version lacks a feature.
    #[error("{option} needs Xcode {} or later; this is xctrace {version}", feature.first_xcode())]
    TooOld {
        /// Option that needs the feature.
        option: &'static str,
        /// Feature that the version lacks.
        feature: Feature,
        /// Version of `xctrace`.
        version: Version,
    },
    /// The program to record cannot be started.
    #[error("{0}")]
    Program(String),
    /// The program to record was not found.
    #[error("{what}")]
    NoProgram {
        /// The program, as it was named, and where it was not found.
        what: String,
        /// Advice on the likely meaning; `None` if nothing here resembles it.
        advice: Option<String>,
    },
    /// A request that `xctrace` cannot be given.
    #[error("{0}")]
    Request(String),
    /// A pipe or a signal failed.
    #[error("cannot communicate with xctrace: {0}")]
    Follow(#[from] io::Error),
}

impl Failure for Error {
    fn kind(&self) -> FailureKind {
        match self {
            Self::NoMac
            | Self::NoXcode { .. }
            | Self::License { .. }
            | Self::NoSuchTool { .. }
            | Self::CannotStart { .. }
            | Self::Hangs { .. }
            | Self::TooOld { .. } => FailureKind::Unavailable,
            Self::Request(_) => FailureKind::Misuse,
            Self::Program(_)
            | Self::NoProgram { .. }
            | Self::Unexpected { .. }
            | Self::TooMuch { .. }
            | Self::Follow(_) => FailureKind::Failed,
        }
    }

    fn hint(&self) -> Option<String> {
        let hint = match self {
            Self::NoProgram { advice, .. } => return advice.clone(),
            Self::NoMac => {
                "metalens reads a .trace bundle on any machine, without an export (`metalens analyze \
                X.trace`); to record one, use a Mac, or try it here with --simulate, which measures \
                nothing"
            }
            Self::NoXcode { .. } | Self::License { .. } => {
                "a .trace bundle needs no export: metalens reads it on any machine (`metalens analyze \
                X.trace`)"
            }
            Self::Hangs { .. } => {
                "try again; if it hangs every time, open Xcode once, or restart the Mac"
            }
            Self::TooOld {
                feature: Feature::ExportOfAPart,
                ..
            } => {
                "omit --from and --to here, and pass them to the command that reads the export \
                (`metalens analyze --from T --to T`)"
            }
            _ => return None,
        };
        Some(hint.to_owned())
    }
}

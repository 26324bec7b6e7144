//! Why a workload could not be planned, run or written down.

use std::io;
use std::path::PathBuf;

use metalens_failure::{Failure, FailureKind};

/// A result of this crate.
pub type Result<T> = std::result::Result<T, Error>;

/// Why a workload could not be planned, run or written down.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// There is no such workload.
    #[error("there is no workload `{name}`")]
    NoSuchWorkload {
        /// The name.
        name: String,
        /// Those that there are.
        known: Vec<&'static str>,
    },
    /// A setting is out of range.
    #[error("{name} {value} is out of range: {least} to {most}")]
    Setting {
        /// Which.
        name: &'static str,
        /// What was given.
        value: u64,
        /// The least.
        least: u64,
        /// The most.
        most: u64,
    },
    /// This system has no Metal.
    #[error("the workload cannot run here: Metal is Apple's, and this is {system}")]
    NoMetal {
        /// The operating system.
        system: &'static str,
    },
    /// macOS, but no GPU that this process may use.
    #[error("the workload cannot run here: this Mac offers no Metal device to this process")]
    NoDevice,
    /// Metal refused.
    #[error("Metal could not {what}: {why}")]
    Metal {
        /// What was asked of it, as in "could not …".
        what: String,
        /// Its answer.
        why: String,
    },
    /// The GPU computed something else than the CPU.
    #[error(
        "the GPU's result is wrong: `{array}`[{place}] is {found}, and should be {wanted} \u{b1} \
         {tolerance:.1e}"
    )]
    WrongResult {
        /// The array.
        array: &'static str,
        /// The place in it.
        place: u64,
        /// What is there.
        found: f32,
        /// What the CPU has.
        wanted: f64,
        /// How far off it may be.
        tolerance: f64,
    },
    /// A capture was asked for that cannot be made.
    #[error("cannot capture to {}: {why}", path.display())]
    Capture {
        /// The file.
        path: PathBuf,
        /// Why not.
        why: String,
        /// What to do about it.
        hint: &'static str,
    },
    /// A file is there already, or cannot be written.
    #[error(transparent)]
    File(#[from] metalens_files::Error),
    /// The screen, or what it was piped to, refused.
    #[error("cannot write to standard output")]
    Output(#[from] io::Error),
    /// What was to be written could not be put into JSON.
    #[error("cannot write JSON: {0}")]
    Json(#[from] serde_json::Error),
}

impl Failure for Error {
    fn kind(&self) -> FailureKind {
        match self {
            Self::NoSuchWorkload { .. } | Self::Setting { .. } => FailureKind::Misuse,
            Self::NoMetal { .. } | Self::NoDevice => FailureKind::Unavailable,
            _ => FailureKind::Failed,
        }
    }

    fn hint(&self) -> Option<String> {
        let hint = match self {
            Self::NoSuchWorkload { known, .. } => {
                return Some(format!("there are {}", known.join(", ")));
            }
            Self::NoMetal { .. } => "run it on a Mac; its plan, above, is the same there",
            Self::NoDevice => {
                "a session over ssh or in a virtual machine may have none: try the Mac's own \
                 Terminal"
            }
            Self::WrongResult { .. } => {
                "no figure of this run is worth anything; if it happens again, the GPU, its driver \
                 or this program is broken"
            }
            Self::Capture { hint, .. } => hint,
            _ => return None,
        };
        Some(hint.to_owned())
    }
}

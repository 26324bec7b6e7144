//! Errors of planning, running and describing a workload.

use std::io;

use metalens_failure::{Failure, FailureKind, did_you_mean};

/// Result of a function in this crate.
pub type Result<T> = std::result::Result<T, Error>;

/// The reason why a workload could not be planned, run or written to a file.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The given name is not a workload.
    #[error("unknown workload `{name}`")]
    NoSuchWorkload {
        /// Name that was given.
        name: String,
        /// Names of all workloads.
        known: Vec<&'static str>,
    },
    /// The number of steps is out of range.
    #[error("--count must be between 1 and {max}, not {value}")]
    Count {
        /// Number that was given.
        value: u64,
        /// Largest number that is allowed.
        max: u64,
    },
    /// This system has no Metal.
    #[error("cannot run the workload: Metal needs macOS, and this is {system}")]
    NoMetal {
        /// Name of the operating system.
        system: &'static str,
    },
    /// The system is macOS, but no GPU is available to this process.
    #[error("cannot run the workload: macOS offers no Metal device to this process")]
    NoDevice,
    /// A call of Metal failed.
    #[error("Metal could not {what}: {why}")]
    Metal {
        /// The attempted action, as in "could not …".
        what: String,
        /// The reason that Metal gave.
        why: String,
    },
    /// A result of the GPU differs from the CPU's.
    #[error(
        "wrong GPU result: `{array}`[{index}] is {found}, expected {wanted} \u{b1} {tolerance:.1e}"
    )]
    WrongResult {
        /// Name of the array.
        array: &'static str,
        /// Index of the element.
        index: u64,
        /// Value that the GPU computed.
        found: f32,
        /// Value that the CPU computed.
        wanted: f64,
        /// Largest difference that is allowed.
        tolerance: f64,
    },
    /// A file exists already, or cannot be written.
    #[error(transparent)]
    File(#[from] metalens_files::Error),
    /// Standard output could not be written.
    #[error("cannot write to standard output")]
    Output(#[from] io::Error),
    /// The document could not be turned into JSON.
    #[error("cannot write JSON: {0}")]
    Json(#[from] serde_json::Error),
}

impl Failure for Error {
    fn kind(&self) -> FailureKind {
        match self {
            Self::NoSuchWorkload { .. } | Self::Count { .. } => FailureKind::Misuse,
            Self::NoMetal { .. } | Self::NoDevice => FailureKind::Unavailable,
            _ => FailureKind::Failed,
        }
    }

    fn hint(&self) -> Option<String> {
        let hint = match self {
            Self::NoSuchWorkload { name, known } => {
                let meant = did_you_mean(name, known.iter().copied());
                return Some(format!("{meant}the workloads are {}", known.join(", ")));
            }
            Self::NoMetal { .. } => "run it on a Mac; the plan above is the same there",
            Self::NoDevice => {
                "a session over ssh or in a virtual machine may have none; try Terminal on the Mac \
                 itself"
            }
            Self::WrongResult { .. } => {
                "do not use any number of this run; if it happens again, the GPU, its driver or this \
                 program has a defect"
            }
            _ => return None,
        };
        Some(hint.to_owned())
    }
}

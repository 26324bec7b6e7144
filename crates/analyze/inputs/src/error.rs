//! Defines the reasons why an input has no analysis and no report.

use std::io;
use std::path::Path;

use metalens_analyzer::SCHEMA;
use metalens_failure::{Failure, FailureKind};
use metalens_text::shown;

/// The result of reading an input.
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// The reason why an input has no analysis and no report.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The recording cannot be read.
    #[error(transparent)]
    Trace(#[from] metalens_trace::Error),
    /// The recording cannot be analyzed, or the file of known work is not valid.
    #[error(transparent)]
    Analyzer(#[from] metalens_analyzer::Error),
    /// A file cannot be read.
    #[error("cannot read {file}")]
    CannotRead {
        /// Path of the file.
        file: String,
        /// Reason that the system gave.
        #[source]
        cause: io::Error,
    },
    /// The user named a baseline instead of a run.
    #[error("{file} is a baseline, not a run: use --baseline {file}")]
    Baseline {
        /// Path of the baseline.
        file: String,
    },
    /// A JSON file is not a report.
    #[error("{file} is not a report that this version of metalens reads")]
    NoReport {
        /// Path of the file.
        file: String,
        /// First difference from a report.
        #[source]
        cause: serde_json::Error,
    },
    /// The report has another schema.
    #[error(
        "{file} is not a report of this version of metalens: its schema is {found:?}, not \
         {SCHEMA:?}"
    )]
    OtherReport {
        /// Path of the report.
        file: String,
        /// Schema of that report.
        found: String,
    },
    /// A side of a comparison has the same run twice.
    #[error("{0}: name each run of a side once")]
    Repeated(String),
    /// The sides of a comparison were recorded differently.
    #[error(
        "the two sides are not comparable; they were recorded differently:{}",
        listed(.0)
    )]
    NotComparable(Vec<String>),
}

impl Failure for Error {
    fn kind(&self) -> FailureKind {
        match self {
            Self::Trace(error) => error.kind(),
            Self::Analyzer(error) => error.kind(),
            Self::NotComparable(_) => FailureKind::NotComparable,
            Self::Baseline { .. } | Self::Repeated(_) => FailureKind::Misuse,
            Self::CannotRead { .. } | Self::NoReport { .. } | Self::OtherReport { .. } => {
                FailureKind::Failed
            }
        }
    }

    fn hint(&self) -> Option<String> {
        match self {
            Self::Trace(error) => error.hint(),
            Self::Analyzer(error) => error.hint(),
            Self::NotComparable(_) => Some(
                "record both sides under the same conditions, or compare them anyway with \
                 --allow-different"
                    .to_owned(),
            ),
            _ => None,
        }
    }

    fn without_names(&self) -> Option<Box<dyn Failure>> {
        match self {
            Self::Analyzer(error) => error.without_names(),
            _ => None,
        }
    }
}

/// Returns a line for each reason.
fn listed(reasons: &[String]) -> String {
    let lines = reasons.iter();
    lines
        .map(|reason| format!("\n- {}", shown(reason)))
        .collect()
}

/// Returns a function that adds the file to the system's reason.
pub(crate) fn cannot_read(path: &Path) -> impl FnOnce(io::Error) -> Error {
    let file = path.display().to_string();
    move |cause| Error::CannotRead { file, cause }
}

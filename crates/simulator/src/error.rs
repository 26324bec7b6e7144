//! What can go wrong between a scenario and its folder, said so that a stranger can fix it.

use std::io;
use std::path::PathBuf;

use metalens_failure::Failure;

/// Why a scenario was refused or an export could not be written.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The text is not TOML, or not a scenario; the cause shows the line and what is allowed.
    #[error("cannot read the scenario")]
    Toml(#[from] toml::de::Error),

    /// A field holds what no recording could.
    #[error("scenario field `{field}` {problem}; allowed: {allowed}")]
    Field {
        /// Path of the field, such as `process[0].stream[1].count`.
        field: String,
        /// What is wrong with its value.
        problem: String,
        /// What would be right.
        allowed: String,
    },

    /// The folder holds files already, and overwriting was not asked for.
    #[error("{} exists and is not empty", dir.display())]
    NotEmpty {
        /// The folder asked for.
        dir: PathBuf,
    },

    /// The path holds something else than a synthetic bundle, which is never overwritten.
    #[error("{} exists and was not written by {}", path.display(), crate::MARK)]
    NotOurs {
        /// The bundle asked for.
        path: PathBuf,
    },

    /// The disk refused.
    #[error("cannot {action} {}", path.display())]
    Io {
        /// What was being done, as in "cannot create …".
        action: &'static str,
        /// To which file or folder.
        path: PathBuf,
        /// The system's answer.
        source: io::Error,
    },

    /// The scenario could not be written back as TOML.
    #[error("cannot write the scenario as TOML")]
    ScenarioText(#[from] toml::ser::Error),

    /// The truth could not be written as JSON.
    #[error("cannot write the truth as JSON")]
    TruthText(#[from] serde_json::Error),
}

impl Error {
    /// An I/O failure with the path it happened at.
    pub(crate) fn io(
        action: &'static str,
        path: impl Into<PathBuf>,
    ) -> impl FnOnce(io::Error) -> Self {
        let path = path.into();
        move |source| Self::Io {
            action,
            path,
            source,
        }
    }

    /// A field no recording could have.
    pub(crate) fn field(
        field: &str,
        problem: impl Into<String>,
        allowed: impl Into<String>,
    ) -> Self {
        Self::Field {
            field: field.to_owned(),
            problem: problem.into(),
            allowed: allowed.into(),
        }
    }
}

impl Failure for Error {
    fn hint(&self) -> Option<String> {
        let hint = match self {
            Self::NotEmpty { .. } => "--force writes into it",
            Self::NotOurs { .. } => "name another: a recording is never overwritten",
            _ => return None,
        };
        Some(hint.to_owned())
    }
}

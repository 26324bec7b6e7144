//! Errors of reading a scenario and of writing its output.

use std::io;
use std::path::PathBuf;

use metalens_failure::Failure;

/// The reason why a scenario was refused or its output could not be written.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The text is not TOML, or not a scenario. The cause names the line and what is allowed.
    #[error("cannot read the scenario")]
    Toml(#[from] toml::de::Error),

    /// A field has a value that no recording could have.
    #[error("scenario field `{field}` {problem}; allowed: {allowed}")]
    Field {
        /// Path of the field, such as `process[0].stream[1].count`.
        field: String,
        /// Description of what is wrong with the value.
        problem: String,
        /// Description of the values that are allowed.
        allowed: String,
    },

    /// The folder is not empty, and overwriting was not requested.
    #[error("{} exists and is not empty", dir.display())]
    NotEmpty {
        /// Path of the folder that is in use.
        dir: PathBuf,
    },

    /// The path has something other than a synthetic bundle, which is never overwritten.
    #[error("{} exists and was not written by {}", path.display(), crate::MARK)]
    NotOurs {
        /// Path that was to be overwritten.
        path: PathBuf,
    },

    /// A file could not be read or written.
    #[error(transparent)]
    Files(#[from] metalens_files::Error),

    /// The scenario could not be written back as TOML.
    #[error("cannot write the scenario as TOML")]
    ScenarioText(#[from] toml::ser::Error),

    /// The truth could not be written as JSON.
    #[error("cannot write the truth as JSON")]
    TruthText(#[from] serde_json::Error),
}

impl Error {
    /// Returns a function that turns an error of the system into one that names action and path.
    pub(crate) fn io(
        action: &'static str,
        path: impl Into<PathBuf>,
    ) -> impl FnOnce(io::Error) -> Self {
        let refused = metalens_files::refused(action, path);
        move |error| Self::Files(refused(error))
    }

    /// Returns an error about the value of a field.
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
            Self::NotEmpty { .. } => "use --force to write into it",
            Self::NotOurs { .. } => "choose another path; a recording is never overwritten",
            _ => return None,
        };
        Some(hint.to_owned())
    }
}

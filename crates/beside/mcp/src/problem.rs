//! Defines the error of a tool call, with its hint.

use std::fmt;

use metalens_failure::in_plain_words;

/// An error that the agent reads.
#[derive(Debug)]
pub(crate) struct ToolProblem {
    what: String,
    hint: Option<String>,
    details: String,
}

impl ToolProblem {
    pub(crate) fn new(what: impl Into<String>) -> Self {
        Self {
            what: in_plain_words(&what.into()),
            hint: None,
            details: String::new(),
        }
    }

    /// Adds a hint on what to do.
    pub(crate) fn hint(self, hint: impl Into<String>) -> Self {
        Self {
            hint: Some(hint.into()),
            ..self
        }
    }

    /// Adds lines that explain the error, after its hint.
    pub(crate) fn details(self, details: String) -> Self {
        Self { details, ..self }
    }
}

impl fmt::Display for ToolProblem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "error: {}", self.what)?;
        if let Some(hint) = &self.hint {
            write!(f, "\nhint: {hint}")?;
        }
        if !self.details.is_empty() {
            write!(f, "\n\n{}", self.details)?;
        }
        Ok(())
    }
}

impl std::error::Error for ToolProblem {}

impl From<serde_json::Error> for ToolProblem {
    fn from(error: serde_json::Error) -> Self {
        Self::new(format!("cannot read what metalens printed: {error}"))
            .hint("use metalens and metalens-mcp of the same release")
    }
}

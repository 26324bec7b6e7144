//! Defines the errors of requests to GitHub.

use std::io;

use metalens_failure::{Failure, FailureKind};

/// Error of a caller that could not write a text to post.
pub type TextError = Box<dyn std::error::Error + Send + Sync>;

/// Result of a request or of a run of `gh`.
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// The reason why a request failed, and what to do. No message contains the token.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// `gh` is missing or cannot be started, for the reason that the system gave.
    #[error("{}", no_gh(.0))]
    NoGh(io::Error),
    /// The user's request is not possible. The message says what to do instead.
    #[error("{0}")]
    Misuse(String),
    /// The text of a comment could not be written.
    #[error(transparent)]
    Text(TextError),
    /// An error, and the action that failed because of it.
    #[error("{what}")]
    While {
        /// The action that failed.
        what: String,
        /// The error that made it fail.
        source: Box<Error>,
    },
    /// A request got no answer.
    #[error("no answer to {request}: {why}")]
    NoAnswer {
        /// Method and path of the request.
        request: String,
        /// Reason that `gh` gave, in one line.
        why: String,
    },
    /// GitHub refused a request.
    #[error("GitHub answered {request} with {status}: {message}")]
    Refused {
        /// Method and path of the request.
        request: String,
        /// HTTP status code of the answer.
        status: u16,
        /// Reason that GitHub gave, in one line.
        message: String,
    },
    /// GitHub's rate limit was reached for longer than the client waits.
    #[error("GitHub rate limit reached at {request}: try again in {seconds} s")]
    RateLimited {
        /// Method and path of the request.
        request: String,
        /// Seconds until GitHub answers again.
        seconds: u64,
    },
    /// The answer is not what GitHub's manual describes.
    #[error("cannot read the answer to {request}: {why}")]
    Unexpected {
        /// Method and path of the request.
        request: String,
        /// Description of the problem with the answer.
        why: String,
    },
    /// `gh` failed, for the reason that it gave.
    #[error("gh failed: {0}")]
    Gh(String),
}

/// Returns why `gh` could not be started. A missing program needs no number of the system.
fn no_gh(cause: &io::Error) -> String {
    let why = if cause.kind() == io::ErrorKind::NotFound {
        "there is no program gh here".to_owned()
    } else {
        format!("cannot start gh ({cause})")
    };
    format!("{why}: install it with `brew install gh`, or add its folder to PATH")
}

impl Error {
    /// Wraps this error with the action that failed because of it.
    pub(crate) fn while_doing(self, what: &str) -> Self {
        Self::While {
            what: what.to_owned(),
            source: Box::new(self),
        }
    }

    /// Returns whether the token may only read, like that of a fork's pull request.
    pub(crate) fn is_read_only(&self) -> bool {
        let Self::Refused {
            status, message, ..
        } = self
        else {
            return false;
        };
        *status == 403 && message.contains("Resource not accessible by")
    }

    /// Returns whether the resource does not exist, or the token may not see it.
    pub(crate) fn is_not_found(&self) -> bool {
        self.has_status(404)
    }

    /// Returns whether GitHub may have carried out the request despite the error.
    pub(crate) fn may_be_done(&self) -> bool {
        match self {
            Self::NoAnswer { .. } | Self::Unexpected { .. } => true,
            Self::Refused { status, .. } => *status >= 500,
            _ => false,
        }
    }

    pub(crate) fn has_status(&self, wanted: u16) -> bool {
        matches!(self, Self::Refused { status, .. } if *status == wanted)
    }
}

impl Failure for Error {
    fn kind(&self) -> FailureKind {
        match self {
            Self::NoGh(_) => FailureKind::Unavailable,
            Self::Misuse(_) => FailureKind::Misuse,
            Self::While { source, .. } => source.kind(),
            _ => FailureKind::Failed,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use metalens_failure::what_to_do;

    /// The message of a missing tool says what to do, so nothing else is advised.
    #[test]
    fn a_missing_tool_has_one_advice() {
        let cause = io::Error::from_raw_os_error(2);
        let message = Error::NoGh(cause).to_string();
        assert_eq!(
            message,
            "there is no program gh here: install it with `brew install gh`, or add its folder to PATH"
        );
        assert_eq!(what_to_do(&message), None);
    }
}

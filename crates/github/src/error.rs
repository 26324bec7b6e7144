//! Why GitHub could not be asked, or what it refused.

use std::io;

use metalens_failure::{Failure, FailureKind};

/// A text that could not be made.
pub type NoText = Box<dyn std::error::Error + Send + Sync>;

/// The result of asking.
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// Why not, and what to do. No text in it has the token.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// A tool is not there, or cannot be started.
    #[error("{tool} cannot be started ({cause}): install it, or name its folder in PATH")]
    NoTool {
        /// Which.
        tool: &'static str,
        /// The system's reason.
        cause: io::Error,
    },
    /// An address that is none, or that the token may not go to.
    #[error("{0}")]
    Address(String),
    /// A request that cannot be; the message says which can.
    #[error("{0}")]
    Misuse(String),
    /// A text of a comment could not be made.
    #[error(transparent)]
    Text(NoText),
    /// Every way for pictures was tried, and none was left.
    #[error("no way was left")]
    NoWayLeft,
    /// An error, and what could not be done for it.
    #[error("{what}")]
    While {
        /// What could not be done.
        what: String,
        /// Why not.
        source: Box<Error>,
    },
    /// No answer came.
    #[error("no answer to {asked}: curl ended with {code}{said}")]
    NoAnswer {
        /// What was asked: method and path.
        asked: String,
        /// The exit code of `curl`.
        code: i32,
        /// What it said.
        said: String,
    },
    /// GitHub refused.
    #[error("GitHub answered {asked} with {status}: {message}")]
    Refused {
        /// What was asked: method and path.
        asked: String,
        /// The HTTP status.
        status: u16,
        /// GitHub's reason.
        message: String,
    },
    /// Too much was asked in too short a time, or by too many.
    #[error(
        "GitHub wants {seconds} s of rest before it answers {asked} (a rate limit): try again then"
    )]
    RateLimited {
        /// What was asked.
        asked: String,
        /// How long.
        seconds: u64,
    },
    /// An answer that leads elsewhere.
    #[error("{asked} was redirected to {to}: the token does not go there")]
    Redirected {
        /// What was asked.
        asked: String,
        /// Where to.
        to: String,
    },
    /// An answer that is not understood.
    #[error("the answer to {asked} is not understood: {why}")]
    Unexpected {
        /// What was asked.
        asked: String,
        /// Why.
        why: String,
    },
    /// `gh` refused or failed.
    #[error("gh failed: {0}")]
    Gh(String),
    /// A temporary file or a pipe failed.
    #[error("cannot talk to {tool}: {cause}")]
    Pipe {
        /// Whom.
        tool: &'static str,
        /// The system's reason.
        cause: io::Error,
    },
}

impl Error {
    /// Says what could not be done for it.
    pub(crate) fn while_doing(self, what: &str) -> Self {
        Self::While {
            what: what.to_owned(),
            source: Box::new(self),
        }
    }

    /// Whether the token may read here and not write: that of a pull request from a fork.
    #[must_use]
    pub fn is_read_only(&self) -> bool {
        let Self::Refused {
            status, message, ..
        } = self
        else {
            return false;
        };
        *status == 403 && message.contains("Resource not accessible by")
    }

    /// Whether there is no such thing, or none that the token may see.
    #[must_use]
    pub fn is_not_found(&self) -> bool {
        self.has_status(404)
    }

    /// Whether what was asked may have been done nevertheless.
    #[must_use]
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
            Self::NoTool { .. } => FailureKind::Unavailable,
            Self::Address(_) | Self::Misuse(_) => FailureKind::Misuse,
            Self::While { source, .. } => source.kind(),
            _ => FailureKind::Failed,
        }
    }
}

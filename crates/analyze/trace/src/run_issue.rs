//! Defines issues: what Instruments itself says went wrong with a recording.

use std::fmt;

/// An issue that Instruments wrote into a recording.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RunIssue {
    /// Severity of the issue.
    pub severity: IssueSeverity,
    /// Text of Instruments.
    pub message: String,
}

/// Severity of an issue; errors come first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum IssueSeverity {
    /// The recording failed, or a part of it.
    Error,
    /// A part of the recording may be missing or wrong.
    Warning,
}

/// Parts of messages that good recordings have too.
const HARMLESS: [&str; 3] = [
    "The log archive is corrupt or incomplete",
    "Data stream: Time Mapping",
    // About drawing: the rows are there.
    "Signpost intervals with backdated timestamps",
];
const ROSETTA: &str = "under Rosetta translation";
const LOST_EVENTS: &str = "Lost events were detected";

impl RunIssue {
    /// Returns issues as a list for a sentence.
    pub fn list(issues: &[Self]) -> String {
        let issues: Vec<String> = issues.iter().map(Self::to_string).collect();
        issues.join(", ")
    }

    /// Returns whether good recordings have this issue too.
    pub(crate) fn is_harmless(&self) -> bool {
        HARMLESS.iter().any(|part| self.message.contains(part))
    }

    /// Returns whether rows of any table may be missing.
    pub fn is_loss(&self) -> bool {
        self.message.contains(LOST_EVENTS)
    }

    /// Returns what to do, if that is certain.
    pub fn remedy(&self) -> Option<&'static str> {
        if self.message.contains(ROSETTA) {
            Some(
                "the recorder ran under Rosetta: start it natively, in a terminal where `uname -m` \
                 prints arm64, or with `arch -arm64`",
            )
        } else if self.is_loss() {
            Some("record for a shorter time, or with fewer instruments")
        } else {
            None
        }
    }
}

impl fmt::Display for RunIssue {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "`{}`", self.message)
    }
}

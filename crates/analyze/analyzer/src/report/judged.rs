//! Types of the part of a window that a verdict is about.

use metalens_message::Ns;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::Report;
use super::idle::IdleTime;
use super::shape::Outliers;

/// Steps of all series in the window, without what runs once and without pauses.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct JudgedPart {
    /// Start of the first step, in nanoseconds since the recording began.
    pub start_ns: Ns,
    /// End of the last one with a known length, in nanoseconds since the recording began.
    pub end_ns: Ns,
    /// Summed lengths of the steps, in nanoseconds.
    pub span_ns: Ns,
    /// Number of GPU intervals of the process that begin in them.
    pub intervals: u64,
    /// Busy time of the process in them, in nanoseconds.
    pub busy_ns: Ns,
    /// Idle time in them, by cause.
    pub idle: IdleTime,
    /// Intervals from the first to the last step that are far longer than others of the same name.
    pub outliers: Outliers,
}

/// Subject of the verdict and of the findings about speed: the steps, or the whole window.
#[derive(Debug, Clone, Copy)]
pub struct Judged<'a> {
    /// Name of the part in a sentence.
    pub name: &'static str,
    /// Length in nanoseconds.
    pub span_ns: Ns,
    /// Number of GPU intervals of the process.
    pub intervals: u64,
    /// Busy time of the process in nanoseconds.
    pub busy_ns: Ns,
    /// Idle time by cause.
    pub idle: &'a IdleTime,
    /// Intervals far longer than others of the same name.
    pub outliers: &'a Outliers,
}

impl Report {
    /// Returns what the verdict and the findings about speed are about.
    pub fn judged(&self) -> Judged<'_> {
        match &self.judged {
            Some(part) => Judged {
                name: "the steps",
                span_ns: part.span_ns,
                intervals: part.intervals,
                busy_ns: part.busy_ns,
                idle: &part.idle,
                outliers: &part.outliers,
            },
            None => Judged {
                name: "the window",
                span_ns: self.window.span_ns,
                intervals: self.counts.intervals,
                busy_ns: self.busy.busy_ns,
                idle: &self.idle,
                outliers: &self.shape.outliers,
            },
        }
    }
}

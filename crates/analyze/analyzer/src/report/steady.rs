//! Types of the steady part of a window, and of the pace of a program.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::Report;
use super::idle::IdleTime;
use super::shape::Outliers;

/// Steady part of the window: what the verdict and the findings about speed are about.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Steady {
    /// Start of the part, in nanoseconds since the recording began.
    pub start_ns: u64,
    /// End of the part (exclusive), in nanoseconds since the recording began.
    pub end_ns: u64,
    /// Number of GPU intervals of the process that begin in the part.
    pub intervals: u64,
    /// Busy time of the process in the part, in nanoseconds.
    pub busy_ns: u64,
    /// Idle time of the part, by cause.
    pub idle: IdleTime,
    /// Intervals of the part that are far longer than others of the same name.
    pub outliers: Outliers,
    /// Parts of the window that were left out, in order of time.
    pub excluded: Vec<ExcludedPart>,
}

/// Part of the window that the verdict is not about.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ExcludedPart {
    /// Reason why it was left out.
    pub kind: PartKind,
    /// Start of the part, in nanoseconds since the recording began.
    pub start_ns: u64,
    /// End of the part (exclusive), in nanoseconds since the recording began.
    pub end_ns: u64,
    /// Length of the longest pause in it, in nanoseconds; zero for a warm-up.
    pub longest_gap_ns: u64,
}

/// Reason why a part of the window was left out.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum PartKind {
    /// Warm-up of the process.
    WarmUp,
    /// A pause that dominates the window, with the work on its other side.
    Pause,
}

/// Pace of a program whose iterations begin on a grid of time.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Pace {
    /// Time from one start to the next, in nanoseconds.
    pub period_ns: u64,
    /// Number of iterations that begin on the grid.
    pub starts: u64,
    /// Median GPU time in a period, in nanoseconds.
    pub busy_ns: u64,
    /// 95th percentile of the GPU time in a period, in nanoseconds.
    pub longest_busy_ns: u64,
    /// Number of periods that were missed.
    pub missed_count: u64,
    /// Missed periods, the first five.
    pub missed: Vec<MissedPeriod>,
}

/// Iteration that took longer than a period.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct MissedPeriod {
    /// Start of the iteration, in nanoseconds since the recording began.
    pub start_ns: u64,
    /// Time to the next start, in nanoseconds.
    pub duration_ns: u64,
}

/// Subject of the verdict and of the findings about speed: the steady part, or the whole window.
#[derive(Debug, Clone, Copy)]
pub struct Judged<'a> {
    /// Name of the part in a sentence.
    pub name: &'static str,
    /// Length in nanoseconds.
    pub span_ns: u64,
    /// Number of GPU intervals of the process.
    pub intervals: u64,
    /// Busy time of the process in nanoseconds.
    pub busy_ns: u64,
    /// Idle time by cause.
    pub idle: &'a IdleTime,
    /// Intervals far longer than others of the same name.
    pub outliers: &'a Outliers,
}

impl Report {
    /// Returns what the verdict and the findings about speed are about.
    #[must_use]
    pub fn judged(&self) -> Judged<'_> {
        match &self.steady {
            Some(steady) => Judged {
                name: "the part judged",
                span_ns: steady.end_ns - steady.start_ns,
                intervals: steady.intervals,
                busy_ns: steady.busy_ns,
                idle: &steady.idle,
                outliers: &steady.outliers,
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

//! Small summaries that several parts of a report are made of.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::basics::message::{Message, PlacedValue};
use crate::basics::statistics::percentiles;

/// How a set of durations is spread. Percentiles are nearest rank; a duration
/// is negative where what should come second came first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Distribution {
    /// How many there are.
    pub count: u64,
    /// The smallest.
    pub min_ns: i64,
    /// Their mean, to the nearest nanosecond.
    pub mean_ns: i64,
    /// The one in the middle.
    pub median_ns: i64,
    /// 95 % are not above this.
    pub p95_ns: i64,
    /// 99 % are not above this.
    pub p99_ns: i64,
    /// The largest.
    pub max_ns: i64,
}

impl Distribution {
    /// Of these durations; none of none.
    #[must_use]
    pub(crate) fn of(mut durations: Vec<i64>) -> Option<Self> {
        let (&min_ns, &max_ns) = (durations.iter().min()?, durations.iter().max()?);
        let sum: i128 = durations.iter().map(|&one| i128::from(one)).sum();
        let count = durations.len() as i128;
        let mean = (2 * sum + count).div_euclid(2 * count);
        let [median_ns, p95_ns, p99_ns] = percentiles(&mut durations, [50, 95, 99])?;
        Some(Self {
            count: durations.len() as u64,
            min_ns,
            mean_ns: i64::try_from(mean).unwrap_or(max_ns),
            median_ns,
            p95_ns,
            p99_ns,
            max_ns,
        })
    }
}

/// The target's use of the GPU during a part of the window.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct WindowSummary {
    /// When it begins.
    pub start_ns: u64,
    /// When it ends.
    pub end_ns: u64,
    /// The target's intervals in it.
    pub intervals: u64,
    /// The length of their union in it.
    pub busy_ns: u64,
    /// busy / its length; null if it has none.
    pub ratio: Option<f64>,
    /// The gaps in it.
    pub gaps: u64,
    /// Their median length.
    pub median_gap_ns: Option<u64>,
    /// The median length of its intervals, which count with the part inside.
    pub median_interval_ns: Option<u64>,
}

/// Something that a recording cannot tell.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct NotRecorded {
    /// The part of the report.
    pub what: String,
    /// Why, and what would make it available.
    pub why: String,
    /// Values of `why`, in the order in which they stand in it.
    #[serde(default)]
    pub why_values: Vec<PlacedValue>,
}

impl NotRecorded {
    pub(crate) fn new(what: &str, why: impl Into<Message>) -> Self {
        let (why, why_values) = why.into().into_parts();
        Self {
            what: what.to_owned(),
            why,
            why_values,
        }
    }
}

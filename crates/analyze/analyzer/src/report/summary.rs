//! Types that several parts of a report share: distributions, window summaries, missing data.

use metalens_message::{Message, SignedNs};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::basics::statistics::percentiles;

/// Distribution of a set of durations, in nanoseconds. Percentiles are nearest rank. A duration
/// is negative if the second of two events has the earlier time stamp.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Distribution {
    /// Number of durations in the set.
    pub count: u64,
    /// Smallest duration in nanoseconds.
    pub min_ns: SignedNs,
    /// Mean duration, rounded to the nearest nanosecond.
    pub mean_ns: SignedNs,
    /// Median duration in nanoseconds.
    pub median_ns: SignedNs,
    /// 95th percentile in nanoseconds: 95 % of the durations are not longer.
    pub p95_ns: SignedNs,
    /// 99th percentile in nanoseconds: 99 % of the durations are not longer.
    pub p99_ns: SignedNs,
    /// Largest duration in nanoseconds.
    pub max_ns: SignedNs,
}

impl Distribution {
    /// Returns the distribution of the durations; `None` if there are none.
    #[must_use]
    pub(crate) fn from_durations(mut durations: Vec<i64>) -> Option<Self> {
        let (&min_ns, &max_ns) = (durations.iter().min()?, durations.iter().max()?);
        let sum: i128 = durations.iter().copied().map(i128::from).sum();
        let count = durations.len() as i128;
        let mean = (2 * sum + count).div_euclid(2 * count);
        let [median_ns, p95_ns, p99_ns] = percentiles(&mut durations, [50, 95, 99])?;

        Some(Self {
            count: durations.len() as u64,
            min_ns: SignedNs(min_ns),
            mean_ns: SignedNs(i64::try_from(mean).unwrap_or(max_ns)),
            median_ns: SignedNs(median_ns),
            p95_ns: SignedNs(p95_ns),
            p99_ns: SignedNs(p99_ns),
            max_ns: SignedNs(max_ns),
        })
    }
}

/// Part of the report that the recording has no data for.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct NotRecorded {
    /// Name of the part of the report, such as `machine.wired`.
    pub what: String,
    /// Reason, and what would make the data available.
    pub why: Message,
}

impl NotRecorded {
    pub(crate) fn new(what: &str, why: impl Into<Message>) -> Self {
        let why = why.into();
        Self {
            what: what.to_owned(),
            why,
        }
    }
}

//! Types of the GPU's hardware counters.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Hardware counters of the GPU. They count the work of all processes: during the busy time of
/// the analyzed process they may contain work of others that ran at the same time.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Counters {
    /// Name of the table with the samples.
    pub table: String,
    /// Number of rows that reach into the window.
    pub samples: u64,
    /// Number of those rows without a numeric value, which are not used.
    pub without_value: u64,
    /// Counters, sorted by name.
    pub counters: Vec<Counter>,
}

/// Values of one counter.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Counter {
    /// Name of the counter.
    pub name: String,
    /// Number of the counter in the recording; null if unknown.
    pub id: Option<u64>,
    /// True if the values are percentages (12.5 is 12.5 %); null if unknown.
    pub is_percentage: Option<bool>,
    /// Largest possible value; null if the recording does not tell.
    pub max_value: Option<f64>,
    /// Description of what it counts; null if the recording does not tell.
    pub description: Option<String>,
    /// Values over the window.
    pub window: CounterValues,
    /// Values while the process was busy; null if no sample falls into that time.
    pub busy: Option<CounterValues>,
}

/// Values of a counter over some time. Samples with a duration are weighted by the part of it
/// that lies in that time; without durations all weigh the same.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct CounterValues {
    /// Number of samples in that time.
    pub samples: u64,
    /// Time in nanoseconds that the samples cover, which can be shorter than the time they are
    /// taken from; null if samples have no duration.
    pub covered_ns: Option<u64>,
    /// Smallest value of the samples.
    pub min: f64,
    /// Weighted mean of the samples.
    pub mean: f64,
    /// Weighted median: the smallest value that at least half of the weight does not exceed.
    pub median: f64,
    /// Weighted 95th percentile: the smallest value that at least 95 % of the weight does not
    /// exceed.
    pub p95: f64,
    /// Largest value of the samples.
    pub max: f64,
}

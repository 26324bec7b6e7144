//! The GPU's hardware counters.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Hardware counters. They count the whole GPU, whoever used it: during the
/// target's busy time they may contain others' work that ran beside it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Counters {
    /// The table they come from.
    pub table: String,
    /// Its rows that reach into the window.
    pub samples: u64,
    /// Rows among them without a value that is a number, which count nowhere.
    pub without_value: u64,
    /// The counters, by name.
    pub counters: Vec<Counter>,
}

/// One counter.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Counter {
    /// Its name.
    pub name: String,
    /// Its number in the recording.
    pub id: Option<u64>,
    /// Whether its values are percent (12.5 is 12.5 %); null if the recording does not say.
    pub is_percentage: Option<bool>,
    /// Its largest possible value, where the recording says it.
    pub max_value: Option<f64>,
    /// What it counts, where the recording says it.
    pub description: Option<String>,
    /// Over the window.
    pub window: CounterValues,
    /// While the target was busy; null if no sample falls into that.
    pub busy: Option<CounterValues>,
}

/// The values of a counter over some time. Where samples have a duration, each
/// weighs as much as of its duration lies in that time, else all weigh the same.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct CounterValues {
    /// The samples.
    pub samples: u64,
    /// How long they cover; null of samples without a duration. Samples leave
    /// holes: this is not the length of the time they are taken from.
    pub covered_ns: Option<u64>,
    /// The smallest.
    pub min: f64,
    /// The weighted mean.
    pub mean: f64,
    /// The smallest value that is not below for half the weight.
    pub median: f64,
    /// The smallest value that is not below for 95 % of the weight.
    pub p95: f64,
    /// The largest.
    pub max: f64,
}

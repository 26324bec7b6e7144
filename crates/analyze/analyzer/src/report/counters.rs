//! Types of the GPU's hardware counters.

use metalens_message::{Message, Ns, Share};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::kernels::NamedBy;
use super::known_work::{ChipLimits, ShareRange};

/// Hardware counters of the GPU. They count the work of all processes: during the busy time of
/// the analyzed process they may contain work of others that ran at the same time. A sample is the
/// mean over the time that it covers, which begins at its own time.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Counters {
    /// Name of the table with the samples.
    pub table: String,
    /// Number of rows that reach into the window.
    pub samples: u64,
    /// Number of those rows without a numeric value, which are not used.
    pub without_value: u64,
    /// Number of those rows whose end is unknown, which are not used: the last of each burst.
    pub without_end: u64,
    /// Typical time in nanoseconds that a sample covers; null if unknown.
    pub step_ns: Option<Ns>,
    /// Counters, sorted by name.
    pub counters: Vec<Counter>,
    /// Memory bandwidth while the process was busy; null if it was not counted.
    pub bandwidth: Option<CounterBandwidth>,
    /// Memory bandwidth of the chip in GB/s, as published; null if the chip is unknown.
    pub chip_gb_per_s: Option<ChipLimits>,
    /// Counters in each kernel of the report, in its order.
    pub kernels: Vec<KernelCounters>,
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
    /// Unit of the values; null if it was not recorded.
    pub unit: Option<CounterUnit>,
    /// Description of what it counts; null if it was not recorded.
    pub description: Option<String>,
    /// Values over the window.
    pub window: CounterValues,
    /// Values while the process was busy; null if no sample falls into that time. A sample that
    /// also covers idle time counts with the busy part, but its value is the mean of both.
    pub busy: Option<CounterValues>,
}

/// Unit of a counter's values.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum CounterUnit {
    /// Percent of the most that is possible.
    Percent,
    /// 10^9 bytes per second.
    GigabytesPerSecond,
}

/// Values of a counter over some time, weighted by the part of each sample in that time.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct CounterValues {
    /// Number of samples in that time.
    pub samples: u64,
    /// Time in nanoseconds that the samples cover, which can be shorter than the time they are
    /// taken from.
    pub covered_ns: Option<Ns>,
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

/// Memory bandwidth that the counters show.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct CounterBandwidth {
    /// Mean of what was read, in GB/s.
    pub read_gb_per_s: f64,
    /// Mean of what was written, in GB/s.
    pub write_gb_per_s: f64,
    /// Sum of read and write bandwidth.
    pub gb_per_s: f64,
    /// Share of the sum in the chip's memory bandwidth; null if the chip is unknown.
    pub share: Option<ShareRange>,
}

/// Counters in one kernel, from the samples throughout which this kernel alone ran on the GPU.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct KernelCounters {
    /// Name of the kernel.
    pub name: String,
    /// Channel that it ran on; null if the table has none.
    pub channel: Option<String>,
    /// Source of the name.
    pub named_by: NamedBy,
    /// Number of moments at which such samples were taken.
    pub samples: u64,
    /// Time in nanoseconds that they cover.
    pub covered_ns: Ns,
    /// Units of the GPU by how much they limited the kernel: the first was nearest its peak. Empty
    /// if no limiter was counted.
    pub limiters: Vec<Limiter>,
    /// Mean of each other counter with samples, sorted by name.
    pub means: Vec<CounterMean>,
    /// Memory bandwidth in the kernel; null if it was not counted.
    pub bandwidth: Option<CounterBandwidth>,
    /// Reason why there are no values; null if there are.
    pub why_none: Option<Message>,
}

/// Unit of the GPU that limits a kernel.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Limiter {
    /// Name of the counter.
    pub counter: String,
    /// Mean of its values, in percent: the share of time in which the unit worked or held work up.
    pub mean_pct: f64,
    /// Share of the covered time in which this limiter was the highest of all, from 0 to 1.
    pub highest_share: Share,
}

/// Mean of a counter.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct CounterMean {
    /// Name of the counter.
    pub counter: String,
    /// Unit of the mean; null if it was not recorded.
    pub unit: Option<CounterUnit>,
    /// Mean of its values.
    pub mean: f64,
}

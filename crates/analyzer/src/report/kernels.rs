//! The work by name, by channel and by process.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Work of one name on one channel. An interval that reaches out of the window
/// counts with the part inside.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Kernel {
    /// What it is called.
    pub name: String,
    /// Where it ran: Compute, Vertex, Fragment, …
    pub channel: Option<String>,
    /// What named it.
    pub named_by: NamedBy,
    /// Its share of the summed durations of all kernels, percent.
    pub time_pct: f64,
    /// Its summed durations.
    pub total_ns: u64,
    /// How many intervals.
    pub instances: u64,
    /// Mean duration, to the nearest nanosecond.
    pub avg_ns: u64,
    /// Median duration, nearest rank.
    pub med_ns: u64,
    /// Shortest.
    pub min_ns: u64,
    /// Longest.
    pub max_ns: u64,
    /// Standard deviation of the population.
    pub stddev_ns: u64,
    /// 95 % are not longer, nearest rank.
    pub p95_ns: u64,
    /// 99 % are not longer, nearest rank.
    pub p99_ns: u64,
}

/// The target's work on one channel.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Channel {
    /// Its name; null where the table has none.
    pub name: Option<String>,
    /// Intervals.
    pub intervals: u64,
    /// Their summed durations.
    pub sum_ns: u64,
    /// The length of their union.
    pub busy_ns: u64,
}

/// One process's use of the GPU. Together with the unattributed ones the
/// intervals are all of the recording's.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ProcessFacts {
    /// Its name.
    pub name: String,
    /// Its number.
    pub pid: Option<u32>,
    /// Whether the report is about it.
    pub is_analyzed: bool,
    /// Its intervals in the whole recording.
    pub intervals: u64,
    /// The length of their union.
    pub busy_ns: u64,
    /// Its intervals in the window.
    pub window_intervals: u64,
    /// The length of their union in the window.
    pub window_busy_ns: u64,
}

/// A shader that the recording lists for the target. The list has no times and
/// names no interval: it is an inventory.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
pub struct Shader {
    /// Its function.
    pub name: String,
    /// Its pipeline.
    pub pipeline: Option<String>,
    /// Compute, Vertex, Fragment, …
    pub kind: Option<String>,
}

/// Which source a kernel's name comes from.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "kebab-case")]
pub enum NamedBy {
    /// The shaders that the profiler saw run in it.
    ShaderProfiler,
    /// The label that the program gave the encoder.
    EncoderLabel,
    /// The debug group in which the program encoded it.
    DebugGroup,
    /// The label that the program gave the command buffer.
    CommandBufferLabel,
    /// None: Metal's default labels, or none at all.
    None,
}

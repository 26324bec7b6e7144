//! Types of GPU work by kernel, by channel and by process.

use metalens_message::{Bytes, Factor, Ns};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// GPU work with one name on one channel. An interval that reaches out of the window counts
/// with the part inside.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Kernel {
    /// Name of the kernel; `named_by` tells its origin.
    pub name: String,
    /// Channel that it ran on: Compute, Vertex, Fragment, …; null if the table has none.
    pub channel: Option<String>,
    /// Source of the name.
    pub named_by: NamedBy,
    /// Share of the summed durations of all kernels, in percent.
    pub time_pct: f64,
    /// Summed durations in nanoseconds.
    pub total_ns: Ns,
    /// Number of GPU intervals with this name.
    pub instances: u64,
    /// Mean duration, rounded to the nearest nanosecond.
    pub avg_ns: Ns,
    /// Median duration in nanoseconds, nearest rank.
    pub med_ns: Ns,
    /// Median of the first, the second and the last third of the instances, in nanoseconds: how much it varies
    /// within the run. Null if there are fewer than nine.
    pub med_thirds_ns: Option<[u64; 3]>,
    /// Middles of sixteen equal parts of the sorted durations, in nanoseconds: they tell whether a name has
    /// instances of several lengths. Null if there are fewer than sixteen.
    pub sixteenths_ns: Option<[u64; 16]>,
    /// Shortest duration in nanoseconds.
    pub min_ns: Ns,
    /// Longest duration in nanoseconds.
    pub max_ns: Ns,
    /// Standard deviation of the durations in nanoseconds, of the population.
    pub stddev_ns: Ns,
    /// 95th percentile of the durations in nanoseconds, nearest rank.
    pub p95_ns: Ns,
    /// 99th percentile of the durations in nanoseconds, nearest rank.
    pub p99_ns: Ns,
    /// Number of dispatches in these intervals; null if only their encoders were recorded.
    pub dispatches: Option<u64>,
    /// Registers that the compiler spilled to memory; null if it was not recorded.
    pub spills: Option<KernelSpills>,
    /// Time in nanoseconds for which samples of the shader profiler say which shader ran, without
    /// counting nested samples twice; null if there are none. Shaders name an interval only if
    /// samples cover at least half of it.
    pub shader_ns: Option<Ns>,
}

/// Registers of a kernel that the compiler spilled to memory.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct KernelSpills {
    /// Number of GPU intervals whose encoder ran code with spilled registers.
    pub instances: u64,
    /// Summed durations of these intervals in nanoseconds.
    pub total_ns: Ns,
    /// Largest number of spilled bytes that the compiler reports for one of these encoders; 0 if
    /// there are none.
    pub max_bytes: Bytes,
}

/// GPU work of the process on one channel.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Channel {
    /// Name of the channel; null if the table has none.
    pub name: Option<String>,
    /// Number of GPU intervals of the process on this channel.
    pub intervals: u64,
    /// Summed durations in nanoseconds.
    pub sum_ns: Ns,
    /// Busy time of the channel in nanoseconds: the length of the union of its intervals.
    pub busy_ns: Ns,
}

/// GPU use of one process. The intervals of all processes and the unattributed ones together
/// are all intervals of the recording.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ProcessFacts {
    /// Name of the process.
    pub name: String,
    /// Process id; null if unknown.
    pub pid: Option<u32>,
    /// True if the report is about this process.
    pub is_analyzed: bool,
    /// Number of its GPU intervals in the whole recording.
    pub intervals: u64,
    /// Busy time in the whole recording in nanoseconds.
    pub busy_ns: Ns,
    /// Number of its GPU intervals in the window.
    pub window_intervals: u64,
    /// Busy time in the window in nanoseconds.
    pub window_busy_ns: Ns,
}

/// Shader that the recording lists for the process. The list has no times: it is an inventory.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
pub struct Shader {
    /// Name of the shader function.
    pub name: String,
    /// Name of the pipeline; null if unknown.
    pub pipeline: Option<String>,
    /// Kind of shader: Compute, Vertex, Fragment, …; null if unknown.
    pub kind: Option<String>,
    /// Number of its dispatches in the whole recording; null if they were not recorded.
    pub dispatches: Option<u64>,
}

/// Source of a kernel's name.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "kebab-case")]
pub enum NamedBy {
    /// The shader profiler: the shaders that it saw run in the interval.
    ShaderProfiler,
    /// The functions that the program dispatched, as its command-buffer log says.
    Dispatches,
    /// The label that the program gave the encoder.
    EncoderLabel,
    /// The debug group in which the program encoded the work.
    DebugGroup,
    /// The label that the program gave the command buffer.
    CommandBufferLabel,
    /// Nothing names the work: the interval has one of Metal's default labels, or none.
    None,
}

/// Moment from which kernels take longer than before it. Counted are kernels with a name, a hundredth of the
/// GPU time, and twelve intervals on each side.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Slowdown {
    /// Moment in nanoseconds since the recording began; null if they become longer little by little.
    pub at_ns: Option<Ns>,
    /// Number of counted kernels.
    pub kernels: u64,
    /// Number of those that take longer, by more than a twentieth and their noise.
    pub longer: u64,
    /// Smallest factor by which these take longer.
    pub least: Factor,
    /// Largest factor by which these take longer.
    pub most: Factor,
    /// Name of the kernel that becomes longer by the most time.
    pub kernel: String,
}

impl Slowdown {
    /// Returns whether all kernels take longer, and none is left to tell a lower clock from more work.
    pub fn is_of_all(&self) -> bool {
        self.kernels > 1 && self.longer == self.kernels
    }
}

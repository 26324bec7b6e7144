//! Types of the distribution of GPU time: durations, overlap and outliers.

use metalens_message::{Ns, Share};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::occupancy::Bucket;
use super::summary::Distribution;

/// Distribution of the GPU time of the process. All figures are inside the window; an interval
/// that reaches out of it counts with the part inside. Command buffers are not cut at the
/// window.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Shape {
    /// GPU intervals of the process by duration.
    pub durations: Durations,
    /// GPU intervals that are shorter than the cost of submitting them.
    pub short: ShortIntervals,
    /// Time during which two channels of the process were busy at once, for each pair of its eight
    /// busiest channels. Empty if the process used only one.
    pub overlap: Vec<ChannelOverlap>,
    /// Utilization in up to 60 equal parts of the window, in order; the parts tile it exactly.
    pub utilization: Vec<UtilizationChunk>,
    /// Command buffers of the process.
    pub command_buffers: CommandBuffers,
    /// GPU intervals far longer than others of the same name.
    pub outliers: Outliers,
}

/// GPU intervals of the process by duration.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Durations {
    /// Number of GPU intervals of the process.
    pub count: u64,
    /// Summed durations in nanoseconds.
    pub total_ns: Ns,
    /// Histogram of durations. Its counts sum to `count`, its totals to `total_ns`.
    pub histogram: Vec<Bucket>,
}

/// GPU intervals that are shorter than the cost of submitting them.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ShortIntervals {
    /// Limit in nanoseconds; an interval below it is short.
    pub limit_ns: Ns,
    /// Number of short intervals.
    pub count: u64,
    /// Summed durations of the short intervals, in nanoseconds.
    pub total_ns: Ns,
    /// `count` divided by the number of intervals of the process; null if it has none.
    pub count_ratio: Option<Share>,
    /// Length of the union of the short intervals divided by the busy time of the process; null if
    /// it was never busy.
    pub busy_ratio: Option<Share>,
    /// Kernels with a short median duration, most instances first. At most five.
    pub kernels: Vec<ShortKernel>,
}

/// Kernel with a short median duration.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ShortKernel {
    /// Name of the kernel.
    pub name: String,
    /// Channel that it ran on; null if the table has none.
    pub channel: Option<String>,
    /// Number of its intervals, short or not.
    pub instances: u64,
    /// Summed durations in nanoseconds.
    pub total_ns: Ns,
    /// Median duration in nanoseconds.
    pub median_ns: Ns,
}

/// Time during which two channels of the process were busy at once.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ChannelOverlap {
    /// Name of the first channel; null if the table has none.
    pub first: Option<String>,
    /// Name of the second channel; null if the table has none.
    pub second: Option<String>,
    /// Time in nanoseconds during which both were busy.
    pub overlap_ns: Ns,
    /// `overlap_ns` divided by the busy time of the less busy channel; null if it was never busy.
    pub ratio: Option<Share>,
}

/// Utilization of the GPU in one of the equal parts of the window.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct UtilizationChunk {
    /// Start of the part, in nanoseconds since the recording began. It ends where the next part
    /// starts, the last one at the end of the window.
    pub start_ns: Ns,
    /// Busy time of the process in nanoseconds. These sum to `busy.busy_ns`.
    pub busy_ns: Ns,
    /// Busy time of other processes in nanoseconds. These sum to `busy.others_busy_ns`.
    pub others_ns: Ns,
}

/// Command buffers of the process with at least one interval in the window. Encoders and span
/// include the intervals outside the window.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct CommandBuffers {
    /// Number of command buffers.
    pub count: u64,
    /// Smallest number of distinct encoders in a command buffer; null if there is no command
    /// buffer, or no interval that names its encoder.
    pub min_encoders: Option<u64>,
    /// Median number of distinct encoders in a command buffer; null likewise.
    pub median_encoders: Option<u64>,
    /// Largest number of distinct encoders in a command buffer; null likewise.
    pub max_encoders: Option<u64>,
    /// Time from the start of a buffer's first interval to the end of its last; null if there is no
    /// command buffer.
    pub span: Option<Distribution>,
    /// Number of gaps inside a command buffer: the intervals before and after are of the same one.
    /// Larger command buffers cannot close these gaps.
    pub gaps_inside: u64,
    /// Summed length of those gaps in nanoseconds. The rest of the idle time is between command
    /// buffers.
    pub gaps_inside_ns: Ns,
}

/// GPU intervals far longer than others of the same name: more than five times the median of
/// their kernel. Only kernels with at least ten instances have them, and only if no more than one
/// instance in twenty is so long: otherwise that is a usual length.
#[derive(Debug, Default, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Outliers {
    /// Number of such intervals.
    pub count: u64,
    /// Summed time in nanoseconds by which they exceed the medians of their kernels.
    pub excess_ns: Ns,
    /// Intervals that exceed the median of their kernel the most, at most ten.
    pub top: Vec<Outlier>,
}

/// GPU interval far longer than others of the same name.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Outlier {
    /// Name of the kernel.
    pub name: String,
    /// Channel that it ran on; null if the table has none.
    pub channel: Option<String>,
    /// Start of the interval, in nanoseconds since the recording began.
    pub start_ns: Ns,
    /// Duration of the interval in nanoseconds.
    pub duration_ns: Ns,
    /// Median duration of its kernel in nanoseconds.
    pub median_ns: Ns,
}

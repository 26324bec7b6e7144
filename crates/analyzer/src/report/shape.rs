//! Where the target's GPU time is: how long its work takes, what overlaps,
//! what repeats, what stands out.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::occupancy::Bucket;
use super::summary::Distribution;

/// Where the target's GPU time is. Everything here is inside the window; an
/// interval that reaches out of it counts with the part inside. The window does not
/// cut command buffers.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Shape {
    /// The target's intervals by how long they took.
    pub durations: Durations,
    /// Those that are too short to be worth their launch.
    pub short: Short,
    /// How long each two of the target's channels were busy at once; of the
    /// eight busiest channels. Empty if the target used only one.
    pub overlap: Vec<ChannelOverlap>,
    /// The window in equal parts, in order; they tile it exactly. At most 60.
    pub utilization: Vec<Chunk>,
    /// The target's command buffers.
    pub command_buffers: CommandBuffers,
    /// Runs of labelled kernels on the Compute channel that repeat back to
    /// back: what could be fused. The one that covers most first, at most
    /// five; one may lie inside another. Empty if nothing repeats more than
    /// chance would have it.
    pub sequences: Vec<Sequence>,
    /// Intervals far longer than others of the same name.
    pub outliers: Outliers,
}

/// The target's intervals by how long they took.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Durations {
    /// How many: all of the target's.
    pub count: u64,
    /// Their summed durations.
    pub total_ns: u64,
    /// By duration. The counts sum to `count`, the totals to `total_ns`.
    pub histogram: Vec<Bucket>,
}

/// The intervals that are too short to be worth their launch.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Short {
    /// Shorter than this is short.
    pub limit_ns: u64,
    /// How many are.
    pub count: u64,
    /// Their summed durations.
    pub total_ns: u64,
    /// count / the target's intervals; null if it has none.
    pub count_ratio: Option<f64>,
    /// The length of their union / the target's busy time; null if it was never busy.
    pub busy_ratio: Option<f64>,
    /// The kernels whose median is short, most instances first. At most five.
    pub kernels: Vec<ShortKernel>,
}

/// A kernel whose median duration is short.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ShortKernel {
    /// What it is called.
    pub name: String,
    /// Where it ran.
    pub channel: Option<String>,
    /// How many intervals it has, short or not.
    pub instances: u64,
    /// Their summed durations.
    pub total_ns: u64,
    /// Their median duration.
    pub median_ns: u64,
}

/// How long two channels of the target were busy at once.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ChannelOverlap {
    /// One channel; null where the table has no name.
    pub first: Option<String>,
    /// The other.
    pub second: Option<String>,
    /// How long both were busy.
    pub overlap_ns: u64,
    /// overlap / the busy time of the less busy of the two; null if that is none.
    pub ratio: Option<f64>,
}

/// An equal part of the window.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Chunk {
    /// Its first nanosecond; it ends where the next begins, the last one where
    /// the window ends.
    pub start_ns: u64,
    /// How long the target was busy in it. These sum to `busy.busy_ns`.
    pub busy_ns: u64,
    /// How long others were. These sum to `busy.others_busy_ns`.
    pub others_ns: u64,
}

/// The target's command buffers with at least one interval in the window. Encoders and
/// span include the intervals outside the window.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct CommandBuffers {
    /// How many.
    pub count: u64,
    /// Distinct encoders per command buffer: the fewest. Null if there is no
    /// buffer, or no interval that names its encoder.
    pub min_encoders: Option<u64>,
    /// The median.
    pub median_encoders: Option<u64>,
    /// The most.
    pub max_encoders: Option<u64>,
    /// From the start of a buffer's first interval to the end of its last.
    pub span: Option<Distribution>,
    /// Gaps of the target inside a buffer: the interval before and the one
    /// after are of the same. Committing in larger batches cannot close them.
    pub gaps_inside: u64,
    /// Their summed length. The rest of the idle time is between buffers.
    pub gaps_inside_ns: u64,
}

/// A run of kernels that repeats back to back.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Sequence {
    /// The kernels in order. It begins where it was first seen to repeat; a
    /// cycle has no beginning of its own.
    pub kernels: Vec<String>,
    /// How often it ran, counting only where it ran at least twice in a row.
    pub repetitions: u64,
    /// The intervals that are part of one.
    pub intervals: u64,
    /// intervals / the target's intervals on the Compute channel.
    pub ratio: f64,
    /// When it first began.
    pub start_ns: u64,
    /// Summed durations of these intervals.
    pub total_ns: u64,
    /// The target's idle time between members of the same repetition: what
    /// fusing a repetition into one would save at most, beside its launches.
    pub idle_inside_ns: u64,
    /// The target's idle time between one repetition and the next one that
    /// follows it directly.
    pub idle_between_ns: u64,
}

/// Intervals far longer than others of the same name: more than five times
/// their kernel's median, and not below its 99th percentile, in kernels of at
/// least ten instances.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Outliers {
    /// How many there are.
    pub count: u64,
    /// What they took beyond their kernels' medians, summed.
    pub excess_ns: u64,
    /// Those that took the longest beyond their kernel's median, at most ten.
    pub top: Vec<Outlier>,
}

/// An interval far longer than others of the same name.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Outlier {
    /// The kernel.
    pub name: String,
    /// Where it ran.
    pub channel: Option<String>,
    /// When it began.
    pub start_ns: u64,
    /// How long it took.
    pub duration_ns: u64,
    /// The median of its kernel.
    pub median_ns: u64,
}

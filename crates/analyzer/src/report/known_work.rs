//! What is known of the work that kernels do, and what follows from it.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::NoteDetail;
use crate::basics::message::PlacedValue;

/// How fast work went whose amount a file tells. Nothing here is measured but
/// the time: the amounts are the file's.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Work {
    /// The file that tells the amounts, as it was given.
    pub file: String,
    /// The chip that ran it; null if the GPU has no name, or none that is known.
    pub chip: Option<ChipFacts>,
    /// One entry per kernel; one for all that share a total. The most GPU time first.
    pub rows: Vec<WorkRow>,
    /// All rows together, over the window.
    pub all: WorkRates,
    /// Kernels of the report of which the file says nothing, by name.
    pub kernels_without: Vec<String>,
    /// Labels in the file that no kernel of the report has.
    pub labels_without: Vec<String>,
    /// The program's own timings against the trace's. Null if the file has none.
    pub timings: Option<TimingCheck>,
    /// What a reader should know about these numbers.
    pub notes: Vec<String>,
    /// Id, severity and values of each of `notes`.
    #[serde(default)]
    pub note_details: Vec<NoteDetail>,
}

/// Known work.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct WorkRow {
    /// The label in the file.
    pub label: String,
    /// The kernels that it is about, as the report calls them.
    pub kernels: Vec<String>,
    /// Where they ran, if all of them in one place.
    pub channel: Option<String>,
    /// Their intervals in the window. One that reaches out of it counts whole.
    pub instances: u64,
    /// Their summed durations in the window.
    pub total_ns: u64,
    /// Over their summed durations: how fast the GPU was while at it.
    pub gpu_time: WorkRates,
    /// Over the window: how fast it came along, idle time and all.
    pub window: WorkRates,
    /// Bytes per second of GPU time / the chip's memory bandwidth.
    pub bandwidth_share: Option<Share>,
    /// Flops per second of GPU time / the chip's peak of FP32.
    pub peak_share: Option<Share>,
}

/// Amounts of work and their rates. Null where the file gives no amount.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct WorkRates {
    /// What the rates are over.
    pub over_ns: u64,
    /// Operations: dispatches, or what the file means by the word.
    pub operations: Option<u64>,
    /// Bytes read and written.
    pub bytes: Option<u64>,
    /// Floating-point operations.
    pub flops: Option<u64>,
    /// Operations per second.
    pub operations_per_s: Option<f64>,
    /// Bytes per second, in 10^9.
    pub gb_per_s: Option<f64>,
    /// Flops per second, in 10^12.
    pub tflop_per_s: Option<f64>,
}

/// A share of something that is known within limits only, since chips of one
/// name differ. Above 1 means that the file's amount, or the limit, does not
/// apply: caches deliver more than memory does, for one.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Share {
    /// Of the most that a chip of this name has.
    pub at_least: f64,
    /// Of the least that a chip of this name has.
    pub at_most: f64,
}

/// What is known of a chip from its maker's published figures.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ChipFacts {
    /// `Apple M1 Max`.
    pub name: String,
    /// What named it.
    pub named_by: ChipNamedBy,
    /// The numbers of GPU cores that it is sold with, or the one that the file tells.
    pub gpu_cores: Vec<u32>,
    /// Its memory bandwidth, GB/s.
    pub bandwidth_gb_s: Option<ChipLimits>,
    /// Its peak of FP32, TFLOP/s: cores × 128 × 2 × clock, at the highest clock,
    /// without matrix units. Null where no clock is published.
    pub peak_tflops: Option<ChipLimits>,
}

/// What named a chip.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum ChipNamedBy {
    /// The recording.
    Recording,
    /// The file with the known work.
    WorkFile,
}

/// Between what a figure lies.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ChipLimits {
    /// The least.
    pub min: f64,
    /// The most.
    pub max: f64,
}

/// The GPU time of command buffers as the program saw it, against the trace's.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct TimingCheck {
    /// Timings in the file.
    pub timings: u64,
    /// The target's command buffers in the whole recording.
    pub command_buffers: u64,
    /// How many were compared.
    pub matched: u64,
    /// What paired them.
    pub matched_by: TimingOrder,
    /// What it comes to.
    pub verdict: TimingVerdict,
    /// The same in words.
    pub why: String,
    /// Values of `why`, in the order in which they stand in it.
    #[serde(default)]
    pub why_values: Vec<PlacedValue>,
    /// The median of |trace - program| / program, of durations.
    pub median_drift: Option<f64>,
    /// The median of (trace - program) / program: which of them is longer.
    pub median_bias: Option<f64>,
    /// From the first start to the last: (trace - program) / program. It shows
    /// whether the two clocks run alike, and whether the right ones were paired.
    pub clock_drift: Option<f64>,
    /// The command buffers that drift most, at most five.
    pub worst: Vec<TimingDrift>,
}

/// What pairs the file's timings with the trace's command buffers.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum TimingOrder {
    /// Their numbers in order of commit, as the file tells them.
    Number,
    /// Their order: the first with the first.
    Order,
}

/// What the comparison of timings comes to.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum TimingVerdict {
    /// At most 5 % apart.
    Fine,
    /// At most 10 % apart.
    Noted,
    /// More: a fault of a clock, of the recording, or of the pairing.
    ClockFault,
    /// Nothing could be paired.
    NotComparable,
}

/// One command buffer's two durations.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct TimingDrift {
    /// Its number in order of commit, from 0.
    pub command_buffer: u64,
    /// What the file calls it.
    pub label: Option<String>,
    /// From its first interval's start to its last one's end, in the trace.
    pub trace_ns: u64,
    /// What the program saw.
    pub program_ns: u64,
    /// (trace - program) / program.
    pub drift: f64,
}

//! Types of the throughput of kernels whose amount of work is known.

use metalens_message::{Bytes, Message, Ns, Share};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::Note;

/// Id of the note that says why the least time of a step's work is unknown.
pub(crate) const ROOF_UNKNOWN: &str = "roof-unknown";

/// Throughput of kernels whose amount of work a file gives. Only the time is measured; the
/// amounts are taken from the file.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct WorkThroughput {
    /// Path of the file with the amounts, as it was given.
    pub file: String,
    /// Chip that ran the work; null if the GPU has no name, or none that is known.
    pub chip: Option<ChipFacts>,
    /// One row per kernel, or one for all kernels that share a total; the most GPU time first.
    pub rows: Vec<WorkRow>,
    /// Sum of all rows, with rates over the window.
    pub all: WorkRates,
    /// Least time of a step's work; null if the file has no work of a step, or no limit is known.
    pub step: Option<StepRoof>,
    /// Names of kernels in the report that the file does not describe.
    pub kernels_without: Vec<String>,
    /// Labels in the file that no kernel of the report has.
    pub labels_without: Vec<String>,
    /// Notes that a reader needs to interpret these numbers.
    pub notes: Vec<Note>,
}

impl WorkThroughput {
    /// Returns why the least time of a step's work is unknown, or known in part; `None` if it is known, or if
    /// no work of a step is given.
    pub fn why_no_roof(&self) -> Option<&Message> {
        let note = self.notes.iter().find(|note| note.id == ROOF_UNKNOWN);
        note.map(|note| &note.message)
    }
}

/// Throughput of one kernel, or of the kernels that share one total.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct WorkRow {
    /// Label of the work in the file.
    pub label: String,
    /// Names of the kernels that the label describes, as the report has them.
    pub kernels: Vec<String>,
    /// Channel of these kernels; null if they ran on several, or on one without a name.
    pub channel: Option<String>,
    /// Number of their intervals in the window. One that reaches out of it counts whole.
    pub instances: u64,
    /// Summed durations in the window, in nanoseconds.
    pub total_ns: Ns,
    /// Rates over the summed durations: the speed of the GPU during this work.
    pub gpu_time: WorkRates,
    /// Rates over the window, with all idle time: the speed of the program.
    pub window: WorkRates,
    /// Bytes per second of GPU time divided by the chip's memory bandwidth; null if one is unknown.
    pub bandwidth_share: Option<ShareRange>,
    /// Flops per second of GPU time divided by the chip's FP32 peak; null if one is unknown.
    pub peak_share: Option<ShareRange>,
}

/// Least time that the work of a step takes at the limits of the fastest chip of this name.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct StepRoof {
    /// Number of bytes that a step reads and writes; null if the file does not give it.
    pub bytes: Option<Bytes>,
    /// Number of floating-point operations of a step; null if the file does not give it.
    pub flops: Option<u64>,
    /// Limit that the work reaches last.
    pub limit: RoofLimit,
    /// Least time of the work in nanoseconds.
    pub roof_ns: Ns,
    /// Rest of the GPU time of the typical step, in nanoseconds; null if all of it is less than the least time,
    /// so that the amount or the limit does not apply.
    pub above_ns: Option<Ns>,
}

/// Limit of a chip.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum RoofLimit {
    /// The bandwidth of its memory.
    Memory,
    /// The peak of its FP32 units.
    Arithmetic,
}

/// Amounts of work and their rates. A field is null if the file gives no such amount.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct WorkRates {
    /// Number of operations: dispatches, or what the file counts as one.
    pub operations: Option<u64>,
    /// Number of bytes read and written.
    pub bytes: Option<Bytes>,
    /// Number of floating-point operations.
    pub flops: Option<u64>,
    /// Rate in operations per second.
    pub operations_per_s: Option<f64>,
    /// Rate in 10^9 bytes per second.
    pub gb_per_s: Option<f64>,
    /// Rate in 10^12 floating-point operations per second.
    pub tflop_per_s: Option<f64>,
}

/// Bounds of a share of something that is known only within limits, since chips of one name
/// differ. Above 1, the file's amount or the limit does not apply: for example, caches deliver
/// more than memory does.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ShareRange {
    /// Share of the most that a chip of this name has.
    pub at_least: Share,
    /// Share of the least that a chip of this name has.
    pub at_most: Share,
}

/// Facts about a chip, from its maker's published figures.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ChipFacts {
    /// Name of the chip, such as `Apple M1 Max`.
    pub name: String,
    /// Source of the chip's name.
    pub named_by: ChipNamedBy,
    /// Numbers of GPU cores that it is sold with, or the one number that the file gives.
    pub gpu_cores: Vec<u32>,
    /// Memory bandwidth in GB/s; null if none is published.
    pub bandwidth_gb_s: Option<ChipLimits>,
    /// FP32 peak in TFLOP/s, without matrix units: cores × 128 × 2 × clock, at the highest clock.
    /// Null if no clock is published.
    pub peak_tflops: Option<ChipLimits>,
}

/// Source of a chip's name.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum ChipNamedBy {
    /// The recording names the chip.
    Recording,
    /// The file with the known work names the chip.
    WorkFile,
}

/// Limits of a figure that differs between chips of one name.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ChipLimits {
    /// Smallest value that such a chip has.
    pub min: f64,
    /// Largest value that such a chip has.
    pub max: f64,
}

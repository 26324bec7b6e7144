//! Defines the truth about a run as data.

use serde::{Deserialize, Serialize};

use super::kernels::Kernel;
use super::latency::{Latency, Queue};
use super::ledger::Ledger;
use crate::optional::{OptionalTruth, is_zero};
use crate::plan::sweep::Window;

/// The content of the file beside the export: its mark, and one truth per run.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct TruthFile {
    /// Name and version of the crate that made it.
    pub synthetic: String,
    /// Truths of the runs, in order.
    pub runs: Vec<Truth>,
}

/// The exact figures of one run, as an analysis must compute them.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Truth {
    /// Number of the run, from 1.
    pub run: u32,
    /// Duration of the run, in nanoseconds.
    pub duration_ns: u64,
    /// Process that the run is about; null if no process used the GPU of a whole-machine run.
    pub process: Option<Target>,
    /// First start to last end of the process's rows; null without rows.
    pub window: Option<Window>,
    /// Counts of rows, encoders, command buffers and kernels.
    pub counts: Counts,
    /// Use of the GPU inside the window.
    pub busy: Option<Busy>,
    /// Parts of the window without a row of the process.
    pub gaps: Option<Gaps>,
    /// Rows of the process by name and channel: longest total first, then by name and channel.
    pub kernels: Vec<Kernel>,
    /// Rows of the process by channel, ordered by name.
    pub channels: Vec<Channel>,
    /// Use of the GPU by each process in the whole recording: busiest first, then by name and pid.
    pub processes: Vec<ProcessShare>,
    /// Idle time by cause, by the encoder list alone.
    pub idle: Option<Ledger>,
    /// Idle time by cause if encoders that the list lost are found among the application's
    /// intervals; absent if that changes nothing.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub recovered_idle: Option<Ledger>,
    /// Submission and completion latency; null without a window, like the queue.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub latency: Option<Latency>,
    /// Queue depth inside the window.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub queue: Option<Queue>,
    /// Number of the process's command buffers that ended in an error.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub errors: u64,
    /// Figures of the optional parts.
    #[serde(flatten)]
    pub optional: OptionalTruth,
}

/// The process that a run is about.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Target {
    /// Name of the process.
    pub name: String,
    /// Process id, unique in the run.
    pub pid: u32,
    /// Reason why the run is about this process.
    pub chosen_by: ChosenBy,
}

/// The reason why a process is the one that a run is about.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum ChosenBy {
    /// The recorder started it.
    Launched,
    /// The recorder attached to it.
    Attached,
    /// No process was named, and it used the GPU longest.
    Busiest,
}

/// Counts of rows, encoders, command buffers and kernels.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Counts {
    /// Rows of the process.
    pub intervals: u64,
    /// Distinct encoder ids in these rows.
    pub encoders: u64,
    /// Distinct command buffer ids in these rows.
    pub command_buffers: u64,
    /// Number of entries in [`Truth::kernels`].
    pub kernels: u64,
    /// Rows of all processes.
    pub all_intervals: u64,
    /// Rows without a process.
    pub unattributed: u64,
}

/// Use of the GPU inside the window. A row of any other process is "foreign".
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Busy {
    /// Time with a row of the process.
    pub busy_ns: u64,
    /// Sum of the durations of the process's rows.
    pub sum_ns: u64,
    /// Share of `busy_ns` in the window's span.
    pub ratio: f64,
    /// Ratio of `sum_ns` to `busy_ns`: above 1 if rows overlap.
    pub overlap_factor: f64,
    /// Time with a row of any process.
    pub machine_busy_ns: u64,
    /// Time that the state table calls active.
    pub machine_active_ns: u64,
    /// Time with a foreign row.
    pub others_busy_ns: u64,
    /// Time with a row of the process and a foreign one.
    pub others_overlap_ns: u64,
}

/// The gaps and their lengths. Percentiles are nearest-rank.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Gaps {
    /// Number of gaps in the window.
    pub count: u64,
    /// Sum of their lengths: the window's span minus `busy_ns`.
    pub total_ns: u64,
    /// Mean length, rounded to the nearest nanosecond, halves up.
    pub mean_ns: Option<u64>,
    /// Median of the gaps' lengths.
    pub median_ns: Option<u64>,
    /// 95th percentile of the lengths.
    pub p95_ns: Option<u64>,
    /// 99th percentile of the lengths.
    pub p99_ns: Option<u64>,
    /// Length of the longest gap.
    pub max_ns: Option<u64>,
    /// Number of gaps shorter than a microsecond.
    pub below_1us: u64,
    /// Number and total length of the gaps in each range of lengths.
    pub histogram: Vec<HistogramBin>,
}

/// The gaps from `from_ns` up to but not including `to_ns`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct HistogramBin {
    /// Shortest length in the bin.
    pub from_ns: u64,
    /// Shortest length that is too long for the bin; `null` in the last bin, which has no end.
    pub to_ns: Option<u64>,
    /// Number of gaps in the bin.
    pub count: u64,
    /// Sum of their lengths.
    pub total_ns: u64,
}

/// Use of one channel by the process.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Channel {
    /// Name of the channel.
    pub name: String,
    /// Rows of the process on it.
    pub intervals: u64,
    /// Sum of their durations.
    pub sum_ns: u64,
    /// Time with at least one of these rows.
    pub busy_ns: u64,
}

/// Use of the GPU by one process in the whole recording.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ProcessShare {
    /// Name of the process.
    pub name: String,
    /// Process id, unique in the run.
    pub pid: u32,
    /// Rows of the process.
    pub intervals: u64,
    /// Time with at least one of these rows.
    pub busy_ns: u64,
}

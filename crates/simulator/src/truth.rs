//! What an analysis of the export must find, counted from the plan itself.
//!
//! All times are integer nanoseconds and all intervals half-open. Absent is not zero: a target
//! that never reached the GPU has no window, and a window without gaps has no median gap.

mod beside;
mod counting;
mod kernels;
mod ledger;
mod sweep;
mod tally;

use serde::{Deserialize, Serialize};

use crate::error::Error;
use crate::plan;
use crate::scenario::Scenario;
pub use beside::{Allocated, InState, Latency, Queue, ShaderTotal, SignpostTotal, Spread, States};
pub(crate) use counting::of;
pub use kernels::{Kernel, NamedBy};
pub use ledger::Ledger;

/// The file beside the export: marked, and one truth per run.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct TruthFile {
    /// Who made it up.
    pub synthetic: String,
    /// One per run, in order.
    pub runs: Vec<Truth>,
}

/// What is true of one run.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Truth {
    /// The run's number, from 1.
    pub run: u32,
    /// The run's own length.
    pub duration_ns: u64,
    /// The process the run is about; none when nobody used the GPU of a whole-machine run.
    pub target: Option<Target>,
    /// First start to last end of the target's rows; none without rows.
    pub window: Option<Window>,
    /// How much there is.
    pub counts: Counts,
    /// Who held the GPU inside the window.
    pub busy: Option<Busy>,
    /// The stretches of the window without a row of the target's.
    pub gaps: Option<Gaps>,
    /// The target's rows by name and channel: longest total first, then by name and channel.
    pub kernels: Vec<Kernel>,
    /// The target's rows by channel, in the order of their names.
    pub channels: Vec<Channel>,
    /// Who used the GPU during the whole recording: busiest first, then by name and pid.
    pub processes: Vec<ProcessShare>,
    /// Where the gaps' time went, by the encoder list alone.
    pub ledger: Option<Ledger>,
    /// The same when encoders that the list lost are found among the application's intervals;
    /// absent when that changes nothing.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub recovered_ledger: Option<Ledger>,
    /// How long work and news were under way; none without a window, as with all that follows.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub latency: Option<Latency>,
    /// How much was queued.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub queue: Option<Queue>,
    /// The GPU's performance states.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub performance: Option<States>,
    /// The device's thermal states.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub thermal: Option<States>,
    /// The target's memory.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub memory: Option<Allocated>,
    /// Signposts of all processes in the whole recording, by pid and name.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub signposts: Vec<SignpostTotal>,
    /// The target's shaders, when the shader timeline was recorded.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub shaders: Vec<ShaderTotal>,
    /// The target's command buffers that ended in an error.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub errors: u64,
    /// The target's hangs that touch the window.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub hangs: u64,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde asks for it so")]
fn is_zero(count: &u64) -> bool {
    *count == 0
}

/// The process a run is about.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Target {
    /// Its name.
    pub name: String,
    /// Its process id.
    pub pid: u32,
    /// Why it is the target.
    pub how: How,
}

/// Why a process is the target.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum How {
    /// The recorder started it.
    Launched,
    /// The recorder found it running.
    Attached,
    /// Nobody was named; it held the GPU longest.
    Busiest,
}

/// First start to last end of the target's rows.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Window {
    /// First start.
    pub start_ns: u64,
    /// Last end.
    pub end_ns: u64,
    /// Their difference.
    pub span_ns: u64,
}

/// How much there is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Counts {
    /// The target's rows.
    pub intervals: u64,
    /// Distinct encoder ids among them.
    pub encoders: u64,
    /// Distinct command buffer ids among them.
    pub command_buffers: u64,
    /// Entries of [`Truth::kernels`].
    pub kernels: u64,
    /// Rows of all processes.
    pub all_intervals: u64,
    /// Rows without a process.
    pub unattributed: u64,
}

/// Who held the GPU inside the window. "Foreign" is every row that is not the target's.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Busy {
    /// Time with a row of the target's.
    pub busy_ns: u64,
    /// Durations of the target's rows, added up.
    pub sum_ns: u64,
    /// `busy_ns` of the window's span.
    pub ratio: f64,
    /// `sum_ns` of `busy_ns`: above 1 when rows overlap.
    pub overlap_factor: f64,
    /// Time with any row.
    pub machine_busy_ns: u64,
    /// Time the state table calls active.
    pub machine_active_ns: u64,
    /// Time with a foreign row.
    pub others_busy_ns: u64,
    /// Time with both.
    pub others_overlap_ns: u64,
}

/// The gaps, and how long they are. Percentiles are nearest-rank.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Gaps {
    /// How many.
    pub count: u64,
    /// Their time, added up: the window's span less `busy_ns`.
    pub total_ns: u64,
    /// Rounded to the nearest nanosecond, halves up.
    pub mean_ns: Option<u64>,
    /// The middle one.
    pub median_ns: Option<u64>,
    /// The 95th percentile.
    pub p95_ns: Option<u64>,
    /// The 99th percentile.
    pub p99_ns: Option<u64>,
    /// The longest.
    pub max_ns: Option<u64>,
    /// How many are shorter than a microsecond.
    pub below_1us: u64,
    /// How many are how long.
    pub histogram: Vec<HistogramBin>,
}

/// Gaps of `from_ns` up to but not including `to_ns`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct HistogramBin {
    /// The shortest it takes.
    pub from_ns: u64,
    /// The first too long for it; open when absent.
    pub to_ns: Option<u64>,
    /// How many gaps.
    pub count: u64,
    /// Their time, added up.
    pub total_ns: u64,
}

/// The target's use of one channel.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Channel {
    /// The channel.
    pub name: String,
    /// The target's rows on it.
    pub intervals: u64,
    /// Their durations, added up.
    pub sum_ns: u64,
    /// Time with at least one of them.
    pub busy_ns: u64,
}

/// One process's use of the GPU, over the whole recording.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ProcessShare {
    /// Its name.
    pub name: String,
    /// Its process id.
    pub pid: u32,
    /// Its rows.
    pub intervals: u64,
    /// Time with at least one of them.
    pub busy_ns: u64,
}

/// The truth of every run, without writing anything.
///
/// # Errors
/// [`Error::Field`] when the scenario is not possible.
pub fn truths(scenario: &Scenario) -> Result<Vec<Truth>, Error> {
    scenario.validate()?;
    (1..=scenario.runs)
        .map(|run| plan::plan(scenario, run).map(|plan| of(&plan)))
        .collect()
}

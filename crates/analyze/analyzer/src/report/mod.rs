//! Types of the report: everything an analysis finds, as plain data.
//!
//! The JSON form is a contract: keys stay, new ones may come. All times are whole nanoseconds;
//! points in time count from the start of the recording. `null` means unknown or undefined,
//! never zero.

mod bound;
mod counters;
mod cpu;
mod engines;
mod gate;
mod heap;
mod idle;
mod judged;
mod kernels;
mod known_work;
mod machine;
mod memory;
mod messages;
mod mixes;
mod occupancy;
mod phases;
mod recording;
mod replay;
mod sanity;
mod shape;
mod steps;
mod summary;
mod verdicts;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

pub use bound::*;
pub use counters::*;
pub use cpu::*;
pub use engines::*;
pub use gate::*;
pub use heap::*;
pub use idle::*;
pub use judged::*;
pub use kernels::*;
pub use known_work::*;
pub use machine::*;
pub use memory::*;
pub use messages::*;
pub use mixes::*;
pub use occupancy::*;
pub use phases::*;
pub use recording::*;
pub use replay::*;
pub use sanity::*;
pub use shape::*;
pub use steps::*;
pub use summary::*;
pub use verdicts::*;

/// Name of the report's schema; its number rises when a key is removed or changes meaning.
pub const SCHEMA: &str = "metalens.report/2";

/// Size limit of a report, a comparison, a baseline or a manifest, in bytes: metalens writes none
/// that is nearly as long.
pub const LONGEST_REPORT: u64 = 256 << 20;

/// Report about the GPU work of one process, or of several, in one recording.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Report {
    /// Name and version of this schema: `metalens.report/2`.
    pub schema: String,
    /// Summary of the report in four sentences.
    pub summary: Summary,
    /// Verdict in a word: what bounds the program.
    pub verdict: BoundVerdict,
    /// Input that was read, and the reader that read it.
    pub source: Source,
    /// Facts about the recording and the recorded machine.
    pub run: RunFacts,
    /// Process or processes that the report is about.
    pub process: AnalyzedProcess,
    /// Framework that the process uses; null if nothing shows it.
    pub framework: Option<Framework>,
    /// Analyzed part of the recording.
    pub window: Window,
    /// Numbers of GPU intervals, encoders, command buffers and kernels.
    pub counts: Counts,
    /// GPU busy time in the window, of the process and of all processes.
    pub busy: Busy,
    /// GPU busy time divided by run time, for three definitions of run time.
    pub efficiency: Efficiency,
    /// Gaps: stretches of the window in which the process had no work running on the GPU.
    pub gaps: Gaps,
    /// Idle time of the GPU in the window, by cause.
    pub idle: IdleTime,
    /// Steps that the verdict is about, where what runs once takes much of the window; null if it is about
    /// all of it.
    pub judged: Option<JudgedPart>,
    /// Series of steps, the one with the most GPU work first: tokens, training steps, frames. Empty if
    /// the process repeats nothing.
    pub steps: Vec<StepSeries>,
    /// Step that the window was cut to; null if none was requested.
    pub selected_step: Option<SelectedStep>,
    /// Parts of the run that are no step of the main series. Empty if there is none.
    pub once: Vec<OncePart>,
    /// Submission and completion latency, encoding times, and queue depth.
    pub latency: Latency,
    /// Replay of the command buffers: which completions the program waited for, and what a change
    /// would leave. Null if the commits of fewer than two are recorded.
    pub replay: Option<Replay>,
    /// GPU work of the process by kernel and channel, the most GPU time first.
    pub kernels: Vec<Kernel>,
    /// GPU work of the process by channel.
    pub channels: Vec<Channel>,
    /// Shaders of the process that the recording lists; the list has no times.
    pub shaders: Vec<Shader>,
    /// Estimated times of kernels that share GPU intervals; null if none do, or if their dispatches are not recorded.
    pub mixes: Option<KernelMixes>,
    /// Moment from which kernels take longer; null if none do, as far as their lengths tell.
    pub slowdown: Option<Slowdown>,
    /// Distribution of the GPU time: durations, overlap and outliers.
    pub shape: Shape,
    /// Phases that the program named.
    pub phases: Phases,
    /// All processes that used the GPU, the longest busy time first, over the whole recording.
    pub processes: Vec<ProcessFacts>,
    /// Other activity of the machine during the window.
    pub machine: Machine,
    /// Metal memory that the process allocated and freed; null if not recorded.
    pub memory: Option<Memory>,
    /// Heap, leaks and virtual memory of the recorded process; null if no details of tracks were
    /// exported.
    #[serde(default)]
    pub heap: Option<Heap>,
    /// Hardware counters of the GPU; null if none were recorded.
    pub counters: Option<Counters>,
    /// Work of engines beside the GPU's channels. An engine is missing if the recording has no row of
    /// it, which does not prove that it did nothing.
    pub engines: Vec<Engine>,
    /// CPU samples of the threads of the process; null if none were recorded.
    pub cpu: Option<Cpu>,
    /// Throughput of kernels whose work is known; null if no work file was given.
    pub work: Option<WorkThroughput>,
    /// Checks of the recording itself, and the figures behind them.
    pub sanity: Sanity,
    /// Result of the limits that somebody set; null if none were judged.
    pub gate: Option<GateResult>,
    /// Findings, the most important first.
    pub findings: Vec<Finding>,
    /// Parts of the report that this recording has no data for, with the reasons.
    pub not_recorded: Vec<NotRecorded>,
    /// Notes that a reader needs to interpret the numbers.
    pub notes: Vec<Note>,
}

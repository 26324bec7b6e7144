//! Types of the steps of a program: tokens, training steps, frames.

use metalens_message::Ns;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::Report;
use super::idle::GapParts;

/// Series of steps: what one thread of the program repeats, or what it named. A step reaches from its
/// first GPU start to that of the next; the last one is counted, and its length is unknown.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct StepSeries {
    /// Sign by which the steps were found.
    pub by: StepsBy,
    /// Name of a step, or of each of its units if there are several: what somebody asked for, that of the
    /// phase, or `frame`, `request` or `step`.
    pub name: String,
    /// Number of units in a step, such as tokens of a batch: 1 unless somebody says so.
    pub units: u64,
    /// True for the series with the most GPU work, which the verdict is about.
    pub is_main: bool,
    /// Number of the first step in the window, from 1: they are counted in the whole recording.
    pub first: u64,
    /// Number of steps that begin in the window, without those that run once.
    pub count: u64,
    /// Number of these with a known length that lie in the window.
    pub measured: u64,
    /// Summed lengths of these, in nanoseconds.
    pub total_ns: Ns,
    /// Units per second: `measured` times `units`, divided by `total_ns`; null if none is measured.
    pub per_second: Option<f64>,
    /// Usual time from the first encoding of a step to its last completion, in nanoseconds; null if
    /// unknown.
    pub latency_ns: Option<Ns>,
    /// 95th percentile of that time, in nanoseconds; null if there are fewer than 20 steps with a known one.
    pub latency_p95_ns: Option<Ns>,
    /// The usual time of the steps that begin when all earlier ones are done on the GPU, in nanoseconds; null
    /// if there are fewer than 6. What the others take longer, they wait for their turn.
    pub latency_alone_ns: Option<Ns>,
    /// Time from one start to the next on the grid, in nanoseconds; null if the steps keep no pace.
    pub period_ns: Option<Ns>,
    /// Number of steps that missed their start on the grid; null likewise.
    pub missed: Option<u64>,
    /// Steps with the same kernels, those with the most time first. At most eight; kinds with fewer than six
    /// steps and less than a twentieth of the time are left out.
    pub kinds: Vec<StepKind>,
}

/// Step that the window was cut to.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct SelectedStep {
    /// Number of the step, from 1.
    pub number: u64,
    /// Number of steps that begin in the recording.
    pub count: u64,
    /// Sign by which they were found.
    pub by: StepsBy,
    /// Start of the step, in nanoseconds since the recording began.
    pub start_ns: Ns,
    /// Start of the next one; of the last one, the end of its work on the GPU.
    pub end_ns: Ns,
}

/// Sign by which steps were found.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum StepsBy {
    /// An interval that the program named has nearly all GPU work.
    Named,
    /// They begin on a grid of time, such as that of a display.
    Paced,
    /// The program waits for each.
    Waited,
    /// The same work comes back.
    Repeated,
}

impl StepsBy {
    /// Returns the sign as tables call it.
    pub fn label(self) -> &'static str {
        match self {
            Self::Named => "named",
            Self::Paced => "paced",
            Self::Waited => "waited for",
            Self::Repeated => "repeated",
        }
    }
}

/// Steps with the same kernels.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct StepKind {
    /// Usual number of GPU intervals of a step.
    pub intervals: u64,
    /// Median number of command buffers that begin to run in a step; null if this is not the main series, or if
    /// the intervals name none.
    pub command_buffers: Option<u64>,
    /// Number of steps with a known length.
    pub count: u64,
    /// Summed lengths in nanoseconds.
    pub total_ns: Ns,
    /// Median length in nanoseconds; null if there are fewer than six steps.
    pub median_ns: Option<Ns>,
    /// 95th percentile of the lengths, in nanoseconds; null if there are fewer than 20 steps.
    pub p95_ns: Option<Ns>,
    /// 99th percentile of the lengths, in nanoseconds; null if there are fewer than 100 steps.
    pub p99_ns: Option<Ns>,
    /// Length of the shortest step in nanoseconds.
    pub min_ns: Ns,
    /// Length of the longest step in nanoseconds.
    pub max_ns: Ns,
    /// Drift in percent: the median length of the last third compared with that of the first third;
    /// 10 means 10 % slower. Null if there are fewer than nine steps.
    pub drift_pct: Option<f64>,
    /// Median time in nanoseconds during which the process had work running on the GPU; null if this is not
    /// the main series.
    pub gpu_ns: Option<Ns>,
    /// Time of a step that the program itself decides, in nanoseconds: GPU, host work, encoding, and what is of
    /// unknown cause; the mean of the middle half of the steps. Null if it depends on what is unknown by more
    /// than 1 %, or if this is not the main series.
    pub own_ns: Option<Ns>,
    /// The same mean of the first, the second and the last third of the steps, in nanoseconds: how much it
    /// varies within the run. Null if there are fewer than nine steps.
    pub own_thirds_ns: Option<[u64; 3]>,
    /// Typical step: of the middle fifth by length, the one whose parts are nearest to their medians; null
    /// if there are fewer than six steps, or this is not the main series.
    pub typical: Option<StepParts>,
    /// Steps that are much longer than usual; null if they cost less than a fiftieth of the time.
    pub slow: Option<SlowSteps>,
}

/// Step with the parts that its time consists of: they sum to its length.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct StepParts {
    /// Number of the step, from 1.
    pub number: u64,
    /// Start in nanoseconds since the recording began.
    pub start_ns: Ns,
    /// End (exclusive) in nanoseconds since the recording began.
    pub end_ns: Ns,
    /// Time in nanoseconds during which the process had work running on the GPU.
    pub gpu_ns: Ns,
    /// Rest of the time, by cause.
    pub idle: GapParts,
}

/// Steps that are much longer than usual: by more than five times the usual deviation, and a tenth; if
/// they keep a pace, those that missed their start on the grid.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct SlowSteps {
    /// Number of these steps.
    pub count: u64,
    /// Summed time in nanoseconds by which they exceed the median.
    pub excess_ns: Ns,
    /// Mean length in nanoseconds.
    pub mean_ns: Ns,
    /// Mean time in nanoseconds during which the process had work running on the GPU; null if this is not
    /// the main series.
    pub gpu_ns: Option<Ns>,
    /// Mean of the rest of their time, by cause; null likewise.
    pub idle: Option<GapParts>,
    /// Kernels that take longer in them, the most first. At most ten.
    pub kernels: Vec<SlowKernel>,
    /// The longest of them, in order of time. At most ten.
    pub longest: Vec<StepPlace>,
}

/// Kernel that takes longer in slow steps than in the others.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct SlowKernel {
    /// Name of the kernel.
    pub name: String,
    /// Mean GPU time in a slow step, in nanoseconds.
    pub slow_ns: Ns,
    /// Mean GPU time in another step, in nanoseconds.
    pub usual_ns: Ns,
}

/// Place of a step.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct StepPlace {
    /// Number of the step, from 1.
    pub number: u64,
    /// Start in nanoseconds since the recording began.
    pub start_ns: Ns,
    /// End (exclusive) in nanoseconds since the recording began.
    pub end_ns: Ns,
}

/// Part of the run that is no step. These parts and the steps of the main series tile the run.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct OncePart {
    /// Place of the part.
    pub what: OnceKind,
    /// Number of turns in it that have work of their own, such as parts of a prefill.
    pub turns: u64,
    /// Start in nanoseconds since the recording began.
    pub start_ns: Ns,
    /// End (exclusive) in nanoseconds since the recording began.
    pub end_ns: Ns,
    /// Time in nanoseconds during which the process had work running on the GPU.
    pub gpu_ns: Ns,
}

/// Place of a part of the run that is no step.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum OnceKind {
    /// Before the first step.
    Before,
    /// Between two steps: work that no step has.
    Between,
    /// From the start of the last step on.
    After,
}

impl StepParts {
    /// Returns the length in nanoseconds.
    pub fn length_ns(&self) -> Ns {
        self.end_ns - self.start_ns
    }
}

impl StepSeries {
    /// Returns the word for one step: its name, unless that is the name of each of several units.
    pub fn noun(&self) -> &str {
        if self.units > 1 { "step" } else { &self.name }
    }

    /// Returns whether the program draws, so that its steps are frames and its kernels are passes.
    pub fn are_frames(&self) -> bool {
        self.name == "frame"
    }
}

impl Report {
    /// Returns whether the steps begin on a grid of time.
    pub fn is_paced(&self) -> bool {
        let main = self.steps.first();
        main.is_some_and(|main| main.by == StepsBy::Paced)
    }
}

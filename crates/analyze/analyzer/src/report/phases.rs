//! Types of the parts of a recording: warm-up, segments, iterations and named phases.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::summary::WindowSummary;
use crate::basics::message::Message;

/// Parts of the recording: warm-up, segments, iterations and named phases.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Phases {
    /// Warm-up of the process; null if none is certain.
    pub warm_up: Option<WarmUp>,
    /// Parts of the window between its quiet gaps.
    pub segments: Segments,
    /// Repeated unit of work, such as a training step or a token; null if none is certain.
    pub iterations: Option<Iterations>,
    /// Regularity of the gaps; null if there are fewer than 20.
    pub regularity: Option<Regularity>,
    /// Phases that programs named with os_signpost intervals: those of the process first, then the
    /// longest first. At most 100.
    pub signposts: Vec<NamedPhase>,
    /// Number of GPU intervals of the process that belong to no phase because the recording has
    /// neither their encoding nor their commit.
    pub unplaced: u64,
    /// Named phase that the window was cut to; null if none was requested.
    pub selected: Option<SelectedPhase>,
    /// Detected iteration that the window was cut to; null if none was requested.
    pub selected_iteration: Option<SelectedIteration>,
}

/// Warm-up: a beginning that differs from the rest. It is removed from the window only on
/// request; both results are here either way.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct WarmUp {
    /// Start of the warm-up in nanoseconds since the recording began: the start of the uncut
    /// window.
    pub start_ns: u64,
    /// End of the warm-up and start of the steady rest, in nanoseconds since the recording began.
    /// At most a third of the GPU intervals come before it.
    pub end_ns: u64,
    /// Sign by which the warm-up was detected.
    pub why: WarmUpReason,
    /// Explanation in one sentence with numbers.
    pub explanation: Message,
    /// Number of GPU intervals of the process that begin in the warm-up.
    pub intervals: u64,
    /// Summary of the window without the warm-up.
    pub steady: WindowSummary,
    /// Summary of the window with the warm-up.
    pub whole: WindowSummary,
    /// True if the window begins after the warm-up.
    pub skipped: bool,
}

/// Sign by which a warm-up was detected.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum WarmUpReason {
    /// The first intervals take at least twice the median of their kernels; later ones do not.
    SlowIntervals,
    /// The first gaps are at least three times as long as the median gap; later ones are not.
    LongGaps,
    /// A gap follows a few first intervals that is far longer than any later one.
    QuietGap,
}

/// Segments: the parts of the window between its quiet gaps.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Segments {
    /// Minimum length of a quiet gap in nanoseconds: 5 ms, or 20 times the median gap if that is
    /// longer and there are at least 20 gaps.
    pub quiet_gap_ns: u64,
    /// Number of segments; one if there is no quiet gap.
    pub count: u64,
    /// Segments in order of time; if there are more than 50, only the 50 busiest.
    pub list: Vec<WindowSummary>,
}

/// Iterations: a unit of work that the process repeats.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Iterations {
    /// Sign by which the iterations were detected.
    pub found_by: FoundBy,
    /// Kernel at the start of each iteration; null if they were detected by gaps. A cycle has no
    /// start of its own: this kernel only marks it.
    pub marker: Option<String>,
    /// Number of starts of an iteration.
    pub count: u64,
    /// Start of the first iteration, in nanoseconds since the recording began.
    pub start_ns: u64,
    /// Median number of GPU intervals of the process from one start to the next.
    pub median_intervals: u64,
    /// Median time from one start to the next, in nanoseconds.
    pub median_period_ns: u64,
    /// Shortest time from one start to the next, in nanoseconds.
    pub min_period_ns: u64,
    /// Longest time from one start to the next, in nanoseconds.
    pub max_period_ns: u64,
    /// Spread of these times in nanoseconds: the 95th minus the 5th percentile.
    pub spread_ns: u64,
    /// Median busy time of the process from one start to the next, in nanoseconds.
    pub median_busy_ns: u64,
    /// Drift in percent: the median period of the last third compared with that of the first third;
    /// 10 means 10 % slower. Null if there are fewer than nine periods.
    pub drift_pct: Option<f64>,
}

/// Sign by which iterations were detected.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum FoundBy {
    /// The same kernels come in the same order: a labeled kernel returns after a fixed number of
    /// intervals.
    KernelSequence,
    /// Command buffers with the same labels repeat in the same order.
    CommandBuffers,
    /// Long gaps come at regular times, with several command buffers between them.
    Gaps,
}

/// Regularity of the gaps, weighted by idle time: the lengths up to which gaps contain a tenth,
/// half and nine tenths of it. Quiet gaps, which separate segments, do not count.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Regularity {
    /// Number of gaps that were compared.
    pub gaps: u64,
    /// Summed length of these gaps in nanoseconds.
    pub total_ns: u64,
    /// Length in nanoseconds; gaps up to it contain a tenth of their idle time.
    pub p10_ns: u64,
    /// Length in nanoseconds; gaps up to it contain half of their idle time.
    pub p50_ns: u64,
    /// Length in nanoseconds; gaps up to it contain nine tenths of their idle time.
    pub p90_ns: u64,
    /// Dispersion of the lengths: (`p90_ns` - `p10_ns`) / `p50_ns`.
    pub dispersion: f64,
    /// Verdict: regular up to a dispersion of 0.5, irregular from 2 on.
    pub verdict: RegularityVerdict,
}

/// Verdict on the regularity of gaps.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum RegularityVerdict {
    /// Most idle time is in gaps of about one length.
    Regular,
    /// The lengths are neither regular nor irregular.
    Mixed,
    /// The idle time is in gaps of many lengths.
    Irregular,
}

/// Named phase: the os_signpost intervals of one name. Count, lengths and times are of the
/// whole recording; GPU figures are of the window.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct NamedPhase {
    /// Name of the intervals.
    pub name: String,
    /// Subsystem of the log; null if unknown.
    pub subsystem: Option<String>,
    /// Category of the log; null if unknown.
    pub category: Option<String>,
    /// Process that logged the intervals; null if unknown.
    pub process: Option<String>,
    /// True if the analyzed process logged them.
    pub is_analyzed: bool,
    /// Number of intervals, from a begin to its end.
    pub count: u64,
    /// Summed lengths in nanoseconds.
    pub total_ns: u64,
    /// Median length in nanoseconds; null if there are no intervals.
    pub median_ns: Option<u64>,
    /// Start of the first interval, in nanoseconds since the recording began; null if there is
    /// none.
    pub start_ns: Option<u64>,
    /// End of the last interval, in nanoseconds since the recording began; null if there is none.
    pub end_ns: Option<u64>,
    /// Number of begins without an end and ends without a begin, which have no known length.
    pub unpaired: u64,
    /// Length of the union of the intervals in the window, in nanoseconds.
    pub window_ns: u64,
    /// Number of GPU intervals of the process that begin in that union.
    pub intervals: u64,
    /// Busy time of the process in that union, in nanoseconds.
    pub busy_ns: u64,
    /// `busy_ns` divided by `window_ns`; null if no part of the union is in the window.
    pub ratio: Option<f64>,
    /// GPU work that the process encoded during the intervals, wherever it ran; null if the
    /// recording does not tell when work was encoded.
    pub encoded: Option<EncodedWork>,
}

/// GPU work that the process encoded during a phase. A GPU interval belongs to a phase in which
/// its encoding began, or if that is not recorded, in which its command buffer was committed. It
/// belongs to each of several nested phases. All figures are of the window.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct EncodedWork {
    /// Number of GPU intervals.
    pub intervals: u64,
    /// Summed durations in nanoseconds.
    pub total_ns: u64,
    /// Start of the first one on the GPU, in nanoseconds since the recording began; null if there
    /// are none.
    pub start_ns: Option<u64>,
    /// End of the last one on the GPU, in nanoseconds since the recording began; null if there are
    /// none.
    pub end_ns: Option<u64>,
    /// Kernels by their time in the phase. At most 20.
    pub kernels: Vec<PhaseKernel>,
    /// Number of kernels, listed or not.
    pub kernels_count: u64,
}

/// GPU work of one kernel that was encoded during a phase.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct PhaseKernel {
    /// Name of the kernel.
    pub name: String,
    /// Channel that it ran on; null if the table has none.
    pub channel: Option<String>,
    /// Number of GPU intervals.
    pub instances: u64,
    /// Summed durations in nanoseconds.
    pub total_ns: u64,
    /// Share of the GPU time of the phase, in percent.
    pub time_pct: f64,
}

/// Detected iteration that the window was cut to.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct SelectedIteration {
    /// Number of the iteration, from 1.
    pub number: u64,
    /// Number of iterations that were detected.
    pub count: u64,
    /// Sign by which they were detected.
    pub found_by: FoundBy,
    /// Start of the iteration, in nanoseconds since the recording began.
    pub start_ns: u64,
    /// Start of the next one; the end of the window for the last one, whose own end is unknown.
    pub end_ns: u64,
}

/// Named phase that the window was cut to.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct SelectedPhase {
    /// Name of the phase.
    pub name: String,
    /// Number of the interval that the window was cut to, from 1; null if it is all of them.
    pub iteration: Option<u64>,
    /// Number of its intervals with time in the window, which reaches from the first begin to the
    /// last end.
    pub count: u64,
    /// Time in nanoseconds of the window that lies in none of these intervals.
    pub between_ns: u64,
}

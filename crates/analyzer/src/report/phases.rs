//! What the recording falls into: warm-up, segments, iterations, named phases.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::summary::WindowSummary;
use crate::basics::message::PlacedValue;

/// What the recording falls into.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Phases {
    /// The target's warm-up; null if none is certain.
    pub warm_up: Option<WarmUp>,
    /// The parts of the window between its quiet gaps.
    pub segments: Segments,
    /// What the target does over and over, such as training steps or tokens;
    /// null if nothing of that kind is certain.
    pub iterations: Option<Iterations>,
    /// How alike the gaps are; null if there are fewer than twenty.
    pub regularity: Option<Regularity>,
    /// Phases that programs named with os_signpost intervals: the target's
    /// first, then the longest first. At most 100.
    pub signposts: Vec<NamedPhase>,
    /// The named phase that the window was cut to, if one was asked for.
    pub selected: Option<SelectedPhase>,
}

/// A beginning that is unlike the rest. It is only left out of the window when
/// that is asked for; both results are here either way.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct WarmUp {
    /// Where it begins: the window's start before it was cut.
    pub start_ns: u64,
    /// Where it ends, and the steady rest begins. Never after a third of the window.
    pub end_ns: u64,
    /// What gave it away.
    pub why: WarmUpReason,
    /// The same in a sentence with numbers.
    pub explanation: String,
    /// Values of `explanation`, in the order in which they stand in it.
    #[serde(default)]
    pub explanation_values: Vec<PlacedValue>,
    /// The target's intervals that begin in it.
    pub intervals: u64,
    /// The rest alone.
    pub steady: WindowSummary,
    /// Warm-up and rest.
    pub whole: WindowSummary,
    /// Whether the window begins after it.
    pub skipped: bool,
}

/// What gives a warm-up away.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum WarmUpReason {
    /// The first intervals take at least twice their kernels' median, later ones do not.
    SlowIntervals,
    /// The first gaps are at least three times as long as the median gap, later ones are not.
    LongGaps,
    /// A few intervals come first, then a gap that is far longer than any later one.
    QuietGap,
}

/// The parts of the window between its quiet gaps.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Segments {
    /// A gap at least this long is quiet: 5 ms, or 20 times the median gap if
    /// that is longer and there are 20 gaps to tell.
    pub quiet_gap_ns: u64,
    /// How many segments there are. One if there is no quiet gap.
    pub count: u64,
    /// In order of time; of more than 50 the 50 busiest.
    pub list: Vec<WindowSummary>,
}

/// What the target does over and over.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Iterations {
    /// What gave them away.
    pub found_by: FoundBy,
    /// The kernel that each begins with; null if gaps gave them away. A cycle
    /// has no beginning of its own: this one marks it, no more.
    pub marker: Option<String>,
    /// How often one begins.
    pub count: u64,
    /// When the first begins.
    pub start_ns: u64,
    /// Median number of the target's intervals from one beginning to the next.
    pub median_intervals: u64,
    /// Median time from one beginning to the next.
    pub median_period_ns: u64,
    /// The shortest.
    pub min_period_ns: u64,
    /// The longest.
    pub max_period_ns: u64,
    /// Their 95th less their 5th percentile.
    pub spread_ns: u64,
    /// Median of the target's busy time from one beginning to the next.
    pub median_busy_ns: u64,
    /// The median period of the last third against that of the first third:
    /// 10 is 10 % slower. Null if there are fewer than nine periods.
    pub drift_pct: Option<f64>,
}

/// What gives iterations away.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum FoundBy {
    /// The same kernels come in the same order: a labelled kernel returns
    /// after a fixed number of intervals.
    KernelSequence,
    /// Command buffers of the same labels come in the same order.
    CommandBuffers,
    /// Long gaps come at regular times, several command buffers between them.
    Gaps,
}

/// How alike the gaps are, weighed by the idle time in them: the gaps that
/// hold a tenth, half and nine tenths of it, from the shortest on. Quiet gaps,
/// which part segments, do not count. Regular gaps point to how work is
/// batched, irregular ones to what the CPU does.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Regularity {
    /// How many gaps were compared.
    pub gaps: u64,
    /// Gaps up to this length hold a tenth of the idle time in them.
    pub p10_ns: u64,
    /// Gaps up to this length hold half of it.
    pub p50_ns: u64,
    /// Gaps up to this length hold nine tenths of it.
    pub p90_ns: u64,
    /// (p90 - p10) / p50.
    pub dispersion: f64,
    /// Regular up to a dispersion of 0.5, irregular from 2 on.
    pub verdict: RegularityVerdict,
}

/// How alike gaps are.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum RegularityVerdict {
    /// Most idle time is in gaps of about one length.
    Regular,
    /// Neither.
    Mixed,
    /// It is in gaps of many lengths.
    Irregular,
}

/// The os_signpost intervals of one name. The first five figures are of the
/// whole recording, the GPU's of the window.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct NamedPhase {
    /// The name.
    pub name: String,
    /// The subsystem that it was logged under.
    pub subsystem: Option<String>,
    /// The category that it was logged under.
    pub category: Option<String>,
    /// Who logged it.
    pub process: Option<String>,
    /// Whether that is the target.
    pub is_analyzed: bool,
    /// How many intervals, from a begin to its end.
    pub count: u64,
    /// Their summed lengths.
    pub total_ns: u64,
    /// Their median length.
    pub median_ns: Option<u64>,
    /// When the first began.
    pub start_ns: Option<u64>,
    /// When the last ended.
    pub end_ns: Option<u64>,
    /// Begins without an end and ends without a begin; no length is known of these.
    pub unpaired: u64,
    /// The length of their union in the window.
    pub window_ns: u64,
    /// The target's GPU intervals that begin in that union.
    pub intervals: u64,
    /// The target's busy time in that union.
    pub busy_ns: u64,
    /// busy / window_ns; null if none of it is in the window.
    pub ratio: Option<f64>,
}

/// The named phase that the window was cut to.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct SelectedPhase {
    /// Its name.
    pub name: String,
    /// How many intervals of that name have time in the window, which reaches
    /// from the first begin to the last end.
    pub count: u64,
    /// How much of the window lies between them, in none.
    pub between_ns: u64,
}

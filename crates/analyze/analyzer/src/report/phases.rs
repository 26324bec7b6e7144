//! Types of the phases that programs named.

use metalens_message::{Ns, Share};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Phases that programs named.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Phases {
    /// Phases that programs named with os_signpost intervals: those of the process first, then the
    /// longest first. At most 100.
    pub signposts: Vec<NamedPhase>,
    /// Number of GPU intervals of the process that belong to no phase because the recording has
    /// neither their encoding nor their commit.
    pub unplaced: u64,
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
    pub total_ns: Ns,
    /// Median length in nanoseconds; null if there are no intervals.
    pub median_ns: Option<Ns>,
    /// Start of the first interval, in nanoseconds since the recording began; null if there is
    /// none.
    pub start_ns: Option<Ns>,
    /// End of the last interval, in nanoseconds since the recording began; null if there is none.
    pub end_ns: Option<Ns>,
    /// Number of begins without an end and ends without a begin, which have no known length.
    pub unpaired: u64,
    /// Length of the union of the intervals in the window, in nanoseconds.
    pub window_ns: Ns,
    /// Number of GPU intervals of the process that begin in that union.
    pub intervals: u64,
    /// Busy time of the process in that union, in nanoseconds.
    pub busy_ns: Ns,
    /// `busy_ns` divided by `window_ns`; null if no part of the union is in the window.
    pub ratio: Option<Share>,
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
    pub total_ns: Ns,
    /// Start of the first one on the GPU, in nanoseconds since the recording began; null if there
    /// are none.
    pub start_ns: Option<Ns>,
    /// End of the last one on the GPU, in nanoseconds since the recording began; null if there are
    /// none.
    pub end_ns: Option<Ns>,
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
    pub total_ns: Ns,
    /// Share of the GPU time of the phase, in percent.
    pub time_pct: f64,
}

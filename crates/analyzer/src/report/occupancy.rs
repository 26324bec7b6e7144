//! How much ran, and when nothing of the target's did.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::idle::{Cause, GapParts};

/// How many of what.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Counts {
    /// The target's GPU intervals in the window: kicks of the GPU, usually one
    /// encoder each, several when the driver coalesced; not dispatches.
    pub intervals: u64,
    /// Distinct encoders among them.
    pub encoders: u64,
    /// Distinct command buffers among them.
    pub command_buffers: u64,
    /// Distinct names of work, per channel.
    pub kernels: u64,
    /// Intervals that the driver made of several encoders, by their labels.
    pub coalesced: u64,
    /// How many encoders those were; the row itself names the first alone.
    pub coalesced_encoders: u64,
    /// GPU intervals of everyone in the whole recording.
    pub all_intervals: u64,
    /// Those of them that name no process. They count as others' work.
    pub unattributed: u64,
}

impl Counts {
    /// The encoders; `None` where there are intervals and none of them names its own.
    #[must_use]
    pub fn known_encoders(&self) -> Option<u64> {
        self.named(self.encoders)
    }

    /// The command buffers; `None` where there are intervals and none of them names its own.
    #[must_use]
    pub fn known_command_buffers(&self) -> Option<u64> {
        self.named(self.command_buffers)
    }

    fn named(&self, count: u64) -> Option<u64> {
        (count > 0 || self.intervals == 0).then_some(count)
    }
}

/// How busy the GPU was. Everything here is inside the window.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Busy {
    /// The length of the union of the target's intervals.
    pub busy_ns: u64,
    /// Their summed durations, which count overlaps twice.
    pub sum_ns: u64,
    /// busy / window; null if the window has no length.
    pub ratio: Option<f64>,
    /// sum / busy: above 1 when work overlapped.
    pub overlap_factor: Option<f64>,
    /// The length of the union of everyone's intervals.
    pub machine_busy_ns: u64,
    /// How long the GPU itself says it was active; null if that was not recorded.
    pub machine_active_ns: Option<u64>,
    /// The length of the union of all intervals that are not the target's.
    pub others_busy_ns: u64,
    /// How long the target and others were on the GPU at once.
    /// machine_busy = busy + foreign_busy - foreign_overlap.
    pub others_overlap_ns: u64,
}

/// When the target left the GPU idle: the maximal stretches of the window
/// without an interval of its. Busy time and gaps tile the window exactly.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Gaps {
    /// How many.
    pub count: u64,
    /// Their summed length: window - busy.
    pub total_ns: u64,
    /// Their mean length, to the nearest nanosecond.
    pub mean_ns: Option<u64>,
    /// Their median: of n sorted lengths the one at index ⌈n/2⌉ - 1.
    pub median_ns: Option<u64>,
    /// 95 % are not longer: index ⌈0.95 n⌉ - 1.
    pub p95_ns: Option<u64>,
    /// 99 % are not longer: index ⌈0.99 n⌉ - 1.
    pub p99_ns: Option<u64>,
    /// The longest.
    pub max_ns: Option<u64>,
    /// How many are shorter than 1 µs.
    pub below_1us: u64,
    /// By length.
    pub histogram: Vec<Bucket>,
    /// The longest ones, longest first; of equal ones the earlier first.
    pub top: Vec<TopGap>,
    /// By the kernels around them: those with the most idle time, and the
    /// commonest of the others; the most idle time first.
    pub between: Vec<GapKind>,
}

/// The gaps of one range of lengths.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Bucket {
    /// The shortest length in it, ns.
    pub from_ns: u64,
    /// The length that is just too long for it, ns; null for the last, which has no end.
    pub to_ns: Option<u64>,
    /// How many gaps are of such a length.
    pub count: u64,
    /// Their summed length, ns.
    pub total_ns: u64,
}

/// One of the longest gaps.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct TopGap {
    /// When it began.
    pub start_ns: u64,
    /// How long it lasted.
    pub duration_ns: u64,
    /// The kernel before it; null at the window's start.
    pub before: Option<String>,
    /// The kernel after it; null at the window's end.
    pub after: Option<String>,
    /// What most of it was spent on.
    pub cause: Cause,
    /// What all of it was spent on.
    pub parts: GapParts,
}

/// The gaps between one kernel and another.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct GapKind {
    /// The kernel before them; null at the window's start.
    pub before: Option<String>,
    /// The kernel after them; null at the window's end.
    pub after: Option<String>,
    /// How many.
    pub count: u64,
    /// Their summed length.
    pub total_ns: u64,
    /// The longest.
    pub max_ns: u64,
    /// What most of their time was spent on.
    pub cause: Cause,
}

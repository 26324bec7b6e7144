//! Types of GPU busy time, and of gaps.

use metalens_message::{Factor, Ns, Share};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::idle::{Cause, GapParts};

/// Numbers of GPU intervals, encoders, command buffers and kernels.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Counts {
    /// Number of GPU intervals of the process in the window. An interval is one kick of the GPU:
    /// usually one encoder, several if the driver coalesced them, and not a dispatch.
    pub intervals: u64,
    /// Number of distinct encoders among those intervals.
    pub encoders: u64,
    /// Number of distinct command buffers among those intervals.
    pub command_buffers: u64,
    /// Number of those command buffers that were committed several times, as Metal 4 allows. Their
    /// latency, commits and sizes are unknown, and `command_buffers` is not the number of commits.
    pub reused_command_buffers: u64,
    /// Number of distinct kernel names, counted per channel.
    pub kernels: u64,
    /// Number of intervals that the driver made of several encoders, as their labels show.
    pub coalesced: u64,
    /// Number of encoders in those coalesced intervals; the row itself names only the first.
    pub coalesced_encoders: u64,
    /// Number of GPU intervals of all processes in the whole recording.
    pub all_intervals: u64,
    /// Number of those intervals that name no process. They count as work of others.
    pub unattributed: u64,
}

impl Counts {
    /// Returns the number of encoders; `None` if there are intervals and none names its encoder.
    pub fn known_encoders(&self) -> Option<u64> {
        self.named(self.encoders)
    }

    /// Returns the number of command buffers; `None` if there are intervals and none names its own,
    /// or if some were committed several times.
    pub fn known_command_buffers(&self) -> Option<u64> {
        self.named(self.command_buffers)
            .filter(|_| self.reused_command_buffers == 0)
    }

    fn named(&self, count: u64) -> Option<u64> {
        (count > 0 || self.intervals == 0).then_some(count)
    }
}

/// GPU busy time. All figures are inside the window.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Busy {
    /// Busy time of the process in nanoseconds: the length of the union of its GPU intervals.
    pub busy_ns: Ns,
    /// Summed durations of those intervals in nanoseconds, which count overlaps twice.
    pub sum_ns: Ns,
    /// GPU utilization of the process: `busy_ns` divided by the window. Null if the window has no
    /// length.
    pub ratio: Option<Share>,
    /// `sum_ns` divided by `busy_ns`; above 1 if work overlapped. Null if the process was never
    /// busy.
    pub overlap_factor: Option<Factor>,
    /// Busy time of all processes in nanoseconds: the length of the union of all GPU intervals that the
    /// input has.
    pub machine_busy_ns: Ns,
    /// Time in nanoseconds for which the GPU itself reports that it was active; null if not
    /// recorded.
    pub machine_active_ns: Option<Ns>,
    /// Busy time of other processes in nanoseconds: the length of the union of their GPU intervals.
    /// Null if the input has the work of one process alone, as a command-buffer log does.
    pub others_busy_ns: Option<Ns>,
    /// Time in nanoseconds during which the process and others ran on the GPU at once:
    /// `machine_busy_ns` = `busy_ns` + `others_busy_ns` - `others_overlap_ns`.
    /// Null as `others_busy_ns` is.
    pub others_overlap_ns: Option<Ns>,
}

/// Gaps: the maximal stretches of the window without a GPU interval of the process. Busy time
/// and gaps tile the window exactly.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Gaps {
    /// Number of gaps in the window.
    pub count: u64,
    /// Summed length of the gaps in nanoseconds: the window minus the busy time.
    pub total_ns: Ns,
    /// Mean length, rounded to the nearest nanosecond; null if there are no gaps.
    pub mean_ns: Option<Ns>,
    /// Median length in nanoseconds: of n sorted lengths the one at index ⌈n/2⌉ - 1. Null if there
    /// are no gaps.
    pub median_ns: Option<Ns>,
    /// 95th percentile in nanoseconds: the length at index ⌈0.95 n⌉ - 1. Null if there are no gaps.
    pub p95_ns: Option<Ns>,
    /// 99th percentile in nanoseconds: the length at index ⌈0.99 n⌉ - 1. Null if there are no gaps.
    pub p99_ns: Option<Ns>,
    /// Longest gap in nanoseconds; null if there are no gaps.
    pub max_ns: Option<Ns>,
    /// Number of gaps shorter than 1 µs.
    pub below_1us: u64,
    /// Histogram of the gaps by length.
    pub histogram: Vec<Bucket>,
    /// Longest gaps, longest first; of equal ones the earlier first.
    pub top: Vec<TopGap>,
    /// Gaps by the kernels before and after them: the pairs with the most idle time and the most
    /// common of the others, the most idle time first.
    pub between: Vec<GapKind>,
}

/// Durations or gaps in one range of lengths.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Bucket {
    /// Smallest length in the range, in nanoseconds.
    pub from_ns: Ns,
    /// End of the range (exclusive) in nanoseconds; null for the last range, which has no end.
    pub to_ns: Option<Ns>,
    /// Number of durations or gaps in the range.
    pub count: u64,
    /// Summed length in nanoseconds.
    pub total_ns: Ns,
}

/// One of the longest gaps.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct TopGap {
    /// Start of the gap, in nanoseconds since the recording began.
    pub start_ns: Ns,
    /// Length of the gap in nanoseconds.
    pub duration_ns: Ns,
    /// Kernel before the gap; null at the start of the window.
    pub before: Option<String>,
    /// Kernel after the gap; null at the end of the window.
    pub after: Option<String>,
    /// Cause of the largest part of the gap.
    pub cause: Cause,
    /// Time of the gap by cause.
    pub parts: GapParts,
    /// Event of the driver for the process that takes the longest part of the gap, such as wiring
    /// memory; null if there is none, or if they are not recorded.
    pub driver_event: Option<GapDriverEvent>,
}

/// Event of the driver during a gap.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct GapDriverEvent {
    /// Name of the event, as Instruments shows it without its thread.
    pub name: String,
    /// Time of the event in the gap, in nanoseconds.
    pub longest_ns: Ns,
    /// Time of all such events in the gap, in nanoseconds. Those at the same time count once.
    pub total_ns: Ns,
}

/// Gaps between the same two kernels.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct GapKind {
    /// Kernel before the gaps; null at the start of the window.
    pub before: Option<String>,
    /// Kernel after the gaps; null at the end of the window.
    pub after: Option<String>,
    /// Number of such gaps.
    pub count: u64,
    /// Summed length in nanoseconds.
    pub total_ns: Ns,
    /// Longest such gap in nanoseconds.
    pub max_ns: Ns,
    /// Cause of the largest part of their time.
    pub cause: Cause,
}

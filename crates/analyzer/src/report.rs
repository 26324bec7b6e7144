//! The report: everything an analysis says, as plain data.
//!
//! Its JSON form is a contract: keys stay, new ones may come. All times are
//! whole nanoseconds; times of day on the recording's clock count from its
//! beginning. `null` means unknown or undefined, never zero.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::kernel::NamedBy;
use crate::target::How;

/// The contract's name; its number rises when a key is removed or changes meaning.
pub const SCHEMA: &str = "metalens.report/1";

/// Everything an analysis says.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Report {
    /// `metalens.report/1`.
    pub schema: String,
    /// What was read, and how.
    pub source: Source,
    /// What is known of the recording.
    pub run: RunFacts,
    /// Whom the report is about.
    pub target: TargetFacts,
    /// Which part of the recording it is about.
    pub window: Window,
    /// How many of what.
    pub counts: Counts,
    /// How busy the GPU was, inside the window.
    pub busy: Busy,
    /// When the target left the GPU idle, inside the window.
    pub gaps: Gaps,
    /// The target's work by name and channel, the most time first.
    pub kernels: Vec<Kernel>,
    /// The target's work by channel.
    pub channels: Vec<Channel>,
    /// Everyone who used the GPU, the busiest first, over the whole recording.
    pub processes: Vec<ProcessFacts>,
    /// What a reader should know about these numbers.
    pub notes: Vec<String>,
}

/// What was read, and how.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Source {
    /// As it was given.
    pub path: String,
    /// What it is.
    pub kind: SourceKind,
    /// What read it.
    pub reader: Reader,
}

/// What an input is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum SourceKind {
    /// A .trace bundle.
    Bundle,
    /// A folder or archive of exported tables.
    Export,
    /// A single exported document.
    Xml,
}

/// What reads an input.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Reader {
    /// metalens itself reads the bundle's stores.
    Native,
    /// The XML that xctrace exported.
    Xml,
}

/// What is known of the recording.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct RunFacts {
    /// The run's number in the trace, from 1.
    pub number: u64,
    /// Whether it was written by a simulator: no GPU ran any of it.
    pub synthetic: bool,
    /// The Instruments template it was recorded with.
    pub template: Option<String>,
    /// The version of Instruments; the build in parentheses identifies Xcode.
    pub instruments_version: Option<String>,
    /// When it began, ISO 8601.
    pub start: Option<String>,
    /// How long it took by the clock on the wall, ns.
    pub duration_ns: Option<u64>,
    /// Why it ended.
    pub end_reason: Option<String>,
    /// `Deferred`, or `Windowed (…)`, which keeps only the end.
    pub recording_mode: Option<String>,
    /// The machine.
    pub device: DeviceFacts,
}

/// The recorded machine.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct DeviceFacts {
    /// Its model.
    pub model: Option<String>,
    /// Its operating system and version.
    pub os: Option<String>,
    /// Its GPU, as Metal calls it.
    pub gpu: Option<String>,
}

/// Whom the report is about.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct TargetFacts {
    /// The process's name; of several, all names.
    pub name: String,
    /// Its number; null if there are several.
    pub pid: Option<u32>,
    /// How it was found.
    pub how: How,
    /// Each of the processes.
    pub processes: Vec<TargetProcess>,
}

/// One of the target's processes.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct TargetProcess {
    /// Its name.
    pub name: String,
    /// Its number.
    pub pid: Option<u32>,
}

/// Which part of the recording a report is about: from the start of the
/// target's first interval to the end of its last, or what was cut out of that.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Window {
    /// Its first nanosecond.
    pub start_ns: u64,
    /// The nanosecond after its last.
    pub end_ns: u64,
    /// Its length.
    pub span_ns: u64,
    /// What was cut off.
    pub excluded: Vec<Excluded>,
}

/// A stretch that was cut off the window.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Excluded {
    /// Its first nanosecond.
    pub from_ns: u64,
    /// The nanosecond after its last.
    pub to_ns: u64,
    /// Why it was cut off.
    pub why: String,
}

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
    /// GPU intervals of everyone in the whole recording.
    pub all_intervals: u64,
    /// Those of them that name no process. They count as others' work.
    pub unattributed: u64,
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
    pub foreign_busy_ns: u64,
    /// How long the target and others were on the GPU at once.
    /// machine_busy = busy + foreign_busy - foreign_overlap.
    pub foreign_overlap_ns: u64,
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
}

/// Work of one name on one channel. An interval that reaches out of the window
/// counts with the part inside.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Kernel {
    /// What it is called.
    pub name: String,
    /// Where it ran: Compute, Vertex, Fragment, …
    pub channel: Option<String>,
    /// What named it.
    pub named_by: NamedBy,
    /// Its share of the summed durations of all kernels, percent.
    pub time_pct: f64,
    /// Its summed durations.
    pub total_ns: u64,
    /// How many intervals.
    pub instances: u64,
    /// Mean duration, to the nearest nanosecond.
    pub avg_ns: u64,
    /// Median duration, nearest rank.
    pub med_ns: u64,
    /// Shortest.
    pub min_ns: u64,
    /// Longest.
    pub max_ns: u64,
    /// Standard deviation of the population.
    pub stddev_ns: u64,
    /// 95 % are not longer, nearest rank.
    pub p95_ns: u64,
    /// 99 % are not longer, nearest rank.
    pub p99_ns: u64,
}

/// The target's work on one channel.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Channel {
    /// Its name; null where the table has none.
    pub name: Option<String>,
    /// Intervals.
    pub intervals: u64,
    /// Their summed durations.
    pub sum_ns: u64,
    /// The length of their union.
    pub busy_ns: u64,
}

/// One process's use of the GPU. Together with the unattributed ones the
/// intervals are all of the recording's.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ProcessFacts {
    /// Its name.
    pub name: String,
    /// Its number.
    pub pid: Option<u32>,
    /// Whether the report is about it.
    pub is_target: bool,
    /// Its intervals in the whole recording.
    pub intervals: u64,
    /// The length of their union.
    pub busy_ns: u64,
    /// Its intervals in the window.
    pub window_intervals: u64,
    /// The length of their union in the window.
    pub window_busy_ns: u64,
}

/// The JSON Schema of the report.
#[must_use]
pub fn json_schema() -> serde_json::Value {
    let mut schema = schemars::schema_for!(Report).to_value();
    if let Some(object) = schema.as_object_mut() {
        object.insert("title".to_owned(), SCHEMA.into());
    }
    schema
}

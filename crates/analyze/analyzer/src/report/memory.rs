//! Types of Metal memory: what was allocated, by which function, and for how long.

use metalens_message::{Bytes, Ns};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Metal resources that the process allocated and freed in the recording. A resource that lies
/// inside another one, such as a small buffer in a larger one of the driver, counts as an
/// allocation, and its bytes count with the other. Resources that were made before the recording
/// are not in these figures, except in `freed_from_before`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Memory {
    /// Name of the table.
    pub table: String,
    /// Allocations and deallocations in the whole recording.
    pub whole: Turnover,
    /// Allocations and deallocations before the window.
    pub before_window: Turnover,
    /// Allocations and deallocations in the window.
    pub in_window: Turnover,
    /// Allocations and deallocations after the window.
    pub after_window: Turnover,
    /// Allocations per second of the window; null if the window has no length.
    pub allocations_per_s: Option<f64>,
    /// Allocated bytes per second of the window; null if the window has no length.
    pub bytes_per_s: Option<f64>,
    /// Resources that were made before the recording, and freed in it.
    pub freed_from_before: CountedBytes,
    /// Resources that the recording does not see end: live at its end, or when the process ended.
    pub live: CountedBytes,
    /// Largest number of bytes that were live at once.
    pub peak_bytes: Bytes,
    /// First time at which they were, in nanoseconds since the recording began; null without
    /// allocations.
    pub peak_at_ns: Option<Ns>,
    /// Lifetimes of the resources that were made and freed; null if there are none.
    pub lifetimes: Option<Lifetimes>,
    /// Allocations in each step of the main series; null if there are few.
    pub steps: Option<MemorySteps>,
    /// Phases of the process by the bytes that were allocated during them; phases may overlap. At
    /// most 20.
    #[serde(default)]
    pub phases: Vec<MemoryPhase>,
    /// Allocations and deallocations in none of its phases; null if it named none.
    #[serde(default)]
    pub outside_phases: Option<Turnover>,
    /// Functions outside Apple's libraries by the bytes that were allocated for them. At most 20.
    pub callers: Vec<MemoryGroup>,
    /// Number of these functions, listed or not.
    pub callers_count: u64,
    /// Labels of resources by their bytes; those without a label are one. At most 20.
    pub labels: Vec<MemoryGroup>,
    /// Number of labels, listed or not.
    pub labels_count: u64,
    /// All processes with allocations, the most bytes first. At most 20.
    pub processes: Vec<MemoryProcess>,
    /// Number of allocations without a call stack: nobody knows for whom they are, or whether they
    /// lie inside others.
    pub without_stack: u64,
    /// Number of rows of any process that have no time or id, or another event than allocation and
    /// deallocation.
    pub unread: u64,
}

/// Allocations and deallocations in a part of the recording, of resources that were made in the
/// recording.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Turnover {
    /// Number of resources that were allocated.
    pub allocations: u64,
    /// Number of them that lie inside other resources, and have no bytes of their own.
    pub inside_others: u64,
    /// Bytes that were allocated, summed.
    pub bytes: Bytes,
    /// Number of resources that were freed.
    pub freed: u64,
    /// Bytes that were freed, summed.
    pub freed_bytes: Bytes,
}

/// Allocations and deallocations during the phases with one name.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct MemoryPhase {
    /// Name of the phases.
    pub name: String,
    /// Allocations and deallocations while one of them went on, in the whole recording.
    pub turnover: Turnover,
}

/// Number of resources, and their bytes.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct CountedBytes {
    /// Number of these resources.
    pub count: u64,
    /// Their bytes, summed up.
    pub bytes: Bytes,
}

/// Lifetimes of resources that were made and freed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Lifetimes {
    /// Number of these resources.
    pub count: u64,
    /// Median lifetime in nanoseconds.
    pub median_ns: Ns,
    /// 95th percentile in nanoseconds.
    pub p95_ns: Ns,
    /// Longest lifetime in nanoseconds.
    pub max_ns: Ns,
}

/// Allocations in the steps of the main series: from the first start in the window to
/// the last. An allocation counts in the step during which it was made, also if a later one
/// uses it.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct MemorySteps {
    /// Start of the first step, in nanoseconds since the recording began.
    pub start_ns: Ns,
    /// End of the last one.
    pub end_ns: Ns,
    /// Number of these steps.
    pub count: u64,
    /// Allocations and deallocations during all of them.
    pub turnover: Turnover,
    /// Median number of allocations in a step.
    pub median_allocations: u64,
    /// Median of the bytes that were allocated in a step.
    pub median_bytes: Bytes,
    /// Growth of the live bytes from step to step.
    pub growth: MemoryGrowth,
}

/// Growth of live bytes from step to step: allocated minus freed bytes.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct MemoryGrowth {
    /// Bytes per step, the mean of all; negative if memory shrinks.
    pub bytes_per_step: f64,
    /// Standard error of that mean.
    pub error_bytes: f64,
    /// Bytes per step in the later half: about the same if growth goes on.
    pub later_bytes_per_step: f64,
    /// Growth in bytes over all steps.
    pub total_bytes: i64,
}

impl MemoryGrowth {
    /// Returns whether growth is certain, and goes on: a cache that has filled up does not grow.
    #[must_use]
    pub fn is_growing(&self) -> bool {
        /// Standard errors that chance does not reach.
        const ERRORS: f64 = 3.0;
        let mean = self.bytes_per_step;
        mean > ERRORS * self.error_bytes && self.later_bytes_per_step > mean / 2.0
    }
}

/// Allocations with one caller or one label.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct MemoryGroup {
    /// Name of the function or the label; null if it has none, or if no function on the stack is
    /// outside Apple's libraries.
    pub name: Option<String>,
    /// Binary of the function; null if unknown, and for labels.
    pub binary: Option<String>,
    /// Number of allocations in the recording.
    pub allocations: u64,
    /// Bytes that were allocated, summed.
    pub bytes: Bytes,
    /// Resources that the recording does not see end.
    pub live: CountedBytes,
    /// Allocations of the group in the steps of the main series; null if there are few, or it allocates nothing in them.
    pub steps: Option<GroupSteps>,
}

/// Allocations of a group in the steps of the main series.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct GroupSteps {
    /// Number of steps in which it allocates.
    pub allocating: u64,
    /// Allocations and deallocations in the steps.
    pub turnover: Turnover,
    /// Allocations in the steps that were freed before the recording ended: what a step
    /// makes, and somebody frees again.
    pub passing: CountedBytes,
    /// Growth of its live bytes from step to step.
    pub growth: MemoryGrowth,
}

/// Allocations of one process in the whole recording.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct MemoryProcess {
    /// Name of the process; null if rows name none.
    pub name: Option<String>,
    /// Process id; null if unknown.
    pub pid: Option<u32>,
    /// True if the report is about it.
    pub is_analyzed: bool,
    /// Number of its allocations.
    pub allocations: u64,
    /// Bytes that were allocated, summed.
    pub bytes: Bytes,
    /// Largest number of bytes that were live at once.
    pub peak_bytes: Bytes,
    /// Resources that the recording does not see end.
    pub live: CountedBytes,
}

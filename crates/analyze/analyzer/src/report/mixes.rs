//! Types of the times of kernels that share GPU intervals.

use metalens_message::{Message, Ns, Share};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Times of kernels that share GPU intervals. They are estimated: each interval has one time, and says how
/// often each kernel ran in it; the times of different mixes tell those of their kernels.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct KernelMixes {
    /// Different mixes, those of the most intervals first, at most 400.
    pub mixes: Vec<KernelMix>,
    /// Estimated kernels, the most time first. Those that always run together are one; empty if there is a
    /// reason against it.
    pub kernels: Vec<MixedKernel>,
    /// Time of each interval that no kernel accounts for, such as its begin and end; null if it is not told apart.
    pub boundary: Option<EstimatedTime>,
    /// Names of kernels whose times the mixes do not tell apart.
    pub not_told: Vec<String>,
    /// Part of the time by which the mixes differ from the sum of their kernels; null if nothing is estimated.
    pub misfit: Option<Share>,
    /// Reason why nothing is estimated; null if something is.
    pub why_not: Option<Message>,
}

/// Intervals in which the same kernels run equally often.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct KernelMix {
    /// Kernels of each interval.
    pub kernels: Vec<KernelCount>,
    /// Number of the intervals.
    pub intervals: u64,
    /// Median length in nanoseconds.
    pub median_ns: Ns,
    /// Usual deviation from the median, as a part of it: 1.4826 times the median of all deviations.
    pub deviation: Share,
}

/// Number of a kernel's dispatches.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
pub struct KernelCount {
    /// Name of the kernel.
    pub name: String,
    /// Number of its dispatches.
    pub count: u64,
}

/// Kernel, or kernels that always run together, with the estimated time.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct MixedKernel {
    /// Kernels, with their dispatches each time that they run together.
    pub kernels: Vec<KernelCount>,
    /// Number of times that they run together.
    pub count: u64,
    /// Time of one of these.
    pub time: EstimatedTime,
    /// Time of all, in nanoseconds.
    pub total_ns: Ns,
    /// Part of the time of all mixes.
    pub share: Share,
}

/// Time that was estimated, with its interval of 95 %.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct EstimatedTime {
    /// Most likely time, in nanoseconds.
    pub ns: Ns,
    /// Lower end of the interval, in nanoseconds.
    pub low_ns: Ns,
    /// Upper end of the interval, in nanoseconds.
    pub high_ns: Ns,
}

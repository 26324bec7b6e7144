//! Types of the profile: the CPU samples of a recording, without the GPU.

use metalens_message::Ns;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::cpu::{CpuFrame, CpuState, CpuThread, WeightUnit};
use super::recording::{ChosenBy, RunFacts, Source};

/// Name of the profile's schema; its number rises when a key is removed or changes meaning.
pub const PROFILE_SCHEMA: &str = "metalens.profile/1";

/// Profile of the threads and functions of a recording, made from CPU samples.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Profile {
    /// Name and version of this schema: `metalens.profile/1`.
    pub schema: String,
    /// Input that was read, and the reader that read it.
    pub source: Source,
    /// Facts about the recording and the recorded machine.
    pub run: RunFacts,
    /// Reason why the profiled processes were chosen; null if the profile covers all processes.
    pub how: Option<ChosenBy>,
    /// Name of the table that the samples come from.
    pub table: String,
    /// Unit of all weights in the profile.
    pub weight_unit: WeightUnit,
    /// Most common weight of a sample, which is the sampling period; null if no sample has a
    /// weight.
    pub period: Option<u64>,
    /// True if waiting threads were sampled too; null if unknown.
    pub waiting_recorded: Option<bool>,
    /// Time of the first sample, in nanoseconds since the recording began; null without samples.
    pub first_ns: Option<Ns>,
    /// Time of the last sample, in nanoseconds since the recording began; null without samples.
    pub last_ns: Option<Ns>,
    /// Number of samples of the profiled processes.
    pub samples: u64,
    /// Summed weights of those samples, in `weight_unit`.
    pub weight: u64,
    /// Number of samples without a weight, which add nothing to any weight.
    pub unweighted: u64,
    /// Number of samples without a call stack.
    pub without_stack: u64,
    /// All processes that were sampled, the most weight first.
    pub processes: Vec<ProfileProcess>,
    /// Samples by thread state, such as running or blocked.
    pub states: Vec<CpuState>,
    /// Number of threads that were sampled.
    pub thread_count: u64,
    /// Threads with the most weight, at most 32.
    pub threads: Vec<CpuThread>,
    /// Functions at the top of the stacks, the most weight first, at most 50.
    pub self_frames: Vec<CpuFrame>,
    /// Functions anywhere on the stacks, each counted once per sample, at most 50.
    pub total_frames: Vec<CpuFrame>,
    /// Notes that a reader needs to interpret the numbers.
    pub notes: Vec<String>,
}

/// CPU samples of one process.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ProfileProcess {
    /// Name of the process; null if the table has none.
    pub name: Option<String>,
    /// Process id; null if unknown.
    pub pid: Option<u32>,
    /// True if the profile is about this process.
    pub is_analyzed: bool,
    /// Number of samples of the process.
    pub samples: u64,
    /// Summed weights of those samples, in `weight_unit`.
    pub weight: u64,
}

//! The profile: what a recording of CPU samples says without any GPU.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::cpu::{CpuFrame, CpuState, CpuThread, WeightUnit};
use super::recording::{ChosenBy, RunFacts, Source};

/// The contract's name; its number rises when a key is removed or changes meaning.
pub const PROFILE_SCHEMA: &str = "metalens.profile/1";

/// What CPU samples say of the threads and functions of a recording.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Profile {
    /// `metalens.profile/1`.
    pub schema: String,
    /// What was read, and how.
    pub source: Source,
    /// What is known of the recording.
    pub run: RunFacts,
    /// How those that the profile is about were found; null if it is about everyone.
    pub how: Option<ChosenBy>,
    /// The table that the samples come from.
    pub table: String,
    /// What weights count.
    pub weight_unit: WeightUnit,
    /// The commonest weight of a sample: how much one of them stands for.
    pub period: Option<u64>,
    /// Whether threads that wait were sampled too. Null if unknown.
    pub waiting_recorded: Option<bool>,
    /// When the first sample was taken.
    pub first_ns: Option<u64>,
    /// When the last sample was taken.
    pub last_ns: Option<u64>,
    /// The samples that the profile is about.
    pub samples: u64,
    /// Their summed weights.
    pub weight: u64,
    /// Samples without a weight; they weigh nothing.
    pub unweighted: u64,
    /// Samples without a call stack.
    pub without_stack: u64,
    /// Everyone who was sampled, the most weight first.
    pub processes: Vec<ProfileProcess>,
    /// The samples by what their threads were doing.
    pub states: Vec<CpuState>,
    /// How many threads were sampled.
    pub thread_count: u64,
    /// The threads with the most weight, at most 32.
    pub threads: Vec<CpuThread>,
    /// The functions that threads were in, the most weight first, at most 50.
    pub self_frames: Vec<CpuFrame>,
    /// The functions on their stacks, each once per sample, at most 50.
    pub total_frames: Vec<CpuFrame>,
    /// What a reader should know about these numbers.
    pub notes: Vec<String>,
}

/// One process's samples.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ProfileProcess {
    /// Its name; null where the table has none.
    pub name: Option<String>,
    /// Its number.
    pub pid: Option<u32>,
    /// Whether the profile is about it.
    pub is_analyzed: bool,
    /// Samples.
    pub samples: u64,
    /// Their summed weights.
    pub weight: u64,
}

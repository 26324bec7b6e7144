//! What the CPU samples of a recording say.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// What the weight of a sample counts.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum WeightUnit {
    /// Nanoseconds that the sample stands for.
    Ns,
    /// CPU cycles that the sample stands for.
    Cycles,
    /// Nothing: the table has no weights, so that each sample counts 1.
    Samples,
}

/// What the target's threads did on the CPU inside the window, as far as
/// samples say. Weights are in `weight_unit`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Cpu {
    /// The table that the samples come from.
    pub table: String,
    /// What weights count.
    pub weight_unit: WeightUnit,
    /// The commonest weight of a sample: how much one of them stands for.
    pub period: Option<u64>,
    /// Whether threads that wait were sampled too. If not, a thread without
    /// samples was waiting, or ran for less than a period. Null if unknown.
    pub waiting_recorded: Option<bool>,
    /// The target's samples in the window.
    pub samples: u64,
    /// Their summed weights.
    pub weight: u64,
    /// Samples without a weight; they count among the samples, and weigh nothing.
    pub unweighted: u64,
    /// Samples inside the system's own tracing calls: part of what being
    /// recorded costs the program.
    pub tracing: u64,
    /// Their summed weights.
    pub tracing_weight: u64,
    /// The samples by what their threads were doing.
    pub states: Vec<CpuState>,
    /// How many threads were sampled.
    pub thread_count: u64,
    /// The threads with the most weight, at most 32.
    pub threads: Vec<CpuThread>,
    /// The stretches in which the GPU idled for the program's sake. Null if
    /// there are none.
    pub host: Option<CpuHost>,
}

/// Samples of one state of threads.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct CpuState {
    /// `Running`, `Blocked`, …; null where the table has none.
    pub state: Option<String>,
    /// Samples.
    pub samples: u64,
    /// Their summed weights.
    pub weight: u64,
}

/// One thread's samples.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct CpuThread {
    /// As Instruments displays it.
    pub name: String,
    /// Its number.
    pub tid: Option<u64>,
    /// Whether it encodes work for the GPU. Null if unknown.
    pub submits: Option<bool>,
    /// Samples.
    pub samples: u64,
    /// Their summed weights.
    pub weight: u64,
    /// Samples that found it running.
    pub running: u64,
    /// running / samples.
    pub running_share: Option<f64>,
}

/// What the threads that submit work were doing while the GPU idled for the
/// program's sake. Few samples fall into short stretches; over many stretches
/// they are still a fair draw, as far as the sampler does not run in step.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct CpuHost {
    /// The summed length of these stretches.
    pub host_ns: u64,
    /// Samples of the submitting threads in them; of all the target's threads
    /// where it is unknown which submit.
    pub samples: u64,
    /// Their summed weights.
    pub weight: u64,
    /// Samples that found their thread running.
    pub running: u64,
    /// Samples that found it waiting, in whatever way.
    pub waiting: u64,
    /// Samples in the system calls by which threads wait, `__psynch_cvwait` and
    /// its like, whatever state they were in: a recorder that looks only at
    /// running threads catches them as they go to sleep and wake.
    pub in_waiting_calls: u64,
    /// Summed weights / `host_ns`: how much of this time the samples speak for.
    /// Above 1 where several threads ran at once. Null where weights are not time.
    pub coverage: Option<f64>,
    /// Samples without a call stack.
    pub without_stack: u64,
    /// The functions that the threads were in, the most weight first.
    pub self_frames: Vec<CpuFrame>,
    /// The functions that were on their stacks, each once per sample.
    pub total_frames: Vec<CpuFrame>,
}

/// A function, by the samples that it is in.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct CpuFrame {
    /// Its name. Null for all functions of the binary that have no symbol.
    pub function: Option<String>,
    /// The binary that it is of.
    pub binary: Option<String>,
    /// Samples.
    pub samples: u64,
    /// Their summed weights.
    pub weight: u64,
    /// Its weight / the weight of all samples looked at, with stack or without.
    pub share: Option<f64>,
}

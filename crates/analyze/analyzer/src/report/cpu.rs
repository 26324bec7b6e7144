//! Types of the CPU samples of a recording.

use metalens_message::{Ns, Share};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Unit of the weight of a sample.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum WeightUnit {
    /// Nanoseconds that the sample stands for.
    Ns,
    /// CPU cycles that the sample stands for.
    Cycles,
    /// Number of samples: the table has no weights, so that each sample counts 1.
    Samples,
}

/// CPU samples of the threads of the process inside the window. Weights are in `weight_unit`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Cpu {
    /// Name of the table that the samples come from.
    pub table: String,
    /// Unit of all weights in this part of the report.
    pub weight_unit: WeightUnit,
    /// Most common weight of a sample, which is the sampling period; null if no sample has a
    /// weight.
    pub period: Option<u64>,
    /// True if waiting threads were sampled too. If false, a thread without samples was waiting, or
    /// ran for less than a period. Null if unknown.
    pub waiting_recorded: Option<bool>,
    /// Number of samples of the process in the window.
    pub samples: u64,
    /// Summed weights of those samples.
    pub weight: u64,
    /// Number of samples without a weight; they count as samples and add nothing to any weight.
    pub unweighted: u64,
    /// Number of samples inside the system's own tracing calls, which are part of the cost of
    /// recording.
    pub tracing: u64,
    /// Summed weights of the samples inside tracing calls.
    pub tracing_weight: u64,
    /// Number of samples with a function that has no name, only an address, so that tracing calls
    /// and waiting calls among them may be unknown.
    pub unnamed: u64,
    /// Samples by thread state, such as running or blocked.
    pub states: Vec<CpuState>,
    /// Number of threads that were sampled.
    pub thread_count: u64,
    /// Threads with the most weight, at most 32.
    pub threads: Vec<CpuThread>,
    /// Samples during idle time of the GPU that host work or encoding caused. Null if there is no
    /// such time.
    pub host: Option<CpuHost>,
    /// Samples before the first GPU work of the process; null if there are none, or if the window was
    /// cut there.
    pub before: Option<CpuBefore>,
}

/// CPU samples of the process before its first GPU work.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct CpuBefore {
    /// Number of samples of the process.
    pub samples: u64,
    /// Summed weights of those samples.
    pub weight: u64,
    /// Innermost functions outside of the runtime libraries, the most weight first.
    pub callers: Vec<CpuFrame>,
}

/// Samples of threads in one state.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct CpuState {
    /// State of the thread: `Running`, `Blocked`, …; null if the table has none.
    pub state: Option<String>,
    /// Number of samples in this state.
    pub samples: u64,
    /// Summed weights of those samples.
    pub weight: u64,
}

/// CPU samples of one thread.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct CpuThread {
    /// Name of the thread, as Instruments displays it.
    pub name: String,
    /// Thread id; null if unknown.
    pub tid: Option<u64>,
    /// True if the thread encodes GPU work; null if unknown.
    pub submits: Option<bool>,
    /// Number of samples of the thread.
    pub samples: u64,
    /// Summed weights of those samples.
    pub weight: u64,
    /// Number of samples in which the thread was running, outside of the calls by which threads
    /// wait.
    pub running: u64,
    /// `running` divided by the number of samples that tell whether the thread was running or
    /// waiting; null if none does.
    pub running_share: Option<Share>,
}

/// CPU samples of the submitting threads during idle time of the GPU that the program caused.
/// Few samples fall into one short stretch; over many stretches they are still a fair sample,
/// as long as the sampler does not run in step with the program.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct CpuHost {
    /// Summed length of these stretches in nanoseconds.
    pub host_ns: Ns,
    /// Number of samples of the submitting threads in them; of all threads of the process if the
    /// submitting ones are unknown.
    pub samples: u64,
    /// Summed weights of those samples.
    pub weight: u64,
    /// Number of samples in which the thread was running, outside of the calls by which threads
    /// wait.
    pub running: u64,
    /// Number of samples in which the thread was waiting: in any state of waiting, or in a call by
    /// which threads wait.
    pub waiting: u64,
    /// Number of samples that tell neither, because the innermost function has no name.
    pub unknown: u64,
    /// Number of the waiting samples in the system calls by which threads wait (`__psynch_cvwait`
    /// and others), in any thread state. A recorder that samples only running threads catches them
    /// as they go to sleep and wake.
    pub in_waiting_calls: u64,
    /// Summed weights divided by `host_ns`: the share of this time that the samples cover. Above 1
    /// if several threads ran at once. Null if weights are not time.
    pub coverage: Option<Share>,
    /// Number of samples without a call stack.
    pub without_stack: u64,
    /// Functions at the top of the stacks, the most weight first.
    pub self_frames: Vec<CpuFrame>,
    /// Functions anywhere on the stacks, each counted once per sample.
    pub total_frames: Vec<CpuFrame>,
    /// Innermost functions outside of the runtime libraries (Objective-C, Swift, libsystem, dispatch,
    /// Foundation), the most weight first.
    pub callers: Vec<CpuFrame>,
}

/// Function, with the samples that contain it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct CpuFrame {
    /// Name of the function; null for all functions of a binary that have no symbol.
    pub function: Option<String>,
    /// Binary of the function; null if unknown.
    pub binary: Option<String>,
    /// Number of samples with this function.
    pub samples: u64,
    /// Summed weights of those samples.
    pub weight: u64,
    /// Weight divided by the weight of all examined samples, with or without a stack; null if that
    /// is zero.
    pub share: Option<Share>,
}

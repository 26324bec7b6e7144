//! Types of the verdict in a word: what bounds the program.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use metalens_message::Message;

/// Verdict in a word: what bounds the program: the part without which it would take least time.
#[derive(Debug, Default, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct BoundVerdict {
    /// Limit that bounds the program; null if the recording does not show it.
    pub bound: Option<Bound>,
    /// Reason, as a sentence that begins with the verdict.
    pub why: Message,
}

/// Limit that bounds a program.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Bound {
    /// GPU-bound: the GPU was busy for at least nine tenths of the time, or all other parts together
    /// would save less than a tenth.
    Gpu,
    /// CPU-bound, and host work has more of the time than encoding.
    CpuHost,
    /// CPU-bound, and encoding has more of the time than host work.
    CpuEncoding,
    /// Driver-bound: the driver's work on command buffers limits.
    Driver,
    /// Latency-bound: the program or the GPU waited, for notifications and for the start of work.
    Latency,
    /// Contended: other processes ran on the GPU while work waited.
    Contended,
    /// Paced: steps begin on a grid of time, such as that of a display.
    Paced,
    /// Mixed: no part alone gives half of what all parts beside the GPU's work give.
    Mixed,
}

impl Bound {
    /// Returns the verdict as pages call it.
    pub fn label(self) -> &'static str {
        match self {
            Self::Gpu => "GPU-bound",
            Self::CpuHost => "CPU-bound (host work)",
            Self::CpuEncoding => "CPU-bound (encoding)",
            Self::Driver => "Driver-bound",
            Self::Latency => "Latency-bound",
            Self::Contended => "Contended",
            Self::Paced => "Paced",
            Self::Mixed => "Mixed",
        }
    }
}

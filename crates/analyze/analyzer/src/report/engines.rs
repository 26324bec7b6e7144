//! Types of the engines beside the GPU's channels.

use metalens_message::{Ns, Share};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Work of one engine during the window, beside the GPU work of the process.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Engine {
    /// Engine that the work is about.
    pub id: EngineId,
    /// Table that has the work.
    pub table: String,
    /// True if only work of the process counts; false if the table names no process, so that work
    /// of others counts too.
    pub of_process: bool,
    /// Number of its intervals in the window.
    pub intervals: u64,
    /// Busy time of the engine in nanoseconds: the length of the union of its intervals.
    pub busy_ns: Ns,
    /// `busy_ns` divided by the window; null if the window has no length.
    pub ratio: Option<Share>,
    /// Part of `busy_ns` in gaps of the process's GPU work.
    pub while_gpu_idle_ns: Ns,
}

/// Engine beside the GPU's channels.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum EngineId {
    /// MPSGraph: its operations on the GPU. Tested on synthetic rows.
    Mps,
    /// Neural Engine. Real rows of it were never seen.
    NeuralEngine,
    /// Core ML: its events on the CPU. Real rows of it were never seen.
    CoreMl,
    /// Wait for a drawable: the program waited for the display. Real rows of it were never seen.
    DrawableWait,
}

impl EngineId {
    /// Returns the engine as tables, charts and sentences call it.
    pub fn label(self) -> &'static str {
        match self {
            Self::Mps => "MPSGraph",
            Self::NeuralEngine => "Neural Engine",
            Self::CoreMl => "Core ML",
            Self::DrawableWait => "Drawable wait",
        }
    }

    /// Returns the engine as reports call it.
    pub(crate) fn part(self) -> &'static str {
        match self {
            Self::Mps => "mps",
            Self::NeuralEngine => "neural-engine",
            Self::CoreMl => "core-ml",
            Self::DrawableWait => "drawable-wait",
        }
    }
}

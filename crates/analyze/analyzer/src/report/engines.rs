//! Types of the engines beside the GPU's channels, and of frames.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::idle::GapParts;
use super::summary::Distribution;

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
    pub busy_ns: u64,
    /// `busy_ns` divided by the window; null if the window has no length.
    pub ratio: Option<f64>,
    /// Part of `busy_ns` in which GPU work of the process ran too. `busy_ns` =
    /// `while_gpu_busy_ns` + `while_gpu_idle_ns`.
    pub while_gpu_busy_ns: u64,
    /// Part of `busy_ns` in gaps of the process's GPU work.
    pub while_gpu_idle_ns: u64,
    /// `while_gpu_idle_ns` divided by the idle time; null if the GPU was never idle.
    pub share_of_idle: Option<f64>,
    /// `while_gpu_idle_ns` by cause of the idle time.
    pub idle: GapParts,
    /// Work by label, the longest first.
    pub work: Vec<EngineWork>,
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
    #[must_use]
    pub fn label(self) -> &'static str {
        match self {
            Self::Mps => "MPSGraph",
            Self::NeuralEngine => "Neural Engine",
            Self::CoreMl => "Core ML",
            Self::DrawableWait => "Drawable wait",
        }
    }
}

/// Work of an engine under one label.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct EngineWork {
    /// Label of the work; null for rows without one.
    pub label: Option<String>,
    /// Number of its intervals in the window.
    pub intervals: u64,
    /// Summed durations in nanoseconds, which count overlaps twice.
    pub total_ns: u64,
}

/// Frames that the process presented during the window. Real rows of them were never seen.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Frames {
    /// Number of requests to present a frame.
    pub requests: u64,
    /// Number of notifications that a frame was presented; null if not recorded.
    pub presented: Option<u64>,
    /// Time from one request to the next; null if there are fewer than two.
    pub interval: Option<Distribution>,
}

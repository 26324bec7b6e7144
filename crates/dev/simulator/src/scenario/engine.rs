//! Describes the work of engines beside the GPU's channels, and frames.

use serde::{Deserialize, Serialize};

use super::nanos::Nanos;

/// Equal pieces of work of one engine, at equal distances.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct EngineWork {
    /// Engine that does the work; each engine has its own table.
    pub kind: EngineKind,
    /// Label of the work in the table.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub label: String,
    /// Start of the first piece, counted from the start of the recording.
    pub start: Nanos,
    /// Duration of each piece of work.
    pub length: Nanos,
    /// Time from the start of one piece to that of the next.
    pub every: Nanos,
    /// Number of pieces of work.
    pub count: u32,
}

/// Engine beside the GPU's channels.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum EngineKind {
    /// MPSGraph, in `mps-hw-intervals`.
    Mps,
    /// Neural Engine, in `ane-hw-intervals`.
    NeuralEngine,
    /// Neural Engine, in `ane-hw-intervals-internal`.
    NeuralEngineInternal,
    /// Core ML, in `coreml-os-signpost`.
    CoreMl,
    /// Wait for a drawable, in `ca-client-buffer-wait-interval`.
    DrawableWait,
    /// Frame: requested at its start and presented at its end.
    Frame,
}

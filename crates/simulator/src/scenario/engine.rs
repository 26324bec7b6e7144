//! Describes the work of engines beside the GPU's channels, and frames.

use serde::{Deserialize, Serialize};

use super::nanos::Nanos;

/// Equal pieces of work of one engine, at equal distances.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct EngineWork {
    /// Engine, which decides the table.
    pub kind: EngineKind,
    /// Label of the work.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub label: String,
    /// Start of the first piece, counted from the start of the recording.
    pub start: Nanos,
    /// Duration of each piece.
    pub length: Nanos,
    /// Time from the start of one piece to that of the next.
    pub every: Nanos,
    /// Number of pieces.
    pub count: u32,
}

/// Engine beside the GPU's channels.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum EngineKind {
    /// MPSGraph.
    Mps,
    /// Neural Engine.
    NeuralEngine,
    /// Neural Engine, in the table of the other name.
    NeuralEngineInternal,
    /// Core ML.
    CoreMl,
    /// Wait for a drawable.
    DrawableWait,
    /// Frame: requested at its start and presented at its end.
    Frame,
}

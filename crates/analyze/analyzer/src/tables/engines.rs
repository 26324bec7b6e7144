//! Tables of the engines beside the GPU's channels: MPSGraph, the Neural Engine, Core ML, and waits
//! for a drawable.
//!
//! Real rows were never seen of any of them but `mps-hw-intervals`; their columns come from the
//! schemas of real bundles, and their reading is tested on synthetic rows.

use super::columns::{Either, Labels, OrNull, Processes, Spans, Texts, Threads, columns};
use super::reader::{TableReader, tables};

tables! {
    /// Tables of the engines beside the GPU's channels.
    struct EngineTables {
        mps: EngineRows = MPS,
        neural_engine: EngineRows = NEURAL_ENGINE,
        neural_engine_internal: EngineRows = NEURAL_ENGINE_INTERNAL,
        core_ml: EngineRows = CORE_ML,
        drawable_waits: EngineRows = DRAWABLE_WAITS,
    }
}

columns! {
    /// Table of MPSGraph's work on the GPU.
    table MPS = "mps-hw-intervals";
    /// Table of the Neural Engine's work, of all processes: its rows name none.
    table NEURAL_ENGINE = "ane-hw-intervals";
    /// Table of the Neural Engine's work under its other name.
    table NEURAL_ENGINE_INTERNAL = "ane-hw-intervals-internal";
    /// Table of the times when a program waited for a drawable.
    table DRAWABLE_WAITS = "ca-client-buffer-wait-interval";
    struct EngineRows {
        spans: Spans = "start" and "duration",
        labels: OrNull<Either<Labels, Texts>> = "event-label",
        /// States: `Active`, or null.
        states: OrNull<Texts> = "state",
        processes: OrNull<Processes> = "process",
        threads: OrNull<Threads> = "thread",
    }
}

/// Table of the events of Core ML, of all processes: its rows name none.
pub(crate) const CORE_ML: TableReader<EngineRows> = TableReader {
    schema: "coreml-os-signpost",
    columns: &["start", "duration"],
    ..MPS
};

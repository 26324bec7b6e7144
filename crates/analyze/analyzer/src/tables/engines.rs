//! Tables of the engines beside the GPU's channels: MPSGraph, the Neural Engine, Core ML, and waits
//! for a drawable.
//!
//! Real rows were never seen of any of them but `mps-hw-intervals`; their columns come from the
//! schemas of real bundles, and their reading is tested on synthetic rows.

use metalens_trace::Table;

use super::columns::{Column, Either, Labels, OrNull, Processes, Spans, Texts, Threads};
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

/// Returns the reader of a table of work.
const fn work(schema: &'static str) -> TableReader<EngineRows> {
    TableReader {
        schema,
        columns: &[
            "start",
            "duration",
            "event-label",
            "state",
            "process",
            "thread",
        ],
        read: EngineRows::read,
    }
}

/// Table of MPSGraph's work on the GPU.
pub(crate) const MPS: TableReader<EngineRows> = work("mps-hw-intervals");

/// Table of the Neural Engine's work, of all processes: its rows name none.
pub(crate) const NEURAL_ENGINE: TableReader<EngineRows> = work("ane-hw-intervals");

/// Table of the Neural Engine's work under its other name.
pub(crate) const NEURAL_ENGINE_INTERNAL: TableReader<EngineRows> =
    work("ane-hw-intervals-internal");

/// Table of the events of Core ML, of all processes: its rows name none.
pub(crate) const CORE_ML: TableReader<EngineRows> = TableReader {
    columns: &["start", "duration"],
    ..work("coreml-os-signpost")
};

/// Table of the times when a program waited for a drawable.
pub(crate) const DRAWABLE_WAITS: TableReader<EngineRows> = work("ca-client-buffer-wait-interval");

/// Columns of a table of work.
#[derive(Debug)]
pub(crate) struct EngineRows {
    pub spans: Spans,
    pub labels: OrNull<Either<Labels, Texts>>,
    /// States: `Active`, or null.
    pub states: OrNull<Texts>,
    pub processes: OrNull<Processes>,
    pub threads: OrNull<Threads>,
}

impl EngineRows {
    fn read(table: &mut Table) -> metalens_trace::Result<Self> {
        Ok(Self {
            spans: Spans::take(table, "start")?,
            labels: Column::take(table, "event-label")?,
            states: Column::take(table, "state")?,
            processes: Column::take(table, "process")?,
            threads: Column::take(table, "thread")?,
        })
    }
}

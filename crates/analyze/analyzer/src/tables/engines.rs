//! Tables of the engines beside the GPU's channels: MPSGraph, the Neural Engine, Core ML, and the
//! frames of Core Animation.
//!
//! Real rows were never seen of any of them but `mps-hw-intervals`; their columns come from the
//! schemas of real bundles, and their reading is tested on synthetic rows.

use metalens_trace::{Integers, Table};

use super::columns::{Column, Either, Labels, OrNull, Processes, Spans, Texts, Threads, columns};
use super::reader::{TableReader, tables};

tables! {
    /// Tables of the engines beside the GPU's channels.
    struct EngineTables {
        mps: EngineRows = MPS,
        neural_engine: EngineRows = NEURAL_ENGINE,
        neural_engine_internal: EngineRows = NEURAL_ENGINE_INTERNAL,
        core_ml: EngineRows = CORE_ML,
        drawable_waits: EngineRows = DRAWABLE_WAITS,
        present_requests: Presents = PRESENT_REQUESTS,
        presented: Presents = PRESENTED,
    }
}

const COLUMNS: &[&str] = &[
    "start",
    "duration",
    "event-label",
    "state",
    "process",
    "thread",
];

/// Table of MPSGraph's work on the GPU.
pub(crate) const MPS: TableReader<EngineRows> = TableReader {
    schema: "mps-hw-intervals",
    columns: COLUMNS,
    read: |table| EngineRows::read(table, "event-label"),
};

/// Table of the Neural Engine's work, of all processes: its rows name none.
pub(crate) const NEURAL_ENGINE: TableReader<EngineRows> = TableReader {
    schema: "ane-hw-intervals",
    columns: COLUMNS,
    read: |table| EngineRows::read(table, "event-label"),
};

/// Table of the Neural Engine's work under its other name.
pub(crate) const NEURAL_ENGINE_INTERNAL: TableReader<EngineRows> = TableReader {
    schema: "ane-hw-intervals-internal",
    columns: COLUMNS,
    read: |table| EngineRows::read(table, "event-label"),
};

/// Table of the events of Core ML, of all processes: its rows name none.
pub(crate) const CORE_ML: TableReader<EngineRows> = TableReader {
    schema: "coreml-os-signpost",
    columns: &["start", "duration", "graph-event-label"],
    read: |table| EngineRows::read(table, "graph-event-label"),
};

/// Table of the times when a program waited for a drawable.
pub(crate) const DRAWABLE_WAITS: TableReader<EngineRows> = TableReader {
    schema: "ca-client-buffer-wait-interval",
    columns: COLUMNS,
    read: |table| EngineRows::read(table, "event-label"),
};

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
    fn read(table: &mut Table, label: &str) -> metalens_trace::Result<Self> {
        Ok(Self {
            spans: Spans::take(table, "start")?,
            labels: Column::take(table, label)?,
            states: Column::take(table, "state")?,
            processes: Column::take(table, "process")?,
            threads: Column::take(table, "thread")?,
        })
    }
}

columns! {
    /// Table of the frames that a program asked to present.
    table PRESENT_REQUESTS = "ca-client-present-request";
    /// Table of the frames of which a program was told that they were presented.
    table PRESENTED = "ca-client-presented-handler";
    struct Presents {
        times: Integers = "timestamp",
        processes: OrNull<Processes> = "process",
    }
}

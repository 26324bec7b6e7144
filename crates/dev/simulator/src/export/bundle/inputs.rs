//! Writes the tables that a recorder fills and that bundles store as inputs: raw events, signposts,
//! clocks, threads and the GPU. Tables with the same schema differ in an attribute.

use super::raw_events::{self, KDEBUG, TIME_INFO};
use super::row::RowCells;
use super::spec::{Attribute, Spec};
use super::store::Store;
use crate::error::Error;
use crate::export::cells::{ACCELERATOR_ID, Cells, Number, Sheet, Text};
use crate::export::schema::Schema;
use crate::optional::{Optional, signposts};
use crate::plan::{Plan, ProcessIndex};

/// An input table: its columns, its attributes, and the function that writes its rows.
pub(super) struct Input {
    pub(super) schema: Schema,
    pub(super) attributes: &'static [(&'static str, Attribute)],
    pub(super) rows: fn(&mut Store<'_>, &Optional) -> Result<(), Error>,
}

impl Input {
    pub(super) fn spec(&self) -> Spec {
        Spec {
            schema: self.schema.name,
            attributes: self.attributes.to_vec(),
            input: true,
        }
    }
}

/// All input tables of a bundle.
pub(super) const INPUTS: [Input; 9] = [
    Input {
        schema: TICK,
        attributes: &[("frequency", Attribute::Number(1))],
        rows: |store, _| ticks(store),
    },
    Input {
        schema: KDEBUG,
        attributes: &[
            ("codes", Attribute::Codes(&["0x85,0x1", "0x85,0x8"])),
            ("callstack", Attribute::Text("user")),
        ],
        rows: |store, _| raw_events::commands(store),
    },
    Input {
        schema: KDEBUG_STRINGS,
        attributes: &[
            ("codes", Attribute::Codes(&["33,0x11"])),
            ("target", Attribute::Text("SINGLE")),
        ],
        rows: |_, _| Ok(()),
    },
    Input {
        schema: TIME_INFO,
        attributes: &[],
        rows: |store, _| raw_events::time_info(store),
    },
    Input {
        schema: signposts::SCHEMA,
        attributes: &[("category", Attribute::Text("PointsOfInterest"))],
        rows: |store, optional| signposts::write(&optional.signposts, store),
    },
    Input {
        schema: KDEBUG,
        attributes: &[(
            "codes",
            Attribute::Codes(&["0x85,0x3", "0x85,0x90", "0x85,0xA9"]),
        )],
        rows: |store, _| raw_events::execution(store),
    },
    Input {
        schema: THREAD_INFO,
        attributes: &[],
        rows: |store, _| thread_info(store),
    },
    Input {
        schema: DEVICE_GPU_INFO,
        attributes: &[],
        rows: |store, _| device_gpu_info(store),
    },
    Input {
        schema: KDEBUG,
        attributes: &[(
            "codes",
            Attribute::Codes(&["0x85,0x92", "0x85,0x93", "0x85,0xae"]),
        )],
        rows: |store, _| raw_events::submissions(store),
    },
];

const TICK: Schema = Schema {
    name: "tick",
    documentation: "",
    columns: &[("time", "Timestamp", "sample-time")],
};

pub(super) const KDEBUG_STRINGS: Schema = Schema {
    name: "kdebug-strings",
    documentation: "",
    columns: &[
        ("time", "Timestamp", "event-time"),
        ("raw-string", "Raw String", "raw-string"),
        ("raw-string-id", "Raw String ID", "kdebug-string"),
        ("class", "Class", "kdebug-class"),
        ("subclass", "Subclass", "kdebug-subclass"),
        ("code", "Code", "kdebug-code"),
        ("function", "Qualifier", "kdebug-func"),
        ("thread", "Thread", "thread"),
        ("core-index", "Core Index", "core"),
    ],
};

const THREAD_INFO: Schema = Schema {
    name: "thread-info",
    documentation: "",
    columns: &[
        ("time", "Timestamp", "event-time"),
        ("pid", "Process ID", "pid"),
        ("tid", "Thread ID", "tid"),
        ("process", "Process", "process"),
        ("thread", "Thread", "thread"),
        ("name", "Thread Name", "thread-name"),
        ("main-thread", "Main Thread", "boolean"),
    ],
};

const DEVICE_GPU_INFO: Schema = Schema {
    name: "device-gpu-info",
    documentation: "",
    columns: &[
        ("timestamp", "Timestamp", "event-time"),
        ("accelerator-id", "Accelerator ID", "uint64"),
        ("device-name", "Device Name", "metal-object-label"),
        ("vendor-name", "Vendor Name", "metal-object-label"),
        (
            "recommended-max-working-set-size",
            "Recommended Max Working Set Size",
            "size-in-bytes",
        ),
        ("headless", "Headless", "boolean"),
        ("removable", "Removable", "boolean"),
        ("low-power", "Low Power", "boolean"),
        ("mobile", "Mobile", "boolean"),
        ("agx-tracecode-version", "AGX Tracecode Version", "string"),
        ("perf-map", "Performance State Map", "uint64"),
    ],
};

/// Writes one row per second.
fn ticks(store: &mut Store<'_>) -> Result<(), Error> {
    let seconds = store.plan().wall_ns / 1_000_000_000;
    (1..=seconds).try_for_each(|second| {
        store.row(|cells| cells.number(Number::EventTime, second * 1_000_000_000))
    })
}

/// Writes two threads per process: its main thread, which has no name, and one with a name.
fn thread_info(store: &mut Store<'_>) -> Result<(), Error> {
    let plan = store.plan();
    for (position, process) in plan.processes.iter().enumerate() {
        let index = ProcessIndex::at(position);
        let pid = u64::from(process.pid);
        store.row(|cells| {
            cells.number(Number::EventTime, 0);
            cells.number(Number::Pid, pid);
            cells.number(Number::Tid, process.tid);
            cells.process(index);
            cells.thread(index);
            cells.nothing();
            cells.number(Number::Boolean, 1);
        })?;
        store.row(|cells| {
            cells.number(Number::EventTime, 0);
            cells.number(Number::Pid, pid);
            cells.number(Number::Tid, process.tid + WORKER_TID);
            cells.process(index);
            worker(cells, process.tid + WORKER_TID, plan, index);
            cells.number(Number::Boolean, 0);
        })?;
    }

    Ok(())
}

/// Distance of a worker's thread id from that of the main thread. No process has an id that far
/// from another's, so the ids are unique.
const WORKER_TID: u64 = 0x100_0000;

/// Writes a worker thread, then its name and the thread packed into one value.
fn worker(cells: &mut RowCells<'_>, tid: u64, plan: &Plan, process: ProcessIndex) {
    let owner = cells.uniquing.process(plan, process);
    let thread = cells.uniquing.another_thread(tid, owner);
    let name = cells.uniquing.string("synthetic worker");
    cells.raw(u64::from(thread));
    cells.raw((u64::from(name) << 32) | u64::from(thread));
}

fn device_gpu_info(store: &mut Store<'_>) -> Result<(), Error> {
    let plan = store.plan();
    store.row(|cells| {
        cells.number(Number::EventTime, 0);
        cells.number(Number::Uint64, ACCELERATOR_ID);
        cells.text(Text::ObjectLabel, &plan.gpu);
        cells.text(Text::ObjectLabel, "Synthetic");
        cells.number(Number::SizeInBytes, 16 << 30);
        cells.number(Number::Boolean, 0);
        cells.number(Number::Boolean, 0);
        cells.number(Number::Boolean, 0);
        cells.number(Number::Boolean, 1);
        cells.text(Text::String, "0.0.0");
        cells.nothing();
    })
}

//! Writes the tables that a recorder fills and that bundles store as inputs: raw events, signposts,
//! clocks, threads and the GPU. Tables with the same schema differ in an attribute.

use super::raw_events::{COMMANDS, EXECUTION, SUBMISSIONS, TIME_INFO};
use super::spec::{Attribute, Input};
use super::symbols::PATHS;
use crate::optional::{Optional, signposts};
use crate::plan::{Plan, ProcessIndex};
use crate::sheet::functions::worker_tid;
use crate::sheet::{ACCELERATOR_ID, Form, Value, table};

/// Memory of the GPU, in bytes.
const MEMORY: u64 = 16 << 30;

/// All input tables of a bundle.
pub(super) const INPUTS: [Input; 9] = [
    Input {
        form: TICK,
        attributes: &[("frequency", Attribute::Number(1))],
    },
    Input {
        form: COMMANDS,
        attributes: &[
            ("codes", Attribute::Codes(&["0x85,0x1", "0x85,0x8"])),
            ("callstack", Attribute::Text("user")),
        ],
    },
    Input {
        form: Form {
            write: |_, _, _| Ok(()),
            ..PATHS
        },
        attributes: &[
            ("codes", Attribute::Codes(&["33,0x11"])),
            ("target", Attribute::Text("SINGLE")),
        ],
    },
    Input {
        form: TIME_INFO,
        attributes: &[],
    },
    Input {
        form: signposts::SIGNPOSTS,
        attributes: &[("category", Attribute::Text("PointsOfInterest"))],
    },
    Input {
        form: EXECUTION,
        attributes: &[(
            "codes",
            Attribute::Codes(&["0x85,0x3", "0x85,0x90", "0x85,0xA9"]),
        )],
    },
    Input {
        form: THREAD_INFO,
        attributes: &[],
    },
    Input {
        form: DEVICE_GPU_INFO,
        attributes: &[],
    },
    Input {
        form: SUBMISSIONS,
        attributes: &[(
            "codes",
            Attribute::Codes(&["0x85,0x92", "0x85,0x93", "0x85,0xae"]),
        )],
    },
];

table! {
    TICK: "tick", "";
    |plan, _| for second in 1..=plan.wall_ns / 1_000_000_000 => {
        "time" "Timestamp" SampleTime = second * 1_000_000_000;
    }
}

table! {
    THREAD_INFO: "thread-info", "";
    |plan, _| for (process, thread, is_main) in threads(plan) => {
        let (main_tid, other_tid) = (plan.process(process).tid, worker_tid(plan, process));
        "time" "Timestamp" EventTime;
        "pid" "Process ID" Pid = plan.process(process).pid;
        "tid" "Thread ID" Tid = if is_main { main_tid } else { other_tid };
        "process" "Process" Process = process;
        "thread" "Thread" Thread = thread;
        "name" "Thread Name" ThreadName = (!is_main).then_some(thread);
        "main-thread" "Main Thread" Boolean = is_main;
    }
}

/// Returns two threads per process: its main thread, which has no name, and one with a name.
fn threads(plan: &Plan) -> impl Iterator<Item = (ProcessIndex, Value<'_>, bool)> {
    plan.indexed_processes().flat_map(|(process, _)| {
        let main = (process, Value::Process(process), true);
        [main, (process, Value::Worker(process), false)]
    })
}

table! {
    DEVICE_GPU_INFO: "device-gpu-info", "";
    |plan, _| for gpu in [&plan.gpu] => {
        "timestamp" "Timestamp" EventTime;
        "accelerator-id" "Accelerator ID" Uint64 = ACCELERATOR_ID;
        "device-name" "Device Name" ObjectLabel = gpu;
        "vendor-name" "Vendor Name" ObjectLabel = "Synthetic";
        "recommended-max-working-set-size" "Recommended Max Working Set Size" SizeInBytes = MEMORY;
        "headless" "Headless" Boolean;
        "removable" "Removable" Boolean;
        "low-power" "Low Power" Boolean;
        "mobile" "Mobile" Boolean = true;
        "agx-tracecode-version" "AGX Tracecode Version" String = "0.0.0";
        "perf-map" "Performance State Map" Uint64 = Value::Null;
    }
}

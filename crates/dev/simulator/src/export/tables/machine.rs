//! Writes the tables of the machine: its GPU and its processes.

use crate::error::Error;
use crate::export::cells::{ACCELERATOR_ID, Cells, Number, Sheet, Text};
use crate::export::schema::Schema;
use crate::plan::ProcessIndex;

pub(super) const GPU_INFO: Schema = Schema {
    name: "metal-gpu-info",
    documentation: "Which GPUs there are.",
    columns: &[
        ("timestamp", "Timestamp", "start-time"),
        ("gpu-name", "GPU Name", "metal-object-label"),
        ("gpu-index", "GPU Index", "uint32"),
        ("accelerator-id", "Accelerator ID", "uint64"),
        ("mobile", "Mobile", "boolean"),
    ],
};

/// Writes `metal-gpu-info`: one row, since the machine has one GPU.
pub(super) fn gpu_info<'a>(sheet: &mut impl Sheet<'a>) -> Result<(), Error> {
    let plan = sheet.plan();
    sheet.row(|cells| {
        cells.number(Number::StartTime, 0);
        cells.text(Text::ObjectLabel, &plan.gpu);
        cells.number(Number::Uint32, 1);
        cells.number(Number::Uint64, ACCELERATOR_ID);
        cells.number(Number::Boolean, 1);
    })
}

pub(super) const PROCESS_INFO: Schema = Schema {
    name: "process-info",
    documentation: "Which processes were running.",
    columns: &[
        ("time", "Timestamp", "event-time"),
        ("pid", "Process ID", "pid"),
        ("unique-id", "Unique Process ID", "uint64"),
        ("process", "Process", "process"),
        ("process-name", "Process Name", "string"),
    ],
};

/// Writes `process-info`: one row per process.
pub(super) fn process_info<'a>(sheet: &mut impl Sheet<'a>) -> Result<(), Error> {
    let plan = sheet.plan();
    for (position, process) in plan.processes.iter().enumerate() {
        sheet.row(|cells| {
            cells.number(Number::EventTime, 0);
            cells.number(Number::Pid, u64::from(process.pid));
            cells.number(Number::Uint64, u64::from(process.pid));
            cells.process(ProcessIndex::at(position));
            cells.text(Text::String, &process.name);
        })?;
    }
    Ok(())
}

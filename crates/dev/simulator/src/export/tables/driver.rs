//! Writes the tables of the driver's work between commit and the GPU.

use super::objects::{Object, objects};
use crate::optional::Optional;
use crate::plan::states::process_color;
use crate::plan::{PER_OBJECT_NS, Plan};
use crate::sheet::{ACCELERATOR_ID, Kind, Part, Value, sorted, table};

table! {
    BUFFER_TO_ACCELERATOR: "metal-command-buffer-to-accelerator-id",
        "When the driver began to work on command buffers, and for which GPU.";
    |plan, _| for buffer in sorted(&plan.buffers, |buffer| buffer.driver_begins_ns) => {
        "timestamp" "Timestamp" StartTime = buffer.driver_begins_ns;
        "cmdbuffer-id" "Commmand Buffer Id" CommandBufferId = buffer.id;
        "accelerator-id" "Accelerator ID" Uint64 = ACCELERATOR_ID;
    }
}

table! {
    DRIVER_INTERVALS: "metal-driver-intervals",
        "How long the driver worked on command buffers and encoders.";
    |plan, _| for (connection, object) in (1_u64..).zip(served(plan)) => {
        let buffer = object.buffer;
        let (duration_ns, kind) = match object.encoder {
            None => (buffer.driver_end_ns() - buffer.driver_begins_ns, "Command Buffer"),
            Some(_) => (PER_OBJECT_NS, "Command Encoder"),
        };
        // An encoder has its label alone.
        let label = [
            Part::Text(Kind::ObjectLabel, object.label(plan)),
            Part::Text(Kind::NarrativeText, " ("),
            Part::Thread(buffer.process),
            Part::Text(Kind::NarrativeText, ")"),
        ];
        let label = if object.encoder.is_some() { &label[..1] } else { &label };
        "start" "Creation" StartTime = start_ns(&object);
        "duration" "Duration" Duration = duration_ns;
        "gpu-driver-name" "GPU Driver Name" DriverName = "Driver Processing";
        "event-type" "Event Type" ObjectLabel = kind;
        "event-depth" "Depth" NestingLevel = object.depth();
        "event-label" "Event" FormattedLabel = Value::Label(label);
        "event-priority" "Priority" Priority;
        "connection-UUID" "Connection UUID" ConnectionUuid = connection;
        "color" "Color" Color = process_color(plan, buffer.process);
        "process" "Process" Process = buffer.process;
        "thread" "Thread" Thread = buffer.process;
        "gpu" "Metal Device" DeviceName;
        // Instruments 26.0 writes no object id, so these rows cannot be joined with others.
        "object-id" "Object ID" CommandBufferId = u64::MAX;
        "lane" "Lane" FormattedLabel = &[Part::Text(Kind::NarrativeText, " ")];
    }
}

/// Returns the buffers of every process, with their encoders below them.
fn served(plan: &Plan) -> Vec<Object<'_>> {
    let buffers = plan.buffers.iter();
    sorted(buffers.flat_map(|buffer| objects(plan, buffer)), start_ns)
}

fn start_ns(object: &Object<'_>) -> u64 {
    let begins_ns = object.buffer.driver_begins_ns;
    let first_ns = begins_ns + object.buffer.driver_ns + object.index as u64 * PER_OBJECT_NS;
    object.encoder.map_or(begins_ns, |_| first_ns)
}

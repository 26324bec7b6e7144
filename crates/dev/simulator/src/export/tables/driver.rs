//! Writes the tables of the driver's work between commit and the GPU.

use super::objects::{Encoding, Object, encodings};
use crate::error::Error;
use crate::export::cells::{ACCELERATOR_ID, Cells, FORMATTED_LABEL, Number, Part, Sheet, Text};
use crate::export::schema::Schema;
use crate::plan::driver::PER_OBJECT_NS;
use crate::plan::states::role_color;
use crate::plan::{Buffer, Plan};

pub(super) const BUFFER_TO_ACCELERATOR: Schema = Schema {
    name: "metal-command-buffer-to-accelerator-id",
    documentation: "When the driver began to work on command buffers, and for which GPU.",
    columns: &[
        ("timestamp", "Timestamp", "start-time"),
        (
            "cmdbuffer-id",
            "Commmand Buffer Id",
            "metal-command-buffer-id",
        ),
        ("accelerator-id", "Accelerator ID", "uint64"),
    ],
};

/// Writes `metal-command-buffer-to-accelerator-id`: the time at which the driver began to work on each
/// buffer of any process.
pub(super) fn begins<'a>(sheet: &mut impl Sheet<'a>) -> Result<(), Error> {
    let mut buffers: Vec<&Buffer> = sheet.plan().buffers.iter().collect();
    buffers.sort_by_key(|buffer| buffer.driver_begins_ns);
    for buffer in buffers {
        sheet.row(|cells| {
            cells.number(Number::StartTime, buffer.driver_begins_ns);
            cells.number(Number::CommandBufferId, buffer.id);
            cells.number(Number::Uint64, ACCELERATOR_ID);
        })?;
    }
    Ok(())
}

pub(super) const DRIVER_INTERVALS: Schema = Schema {
    name: "metal-driver-intervals",
    documentation: "How long the driver worked on command buffers and encoders.",
    columns: &[
        ("start", "Creation", "start-time"),
        ("duration", "Duration", "duration"),
        ("gpu-driver-name", "GPU Driver Name", "gpu-driver-name"),
        ("event-type", "Event Type", "metal-object-label"),
        ("event-depth", "Depth", "metal-nesting-level"),
        ("event-label", "Event", "formatted-label"),
        ("event-priority", "Priority", "metal-workload-priority"),
        ("connection-UUID", "Connection UUID", "connection-uuid64"),
        ("color", "Color", "render-buffer-depth"),
        ("process", "Process", "process"),
        ("thread", "Thread", "thread"),
        ("gpu", "Metal Device", "metal-device-name"),
        ("object-id", "Object ID", "metal-command-buffer-id"),
        ("lane", "Lane", "formatted-label"),
    ],
};

/// Writes `metal-driver-intervals`: the buffers of every process, with their encoders below them.
pub(super) fn intervals<'a>(sheet: &mut impl Sheet<'a>) -> Result<(), Error> {
    let plan = sheet.plan();
    let objects = |buffer| {
        let encoders = encodings(plan, buffer).map(Object::Encoder);
        std::iter::once(Object::Buffer(buffer)).chain(encoders)
    };
    let mut rows: Vec<Object<'_>> = plan.buffers.iter().flat_map(objects).collect();
    rows.sort_by_key(start_ns);

    for (connection, object) in (1..).zip(&rows) {
        interval(sheet, connection, object)?;
    }
    Ok(())
}

fn start_ns(object: &Object<'_>) -> u64 {
    match object {
        Object::Buffer(buffer) => buffer.driver_begins_ns,
        Object::Encoder(Encoding { buffer, index, .. }) => {
            buffer.driver_begins_ns + buffer.driver_ns + *index as u64 * PER_OBJECT_NS
        }
    }
}

/// Writes the row of a command buffer or of an encoder.
fn interval<'a>(
    sheet: &mut impl Sheet<'a>,
    connection: u64,
    object: &Object<'_>,
) -> Result<(), Error> {
    let plan = sheet.plan();
    let (buffer, duration_ns, kind, depth) = match object {
        Object::Buffer(buffer) => (
            *buffer,
            buffer.driver_end_ns() - buffer.driver_begins_ns,
            "Command Buffer",
            0,
        ),
        Object::Encoder(encoding) => (encoding.buffer, PER_OBJECT_NS, "Command Encoder", 1),
    };

    sheet.row(|cells| {
        cells.number(Number::StartTime, start_ns(object));
        cells.number(Number::Duration, duration_ns);
        cells.text(Text::DriverName, "Driver Processing");
        cells.text(Text::ObjectLabel, kind);
        cells.number(Number::NestingLevel, depth);
        event_label(cells, plan, buffer, object);
        cells.number(Number::Priority, 0);
        cells.number(Number::ConnectionUuid, connection);
        cells.number(Number::Color, role_color(plan.process(buffer.process).role));
        cells.process(buffer.process);
        cells.thread(buffer.process);
        cells.text(Text::DeviceName, &plan.gpu);
        // Instruments 26.0 writes no object id, so these rows cannot be joined with others.
        cells.number(Number::CommandBufferId, u64::MAX);
        cells.label(FORMATTED_LABEL, &[Part::Text(Text::Narrative, " ")]);
    })
}

/// Writes `Command Buffer 0  ( Main Thread 0x1f (P, pid: 1) )`, or an encoder's label alone.
fn event_label(cells: &mut impl Cells, plan: &Plan, buffer: &Buffer, object: &Object<'_>) {
    let (buffer_parts, encoder_parts);
    let parts: &[Part<'_>] = match object {
        Object::Buffer(_) => {
            buffer_parts = [
                Part::Text(Text::ObjectLabel, plan.labels.text(buffer.label)),
                Part::Text(Text::Narrative, " ("),
                Part::Thread(buffer.process),
                Part::Text(Text::Narrative, ")"),
            ];
            &buffer_parts
        }
        Object::Encoder(Encoding { encoder, .. }) => {
            encoder_parts = [Part::Text(
                Text::ObjectLabel,
                plan.labels.text(encoder.label),
            )];
            &encoder_parts
        }
    };
    cells.label(FORMATTED_LABEL, parts);
}

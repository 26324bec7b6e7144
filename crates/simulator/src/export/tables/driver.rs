//! What the driver did between commit and launch.

use super::{Encoding, Object, encodings};
use crate::error::Error;
use crate::export::cells::{Cells, FORMATTED_LABEL, Number, Part, Sheet, Text};
use crate::plan::states::role_color;
use crate::plan::{Buffer, Plan};

/// From commit until the driver takes a buffer up.
const PICK_UP_NS: u64 = 1_000;
/// The driver's time for one encoder, and for the buffer around them.
const PER_OBJECT_NS: u64 = 1_500;

/// `metal-driver-intervals`: every process's buffers, and below each its encoders.
pub(super) fn intervals<'a>(sheet: &mut impl Sheet<'a>) -> Result<(), Error> {
    let plan = sheet.plan();
    let objects = |buffer| {
        let encoders = encodings(plan, buffer).map(Object::Encoder);
        std::iter::once(Object::Buffer(buffer)).chain(encoders)
    };
    let mut rows: Vec<Object<'_>> = plan.buffers.iter().flat_map(objects).collect();
    rows.sort_by_key(start_ns);
    for (n, object) in (1..).zip(&rows) {
        interval(sheet, n, object)?;
    }
    Ok(())
}

fn start_ns(object: &Object<'_>) -> u64 {
    match object {
        Object::Buffer(buffer) => buffer.committed_ns + PICK_UP_NS,
        Object::Encoder(Encoding { buffer, place, .. }) => {
            buffer.committed_ns + PICK_UP_NS + *place as u64 * PER_OBJECT_NS
        }
    }
}

fn interval<'a>(
    sheet: &mut impl Sheet<'a>,
    connection: u64,
    object: &Object<'_>,
) -> Result<(), Error> {
    let (plan, recording) = (sheet.plan(), sheet.recording());
    let (buffer, duration_ns, kind, depth) = match object {
        Object::Buffer(buffer) => (
            *buffer,
            (u64::from(buffer.encoder_count) + 1) * PER_OBJECT_NS,
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
        cells.text(Text::DeviceName, &recording.gpu);
        // Instruments 26.0 fills in no object: these rows cannot be joined.
        cells.number(Number::CommandBufferId, u64::MAX);
        cells.label(FORMATTED_LABEL, &[Part::Text(Text::Narrative, " ")]);
    })
}

/// `Command Buffer 0  ( Main Thread 0x1f (P, pid: 1) )`, or an encoder's label alone.
fn event_label(cells: &mut impl Cells, plan: &Plan, buffer: &Buffer, object: &Object<'_>) {
    let (of_buffer, of_encoder);
    let parts: &[Part<'_>] = match object {
        Object::Buffer(_) => {
            of_buffer = [
                Part::Text(Text::ObjectLabel, plan.labels.text(buffer.label)),
                Part::Text(Text::Narrative, " ("),
                Part::Thread(buffer.process),
                Part::Text(Text::Narrative, ")"),
            ];
            &of_buffer
        }
        Object::Encoder(Encoding { encoder, .. }) => {
            of_encoder = [Part::Text(
                Text::ObjectLabel,
                plan.labels.text(encoder.label),
            )];
            &of_encoder
        }
    };
    cells.label(FORMATTED_LABEL, parts);
}

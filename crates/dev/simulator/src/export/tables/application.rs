//! Writes the tables of the application's work on the CPU: encoding and committing. Like the real
//! tables they have only rows of the recorded process, unless the whole machine was recorded.

use super::objects::{Encoding, Object, encoding_start_ns, encodings, instrumented};
use crate::error::Error;
use crate::export::cells::{Cells, FORMATTED_LABEL, NARRATIVE, Number, Part, Sheet, Text};
use crate::export::schema::Schema;
use crate::plan::states::role_color;
use crate::plan::{Buffer, Plan};

pub(super) const ENCODERS_LIST: Schema = Schema {
    name: "metal-application-encoders-list",
    documentation: "When the application encoded each encoder.",
    columns: &[
        ("start", "Creation", "start-time"),
        ("duration", "Duration", "duration"),
        ("thread", "Thread", "thread"),
        ("process", "Process", "process"),
        ("gpu", "Metal Device", "metal-device-name"),
        ("frame-number", "Frame", "gpu-frame-number"),
        ("cmdbuffer-label", "Command Buffer", "metal-object-label"),
        (
            "cmdbuffer-label-indexed",
            "Command Buffer (Indexed)",
            "metal-object-label",
        ),
        ("encoder-label", "Encoder", "metal-object-label"),
        (
            "encoder-label-indexed",
            "Encoder (Indexed)",
            "metal-object-label",
        ),
        ("event-type", "Event Type", "metal-event-name"),
        (
            "cmdbuffer-id",
            "Commmand Buffer Id",
            "metal-command-buffer-id",
        ),
        ("encoder-id", "Encoder Id", "metal-command-buffer-id"),
    ],
};

/// Writes `metal-application-encoders-list`: one row per encoder that was not lost.
pub(super) fn encoders_list<'a>(sheet: &mut impl Sheet<'a>) -> Result<(), Error> {
    let plan = sheet.plan();
    let mut rows: Vec<Encoding<'_>> = instrumented(plan)
        .flat_map(|buffer| encodings(plan, buffer))
        .collect();
    rows.retain(|encoding| encoding.encoder.recorded);
    rows.sort_by_key(|encoding| encoding.encoder.start_ns);
    for Encoding {
        encoder,
        buffer,
        index,
    } in rows
    {
        sheet.row(|cells| {
            cells.number(Number::StartTime, encoder.start_ns);
            cells.number(Number::Duration, encoder.duration_ns);
            cells.thread(buffer.process);
            cells.process(buffer.process);
            cells.text(Text::DeviceName, &plan.gpu);
            cells.number(Number::Frame, u64::from(buffer.frame));
            indexed_label(cells, 0, plan.labels.text(buffer.label));
            indexed_label(cells, index, plan.labels.text(encoder.label));
            cells.text(Text::EventName, "Encoding");
            cells.number(Number::CommandBufferId, buffer.id);
            cells.number(Number::CommandBufferId, encoder.id);
        })?;
    }

    Ok(())
}

/// Writes `Compute Command 0`, then `[0] Compute Command 0`.
fn indexed_label(cells: &mut impl Cells, index: usize, label: &str) {
    cells.text(Text::ObjectLabel, label);
    cells.text(Text::ObjectLabel, &format!("[{index}] {label}"));
}

pub(super) const SUBMISSIONS: Schema = Schema {
    name: "metal-application-command-buffer-submissions",
    documentation: "When the application committed each command buffer.",
    columns: &[
        ("start", "Creation", "start-time"),
        ("duration", "Duration", "duration"),
        ("event-type", "Event Type", "metal-event-name"),
        ("gpu", "Metal Device", "metal-device-name"),
        ("track-label", "Track Label", "metal-object-label"),
        ("num-encoders", "# Encoders", "uint32"),
        ("encoder-time", "Encoder Time", "duration"),
        ("process", "Process", "process"),
        ("thread", "Thread", "thread"),
        ("event-icon", "Event Icon", "metal-event"),
        ("event-label", "Note", "narrative"),
        ("encoder-time-label", "Encoder Time Label", "narrative"),
        ("frame-number", "Frame #", "uint32"),
        ("color", "Color", "render-buffer-depth"),
        (
            "cmdbuffer-id",
            "Commmand Buffer Id",
            "metal-command-buffer-id",
        ),
    ],
};

/// Writes `metal-application-command-buffer-submissions`: one row per commit.
pub(super) fn submissions<'a>(sheet: &mut impl Sheet<'a>) -> Result<(), Error> {
    let plan = sheet.plan();
    let mut buffers: Vec<&Buffer> = instrumented(plan).collect();
    buffers.retain(|buffer| buffer.submission_recorded);
    buffers.sort_by_key(|buffer| encoding_start_ns(plan, buffer));
    for buffer in buffers {
        let start_ns = encoding_start_ns(plan, buffer);
        let encoding_ns = plan
            .encoders_of(buffer)
            .iter()
            .map(|encoder| encoder.duration_ns)
            .sum();

        sheet.row(|cells| {
            cells.number(Number::StartTime, start_ns);
            cells.number(
                Number::Duration,
                buffer.committed_ns.saturating_sub(start_ns),
            );
            cells.text(Text::EventName, "CommandBufferSubmission");
            cells.text(Text::DeviceName, &plan.gpu);
            cells.text(Text::ObjectLabel, plan.labels.text(buffer.label));
            cells.number(Number::Uint32, u64::from(buffer.encoder_count));
            cells.number(Number::Duration, encoding_ns);
            cells.process(buffer.process);
            cells.thread(buffer.process);
            cells.text(Text::Event, "CommandBufferSubmission");
            commit_note(cells, plan, buffer);
            cells.label(NARRATIVE, &[Part::Number(Number::Duration, encoding_ns)]);
            cells.number(Number::Uint32, u64::from(buffer.frame));
            cells.number(Number::Color, role_color(plan.process(buffer.process).role));
            cells.number(Number::CommandBufferId, buffer.id);
        })?;
    }
    Ok(())
}

/// Writes `Committed " LABEL " with  1  encoders`.
fn commit_note(cells: &mut impl Cells, plan: &Plan, buffer: &Buffer) {
    let parts = [
        Part::Text(Text::Narrative, "Committed \""),
        Part::Text(Text::ObjectLabel, plan.labels.text(buffer.label)),
        Part::Text(Text::Narrative, "\" with "),
        Part::Number(Number::Uint32, u64::from(buffer.encoder_count)),
        Part::Text(Text::Narrative, " encoders"),
    ];
    cells.label(NARRATIVE, &parts);
}

pub(super) const APPLICATION_INTERVALS: Schema = Schema {
    name: "metal-application-intervals",
    documentation: "What the application did with its command buffers and encoders.",
    columns: &[
        ("start", "Creation", "start-time"),
        ("duration", "Duration", "duration"),
        ("process", "Owner", "process"),
        ("gpu", "Metal Device", "metal-device-name"),
        ("event-depth", "Depth", "metal-nesting-level"),
        ("event-label", "Event", "formatted-label"),
        ("event-priority", "Priority", "metal-workload-priority"),
        ("connection-UUID", "Connection UUID", "connection-uuid64"),
        ("color", "Color", "render-buffer-depth"),
        ("thread", "Thread", "thread"),
        ("event-type", "Event Type", "metal-event-name"),
        (
            "cmdbuffer-id",
            "Commmand Buffer Id",
            "metal-command-buffer-id",
        ),
        ("encoder-id", "Encoder Id", "metal-command-buffer-id"),
    ],
};

/// Writes `metal-application-intervals`: the life of every buffer, with its encoders below it.
pub(super) fn intervals<'a>(sheet: &mut impl Sheet<'a>) -> Result<(), Error> {
    let plan = sheet.plan();
    let mut rows: Vec<Object<'_>> = instrumented(plan)
        .flat_map(|buffer| {
            let encoders = encodings(plan, buffer).map(Object::Encoder);
            std::iter::once(Object::Buffer(buffer)).chain(encoders)
        })
        .collect();
    rows.retain(is_recorded);
    rows.sort_by_key(|object| start_ns(plan, object));

    for (connection, object) in (1..).zip(&rows) {
        interval(sheet, connection, object)?;
    }
    Ok(())
}

fn is_recorded(object: &Object<'_>) -> bool {
    match object {
        Object::Buffer(buffer) => buffer.submission_recorded,
        Object::Encoder(encoding) => encoding.encoder.recoverable,
    }
}

fn start_ns(plan: &Plan, object: &Object<'_>) -> u64 {
    match object {
        Object::Buffer(buffer) => encoding_start_ns(plan, buffer),
        Object::Encoder(encoding) => encoding.encoder.start_ns,
    }
}

/// Writes the row of a command buffer or of an encoder.
fn interval<'a>(
    sheet: &mut impl Sheet<'a>,
    connection: u64,
    object: &Object<'_>,
) -> Result<(), Error> {
    let plan = sheet.plan();
    let start_ns = start_ns(plan, object);
    let (buffer, end_ns, depth, label, kind, encoder_id) = match object {
        Object::Buffer(buffer) => (
            *buffer,
            buffer.committed_ns,
            0,
            buffer.label,
            "Command Buffer",
            0,
        ),
        Object::Encoder(Encoding {
            encoder, buffer, ..
        }) => (
            *buffer,
            encoder.end_ns(),
            1,
            encoder.label,
            "Encoding",
            encoder.id,
        ),
    };

    sheet.row(|cells| {
        cells.number(Number::StartTime, start_ns);
        cells.number(Number::Duration, end_ns.saturating_sub(start_ns));
        cells.process(buffer.process);
        cells.text(Text::DeviceName, &plan.gpu);
        cells.number(Number::NestingLevel, depth);
        cells.label(
            FORMATTED_LABEL,
            &[Part::Text(Text::ObjectLabel, plan.labels.text(label))],
        );
        cells.number(Number::Priority, 0);
        cells.number(Number::ConnectionUuid, connection);
        cells.number(Number::Color, role_color(plan.process(buffer.process).role));
        cells.thread(buffer.process);
        cells.text(Text::EventName, kind);
        cells.number(Number::CommandBufferId, buffer.id);
        cells.number(Number::CommandBufferId, encoder_id);
    })
}

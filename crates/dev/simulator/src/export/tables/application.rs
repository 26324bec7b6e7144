//! Writes the tables of the application's work on the CPU: encoding and committing. Like the real
//! tables they have only rows of the recorded process, unless the whole machine was recorded.

use super::objects::{Object, instrumented, objects};
use crate::optional::Optional;
use crate::plan::states::process_color;
use crate::plan::{Buffer, Encoder, Plan};
use crate::sheet::{Kind, Part, sorted, table};

table! {
    ENCODERS_LIST: "metal-application-encoders-list", "When the application encoded each encoder.";
    |plan, _| for (buffer, index, encoder) in listed(plan) => {
        let of_buffer = plan.labels.text(buffer.label);
        let indexed = format!("[0] {of_buffer}");
        let label = plan.labels.text(encoder.label);
        "start" "Creation" StartTime = encoder.start_ns;
        "duration" "Duration" Duration = encoder.duration_ns;
        "thread" "Thread" Thread = buffer.process;
        "process" "Process" Process = buffer.process;
        "gpu" "Metal Device" DeviceName;
        "frame-number" "Frame" Frame = buffer.frame;
        "cmdbuffer-label" "Command Buffer" ObjectLabel = of_buffer;
        "cmdbuffer-label-indexed" "Command Buffer (Indexed)" ObjectLabel = &indexed;
        "encoder-label" "Encoder" ObjectLabel = label;
        "encoder-label-indexed" "Encoder (Indexed)" ObjectLabel = &format!("[{index}] {label}");
        "event-type" "Event Type" EventName = "Encoding";
        "cmdbuffer-id" "Commmand Buffer Id" CommandBufferId = buffer.id;
        "encoder-id" "Encoder Id" CommandBufferId = encoder.id;
    }
}

/// Returns the encoders that the list did not lose, with their buffers and their indices there.
fn listed(plan: &Plan) -> Vec<(&Buffer, usize, &Encoder)> {
    let objects = instrumented(plan).flat_map(|buffer| objects(plan, buffer));
    let encoders = objects.filter_map(|object| {
        let encoder = object.encoder.filter(|encoder| encoder.recorded)?;
        Some((object.buffer, object.index, encoder))
    });
    sorted(encoders, |(_, _, encoder)| encoder.start_ns)
}

table! {
    SUBMISSIONS: "metal-application-command-buffer-submissions",
        "When the application committed each command buffer.";
    |plan, _| for (start_ns, buffer) in submitted(plan) => {
        let encoders = plan.encoders_of(buffer).iter();
        let encoding_ns = encoders.map(|encoder| encoder.duration_ns).sum::<u64>();
        let label = plan.labels.text(buffer.label);
        let note = [
            Part::Text(Kind::NarrativeText, "Committed \""),
            Part::Text(Kind::ObjectLabel, label),
            Part::Text(Kind::NarrativeText, "\" with "),
            Part::Number(Kind::Uint32, buffer.encoder_count.into()),
            Part::Text(Kind::NarrativeText, " encoders"),
        ];
        let time = [Part::Number(Kind::Duration, encoding_ns)];
        "start" "Creation" StartTime = start_ns;
        "duration" "Duration" Duration = buffer.committed_ns.saturating_sub(start_ns);
        "event-type" "Event Type" EventName = "CommandBufferSubmission";
        "gpu" "Metal Device" DeviceName;
        "track-label" "Track Label" ObjectLabel = label;
        "num-encoders" "# Encoders" Uint32 = buffer.encoder_count;
        "encoder-time" "Encoder Time" Duration = encoding_ns;
        "process" "Process" Process = buffer.process;
        "thread" "Thread" Thread = buffer.process;
        "event-icon" "Event Icon" Event = "CommandBufferSubmission";
        "event-label" "Note" Narrative = &note;
        "encoder-time-label" "Encoder Time Label" Narrative = &time;
        "frame-number" "Frame #" Uint32 = buffer.frame;
        "color" "Color" Color = process_color(plan, buffer.process);
        "cmdbuffer-id" "Commmand Buffer Id" CommandBufferId = buffer.id;
    }
}

/// Returns the buffers whose submission was recorded, with the start of their encoding.
fn submitted(plan: &Plan) -> Vec<(u64, &Buffer)> {
    let recorded = instrumented(plan).filter(|buffer| buffer.submission_recorded);
    let start_ns = |buffer: &Buffer| plan.encoder(buffer.first_encoder).start_ns;
    sorted(recorded.map(|buffer| (start_ns(buffer), buffer)), |row| {
        row.0
    })
}

table! {
    APPLICATION_INTERVALS: "metal-application-intervals",
        "What the application did with its command buffers and encoders.";
    |plan, _| for (connection, object) in (1_u64..).zip(recorded(plan)) => {
        let (buffer, start_ns) = (object.buffer, object.start_ns(plan));
        let (end_ns, kind, encoder_id) = match object.encoder {
            None => (buffer.committed_ns, "Command Buffer", 0),
            Some(encoder) => (encoder.end_ns(), "Encoding", encoder.id),
        };
        "start" "Creation" StartTime = start_ns;
        "duration" "Duration" Duration = end_ns.saturating_sub(start_ns);
        "process" "Owner" Process = buffer.process;
        "gpu" "Metal Device" DeviceName;
        "event-depth" "Depth" NestingLevel = object.depth();
        "event-label" "Event" FormattedLabel = &[Part::Text(Kind::ObjectLabel, object.label(plan))];
        "event-priority" "Priority" Priority;
        "connection-UUID" "Connection UUID" ConnectionUuid = connection;
        "color" "Color" Color = process_color(plan, buffer.process);
        "thread" "Thread" Thread = buffer.process;
        "event-type" "Event Type" EventName = kind;
        "cmdbuffer-id" "Commmand Buffer Id" CommandBufferId = buffer.id;
        "encoder-id" "Encoder Id" CommandBufferId = encoder_id;
    }
}

/// Returns the buffers and encoders that the table did not lose.
fn recorded(plan: &Plan) -> Vec<Object<'_>> {
    let objects = instrumented(plan).flat_map(|buffer| objects(plan, buffer));
    let recorded = objects.filter(|object| match object.encoder {
        None => object.buffer.submission_recorded,
        Some(encoder) => encoder.recoverable,
    });
    sorted(recorded, |object| object.start_ns(plan))
}

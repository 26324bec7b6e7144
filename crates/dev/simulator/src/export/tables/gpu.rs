//! Writes the tables of the GPU's work: kicks, their start and end points, and the GPU's states.

use crate::error::Error;
use crate::export::cells::{Cells, FORMATTED_LABEL, Number, Part, Sheet, Text};
use crate::export::schema::Schema;
use crate::plan::states::{self, GpuState, color};
use crate::plan::{Kick, Plan};

pub(super) const GPU_INTERVALS: Schema = Schema {
    name: "metal-gpu-intervals",
    documentation: "When each GPU channel ran work, and for which process.",
    columns: &[
        ("start", "Creation", "start-time"),
        ("duration", "Duration", "duration"),
        ("channel-name", "Channel Name", "gpu-channel-name"),
        ("frame-number", "Frame", "gpu-frame-number"),
        ("start-latency", "CPU to GPU Latency", "duration"),
        ("event-depth", "Depth", "metal-nesting-level"),
        ("event-label", "Label", "formatted-label"),
        ("state", "State", "gpu-state"),
        ("connection-UUID", "Connection UUID", "connection-uuid64"),
        ("color", "Color", "render-buffer-depth"),
        ("process", "Process", "process"),
        ("gpu", "Metal Device", "metal-device-name"),
        ("channel-subtitle", "Channel Subtitle", "metal-object-label"),
        (
            "iosurface-accesses",
            "IOSurface Accesses",
            "formatted-label",
        ),
        ("bytes", "Bytes", "size-in-bytes"),
        (
            "cmdbuffer-id",
            "Commmand Buffer Id",
            "metal-command-buffer-id",
        ),
        ("encoder-id", "Encoder Id", "metal-command-buffer-id"),
        ("gpu-submission-id", "GPU Submission Id", "uint64"),
    ],
};

/// Writes `metal-gpu-intervals`: one row per kick.
pub(super) fn intervals<'a>(sheet: &mut impl Sheet<'a>) -> Result<(), Error> {
    let plan = sheet.plan();
    let mut label = String::new();
    for (connection, kick) in (FIRST_CONNECTION..).zip(&plan.kicks) {
        write_label(plan, kick, &mut label);
        sheet.row(|cells| {
            when_and_where(cells, plan, kick);
            event_label(cells, plan, kick, &label);
            cells.text(Text::GpuState, "Active");
            cells.number(Number::ConnectionUuid, connection);
            cells.number(Number::Color, color(plan, kick));
            cells.process_if(plan.process_of(kick));
            cells.text(Text::DeviceName, &plan.gpu);
            cells.text(Text::ObjectLabel, "");
            cells.label(FORMATTED_LABEL, &[Part::Text(Text::String, "")]);
            cells.number(Number::SizeInBytes, 0);
            cells.number(
                Number::CommandBufferId,
                if_named(kick, plan.buffer(kick.buffer).id),
            );
            cells.number(
                Number::CommandBufferId,
                if_named(kick, plan.encoder(kick.encoder).id),
            );
            cells.number(Number::Uint64, u64::from(kick.submission));
        })?;
    }

    Ok(())
}

/// Connection id of the first row. Each next row has the next id.
const FIRST_CONNECTION: u64 = 4;

/// Writes the first cells of a kick: its times, channel, frame and latency.
fn when_and_where(cells: &mut impl Cells, plan: &Plan, kick: &Kick) {
    let buffer = plan.buffer(kick.buffer);
    cells.number(Number::StartTime, kick.start_ns);
    cells.number(Number::Duration, kick.duration_ns);
    cells.text(Text::ChannelName, plan.channels.text(kick.channel));
    if kick.framed {
        cells.number(Number::Frame, if_named(kick, u64::from(buffer.frame)));
    } else {
        cells.nothing();
    }
    if kick.attributed {
        cells.number(
            Number::Duration,
            kick.start_ns.saturating_sub(buffer.committed_ns),
        );
    } else {
        cells.nothing();
    }
    cells.number(Number::NestingLevel, u64::from(kick.depth));
}

/// Writes `Command Buffer 0:Compute Command 0      ( P (1) )  0xf169adf0`. The parts cause the
/// repeated blanks.
fn event_label(cells: &mut impl Cells, plan: &Plan, kick: &Kick, label: &str) {
    let parts = [
        Part::Text(Text::String, label),
        Part::Text(Text::Narrative, " "),
        Part::Text(Text::String, " "),
        Part::Text(Text::Narrative, " ("),
        plan.process_of(kick).map_or(Part::NoProcess, Part::Process),
        Part::Text(Text::Narrative, ") "),
        Part::Number(Number::EncoderId, u64::from(kick.submission)),
    ];
    // Each submission has its own label, and remembering a million of them would cost memory.
    cells.label_once(FORMATTED_LABEL, &parts);
}

/// Writes the first part of a row's label: buffer and encoder, or nothing for unlabeled work.
fn write_label(plan: &Plan, kick: &Kick, label: &mut String) {
    label.clear();
    if !kick.attributed {
        return label.push_str("GPU Execution");
    }
    let buffer = plan.labels.text(plan.buffer(kick.buffer).label);
    let encoder = plan.labels.text(kick.label);
    if !(buffer.is_empty() && encoder.is_empty()) {
        label.push_str(buffer);
        label.push(':');
        label.push_str(encoder);
    }
}

/// Returns the id for an attributed row, or 0, which unattributed rows have for every id.
fn if_named(kick: &Kick, id: u64) -> u64 {
    if kick.attributed { id } else { 0 }
}

pub(super) const GPU_STATES: Schema = Schema {
    name: "metal-gpu-state-intervals",
    documentation: "When the GPU was active or idle.",
    columns: &[
        ("start", "Creation", "start-time"),
        ("duration", "Duration", "duration"),
        ("state", "State", "gpu-state"),
        ("label", "Label", "formatted-label"),
        ("color", "Color", "render-buffer-depth"),
        ("num-events", "# Events", "uint32"),
        ("gpu", "Metal Device", "metal-device-name"),
    ],
};

/// Writes `metal-gpu-state-intervals`: active and idle time of the whole GPU.
pub(super) fn states<'a>(sheet: &mut impl Sheet<'a>) -> Result<(), Error> {
    let plan = sheet.plan();
    for state in states::states(plan) {
        sheet.row(|cells| {
            cells.number(Number::StartTime, state.start_ns);
            cells.number(Number::Duration, state.end_ns - state.start_ns);
            cells.text(
                Text::GpuState,
                if state.channels > 0 { "Active" } else { "Idle" },
            );
            state_label(cells, &state);
            cells.number(Number::Color, state.color);
            cells.number(Number::Uint32, u64::from(state.channels));
            cells.text(Text::DeviceName, &plan.gpu);
        })?;
    }
    Ok(())
}

/// Writes `1  channels active` or `Idle`.
fn state_label(cells: &mut impl Cells, state: &GpuState) {
    let active = [
        Part::Number(Number::Uint32, u64::from(state.channels)),
        Part::Text(Text::Narrative, " channels active"),
    ];
    let idle = [Part::Text(Text::Narrative, "Idle")];

    cells.label(
        FORMATTED_LABEL,
        if state.channels > 0 { &active } else { &idle },
    );
}

pub(super) const EXECUTION_POINTS: Schema = Schema {
    name: "metal-gpu-execution-points",
    documentation: "When GPU submissions started and ended.",
    columns: &[
        ("timestamp", "Timestamp", "start-time"),
        ("channel-id", "Channel ID", "metal-command-buffer-id"),
        ("function", "Function", "uint32"),
        ("slot-id", "Slot ID", "uint32"),
        (
            "gpu-submission-id",
            "GPU Submission ID",
            "metal-command-buffer-id",
        ),
        ("accelerator-id", "Accelerator Id", "uint64"),
        ("note", "Note", "string"),
    ],
};

/// Writes `metal-gpu-execution-points`: start (function 1) and end (2) of every kick.
pub(super) fn execution_points<'a>(sheet: &mut impl Sheet<'a>) -> Result<(), Error> {
    let plan = sheet.plan();
    let mut points: Vec<(u64, u64, &Kick)> = plan.kicks.iter().flat_map(both_ends).collect();
    points.sort_by_key(|(at_ns, _, _)| *at_ns);

    for (at_ns, function, kick) in points {
        sheet.row(|cells| {
            cells.number(Number::StartTime, at_ns);
            cells.number(Number::CommandBufferId, channel_id(kick));
            cells.number(Number::Uint32, function);
            cells.number(Number::Uint32, u64::from(kick.submission));
            cells.number(Number::CommandBufferId, u64::from(kick.submission));
            cells.number(Number::Uint64, u64::MAX);
            if function == 1 {
                cells.nothing();
            } else {
                cells.text(Text::String, " ");
            }
        })?;
    }
    Ok(())
}

/// Returns start and end of a kick, each with its function number.
fn both_ends(kick: &Kick) -> [(u64, u64, &Kick); 2] {
    [(kick.start_ns, 1, kick), (kick.end_ns(), 2, kick)]
}

/// Returns the driver's number for a channel.
pub(super) const fn channel_id(kick: &Kick) -> u64 {
    0x0012_3457 + kick.channel.get() as u64
}

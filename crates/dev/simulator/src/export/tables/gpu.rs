//! Writes the tables of the GPU's work: kicks, their start and end points, and the GPU's states.

use crate::optional::Optional;
use crate::plan::states::{color, states};
use crate::plan::{Kick, Plan};
use crate::sheet::{Kind, Part, Value, sorted, table};

table! {
    GPU_INTERVALS: "metal-gpu-intervals", "When each GPU channel ran work, and for which process.";
    |plan, _| for (connection, kick) in (FIRST_CONNECTION..).zip(&plan.kicks) => {
        let buffer = plan.buffer(kick.buffer);
        let latency_ns = kick.start_ns.saturating_sub(buffer.committed_ns);
        let label = label(plan, kick);
        "start" "Creation" StartTime = kick.start_ns;
        "duration" "Duration" Duration = kick.duration_ns;
        "channel-name" "Channel Name" ChannelName = plan.channels.text(kick.channel);
        "frame-number" "Frame" Frame = kick.framed.then(|| if_named(kick, buffer.frame.into()));
        "start-latency" "CPU to GPU Latency" Duration = kick.attributed.then_some(latency_ns);
        "event-depth" "Depth" NestingLevel = kick.depth;
        // Each submission has its own label, and remembering a million of them would cost memory.
        "event-label" "Label" FormattedLabel = Value::LabelOnce(&event_label(plan, kick, &label));
        "state" "State" GpuState = "Active";
        "connection-UUID" "Connection UUID" ConnectionUuid = connection;
        "color" "Color" Color = color(plan, kick);
        "process" "Process" Process = plan.process_of(kick);
        "gpu" "Metal Device" DeviceName;
        "channel-subtitle" "Channel Subtitle" ObjectLabel;
        "iosurface-accesses" "IOSurface Accesses" FormattedLabel = &[Part::Text(Kind::String, "")];
        "bytes" "Bytes" SizeInBytes = 0_u64;
        "cmdbuffer-id" "Commmand Buffer Id" CommandBufferId = if_named(kick, buffer.id);
        "encoder-id" "Encoder Id" CommandBufferId = if_named(kick, plan.encoder(kick.encoder).id);
        "gpu-submission-id" "GPU Submission Id" Uint64 = kick.submission;
    }
}

/// Connection id of the first row. Each next row has the next id.
const FIRST_CONNECTION: u64 = 4;

/// Returns the parts of `Command Buffer 0:Compute Command 0      ( P (1) )  0xf169adf0`. They cause
/// the repeated blanks.
fn event_label<'p>(plan: &Plan, kick: &Kick, label: &'p str) -> [Part<'p>; 7] {
    [
        Part::Text(Kind::String, label),
        Part::Text(Kind::NarrativeText, " "),
        Part::Text(Kind::String, " "),
        Part::Text(Kind::NarrativeText, " ("),
        plan.process_of(kick).map_or(Part::NoProcess, Part::Process),
        Part::Text(Kind::NarrativeText, ") "),
        Part::Number(Kind::EncoderId, kick.submission.into()),
    ]
}

/// Returns the first part of a row's label: buffer and encoder, or nothing for unlabeled work.
fn label(plan: &Plan, kick: &Kick) -> String {
    if !kick.attributed {
        return "GPU Execution".to_owned();
    }
    let buffer = plan.labels.text(plan.buffer(kick.buffer).label);
    let encoder = plan.labels.text(kick.label);
    if buffer.is_empty() && encoder.is_empty() {
        String::new()
    } else {
        format!("{buffer}:{encoder}")
    }
}

/// Returns the id for an attributed row, or 0, which unattributed rows have for every id.
fn if_named(kick: &Kick, id: u64) -> u64 {
    if kick.attributed { id } else { 0 }
}

table! {
    GPU_STATES: "metal-gpu-state-intervals", "When the GPU was active or idle.";
    |plan, _| for state in states(plan) => {
        let active = [
            Part::Number(Kind::Uint32, state.channels.into()),
            Part::Text(Kind::NarrativeText, " channels active"),
        ];
        let idle = [Part::Text(Kind::NarrativeText, "Idle")];
        let (name, label) = match state.channels {
            0 => ("Idle", Value::Label(&idle)),
            _ => ("Active", Value::Label(&active)),
        };
        "start" "Creation" StartTime = state.start_ns;
        "duration" "Duration" Duration = state.end_ns - state.start_ns;
        "state" "State" GpuState = name;
        "label" "Label" FormattedLabel = label;
        "color" "Color" Color = state.color;
        "num-events" "# Events" Uint32 = state.channels;
        "gpu" "Metal Device" DeviceName;
    }
}

table! {
    EXECUTION_POINTS: "metal-gpu-execution-points", "When GPU submissions started and ended.";
    |plan, _| for (at_ns, function, kick) in points(plan) => {
        "timestamp" "Timestamp" StartTime = at_ns;
        "channel-id" "Channel ID" CommandBufferId = channel_id(kick);
        "function" "Function" Uint32 = function;
        "slot-id" "Slot ID" Uint32 = kick.submission;
        "gpu-submission-id" "GPU Submission ID" CommandBufferId = kick.submission;
        "accelerator-id" "Accelerator Id" Uint64 = u64::MAX;
        "note" "Note" String = (function == 2).then_some(" ");
    }
}

/// Returns start and end of every kick, each with its function number: 1 and 2.
fn points(plan: &Plan) -> Vec<(u64, u64, &Kick)> {
    let points = plan.kicks.iter();
    let points = points.flat_map(|kick| [(kick.start_ns, 1, kick), (kick.end_ns(), 2, kick)]);
    sorted(points, |point| point.0)
}

/// Returns the driver's number for a channel.
pub(super) const fn channel_id(kick: &Kick) -> u64 {
    0x0012_3457 + kick.channel.get() as u64
}
